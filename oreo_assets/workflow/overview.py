"""Datasets at a glance: what happened last, what is open, what fails, how they grow, and what waits for whom."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import func, select

from ..catalog import Transaction
from ..catalog.change_requests import editors_of, list_change_requests, valid_approvals
from ..catalog.datasets import list_datasets
from ..catalog.models import ChangeRequest, ValidationRun
from ..catalog.users import EVERYWHERE, Actor
from ..lake import log
from ..lake.log import Commit
from ..lake.read import TableAt
from ..lake.statistics import ColumnStatistics, column_statistics
from ..model.ids import DatasetRef
from ..model.states import CRState, Role
from ..quality.outcomes import CheckStatus
from .query import resolve_version
from .review import summarize
from .workspace import Workspace

_GROWS = ("numTargetRowsInserted", "num_target_rows_inserted", "numOutputRows", "num_added_rows")
_SHRINKS = ("numTargetRowsDeleted", "num_target_rows_deleted", "numDeletedRows", "num_deleted_rows")
"""What Spark and delta-rs call it."""
_SAME_ROWS = ("OPTIMIZE", "VACUUM START", "VACUUM END", "SET TBLPROPERTIES", "ADD COLUMNS", "ADD CONSTRAINT")


@dataclass(frozen=True)
class RowCount:
    """How many rows main had from a moment on."""

    version: int
    at: datetime
    rows: int


@dataclass(frozen=True)
class DatasetHealth:
    """One dataset at a glance."""

    ref: DatasetRef
    description: str
    version: int | None
    row_count: int | None
    bytes: int | None
    last: Commit | None
    open_change_requests: int
    in_review: int
    failing_checks: tuple[str, ...]
    """Checks that failed in the newest validation run."""
    row_counts: tuple[RowCount, ...]


@dataclass(frozen=True)
class Waiting:
    """A change request that somebody has to do something about, and what."""

    change_request: dict[str, Any]
    wanted: str


@dataclass(frozen=True)
class CheckedRun:
    """One validation run of a dataset in short."""

    run_id: str
    change_request_id: str
    finished_at: datetime
    blocks: bool
    statuses: dict[str, str]
    """Check by check: passed, failed or error."""
    severities: dict[str, str]


def overview(ws: Workspace, actor: Actor) -> list[DatasetHealth]:
    """All datasets of the actor's projects."""
    mine = [(d, m) for d, m in list_datasets(ws.catalog) if actor.role_in(d.project)]
    with ws.catalog.read() as tx:
        open_ones = _open_by_dataset(tx)
        newest = _newest_runs(tx)
    return [
        DatasetHealth(
            ref=dataset.ref,
            description=dataset.spec.get("description", ""),
            version=meta.delta_version if meta else None,
            row_count=meta.row_count if meta else None,
            bytes=meta.bytes if meta else None,
            last=next((c for c in commits if c.metadata), None),
            open_change_requests=sum(open_ones.get(dataset.ref, Counter()).values()),
            in_review=open_ones.get(dataset.ref, Counter())[CRState.IN_REVIEW],
            failing_checks=_failing(newest.get(dataset.ref)),
            row_counts=tuple(row_counts(commits, meta.row_count)) if meta else (),
        )
        for dataset, meta in mine
        for commits in (_commits(ws, dataset.ref),)
    ]


def waits_for(ws: Workspace, actor: Actor) -> list[Waiting]:
    """What the actor is to do next: review what others sent, and mend what they sent themselves."""
    mine = None if EVERYWHERE in actor.grants else list(actor.grants)
    found = list_change_requests(ws.catalog, None, [s for s in CRState if s.is_open], projects=mine, limit=500)
    waiting = []
    with ws.catalog.read() as tx:
        for cr in found:
            if wanted := _wanted(tx, actor, cr):
                waiting.append(Waiting(summarize(cr), wanted))
    return waiting


