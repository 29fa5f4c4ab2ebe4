"""`oreo cr conflicts|resolve|reject-rows`: when main moved, and when only a part is good."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from ..model.errors import UsageError
from .arguments import WAIT_SECONDS, ChangeRequestId, Dataset, Timeout, Wait
from .command import command
from .cr_noun import app, card, wait_for_review
from .face import Answer, Face, change_request_of
from .quick import without_pandas

if TYPE_CHECKING:
    from rich.console import Console

    from ..lake.rebase import Take
    from ..workflow.conflicts import ConflictReport

_SHOWN = 50


@command(app, "conflicts", "oreo cr conflicts shop/orders cr_01k3x8")
def conflicts(face: Face, dataset: Dataset, change_request: ChangeRequestId) -> Answer:
    """List the cells that both the change request and main changed since its base."""
    from ..workflow.conflicts import conflicts as find

    ref, cr_id = change_request_of(dataset, change_request)
    with without_pandas():
        report = find(face.ws, face.actor, ref, cr_id)

    def render(console: Console) -> None:
        _show(console, report, f"{ref} {cr_id}")

    return Answer(report.as_json(), render)


@command(
    app,
    "resolve",
    """
    oreo cr resolve shop/orders cr_01k3x8 --take ours              what was sent wins everywhere
    oreo cr resolve shop/orders cr_01k3x8 --take theirs --cell A1:amount=ours --wait
    oreo cr resolve shop/orders cr_01k3x8 --take ours --cell A7=theirs      a whole row
    """,
)
def resolve(
    face: Face,
    dataset: Dataset,
    change_request: ChangeRequestId,
    take: Annotated[
        str | None,
        typer.Option("--take", metavar="ours|theirs", help="For every conflict that --cell does not name."),
    ] = None,
    cell: Annotated[
        list[str] | None,
        typer.Option("--cell", metavar="ROW[:COL]=ours|theirs", help="For one cell or one row. Repeat for each."),
    ] = None,
    wait: Wait = False,
    timeout: Timeout = WAIT_SECONDS,
) -> Answer:
    """Settle conflicts, cell by cell or in bulk, and have the result checked again.

    "ours" is what the change request holds, "theirs" what main has now. Approvals it had are void, and who
    resolves it cannot approve it.
    """
    from ..workflow.conflicts import resolve as settle

    ref, cr_id = change_request_of(dataset, change_request)
    settle(face.ws, face.actor, ref, cr_id, _take(take) if take else None, dict(_cell(text) for text in cell or ()))
    return wait_for_review(face, ref, cr_id, timeout) if wait else card(face, ref, cr_id)


@command(
    app,
    "reject-rows",
    """
    oreo cr reject-rows shop/orders cr_01k3x8 --row A1 --row A2 --reason "not ours"
    oreo cr reject-rows shop/orders cr_01k3x8 --where country=eq.XX --reason "unknown country" --wait
    """,
)
def reject_rows(
    face: Face,
    dataset: Dataset,
    change_request: ChangeRequestId,
    reason: Annotated[str, typer.Option("--reason", metavar="TEXT", help="Why; their author reads it.")],
    row: Annotated[list[str] | None, typer.Option("--row", metavar="ROW_ID", help="One row. Repeat for each.")] = None,
    where: Annotated[
        list[str] | None,
        typer.Option("--where", metavar="COL=OP.VALUE", help="All rows whose new values meet this. Repeat for AND."),
    ] = None,
    wait: Wait = False,
    timeout: Timeout = WAIT_SECONDS,
) -> Answer:
    """Reject some rows and let the rest go on.

    The rejected rows become a change request of their own, in their author's name and with the reason.
    """
    from ..model.filters import Filter
    from ..workflow.conflicts import reject_rows as reject

    ref, cr_id = change_request_of(dataset, change_request)
    part = reject(
        face.ws,
        face.actor,
        ref,
        cr_id,
        reason,
        row_ids=row or (),
        where=[Filter.parse(text) for text in where or ()],
    )
    rest = wait_for_review(face, ref, cr_id, timeout) if wait else card(face, ref, cr_id)
    follow_up = part.follow_up.change_request_id

    def render(console: Console) -> None:
        rest.render(console)
        console.print(f"{part.rows:,} rows were rejected and go on as {follow_up}.", highlight=False)

    document = {**rest.document, "rows_rejected": part.rows, "follow_up": follow_up}
    return Answer(document, render, rest.error)


def _take(word: str) -> Take:
    from ..lake.rebase import Take

    if word not in list(Take):
        raise UsageError(f"{word!r} is neither ours nor theirs.", "Write --take ours or --take theirs.")
    return Take(word)


def _cell(text: str) -> tuple[tuple[str, str | None], Take]:
    """`ROW:COL=ours` or `ROW=ours`. A row_id may itself have colons, a column cannot: the last one divides."""
    place, equals, word = text.rpartition("=")
    if not equals or not place:
        raise UsageError(f"{text!r} does not name a cell.", "Write --cell ROW:COL=ours, or --cell ROW=ours for a row.")
    row_id, colon, column = place.rpartition(":")
    return ((row_id, column) if colon and row_id else (place, None)), _take(word)


def _show(console: Console, report: ConflictReport, name: str) -> None:
    from .render import say, table

    if not report.conflicts:
        say(console, f"No conflicts: main is at version {report.main_version}, the base was {report.base_version}.")
        return
    made = table("row", "column", "base", "staged (ours)", "main (theirs)")
    for conflict in report.conflicts[:_SHOWN]:
        cells = [conflict.column or "whole row", conflict.base, conflict.ours, conflict.theirs]
        made.add_row(conflict.row_id, *("-" if c is None else str(c) for c in cells))
    console.print(made)
    if len(report.conflicts) > _SHOWN:
        say(console, f"…and {len(report.conflicts) - _SHOWN:,} more; all of them with --json.", "dim")
    say(console, f"Settle them: oreo cr resolve {name} --take ours|theirs [--cell ROW:COL=ours]…")
