"""Live edit sessions: cells changed one by one over a pinned version of main, until they become a change request.

Only the owner (or an admin) edits; whoever may view the dataset may look. Every step is one Delta commit, so a
session goes on after a crash with exactly what was committed. `submit` and `discard` are in `live_submit`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta

from ..catalog import audit
from ..catalog.live_sessions import list_live_sessions
from ..catalog.models import LiveSession, now
from ..catalog.users import EVERYWHERE, Actor
from ..crash_points import reach
from ..lake import log
from ..lake.diff import KINDS, DiffPage, Wanted, diff_sides
from ..lake.edits import REDONE, UNDONE, Draft, OutpacedError
from ..lake.read import TableAt, compile_filters, reading
from ..model.errors import NotFoundError, StateError, UsageError
from ..model.filters import Filter, Order
from ..model.ids import DatasetRef, new_id
from ..model.states import Role
from .live_book import begin_folder, filters_json, metadata_of
from .live_overlay import Shown, as_patch, page
from .live_session import Desk, at_hand, card, editing, full_card, load, looking
from .live_state import UPDATED, verdict_of
from .live_steps import Step, cells_step, delete_step, rows_step
from .live_submit import discard, submit
from .live_types import (
    CellEdit,
    EditResult,
    LivePage,
    LiveRow,
    Overlap,
    SessionCard,
    SessionState,
    Submitted,
)
from .workspace import Workspace

__all__ = [
    "CellEdit",
    "EditResult",
    "LivePage",
    "LiveRow",
    "Overlap",
    "SessionCard",
    "SessionState",
    "Submitted",
    "add_rows",
    "delete_rows",
    "discard",
    "list_sessions",
    "open_session",
    "preview",
    "redo",
    "session_diff",
    "set_cells",
    "show_session",
    "submit",
    "undo",
    "who_else",
]

MAX_ROWS = 10_000
_TRIES = 10


def open_session(ws: Workspace, actor: Actor, ref: DatasetRef, *, where: Sequence[Filter] = ()) -> SessionCard:
    """Begin to edit a dataset as it is now, or only its rows that meet every filter. Takes a contributor."""
    spec = ws.spec(ref)
    actor.require(Role.CONTRIBUTOR, ref.project)
    layout, begun = ws.layout(ref), now()
    base_version = log.current_version(layout.main)
    if where:
        with reading(TableAt("main", layout.main, base_version)) as connection:
            types = {"row_id": "VARCHAR", **{c.name: c.parsed.duckdb for c in spec.columns}}
            compile_filters(connection, where, types)
    session = LiveSession(
        id=new_id("se"),
        project=ref.project,
        dataset=ref.dataset,
        owner=actor.name,
        state=SessionState.OPEN,
        base_version=base_version,
        filters=filters_json(where),
        created_at=begun,
        expires_at=begun + timedelta(hours=spec.policies.live_edit_ttl_hours),
    )
    # The folder first: a crash before the catalog knows leaves one that the cleanup takes away.
    begin_folder(layout.live_edit(session.id), metadata_of(session, ref))
    reach("live.folder_made")
    with ws.catalog.write() as tx:
        tx.add(session)
        tx.flush()
        audit.record(
            tx, actor.name, "live_session.open", ref, session.id, base_version=base_version, filters=session.filters
        )
    return full_card(ws, session, spec)


def list_sessions(
    ws: Workspace, actor: Actor, ref: DatasetRef | None = None, *, mine: bool = False, open_only: bool = True
) -> list[SessionCard]:
    """The newest first, of one dataset or of all in which the actor has a role. Without counts of their edits."""
    if ref:
        ws.spec(ref)
        actor.require(Role.VIEWER, ref.project)
    found = list_live_sessions(
        ws.catalog,
        ref,
        owner=actor.name if mine else None,
        states=(SessionState.OPEN,) if open_only else None,
        projects=None if EVERYWHERE in actor.grants else list(actor.grants),
    )
    cards = [card(session) for session in found]
    return [c for c in cards if c.state is SessionState.OPEN or not open_only]


def show_session(ws: Workspace, actor: Actor, ref: DatasetRef, session_id: str) -> SessionCard:
    """Whose it is, what it is based on, what it changes, how large it is and when it ends."""
    actor.require(Role.VIEWER, ref.project)
    return full_card(ws, *load(ws, ref, session_id))


def set_cells(ws: Workspace, actor: Actor, ref: DatasetRef, session_id: str, edits: Sequence[CellEdit]) -> EditResult:
    """Give cells new values, all of them or none: one step that one undo takes back.

    A value that does not fit its column's type is refused (RefusedError, with `details["cells"]`); an expectation
    that fails is noted beside the value.
    """
    return _step(ws, actor, ref, session_id, lambda desk: cells_step(desk, edits))


def add_rows(
    ws: Workspace, actor: Actor, ref: DatasetRef, session_id: str, rows: Sequence[Mapping[str, str | None]]
) -> EditResult:
    """Add rows, each a mapping of column to text. Their row_id follows from the key, as in a file."""
    return _step(ws, actor, ref, session_id, lambda desk: rows_step(desk, rows))


def delete_rows(ws: Workspace, actor: Actor, ref: DatasetRef, session_id: str, row_ids: Sequence[str]) -> EditResult:
    """Delete rows of main, or take back rows that were added here."""
    return _step(ws, actor, ref, session_id, lambda desk: delete_step(desk, row_ids))


def undo(ws: Workspace, actor: Actor, ref: DatasetRef, session_id: str) -> EditResult:
    """Take the last step back."""
    return _step(ws, actor, ref, session_id, _undo)


def redo(ws: Workspace, actor: Actor, ref: DatasetRef, session_id: str) -> EditResult:
    """Do the step again that was taken back last. A new edit ends what can be redone."""
    return _step(ws, actor, ref, session_id, _redo)


def preview(
    ws: Workspace,
    actor: Actor,
    ref: DatasetRef,
    session_id: str,
    *,
    where: Sequence[Filter] = (),
    order: Sequence[Order] = (),
    changed_only: bool = False,
    limit: int = 100,
    offset: int = 0,
) -> LivePage:
    """The rows as the session has them. Filters and order look at the new values."""
    if not 0 <= limit <= MAX_ROWS or offset < 0:
        raise UsageError(f"The limit is 0 to {MAX_ROWS:,}, the offset 0 or more.", "Read in pages.")
    with looking(ws, actor, ref, session_id) as desk:
        net = desk.book.state.net()
    # The query runs without holding the session: its owner goes on editing meanwhile.
    found = page(desk.part, net, Shown(where, order, changed_only, limit, offset))
    shown = found[:limit]
    with desk.book.lock:
        desk.book.remember({row.row_id: row.base for row in shown if row.base is not None})
    others = _owners(_overlaps(ws, desk, {row.row_id for row in shown}))
    rows = tuple(
        LiveRow(
            row.row_id,
            row.change,
            row.values,
            row.old,
            {c: failed for c, e in net.cells.get(row.row_id, {}).items() if (failed := verdict_of(e).failed)},
            others.get(row.row_id, ()),
        )
        for row in shown
    )
    columns = tuple(c.name for c in desk.part.columns)
    return LivePage(rows, columns, desk.session.base_version, offset + limit if len(found) > limit else None)


def session_diff(
    ws: Workspace,
    actor: Actor,
    ref: DatasetRef,
    session_id: str,
    *,
    kinds: Sequence[str] = KINDS[:3],
    limit: int = 100,
    after: str = "",
) -> DiffPage:
    """What the session changes, in the shape of a change request's diff."""
    with looking(ws, actor, ref, session_id) as desk:
        net = desk.book.state.net()
    with as_patch(desk.part, net, desk.spec.key) as sides:
        return diff_sides(sides, Wanted(kinds=tuple(kinds)), limit=limit, after=after)


