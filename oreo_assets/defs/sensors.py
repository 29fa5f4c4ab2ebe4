"""Sensors: uploads are staged, approvals merged, and stuck work recovered, without anyone's help.

What to do is decided by plain functions (below the sensors), tested without Dagster.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import dagster as dg

from ..catalog.change_requests import get_change_request, transition
from ..catalog.datasets import list_datasets
from ..catalog.models import ChangeRequest, Upload
from ..convert.request import RAW_ENDINGS
from ..model.ids import ID_PATTERN, DatasetRef
from ..model.states import CRState
from ..workflow.intake import adopt
from ..workflow.recovery import Step, pending, recover
from ..workflow.workspace import Workspace
from .datasets import DatasetDefs, job_name, partitions
from .resources import OreoResource

CHANGE_REQUEST_TAG = "oreo/change_request"
DROPPED_BY = "file-drop"
MAX_ATTEMPTS = 5
_SETTLED_SECONDS = 2


def build_sensors(datasets: Mapping[DatasetRef, DatasetDefs]) -> list[dg.SensorDefinition]:
    known = frozenset(datasets)

    @dg.sensor(
        name="uploads",
        jobs=[d.jobs[Step.STAGE] for d in datasets.values()],
        minimum_interval_seconds=1,
        default_status=dg.DefaultSensorStatus.RUNNING,
        description="Stages and checks every new upload, and finds files that other programs put into imports/.",
    )
    def uploads(context: dg.SensorEvaluationContext, oreo: OreoResource) -> dg.SensorResult:
        ws = oreo.workspace
        cursor = _adopt_dropped(ws, context.cursor)
        return _request_runs(ws, known, Step.STAGE, cursor)

    @dg.sensor(
        name="approvals",
        jobs=[d.jobs[Step.MERGE] for d in datasets.values()],
        minimum_interval_seconds=1,
        default_status=dg.DefaultSensorStatus.RUNNING,
        description="Merges every change request that has the approvals it needs.",
    )
    def approvals(oreo: OreoResource) -> dg.SensorResult:
        return _request_runs(oreo.workspace, known, Step.MERGE)

    @dg.sensor(
        name="recovery",
        minimum_interval_seconds=30,
        default_status=dg.DefaultSensorStatus.RUNNING,
        description="Finishes or undoes what a crash left half done, and starts again what got stuck.",
    )
    def recovery(context: dg.SensorEvaluationContext, oreo: OreoResource) -> dg.SkipReason:
        ws = oreo.workspace
        done = [str(item) for item in recover(ws)]
        for cr, step in pending(ws):
            run = _last_run(context.instance, cr, step)
            if verdict := judge_stuck(cr.attempts, run, datetime.now(UTC)):
                _requeue(ws, cr, verdict)
                done.append(f"{cr.ref} {cr.id}: {verdict}")
        return dg.SkipReason("; ".join(done) or "Nothing to recover.")

    return [uploads, approvals, recovery]


@dataclass(frozen=True)
class LastRun:
    """How the newest run for a change request's step ended, if it did."""

    finished: bool
    succeeded: bool
    ended_at: datetime | None


def judge_stuck(attempts: int, run: LastRun | None, now: datetime) -> str | None:
    """What to do with a change request that still waits: nothing, `again`, or `give up`."""
    if run is None or not run.finished:
        return None
    if run.ended_at and now - run.ended_at < timedelta(seconds=10):
        return None  # the state may be about to move
    return "give up" if attempts >= MAX_ATTEMPTS else "again"


def find_complete(
    seen: Mapping[str, tuple[int, int]], before: Mapping[str, tuple[int, int]], now: float
) -> tuple[list[str], dict[str, tuple[int, int]]]:
    """Which of the files found (path → size, mtime in ns) are complete, and what to remember of the rest.

    A file is complete when it did not change since the last look and has been left alone for a moment.
    """
    complete = [
        path
        for path, (size, mtime) in seen.items()
        if before.get(path) == (size, mtime) and size > 0 and now - mtime / 1e9 >= _SETTLED_SECONDS
    ]
    return sorted(complete), {path: facts for path, facts in seen.items() if path not in complete}


