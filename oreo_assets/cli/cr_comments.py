"""`oreo cr comment|comments|resolve-comment|request-changes`: talking about a change request."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from .arguments import ChangeRequestId, Dataset
from .command import command
from .cr_noun import app
from .face import Answer, Face, change_request_of
from .quick import without_pandas

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from ..workflow.comments import CommentCard


@command(
    app,
    "comment",
    """
    oreo cr comment shop/orders cr_01k3x8 "Is this October already?"
    oreo cr comment shop/orders cr_01k3x8 "Net or gross?" --row A1 --column amount
    """,
)
def comment(
    face: Face,
    dataset: Dataset,
    change_request: ChangeRequestId,
    text: Annotated[str, typer.Argument(metavar="TEXT", help="What you have to say.")],
    row: Annotated[str | None, typer.Option("--row", metavar="ROW_ID", help="About one row.")] = None,
    column: Annotated[str | None, typer.Option("--column", metavar="COL", help="About one cell of that row.")] = None,
) -> Answer:
    """Say something about a change request, a row of it, or a cell."""
    from ..workflow.comments import comment as say_it

    ref, cr_id = change_request_of(dataset, change_request)
    with without_pandas():
        said = say_it(face.ws, face.actor, ref, cr_id, text, row_id=row, column=column)
    return _answer(said)


@command(app, "comments", "oreo cr comments shop/orders cr_01k3x8")
def comments(face: Face, dataset: Dataset, change_request: ChangeRequestId) -> Answer:
    """Show what was said about a change request, the oldest first."""
    from ..workflow.comments import list_comments

    ref, cr_id = change_request_of(dataset, change_request)
    found = list_comments(face.ws, face.actor, ref, cr_id)

    def render(console: Console) -> None:
        if not found:
            console.print("Nobody has said anything yet.")
        _show(console, found)

    return Answer([c.as_json() for c in found], render)


@command(app, "resolve-comment", "oreo cr resolve-comment shop/orders cr_01k3x8 cm_01k3x9")
def resolve_comment(
    face: Face,
    dataset: Dataset,
    change_request: ChangeRequestId,
    comment_id: Annotated[str, typer.Argument(metavar="COMMENT", help="The comment, such as cm_01k….")],
) -> Answer:
    """Settle a comment. A wish for changes only if it was yours, or as an admin."""
    from ..workflow.comments import resolve_comment as settle

    ref, cr_id = change_request_of(dataset, change_request)
    return _answer(settle(face.ws, face.actor, ref, cr_id, comment_id))


@command(app, "request-changes", 'oreo cr request-changes shop/orders cr_01k3x8 --reason "The amounts are gross"')
def request_changes(
    face: Face,
    dataset: Dataset,
    change_request: ChangeRequestId,
    reason: Annotated[str, typer.Option("--reason", metavar="TEXT", help="What to change; its author reads it.")],
) -> Answer:
    """Send a change request back to its author.

    Nobody else can approve what is staged now until you take it back (oreo cr resolve-comment), approve it
    after all, or it is staged anew.
    """
    from ..workflow.comments import request_changes as send_back

    ref, cr_id = change_request_of(dataset, change_request)
    return _answer(send_back(face.ws, face.actor, ref, cr_id, reason))


def _answer(said: CommentCard) -> Answer:
    return Answer(said.as_json(), lambda console: _show(console, [said]))


def _show(console: Console, found: Sequence[CommentCard]) -> None:
    from .render import moment, say

    for one in found:
        place = f" on {one.row_id}{f':{one.column}' if one.column else ''}" if one.row_id is not None else ""
        wants = " asks for changes" if one.wants_changes else ""
        settled = f", settled by {one.resolved_by}" if one.resolved_by else ""
        style = "yellow" if one.wants_changes and one.is_open else "bold" if one.is_open else "dim"
        when = moment(one.created_at.isoformat())
        say(console, f"{one.author}{wants}{place}, {when} UTC{settled}  ({one.comment_id})", style)
        say(console, f"  {one.text}", "" if one.is_open else "dim")
