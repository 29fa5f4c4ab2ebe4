"""Maintenance as jobs with schedules, on by default; a dataset's policies can opt it out."""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta

import dagster as dg

from ..catalog.change_requests import list_change_requests
from ..catalog.datasets import list_datasets, spec_of
from ..catalog.users import SYSTEM
from ..model.errors import BusyError, OreoError
from ..model.spec import DatasetSpec
from ..model.states import CRState
from ..workflow.maintenance import Chore, ChoreReport, maintain
from ..workflow.workspace import Workspace
from .datasets import partitions_name
from .resources import OreoResource

_CRON = {
    Chore.OPTIMIZE: ("15 2 * * *", "Compacts main of every dataset, daily."),
    Chore.CHECKPOINT: ("45 3 * * *", "Checkpoints the logs, daily."),
    Chore.CLEANUP: ("0 4 * * *", "Ends what has outlived its TTL, daily."),
    Chore.VACUUM: ("30 4 * * 0", "Deletes files that no kept version needs, weekly."),
}


def build_maintenance() -> tuple[list[dg.JobDefinition], list[dg.ScheduleDefinition]]:
    jobs = {chore: _job(chore) for chore in Chore}
    schedules = [
        dg.ScheduleDefinition(
            name=f"{chore}_schedule",
            job=job,
            cron_schedule=_CRON[chore][0],
            execution_timezone="UTC",
            default_status=dg.DefaultScheduleStatus.RUNNING,
            description=_CRON[chore][1],
        )
        for chore, job in jobs.items()
    ]
    return list(jobs.values()), schedules


def wants(spec: DatasetSpec, chore: Chore) -> bool:
    """Whether a dataset's policies let the schedule do this chore."""
    if chore is Chore.OPTIMIZE:
        return spec.policies.optimize == "daily"
    if chore is Chore.VACUUM:
        return spec.policies.vacuum == "weekly"
    return True


def old_partitions(keys: Iterable[str], ended: Mapping[str, datetime], spec: DatasetSpec, now: datetime) -> list[str]:
    """Partitions of change requests that ended long ago; what they did stays in the history and the audit trail."""
    age = timedelta(days=spec.policies.change_request_ttl_days)
    return [key for key in keys if key in ended and now - ended[key] > age]


def _prune_partitions(context: dg.OpExecutionContext, ws: Workspace, spec: DatasetSpec) -> None:
    name = partitions_name(spec.ref)
    states = [s for s in CRState if s.is_final]
    ended = {cr.id: cr.updated_at for cr in list_change_requests(ws.catalog, spec.ref, states, limit=100_000)}
    keys = context.instance.get_dynamic_partitions(name)
    for key in old_partitions(keys, ended, spec, datetime.now(UTC)):
        context.instance.delete_dynamic_partition(name, key)


def _job(chore: Chore) -> dg.JobDefinition:
    @dg.op(name=f"{chore}_datasets", description=_CRON[chore][1])
    def work(context: dg.OpExecutionContext, oreo: OreoResource) -> None:
        ws = oreo.workspace
        failed: list[str] = []
        reports: list[ChoreReport] = []
        for spec in [spec_of(d) for d, _ in list_datasets(ws.catalog)]:
            if not wants(spec, chore):
                continue
            try:
                reports += maintain(ws, SYSTEM, chore, spec.ref)
                if chore is Chore.CLEANUP:
                    _prune_partitions(context, ws, spec)
                context.log.info(f"{spec.ref}: {reports[-1].summary}")
            except BusyError as error:
                context.log.info(f"{spec.ref}: left for the next time. {error.message}")
            except OreoError as error:
                # One dataset's trouble must not keep the others from their turn.
                failed.append(f"{spec.ref}: {error.message}")
        context.add_output_metadata({"done": [f"{r.ref}: {r.summary}" for r in reports]})
        if failed:
            raise dg.Failure("; ".join(failed))

    @dg.job(name=f"{chore}_job", description=_CRON[chore][1], executor_def=dg.in_process_executor)
    def job() -> None:
        work()

    return job