def checked_runs(ws: Workspace, actor: Actor, ref: DatasetRef, limit: int = 50) -> list[CheckedRun]:
    """The newest validation runs of a dataset, the newest first."""
    ws.spec(ref)
    actor.require(Role.VIEWER, ref.project)
    query = (
        select(ValidationRun)
        .where(ValidationRun.project == ref.project, ValidationRun.dataset == ref.dataset)
        .order_by(ValidationRun.id.desc())
        .limit(limit)
    )
    with ws.catalog.read() as tx:
        return [
            CheckedRun(
                run.id,
                run.change_request_id,
                run.finished_at,
                run.blocks,
                {c["name"]: c["status"] for c in run.summary["checks"]},
                {c["name"]: c["severity"] for c in run.summary["checks"]},
            )
            for run in tx.scalars(query)
        ]


def statistics(ws: Workspace, actor: Actor, ref: DatasetRef, version: int | None = None) -> Sequence[ColumnStatistics]:
    """What is in each column of main."""
    ws.spec(ref)
    actor.require(Role.VIEWER, ref.project)
    uri = ws.layout(ref).main
    return column_statistics(TableAt("main", uri, resolve_version(uri, version, None)))


def row_counts(commits: Iterable[Commit], rows_now: int) -> list[RowCount]:
    """Rows after each commit, the oldest first: counted back from now by what each commit says of itself.

    Where a commit does not say it, the line begins after it.
    """
    found, rows = [], rows_now
    for commit in commits:
        found.append(RowCount(commit.version, commit.timestamp, rows))
        change = _rows_added(commit)
        if change is None or rows - change < 0:
            break
        rows -= change
    return found[::-1]


def _rows_added(commit: Commit) -> int | None:
    if commit.operation in _SAME_ROWS:
        return 0
    if commit.operation not in ("MERGE", "WRITE", "DELETE", "UPDATE"):
        return None
    grown, shrunk = (
        next((int(commit.metrics[name]) for name in names if name in commit.metrics), 0) for names in (_GROWS, _SHRINKS)
    )
    return grown - shrunk


def _commits(ws: Workspace, ref: DatasetRef, limit: int = 100) -> list[Commit]:
    uri = ws.layout(ref).main
    return log.commits(uri, limit) if log.table_exists(uri) else []


def _open_by_dataset(tx: Transaction) -> dict[DatasetRef, Counter[CRState]]:
    query = (
        select(ChangeRequest.project, ChangeRequest.dataset, ChangeRequest.state, func.count())
        .where(ChangeRequest.state.in_([s for s in CRState if s.is_open]))
        .group_by(ChangeRequest.project, ChangeRequest.dataset, ChangeRequest.state)
    )
    found: dict[DatasetRef, Counter[CRState]] = {}
    for project, dataset, state, number in tx.execute(query):
        found.setdefault(DatasetRef(project, dataset), Counter())[state] = number
    return found


def _newest_runs(tx: Transaction) -> dict[DatasetRef, ValidationRun]:
    newest = select(func.max(ValidationRun.id)).group_by(ValidationRun.project, ValidationRun.dataset)
    return {run.ref: run for run in tx.scalars(select(ValidationRun).where(ValidationRun.id.in_(newest)))}


def _failing(run: ValidationRun | None) -> tuple[str, ...]:
    if run is None:
        return ()
    return tuple(c["name"] for c in run.summary["checks"] if c["status"] != CheckStatus.PASSED)


def _wanted(tx: Transaction, actor: Actor, cr: ChangeRequest) -> str:
    role = actor.role_in(cr.project)
    own = cr.author == actor.name
    if cr.state is CRState.IN_REVIEW and not own and role and role.includes(Role.REVIEWER):
        decided = actor.name in editors_of(tx, cr.id) or any(
            a.approver == actor.name for a in valid_approvals(tx, cr.id)
        )
        return "" if decided else "review"
    if cr.state is CRState.CONFLICTED and (own or (role and role.includes(Role.REVIEWER))):
        return "settle conflicts"
    return "try again or withdraw" if cr.state is CRState.FAILED and own else ""
