"""`oreo live`: edit cells of a dataset, look at what comes of it, and submit it as a change request."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from ..model.errors import UsageError
from ..model.filters import Filter, Order
from ..model.ids import DatasetRef, check_id
from .arguments import WAIT_SECONDS, Dataset, MaybeDataset, Note, Timeout, Wait
from .command import command, noun
from .face import Answer, Face, dataset_of

if TYPE_CHECKING:
    from rich.console import Console

    from ..workflow.live_types import CellEdit, EditResult, SessionCard

app = noun("live", "Live edit sessions: change cells, see the result at once, submit it for review.")

SessionId = Annotated[str, typer.Argument(metavar="SESSION", help="The session, such as se_01k….")]
Where = Annotated[
    list[str] | None,
    typer.Option("--where", metavar="COL=OP.VALUE", help="Only rows that meet this. Repeat for AND."),
]


@command(
    app,
    "open",
    """
    oreo live open shop/orders
    oreo live open shop/orders --where country=eq.DE
    """,
)
def open_(face: Face, dataset: Dataset, where: Where = None) -> Answer:
    """Begin to edit a dataset as it is now.

    What others merge meanwhile does not change what you see; if it touches the same rows, it is a conflict to
    settle when your change request is merged.
    """
    from ..workflow.live_edit import open_session

    made = open_session(face.ws, face.actor, dataset_of(dataset), where=[Filter.parse(t) for t in where or ()])
    return _card(made)


@command(
    app,
    "list",
    """
    oreo live list
    oreo live list shop/orders --mine --all
    """,
)
def list_(
    face: Face,
    dataset: MaybeDataset = None,
    mine: Annotated[bool, typer.Option("--mine", help="Only your own.")] = False,
    everything: Annotated[bool, typer.Option("--all", help="Those that ended, too.")] = False,
) -> Answer:
    """List open sessions, the newest first."""
    from ..workflow.live_edit import list_sessions

    ref = dataset_of(dataset) if dataset else None
    found = list_sessions(face.ws, face.actor, ref, mine=mine, open_only=not everything)

    def render(console: Console) -> None:
        from .live_card import show_list

        show_list(console, found)

    return Answer([card.as_json() for card in found], render)


@command(app, "show", "oreo live show shop/orders se_01k3x8")
def show(face: Face, dataset: Dataset, session: SessionId) -> Answer:
    """Show whose it is, what it changes, and when it ends."""
    from ..workflow.live_edit import show_session

    return _card(show_session(face.ws, face.actor, *_session(dataset, session)))


@command(
    app,
    "set",
    """
    oreo live set shop/orders se_01k3x8 A1:amount=12.50
    oreo live set shop/orders se_01k3x8 A1:amount=12.50 A2:status=open --null A3:amount
    """,
)
def set_(
    face: Face,
    dataset: Dataset,
    session: SessionId,
    cell: Annotated[list[str] | None, typer.Argument(metavar="ROW:COL=VALUE", help="A cell and its new value.")] = None,
    null: Annotated[
        list[str] | None, typer.Option("--null", metavar="ROW:COL", help="A cell that is to have no value.")
    ] = None,
) -> Answer:
    """Give cells new values, all of them or none.

    A value that does not fit the column's type is refused. One that fails an expectation is kept, and told.
    """
    from ..workflow.live_edit import set_cells

    edits = [*(_cell(text) for text in cell or ()), *(_no_value(text) for text in null or ())]
    return _edited(set_cells(face.ws, face.actor, *_session(dataset, session), edits))


@command(app, "add", "oreo live add shop/orders se_01k3x8 order_id=A9 amount=7.50")
def add(
    face: Face,
    dataset: Dataset,
    session: SessionId,
    cell: Annotated[list[str], typer.Argument(metavar="COL=VALUE", help="Each cell of the new row.")],
) -> Answer:
    """Add a row. Cells that are not named have no value; its row_id follows from the key."""
    from ..workflow.live_edit import add_rows

    row = dict(_named_value(text) for text in cell)
    return _edited(add_rows(face.ws, face.actor, *_session(dataset, session), [row]))


@command(app, "delete", "oreo live delete shop/orders se_01k3x8 A1 A2")
def delete(
    face: Face,
    dataset: Dataset,
    session: SessionId,
    row: Annotated[list[str], typer.Argument(metavar="ROW_ID…", help="The rows.")],
) -> Answer:
    """Delete rows, or take back rows that were added in the session."""
    from ..workflow.live_edit import delete_rows

    return _edited(delete_rows(face.ws, face.actor, *_session(dataset, session), row))


@command(app, "undo", "oreo live undo shop/orders se_01k3x8")
def undo(face: Face, dataset: Dataset, session: SessionId) -> Answer:
    """Take the last step back."""
    from ..workflow.live_edit import undo as take_back

    return _edited(take_back(face.ws, face.actor, *_session(dataset, session)))


@command(app, "redo", "oreo live redo shop/orders se_01k3x8")
def redo(face: Face, dataset: Dataset, session: SessionId) -> Answer:
    """Do again what was undone last."""
    from ..workflow.live_edit import redo as do_again

    return _edited(do_again(face.ws, face.actor, *_session(dataset, session)))


@command(
    app,
    "rows",
    """
    oreo live rows shop/orders se_01k3x8 --changed
    oreo live rows shop/orders se_01k3x8 --where amount=gte.100 --order amount.desc --limit 20
    """,
)
def rows(
    face: Face,
    dataset: Dataset,
    session: SessionId,
    where: Where = None,
    order: Annotated[
        list[str] | None, typer.Option("--order", metavar="COL[.desc]", help="By row_id if left out.")
    ] = None,
    changed: Annotated[bool, typer.Option("--changed", help="Only rows that the session changes.")] = False,
    limit: Annotated[int, typer.Option("--limit", metavar="N", min=0, help="At most so many rows.")] = 100,
    offset: Annotated[int, typer.Option("--offset", metavar="N", min=0, help="Leave out the first so many.")] = 0,
) -> Answer:
    """Show the rows as the session has them."""
    from ..workflow.live_edit import preview

    names = [name.strip() for text in order or () for name in text.split(",") if name.strip()]
    page = preview(
        face.ws,
        face.actor,
        *_session(dataset, session),
        where=[Filter.parse(text) for text in where or ()],
        order=[Order.parse(name) for name in names],
        changed_only=changed,
        limit=limit,
        offset=offset,
    )

    def render(console: Console) -> None:
        from .live_card import show_page

        show_page(console, page)

    return Answer(page.as_json(), render)


@command(
    app,
    "diff",
    """
    oreo live diff shop/orders se_01k3x8
    oreo live diff shop/orders se_01k3x8 --kind deleted --limit 20
    """,
)
def diff(
    face: Face,
    dataset: Dataset,
    session: SessionId,
    kind: Annotated[
        list[str] | None, typer.Option("--kind", metavar="KIND", help="inserted, updated or deleted. All if left out.")
    ] = None,
    limit: Annotated[int, typer.Option("--limit", metavar="N", min=1, help="At most so many rows.")] = 100,
    after: Annotated[str, typer.Option("--after", metavar="ROW_ID", help="Begin after this row.")] = "",
) -> Answer:
    """Show what the session changes, cell by cell."""
    from ..workflow.live_edit import session_diff
    from ..workflow.review import kinds_of

    page = session_diff(
        face.ws, face.actor, *_session(dataset, session), kinds=kinds_of(kind or ()), limit=limit, after=after
    )

    def render(console: Console) -> None:
        from .cr_diff import show_diff

        show_diff(console, page)

    return Answer(page.as_json(), render)


@command(app, "others", "oreo live others shop/orders se_01k3x8")
def others(face: Face, dataset: Dataset, session: SessionId) -> Answer:
    """Show who else has the same rows changed in an open session."""
    from ..workflow.live_edit import who_else

    found = who_else(face.ws, face.actor, *_session(dataset, session))

    def render(console: Console) -> None:
        from .live_card import show_overlaps

        show_overlaps(console, found)

    return Answer({"rows": [overlap.as_json() for overlap in found]}, render)


@command(
    app,
    "submit",
    """
    oreo live submit shop/orders se_01k3x8 --note "prices of October"
    oreo live submit shop/orders se_01k3x8 --wait
    """,
)
def submit(
    face: Face,
    dataset: Dataset,
    session: SessionId,
    note: Note = "",
    wait: Wait = False,
    timeout: Timeout = WAIT_SECONDS,
) -> Answer:
    """Make the session a change request. Again gives the same change request.

    Who edited in the session cannot approve it.
    """
    from ..workflow.live_edit import submit as send
    from .cr_noun import card, wait_for_review

    ref, session_id = _session(dataset, session)
    sent = send(face.ws, face.actor, ref, session_id, note)
    cr_id = sent.change_request_id
    shown = wait_for_review(face, ref, cr_id, timeout) if wait else card(face, ref, cr_id)
    return Answer({**shown.document, "session_id": session_id}, shown.render, shown.error)


@command(app, "discard", "oreo live discard shop/orders se_01k3x8")
def discard(face: Face, dataset: Dataset, session: SessionId) -> Answer:
    """End a session and delete its edits."""
    from ..workflow.live_edit import discard as throw_away

    return _card(throw_away(face.ws, face.actor, *_session(dataset, session)))


def _session(dataset: str, session: str) -> tuple[DatasetRef, str]:
    return DatasetRef.parse(dataset), check_id(session, "session id")


def _cell(text: str) -> CellEdit:
    """`ROW:COL=VALUE`. The first `=` after the column divides; a row_id may have colons, a column cannot."""
    from ..workflow.live_types import CellEdit

    place, equals, value = text.partition("=")
    row_id, colon, column = place.rpartition(":")
    if not equals or not colon or not row_id or not column:
        raise UsageError(f"{text!r} does not name a cell and its value.", "Write ROW:COL=VALUE, or --null ROW:COL.")
    return CellEdit(row_id, column, value)


def _no_value(text: str) -> CellEdit:
    from ..workflow.live_types import CellEdit

    row_id, colon, column = text.rpartition(":")
    if not colon or not row_id or not column:
        raise UsageError(f"{text!r} does not name a cell.", "Write --null ROW:COL.")
    return CellEdit(row_id, column, None)


def _named_value(text: str) -> tuple[str, str | None]:
    column, equals, value = text.partition("=")
    if not equals or not column:
        raise UsageError(f"{text!r} does not name a column and its value.", "Write COL=VALUE.")
    return column, value


def _card(found: SessionCard) -> Answer:
    def render(console: Console) -> None:
        from .live_card import show_card

        show_card(console, found)

    return Answer(found.as_json(), render)


def _edited(result: EditResult) -> Answer:
    def render(console: Console) -> None:
        from .live_card import show_result

        show_result(console, result)

    return Answer(result.as_json(), render)
