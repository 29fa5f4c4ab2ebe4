"""Looking at what a change request changes: the same figures for page, API and CLI, before and after its merge."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from ..catalog.change_requests import get_change_request
from ..catalog.models import ChangeRequest
from ..catalog.users import Actor
from ..lake import log
from ..lake.conflicts import find_conflicts
from ..lake.diff import KINDS, ChangeSet, CommittedChange, DiffPage, Wanted, diff
from ..model.errors import NotFoundError, StateError, UsageError
from ..model.filters import Filter
from ..model.ids import DatasetRef
from ..model.states import Role
from .validation import load_run
from .workspace import Workspace

MAX_PAGE = 100_000
_CONFLICTS_LOOKED_AT = 10_000


def review_diff(
    ws: Workspace,
    actor: Actor,
    ref: DatasetRef,
    cr_id: str,
    *,
    kinds: Sequence[str] = KINDS[:3],
    columns: Sequence[str] = (),
    check: str | None = None,
    in_conflict: bool = False,
    where: Sequence[Filter] = (),
    all_columns: bool = False,
    limit: int = 100,
    after: str = "",
) -> DiffPage:
    """What the change request changes: all counts and columns, and a page of the rows that are asked for.

    `columns`: rows in which one of them changes. `check`: rows that failed it. `in_conflict`: rows that main
    changed too. `where`: on the new values. All of them together. A row has its changed cells, or all.
    """
    if not 1 <= limit <= MAX_PAGE:
        raise UsageError(f"The limit is 1 to {MAX_PAGE:,}.", "Read in pages.")
    actor.require(Role.VIEWER, ref.project)
    with ws.catalog.read() as tx:
        cr = get_change_request(tx, ref, cr_id)
    change = _compared(ws, cr)
    chosen: list[_Chosen] = []
    if check is not None:
        chosen.append(_failed(ws, cr, check))
    if in_conflict:
        chosen.append(_conflicting(ws, cr, change))
    wanted = Wanted(
        kinds=tuple(kinds),
        columns=tuple(columns),
        row_ids=frozenset.intersection(*(rows for rows, _ in chosen)) if chosen else None,
        where=tuple(where),
    )
    page = diff(change, wanted, all_columns=all_columns, limit=limit, after=after)
    if isinstance(change, CommittedChange):
        # A commit does not tell how many rows of the file were in main as they are; the change request does.
        page = replace(page, counts=replace(page.counts, unchanged=(cr.counts or {}).get("unchanged") or 0))
    return replace(page, sampled=page.sampled or any(capped for _, capped in chosen))


def pinned_change(ws: Workspace, actor: Actor, ref: DatasetRef, cr_id: str) -> ChangeSet | CommittedChange:
    """What a diff compares, by version: a reader who has seen it need not be sent it again."""
    actor.require(Role.VIEWER, ref.project)
    with ws.catalog.read() as tx:
        cr = get_change_request(tx, ref, cr_id)
    return _compared(ws, cr)


def kinds_of(words: Iterable[str]) -> list[str]:
    """The kinds of change that are asked for (`updated`, `inserted,deleted`); all that change something if none."""
    kinds = [kind.strip() for word in words for kind in word.split(",") if kind.strip()]
    if unknown := [kind for kind in kinds if kind not in KINDS]:
        raise UsageError(f"{unknown[0]!r} is not a kind of change.", f"Use {', '.join(KINDS)}.")
    return kinds or list(KINDS[:3])


_Chosen = tuple[frozenset[str], bool]
"""Ids of rows, and whether there are more of them than are known."""


def _compared(ws: Workspace, cr: ChangeRequest) -> ChangeSet | CommittedChange:
    """What is staged against its base; once merged, both sides of the commit, as staging is deleted then."""
    if cr.merged_version is not None:
        return CommittedChange(ws.layout(cr.ref).main, cr.merged_version)
    change = ws.change_set(cr)
    if not log.table_exists(change.staged.uri):
        raise StateError(
            f"Change request {cr.id} is {cr.state}; what was staged for it is gone.",
            f"See why it ended: oreo cr show {cr.ref} {cr.id}",
        )
    return change


def _failed(ws: Workspace, cr: ChangeRequest, check: str) -> _Chosen:
    run = load_run(ws, cr)
    if run is None:
        raise NotFoundError(
            f"Change request {cr.id} is {cr.state} and has not been checked.",
            f"See: oreo cr show {cr.ref} {cr.id}",
        )
    outcome = next((o for o in run.outcomes if o.name == check), None)
    if outcome is None:
        raise UsageError(f"There is no check {check!r}.", f"The checks are {', '.join(o.name for o in run.outcomes)}.")
    return frozenset(row.row_id for row in outcome.failing), outcome.capped


def _conflicting(ws: Workspace, cr: ChangeRequest, change: ChangeSet | CommittedChange) -> _Chosen:
    if isinstance(change, CommittedChange):
        return frozenset(), False  # merged: whatever stood against it has been settled
    main_now = log.current_version(change.main.uri)
    by = ws.spec(cr.ref).policies.conflicts
    found = find_conflicts(change, main_now, by, _CONFLICTS_LOOKED_AT) if main_now != change.main.version else []
    rows = frozenset(c.row_id for c in found)
    return rows, len(rows) >= _CONFLICTS_LOOKED_AT
