"""Keeping datasets in shape: compaction, vacuum, checkpoints, and the end of what has a TTL."""

from __future__ import annotations

import math
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from pathlib import Path
from typing import Any

from sqlalchemy import select

from ..catalog import audit
from ..catalog.change_requests import get_change_request, list_change_requests, transition, void_approvals
from ..catalog.datasets import list_datasets, spec_of
from ..catalog.live_sessions import list_live_sessions
from ..catalog.models import ChangeRequest, LiveSession, Tag, Upload
from ..catalog.users import Actor
from ..lake import log
from ..lake import maintenance as lake
from ..model.errors import OreoError, StateError
from ..model.ids import DatasetRef
from ..model.spec import DatasetSpec
from ..model.states import CRState, Role
from .datasets import sync_meta
from .live_session import end_session, outlived
from .live_types import SessionState
from .staging import delete_staging
from .workspace import Workspace

EXPIRES = (CRState.IN_REVIEW, CRState.CONFLICTED, CRState.FAILED)


class Chore(StrEnum):
    """What maintenance can do."""

    OPTIMIZE = "optimize"
    VACUUM = "vacuum"
    CHECKPOINT = "checkpoint"
    CLEANUP = "cleanup"


@dataclass(frozen=True)
class ChoreReport:
    """What a chore did to a dataset, or (dry run) would do."""

    ref: DatasetRef
    chore: Chore
    dry_run: bool
    summary: str
    details: dict[str, Any] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        return {
            "dataset": str(self.ref),
            "chore": self.chore,
            "dry_run": self.dry_run,
            "summary": self.summary,
            **self.details,
        }


@dataclass(frozen=True)
class MaintenanceReport:
    """What came of some chores; with an `error`, those before it are done and those after it are not."""

    dry_run: bool
    reports: tuple[ChoreReport, ...]
    error: OreoError | None = None

    def as_json(self) -> dict[str, Any]:
        return {"dry_run": self.dry_run, "reports": [report.as_json() for report in self.reports]}


def maintain_all(
    ws: Workspace,
    actor: Actor,
    chores: Sequence[Chore],
    ref: DatasetRef | None = None,
    *,
    dry_run: bool = False,
    tell: Callable[[Chore], None] | None = None,
) -> MaintenanceReport:
    """Do chores one after the other, up to the first that fails. `tell` hears of each before it begins."""
    reports: list[ChoreReport] = []
    for chore in chores:
        if tell:
            tell(chore)
        try:
            reports += maintain(ws, actor, chore, ref, dry_run=dry_run)
        except OreoError as problem:
            if not reports:
                raise
            return MaintenanceReport(dry_run, tuple(reports), problem)
    return MaintenanceReport(dry_run, tuple(reports))


def maintain(
    ws: Workspace, actor: Actor, chore: Chore, ref: DatasetRef | None = None, *, dry_run: bool = False
) -> list[ChoreReport]:
    """Do a chore for one dataset, or for all that the actor may administer."""
    specs = [ws.spec(ref)] if ref else [spec_of(d) for d, _ in list_datasets(ws.catalog)]
    if ref:
        actor.require(Role.ADMIN, ref.project)
    mine = [s for s in specs if (role := actor.role_in(s.project)) and role.includes(Role.ADMIN)]
    return [_CHORES[chore](ws, actor, spec, dry_run) for spec in mine]


def _optimize(ws: Workspace, actor: Actor, spec: DatasetSpec, dry_run: bool) -> ChoreReport:
    uri = ws.layout(spec.ref).main
    files, size = log.file_facts(uri)
    by = ", ".join(spec.cluster_columns) or "size alone"
    if dry_run:
        return ChoreReport(
            spec.ref,
            Chore.OPTIMIZE,
            True,
            f"would compact {files:,} files by {by}",
            {"files": files, "bytes": size},
        )
    with ws.sole_writer(spec.ref), ws.isolated_spark() as spark:
        result = lake.optimize(spark, spec, uri)
        _record(ws, actor, spec.ref, Chore.OPTIMIZE, removed=result.files_removed, added=result.files_added)
    return ChoreReport(
        spec.ref,
        Chore.OPTIMIZE,
        False,
        f"{result.files_removed:,} files became {result.files_added:,}, by {by}",
        {"files_removed": result.files_removed, "files_added": result.files_added, "version": result.version},
    )


