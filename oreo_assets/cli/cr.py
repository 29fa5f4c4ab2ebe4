"""`oreo cr`: looking at change requests. Deciding on them is in the modules imported last."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .arguments import ChangeRequestId, Dataset, MaybeDataset
from .command import command
from .cr_noun import app, card
from .cr_report import write_report
from .face import Answer, Face, change_request_of, dataset_of
from .quick import without_pandas

if TYPE_CHECKING:
    from rich.console import Console


@command(
    app,
    "list",
    """
    oreo cr list                          the newest, of all datasets
    oreo cr list shop/orders --open       what still waits for something
    """,
)
def list_(
    face: Face,
    dataset: MaybeDataset = None,
    open_only: Annotated[bool, typer.Option("--open", help="Only those that are not ended.")] = False,
    limit: Annotated[int, typer.Option("--limit", metavar="N", min=1, help="At most so many.")] = 100,
) -> Answer:
    """List change requests, the newest first."""
    from ..workflow.review import list_requests

    ref = dataset_of(dataset) if dataset is not None else None
    found = list_requests(face.ws, face.actor, ref, open_only=open_only, limit=limit)

    def render(console: Console) -> None:
        from .cr_card import show_list

        show_list(console, found, limit)

    return Answer(found, render)


@command(
    app,
    "show",
    """
    oreo cr show shop/orders cr_01k3x8
    oreo cr show shop/orders cr_01k3x8 --json | jq .counts
    """,
)
def show(face: Face, dataset: Dataset, change_request: ChangeRequestId) -> Answer:
    """Show where a change request stands, and what to do next."""
    ref, cr_id = change_request_of(dataset, change_request)
    return card(face, ref, cr_id)


@command(
    app,
    "checks",
    """
    oreo cr checks shop/orders cr_01k3x8
    oreo cr checks shop/orders cr_01k3x8 --rows 50
    oreo cr checks shop/orders cr_01k3x8 --report checks.html      a page to read or to send
    oreo cr checks shop/orders cr_01k3x8 --json | jq '.checks[] | select(.status != "passed")'
    """,
)
def checks(
    face: Face,
    dataset: Dataset,
    change_request: ChangeRequestId,
    rows: Annotated[
        int,
        typer.Option("--rows", metavar="N", min=0, help="So many failing rows of each check."),
    ] = 5,
    report: Annotated[
        Path | None, typer.Option("--report", metavar="FILE", help="Also write them to FILE, as a page to read.")
    ] = None,
) -> Answer:
    """Show what the checks found, with the rows that failed."""
    from ..workflow.review import checks as run_of

    ref, cr_id = change_request_of(dataset, change_request)
    run = run_of(face.ws, face.actor, ref, cr_id)
    if report:
        write_report(run, report)

    def render(console: Console) -> None:
        from .cr_checks import show_checks, show_verdict

        show_checks(console, run.outcomes, rows=rows)
        show_verdict(console, run.verdict)
        if report:
            console.print(f"The report is in {report}", markup=False, highlight=False)

    return Answer(run.as_json(), render)


@command(
    app,
    "diff",
    """
    oreo cr diff shop/orders cr_01k3x8
    oreo cr diff shop/orders cr_01k3x8 --kind deleted --limit 500
    oreo cr diff shop/orders cr_01k3x8 --after ROW_ID      the next page; `next` of the one before
    oreo cr diff shop/orders cr_01k3x8 --column amount --where amount=lt.0
    oreo cr diff shop/orders cr_01k3x8 --check values_to_be_between__amount --all-columns
    """,
)
def diff(
    face: Face,
    dataset: Dataset,
    change_request: ChangeRequestId,
    kind: Annotated[
        list[str] | None,
        typer.Option(
            "--kind",
            metavar="KIND",
            help="inserted, updated, deleted or unchanged; the first three if left out.",
        ),
    ] = None,
    column: Annotated[
        list[str] | None,
        typer.Option("--column", metavar="COL", help="Rows in which this column changes. Repeat for any of several."),
    ] = None,
    check: Annotated[str | None, typer.Option("--check", metavar="CHECK", help="Rows that failed this check.")] = None,
    conflict: Annotated[bool, typer.Option("--conflict", help="Rows that main changed too.")] = False,
    where: Annotated[
        list[str] | None,
        typer.Option("--where", metavar="COL=OP.VALUE", help="Rows whose new values meet this. Repeat for AND."),
    ] = None,
    all_columns: Annotated[
        bool, typer.Option("--all-columns", help="All cells of a row, not only those that change.")
    ] = False,
    limit: Annotated[int, typer.Option("--limit", metavar="N", min=1, help="At most so many rows.")] = 100,
    after: Annotated[str, typer.Option("--after", metavar="ROW_ID", help="Begin after this row.")] = "",
) -> Answer:
    """Show what a change request changes, cell by cell."""
    from ..model.filters import Filter
    from ..workflow.review import kinds_of, review_diff

    ref, cr_id = change_request_of(dataset, change_request)
    kinds, filters = kinds_of(kind or ()), [Filter.parse(text) for text in where or ()]
    with without_pandas():
        page = review_diff(
            face.ws,
            face.actor,
            ref,
            cr_id,
            kinds=kinds,
            columns=column or (),
            check=check,
            in_conflict=conflict,
            where=filters,
            all_columns=all_columns,
            limit=limit,
            after=after,
        )

    def render(console: Console) -> None:
        from .cr_diff import show_diff

        show_diff(console, page)

    return Answer(page.as_json(), render)


@command(app, "standing", "oreo cr standing shop/orders cr_01k3x8")
def standing(face: Face, dataset: Dataset, change_request: ChangeRequestId) -> Answer:
    """Show how main moved under a change request, and whether you can approve it; if not, why."""
    from ..workflow.standing import standing as where_it_stands

    ref, cr_id = change_request_of(dataset, change_request)
    with without_pandas():
        found = where_it_stands(face.ws, face.actor, ref, cr_id)

    def render(console: Console) -> None:
        from .cr_standing import show_standing

        show_standing(console, found)

    return Answer(found.as_json(), render)


from . import cr_comments, cr_conflicts, cr_decisions, cr_revert  # noqa: E402, F401 - they add their verbs below the ones above
