"""`oreo project`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from .command import command, noun
from .face import Answer, Face

if TYPE_CHECKING:
    from rich.console import Console

app = noun("project", "Projects: the folders of datasets, and where roles are given.")


@command(
    app,
    "create",
    """
    oreo project create shop
    oreo project create shop --json
    """,
)
def create(face: Face, project: Annotated[str, typer.Argument(metavar="P", help="Its id.")]) -> Answer:
    """Make a project.

    Do this once, before the first dataset. Making it again changes nothing. Takes the role admin.
    """
    from ..model.ids import check_id
    from ..workflow.datasets import create_project

    check_id(project, "project id")
    created = create_project(face.ws, face.actor, project)

    def render(console: Console) -> None:
        console.print(f"Project [bold]{project}[/] " + ("is made." if created else "was there already."))

    return Answer({"project": project, "created": created}, render)


@command(
    app,
    "list",
    """
    oreo project list
    oreo project list --json | jq -r '.[].project'
    """,
)
def list_(face: Face) -> Answer:
    """List the projects in which you have a role."""
    from ..workflow.datasets import project_json, projects

    found = projects(face.ws, face.actor)

    def render(console: Console) -> None:
        from .render import moment, table

        if not found:
            console.print("No projects yet. Make one: oreo project create P")
            return
        made = table("project", "made by", "at (UTC)")
        for project in found:
            made.add_row(project.id, project.created_by, moment(project.created_at))
        console.print(made)

    return Answer([project_json(project) for project in found], render)