def _vacuum(ws: Workspace, actor: Actor, spec: DatasetSpec, dry_run: bool) -> ChoreReport:
    uri, hours, days = ws.layout(spec.ref).main, keep_hours(ws, spec), spec.policies.time_travel_days
    if hours > days * 24:
        # Delta can keep the files of the last so many days, but not those of one older version.
        return ChoreReport(
            spec.ref,
            Chore.VACUUM,
            dry_run,
            f"left alone: a tag or an open change request needs a version of {hours // 24:,} days ago, "
            f"and the time travel is {days:,} days",
            {"files": [], "keep_hours": hours},
        )
    if dry_run:
        files = lake.vacuum(ws.spark(), uri, dry_run=True)
    else:
        with ws.sole_writer(spec.ref):
            files = lake.vacuum(ws.spark(), uri, dry_run=False)
            _record(ws, actor, spec.ref, Chore.VACUUM, deleted=len(files), keep_hours=hours)
    done = "would delete" if dry_run else "deleted"
    return ChoreReport(
        spec.ref,
        Chore.VACUUM,
        dry_run,
        f"{done} {len(files):,} files that no version of the last {days:,} days needs",
        {"files": files, "keep_hours": hours},
    )


def keep_hours(ws: Workspace, spec: DatasetSpec) -> int:
    """How far back vacuum must keep files: the policy, and further for tags and open change requests."""
    hours = spec.policies.time_travel_days * 24
    with ws.catalog.read() as tx:
        versions = list(tx.scalars(select(Tag.version).where(Tag.project == spec.project, Tag.dataset == spec.dataset)))
    versions += [s.base_version for s in list_live_sessions(ws.catalog, spec.ref, states=(SessionState.OPEN,))]
    still_open = [s for s in CRState if s.is_open or s is CRState.MERGING]
    for cr in list_change_requests(ws.catalog, spec.ref, still_open):
        if cr.base_version is not None:
            versions.append(cr.base_version)
    if not versions:
        return hours
    oldest = min(versions)
    commit = next((c for c in log.commits(ws.layout(spec.ref).main) if c.version == oldest), None)
    if commit is None:
        raise StateError(
            f"Version {oldest} of {spec.ref} is still needed, but its commit is no longer in the log.",
            "Close the change requests or tags that need it before vacuuming.",
        )
    age = (datetime.now(UTC) - commit.timestamp).total_seconds() / 3600
    return max(hours, math.ceil(age) + 1)


def _checkpoint(ws: Workspace, actor: Actor, spec: DatasetSpec, dry_run: bool) -> ChoreReport:
    uri = ws.layout(spec.ref).main
    if dry_run:
        return ChoreReport(spec.ref, Chore.CHECKPOINT, True, f"would checkpoint version {log.current_version(uri)}")
    with ws.sole_writer(spec.ref):
        version = lake.checkpoint(uri)
        _record(ws, actor, spec.ref, Chore.CHECKPOINT, version=version)
    return ChoreReport(spec.ref, Chore.CHECKPOINT, False, f"version {version} checkpointed", {"version": version})