def plan_runs(waiting: Iterable[tuple[ChangeRequest, Step]], step: Step, known: frozenset[DatasetRef]) -> list[Any]:
    """A run for each waiting change request of this step. The key holds the attempt, so each is asked for once."""
    return [
        dg.RunRequest(
            run_key=f"{step}:{cr.id}:{cr.attempts}",
            job_name=job_name(cr.ref, step),
            partition_key=cr.id,
            tags={CHANGE_REQUEST_TAG: cr.id, "oreo/step": str(step), "oreo/author": cr.author},
        )
        for cr, its_step in waiting
        if its_step is step and cr.ref in known
    ]


def _request_runs(
    ws: Workspace, known: frozenset[DatasetRef], step: Step, cursor: str | None = None
) -> dg.SensorResult:
    waiting = pending(ws)
    runs = plan_runs(waiting, step, known)
    wanted: dict[DatasetRef, list[str]] = {}
    for cr, its_step in waiting:
        if its_step is step and cr.ref in known:
            wanted.setdefault(cr.ref, []).append(cr.id)
    additions = [partitions(ref).build_add_request(ids) for ref, ids in wanted.items()]
    return dg.SensorResult(run_requests=runs, dynamic_partitions_requests=additions, cursor=cursor)


def _adopt_dropped(ws: Workspace, cursor: str | None) -> str:
    before = {path: (facts[0], facts[1]) for path, facts in json.loads(cursor or "{}").items()}
    seen: dict[str, tuple[int, int]] = {}
    owners: dict[str, DatasetRef] = {}
    for dataset, _ in list_datasets(ws.catalog):
        for raw in _unknown_raw_files(ws, dataset.ref):
            facts = raw.stat()
            seen[str(raw)] = (facts.st_size, facts.st_mtime_ns)
            owners[str(raw)] = dataset.ref
    complete, remember = find_complete(seen, before, datetime.now(UTC).timestamp())
    for path in complete:
        adopt(ws, owners[path], Path(path).parent.name, Path(path), DROPPED_BY)
    return json.dumps(remember)


def _unknown_raw_files(ws: Workspace, ref: DatasetRef) -> list[Path]:
    folder = ws.layout(ref).imports
    if not folder.is_dir():
        return []
    found = {p.parent.name: p for p in folder.glob("*/raw.*") if _may_be_upload(p)}
    with ws.catalog.read() as tx:
        return [path for upload_id, path in found.items() if tx.get(Upload, upload_id) is None]


def _may_be_upload(path: Path) -> bool:
    return (
        path.suffix.lstrip(".") in RAW_ENDINGS
        and bool(ID_PATTERN.match(path.parent.name))
        and path.is_file()
        and not path.is_symlink()
    )


def _last_run(instance: dg.DagsterInstance, cr: ChangeRequest, step: Step) -> LastRun | None:
    records = instance.get_run_records(
        dg.RunsFilter(job_name=job_name(cr.ref, step), tags={"dagster/partition": cr.id}), limit=1
    )
    if not records:
        return None
    run = records[0]
    ended = datetime.fromtimestamp(run.end_time, UTC) if run.end_time else None
    return LastRun(run.dagster_run.is_finished, run.dagster_run.is_success, ended)


def _requeue(ws: Workspace, cr: ChangeRequest, verdict: str) -> None:
    with ws.catalog.write() as tx:
        fresh = get_change_request(tx, cr.ref, cr.id)
        if fresh.state is not cr.state:
            return
        if verdict == "give up":
            reason = f"It failed {cr.attempts} times; see its runs in Dagster."
            transition(tx, fresh, CRState.FAILED, actor="system", reason=reason)
        else:
            fresh.attempts += 1
