"""Projects."""

from __future__ import annotations

from operator import itemgetter

from fastapi import APIRouter, Request
from fastapi.responses import Response

from ...workflow.datasets import create_project, project_json, projects
from .. import told
from ..answers import Answer, Json, page
from ..asked import After, Limit, NewProject, following
from ..auth import Who
from ..once import Once
from ..service import Here

router = APIRouter(prefix="/projects", tags=["projects"])


@router.get("", response_model=list[told.Project], summary="List the projects in which you have a role")
def list_projects(request: Request, here: Here, who: Who, after: After = None, limit: Limit = None) -> Json:
    found = [project_json(project) for project in projects(here.ws, who)]
    return page(request, following(found, itemgetter("project"), after), limit, itemgetter("project"))


@router.post(
    "",
    status_code=201,
    response_model=told.ProjectMade,
    responses={200: {"model": told.ProjectMade, "description": "It was there already."}},
    summary="Make a project",
)
def make_project(here: Here, who: Who, given: NewProject, once: Once) -> Response:
    """Making it again changes nothing. Takes the role admin."""

    def make() -> Answer:
        created = create_project(here.ws, who, given.project)
        return Answer({"project": given.project, "created": created}, 201 if created else 200)

    return once(make, given.model_dump())
