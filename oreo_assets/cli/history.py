"""`oreo history`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from .arguments import Dataset
from .command import command, verb
from .face import Answer, Face, dataset_of

if TYPE_CHECKING:
    from rich.console import Console

    from ..lake.log import Commit

app = verb()


@command(
    app,
    "history",
    """
    oreo history shop/orders
    oreo history shop/orders --limit 5
    oreo history shop/orders --json | jq '.[0].approvers'
    """,
)
def history(
    face: Face,
    dataset: Dataset,
    limit: Annotated[
        int | None, typer.Option("--limit", metavar="N", min=1, help="The newest so many; all if left out.")
    ] = None,
) -> Answer:
    """Who changed a dataset, when, why, and who approved it. The newest first."""
    from ..workflow.query import history as read

    ref = dataset_of(dataset)
    commits = read(face.ws, face.actor, ref, limit)

    def render(console: Console) -> None:
        _show(console, commits)

    return Answer([commit.as_json() for commit in commits], render)


def _show(console: Console, commits: list[Commit]) -> None:
    from rich.markup import escape

    from ..lake.merge import merged_counts
    from .render import changes, moment, table

    made = table(
        "version",
        "at (UTC)",
        "operation",
        "rows",
        "author",
        "approved by",
        "change request",
        "note",
        right=("version",),
    )
    for commit in commits:
        told = commit.metadata
        counts = merged_counts(commit).as_json() if commit.operation == "MERGE" else {}
        made.add_row(
            f"{commit.version:,}",
            moment(commit.timestamp),
            commit.operation.lower(),
            changes(counts),
            told.author if told else "-",
            (", ".join(told.approvers) if told else "") or "-",
            (told.change_request_id if told else None) or "-",
            escape(told.note) if told else "",
        )
    console.print(made)
