"""Conflicts and partial acceptance: a reviewer settles cells or rows, and the change request is staged anew
on main as it is now."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..catalog import Transaction, audit
from ..catalog.change_requests import add_editor, editors_of, get_change_request, transition, void_approvals
from ..catalog.models import ChangeRequest
from ..catalog.users import Actor
from ..lake import log
from ..lake.conflicts import Conflict, find_conflicts
from ..lake.diff import Wanted, changed_rows
from ..lake.read import TableAt, export_parquet
from ..lake.rebase import Choice, Take
from ..model.errors import StateError, UsageError
from ..model.filters import Filter
from ..model.ids import DatasetRef
from ..model.states import CRState, Mode, Role
from .intake import UploadOptions, UploadResult, upload
from .workspace import Workspace

MAX_ROWS = 100_000


@dataclass(frozen=True)
class ConflictReport:
    """What stands in the way: main moved from `base_version` to `main_version`, and both changed these."""

    base_version: int
    main_version: int
    conflicts: tuple[Conflict, ...]

    def as_json(self) -> dict[str, Any]:
        return {
            "base_version": self.base_version,
            "main_version": self.main_version,
            "conflicts": [c.as_json() for c in self.conflicts],
        }


def conflicts(ws: Workspace, actor: Actor, ref: DatasetRef, cr_id: str) -> ConflictReport:
    """The cells and rows that both the change request and main changed since its base."""
    actor.require(Role.VIEWER, ref.project)
    with ws.catalog.read() as tx:
        cr = get_change_request(tx, ref, cr_id)
    return _report(ws, cr)


def resolve(
    ws: Workspace,
    actor: Actor,
    ref: DatasetRef,
    cr_id: str,
    take: Take | None,
    cells: Mapping[tuple[str, str | None], Take] | None = None,
) -> ChangeRequest:
    """Settle every conflict, in bulk and cell by cell, and send the result through the pipeline again.

    Who resolves becomes an editor, and so may not approve. Earlier approvals are void.
    """
    actor.require(Role.CONTRIBUTOR, ref.project)
    with ws.catalog.read() as tx:
        cr = get_change_request(tx, ref, cr_id)
    if cr.state is not CRState.CONFLICTED:
        raise StateError(
            f"Change request {cr_id} is {cr.state}; it has no conflicts to resolve.",
            f"See: oreo cr show {ref} {cr_id}",
        )
    report = _report(ws, cr)
    choices = _choices(report.conflicts, take, dict(cells or {}))
    with ws.catalog.write() as tx:
        cr = get_change_request(tx, ref, cr_id)
        _stage_anew(tx, cr, actor, choices, report.main_version, "conflicts resolved")
        audit.record(
            tx,
            actor.name,
            "change_request.resolve",
            ref,
            cr_id,
            main_version=report.main_version,
            choices=[[c.row_id, c.column, c.take] for c in choices[:1000]],
            total=len(choices),
        )
    return cr


@dataclass(frozen=True)
class PartRejected:
    """The change request without the rejected rows, and the one that carries them on."""

    change_request: ChangeRequest
    follow_up: UploadResult
    rows: int


def reject_rows(
    ws: Workspace,
    actor: Actor,
    ref: DatasetRef,
    cr_id: str,
    reason: str,
    *,
    row_ids: Sequence[str] = (),
    where: Sequence[Filter] = (),
) -> PartRejected:
    """Let the rest go on and send the rejected rows back, as a follow-up change request of the same author."""
    actor.require(Role.REVIEWER, ref.project)
    if not reason.strip():
        raise UsageError("A rejection needs a reason.", "Give one with --reason.")
    if not row_ids and not where:
        raise UsageError("Which rows?", "Name them with --row ROW_ID or --where COLUMN=OP.VALUE.")
    with ws.catalog.read() as tx:
        cr = get_change_request(tx, ref, cr_id)
    if cr.state is not CRState.IN_REVIEW:
        raise StateError(
            f"Change request {cr_id} is {cr.state}; rows are rejected while it is in review.",
            f"See: oreo cr show {ref} {cr_id}",
        )
    wanted = Wanted(row_ids=frozenset(row_ids) if row_ids else None, where=tuple(where))
    rejected = changed_rows(ws.change_set(cr), wanted, limit=MAX_ROWS + 1)
    _check_part(cr, rejected)
    follow_up = _follow_up(ws, cr, rejected, reason)
    choices = [Choice(row_id, None, Take.THEIRS) for row_id in rejected]
    with ws.catalog.write() as tx:
        cr = get_change_request(tx, ref, cr_id)
        main_now = log.current_version(ws.layout(ref).main)
        _stage_anew(tx, cr, actor, choices, main_now, f"{len(rejected)} rows rejected: {reason}")
        audit.record(
            tx,
            actor.name,
            "change_request.reject_rows",
            ref,
            cr_id,
            reason=reason,
            rows=rejected[:1000],
            total=len(rejected),
            follow_up=follow_up.change_request_id,
        )
    return PartRejected(cr, follow_up, len(rejected))


def _report(ws: Workspace, cr: ChangeRequest) -> ConflictReport:
    change = ws.change_set(cr)
    if not log.table_exists(change.staged.uri):
        raise StateError(f"Change request {cr.id} is {cr.state}; what was staged for it is gone.")
    main_now = log.current_version(change.main.uri)
    by = ws.spec(cr.ref).policies.conflicts
    found = find_conflicts(change, main_now, by) if main_now != change.main.version else []
    assert change.main.version is not None
    return ConflictReport(change.main.version, main_now, tuple(found))


def _choices(found: Iterable[Conflict], take: Take | None, cells: dict[tuple[str, str | None], Take]) -> list[Choice]:
    """One choice for each conflict: the cell's own, else its row's, else the bulk one."""
    choices, open_cells = [], []
    known = set()
    for conflict in found:
        place = (conflict.row_id, conflict.column)
        known |= {place, (conflict.row_id, None)}
        chosen = cells.get(place) or cells.get((conflict.row_id, None)) or take
        if chosen is None:
            open_cells.append(_place(*place))
        else:
            choices.append(Choice(conflict.row_id, conflict.column, chosen))
    if unknown := [place for place in cells if place not in known]:
        raise UsageError(
            f"{', '.join(_place(*p) for p in unknown[:5])}: no conflict there.", "See: oreo cr conflicts P/D CR"
        )
    if open_cells:
        raise UsageError(
            f"Not settled: {', '.join(open_cells[:5])}{' …' if len(open_cells) > 5 else ''}.",
            "Settle the rest with --take ours or --take theirs.",
        )
    return choices


def _stage_anew(
    tx: Transaction, cr: ChangeRequest, actor: Actor, choices: Sequence[Choice], main_now: int, why: str
) -> None:
    """Note the choices; the pipeline stages by them. What they refer to is pinned by version."""
    add_editor(tx, cr, actor.name)
    void_approvals(tx, cr, actor.name, why)
    transition(
        tx,
        cr,
        CRState.CONVERTED,
        actor=actor.name,
        details={"why": why},
        reason=None,
        attempts=cr.attempts + 1,
        rebase={
            "main_version": main_now,
            "base_version": cr.base_version,
            "staging_version": cr.staging_version,
            "choices": [[c.row_id, c.column, c.take] for c in choices],
        },
    )


def _check_part(cr: ChangeRequest, rejected: Sequence[str]) -> None:
    counts = cr.counts or {}
    changed = sum(counts.get(kind) or 0 for kind in ("inserted", "updated", "deleted"))
    if not rejected:
        raise UsageError("No row that this change request changes matches.", f"See: oreo cr diff {cr.ref} {cr.id}")
    if len(rejected) > MAX_ROWS:
        raise UsageError(f"More than {MAX_ROWS:,} rows match.", "Reject the change request as a whole.")
    if len(rejected) >= changed:
        raise StateError(
            "That would reject every row it changes.",
            f"Reject it as a whole: oreo cr reject {cr.ref} {cr.id} --reason …",
        )


def _follow_up(ws: Workspace, cr: ChangeRequest, rejected: Sequence[str], reason: str) -> UploadResult:
    """The rejected rows as a file of their own, sent in the author's name with the reason as its note."""
    change = ws.change_set(cr)
    mode = Mode.UPSERT if cr.mode is Mode.REPLACE else cr.mode
    with tempfile.TemporaryDirectory(prefix="oreo-follow-up-") as folder:
        file = Path(folder, f"rejected-from-{cr.id}.parquet")
        staged = TableAt("staged", change.staged.uri, change.staged.version)
        export_parquet(staged, file, row_ids=rejected)
        options = UploadOptions(
            mode=mode,
            note=f"Rejected from {cr.id}: {reason}",
            keeps_row_id=True,
            follows=cr.id,
            base_version=cr.base_version if mode is Mode.PATCH else None,
        )
        author = Actor(cr.author, {cr.project: Role.CONTRIBUTOR})

        def opened(tx: Transaction, follow_up: ChangeRequest) -> None:
            """Who had a hand in these rows still cannot approve them."""
            for editor in editors_of(tx, cr.id):
                add_editor(tx, follow_up, editor)

        return upload(ws, author, cr.ref, file, options, opened)


def _place(row_id: str, column: str | None) -> str:
    return f"{row_id}:{column}" if column else f"row {row_id}"