def _cleanup(ws: Workspace, actor: Actor, spec: DatasetSpec, dry_run: bool) -> ChoreReport:
    """End what has outlived its TTL: change requests nobody decided on, old imports, old edit sessions."""
    now = datetime.now(UTC)
    expired = [
        cr
        for cr in list_change_requests(ws.catalog, spec.ref, (*EXPIRES, CRState.REFUSED))
        if now - cr.updated_at > timedelta(days=spec.policies.change_request_ttl_days)
        # One that was refused has ended already; all that is left of it are its staged rows.
        and (cr.state in EXPIRES or Path(ws.layout(cr.ref).staging(cr.id)).exists())
    ]
    imports = _orphaned_imports(ws, spec, now)
    sessions, leftovers = outlived(ws, spec, now)
    if not dry_run:
        expired = [cr for cr in expired if _expire(ws, actor, cr)]
        sessions = [session for session in sessions if _expire_session(ws, actor, session)]
        for folder in [*imports, *leftovers]:
            shutil.rmtree(folder, ignore_errors=True)
        if expired or imports or sessions or leftovers:
            _record(
                ws,
                actor,
                spec.ref,
                Chore.CLEANUP,
                expired=[cr.id for cr in expired],
                imports=[p.name for p in imports],
                sessions=[*(s.id for s in sessions), *(p.name for p in leftovers)],
            )
    done = "would end" if dry_run else "ended"
    return ChoreReport(
        spec.ref,
        Chore.CLEANUP,
        dry_run,
        f"{done} {len(expired)} change requests, {len(imports)} imports, "
        f"{len(sessions) + len(leftovers)} edit sessions",
        {
            "change_requests": [cr.id for cr in expired],
            "imports": [p.name for p in imports],
            "live_sessions": [*(s.id for s in sessions), *(p.name for p in leftovers)],
        },
    )


_CHORES: dict[Chore, Callable[[Workspace, Actor, DatasetSpec, bool], ChoreReport]] = {
    Chore.OPTIMIZE: _optimize,
    Chore.VACUUM: _vacuum,
    Chore.CHECKPOINT: _checkpoint,
    Chore.CLEANUP: _cleanup,
}


def _expire(ws: Workspace, actor: Actor, cr: ChangeRequest) -> bool:
    """End it; False if somebody decided on it while we looked."""
    if cr.state in EXPIRES:
        with ws.catalog.write() as tx:
            fresh = get_change_request(tx, cr.ref, cr.id)
            if fresh.state not in EXPIRES:
                return False
            void_approvals(tx, fresh, actor.name, "expired")
            transition(tx, fresh, CRState.EXPIRED, actor=actor.name, reason="nobody decided on it in time")
    delete_staging(ws, cr)
    return True


def _expire_session(ws: Workspace, actor: Actor, session: LiveSession) -> bool:
    """End it; False if somebody submitted or discarded it while we looked."""
    was_open = session.state == SessionState.OPEN
    with ws.alone_with(session.id):
        try:
            if was_open:
                end_session(ws, session, SessionState.EXPIRED, actor, "its time was up")
            else:
                end_session(ws, session, SessionState.CLOSED, actor, "its change request has ended")
        except StateError:
            return False
    return True


def _orphaned_imports(ws: Workspace, spec: DatasetSpec, now: datetime) -> list[Path]:
    """Imports past their TTL whose change request has ended (or that never had one)."""
    old = _older_than(ws.layout(spec.ref).imports, now - timedelta(days=spec.policies.imports_ttl_days))
    needed_by = [s for s in CRState if s.is_open or s is CRState.MERGING]
    with ws.catalog.read() as tx:
        needed = set(
            tx.scalars(
                select(Upload.id)
                .join(ChangeRequest, ChangeRequest.upload_id == Upload.id)
                .where(ChangeRequest.state.in_(needed_by))
            )
        )
    return [path for path in old if path.name not in needed]


def _older_than(folder: Path, moment: datetime) -> list[Path]:
    if not folder.is_dir():
        return []
    return [p for p in sorted(folder.iterdir()) if datetime.fromtimestamp(p.stat().st_mtime, UTC) < moment]


def _record(ws: Workspace, actor: Actor, ref: DatasetRef, chore: Chore, **details: Any) -> None:
    with ws.catalog.write() as tx:
        sync_meta(ws, tx, ref)
        audit.record(tx, actor.name, f"maintenance.{chore}", ref, **details)