def who_else(
    ws: Workspace, actor: Actor, ref: DatasetRef, session_id: str, row_ids: Sequence[str] | None = None
) -> list[Overlap]:
    """Other open sessions that change the same rows: those this session changes, or those named."""
    with looking(ws, actor, ref, session_id) as desk:
        wanted = set(desk.book.state.kinds() if row_ids is None else row_ids)
    return _overlaps(ws, desk, wanted)


def _step(ws: Workspace, actor: Actor, ref: DatasetRef, session_id: str, plan: Callable[[Desk], Step]) -> EditResult:
    """Plan a step on what the session is now, and append it; if somebody else was faster, look again."""
    outpaced: OutpacedError | None = None
    for _ in range(_TRIES):
        with editing(ws, actor, ref, session_id) as desk:
            step = plan(desk)
            try:
                if step.drafts:
                    desk.book.append(step.drafts, actor.name)
            except OutpacedError as error:
                outpaced = error
                continue
            state = desk.book.state
            return EditResult(
                session_id,
                step.row_ids,
                step.cells,
                state.counts(),
                can_undo=state.last_done is not None,
                can_redo=state.last_undone is not None,
            )
    assert outpaced is not None
    raise outpaced


def _undo(desk: Desk) -> Step:
    last = desk.book.state.last_done
    if last is None:
        raise StateError("There is nothing to undo.", f"See: oreo live show {desk.session.ref} {desk.session.id}")
    rows = (edit.row_id for edit in desk.book.state.done[last])
    return Step((Draft(None, UNDONE, new_value=last),), row_ids=tuple(dict.fromkeys(r for r in rows if r)))


def _redo(desk: Desk) -> Step:
    last = desk.book.state.last_undone
    if last is None:
        raise StateError("There is nothing to redo.", "Only what was undone last, before any new edit, can be redone.")
    rows = (edit.row_id for edit in desk.book.state.undone[last])
    return Step((Draft(None, REDONE, new_value=last),), row_ids=tuple(dict.fromkeys(r for r in rows if r)))


def _overlaps(ws: Workspace, desk: Desk, row_ids: set[str]) -> list[Overlap]:
    found: list[Overlap] = []
    for other in list_live_sessions(ws.catalog, desk.session.ref, states=(SessionState.OPEN,)):
        if other.id == desk.session.id or card(other).state is not SessionState.OPEN:
            continue
        try:
            with at_hand(ws, other, desk.spec) as theirs:
                net = theirs.book.state.net()
        except NotFoundError:
            continue  # it was discarded while we looked
        found += [
            Overlap(row_id, tuple(sorted(net.cells[row_id])) if kind == UPDATED else (), other.owner, other.id)
            for row_id, kind in sorted(net.kinds.items())
            if row_id in row_ids
        ]
    return found


def _owners(overlaps: Sequence[Overlap]) -> dict[str, tuple[str, ...]]:
    owners: dict[str, dict[str, None]] = {}
    for overlap in overlaps:
        owners.setdefault(overlap.row_id, {})[overlap.owner] = None
    return {row_id: tuple(names) for row_id, names in owners.items()}
