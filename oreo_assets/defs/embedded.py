"""The pipeline in this process, for when no platform is running: the same assets, the same Dagster records."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import dagster as dg
from dagster._core.execution.plan.objects import StepFailureData
from dagster._core.instance.ref import InstanceRef
from filelock import FileLock

from ..catalog.change_requests import get_change_request
from ..model.errors import DefectError, StateError
from ..model.ids import DatasetRef
from ..settings import Settings
from ..workflow.recovery import NEXT_STEP, Step
from ..workflow.workspace import Workspace
from .build import build_definitions
from .datasets import job_name, partitions_name
from .failures import from_dagster
from .interrupts import noticing_ctrl_c
from .sensors import CHANGE_REQUEST_TAG

_NO_CAPTURE = {"module": "dagster._core.storage.noop_compute_log_manager", "class": "NoOpComputeLogManager"}
_LEAVE_OUTPUT_ALONE = {"compute_logs": _NO_CAPTURE}
"""Dagster would send what this process prints through files, a spinner too, by two more processes a step."""
INSTANCE_FILE = Path(__file__).parent / "dagster.yaml"


def run_step(ws: Workspace, ref: DatasetRef, cr_id: str, step: Step) -> None:
    """Run the job of one step for one change request, in this process, and record it like any other run.

    What became of the change request is in the catalog; an error is raised only if the run itself broke.
    """
    with ws.catalog.read() as tx:
        state = get_change_request(tx, ref, cr_id).state
    if NEXT_STEP.get(state) is not step:
        raise StateError(f"Change request {cr_id} is {state}; it does not wait to be {step}d.")
    with noticing_ctrl_c() as stop_if_asked, _environment(ws.settings), _instance(ws.settings) as instance:
        repository = build_definitions(ws.settings).get_repository_def()
        instance.add_dynamic_partitions(partitions_name(ref), [cr_id])
        result = repository.get_job(job_name(ref, step)).execute_in_process(
            instance=instance,
            partition_key=cr_id,
            run_config={"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}},
            tags={CHANGE_REQUEST_TAG: cr_id, "oreo/step": str(step)},
            raise_on_error=False,
        )
        stop_if_asked()
        if not result.success:
            _raise_unless_recorded(ws, ref, cr_id, result)


def prepare_instance(settings: Settings) -> None:
    """A Dagster home with our instance file and its storage in it; what is there already stays as it is."""
    _open_instance(settings).dispose()


@contextmanager
def _instance(settings: Settings) -> Iterator[dg.DagsterInstance]:
    with _open_instance(settings) as instance:
        yield instance


def _open_instance(settings: Settings) -> dg.DagsterInstance:
    home = settings.dagster_home
    home.mkdir(parents=True, exist_ok=True)
    # Dagster makes its SQLite files when it first opens them. Two processes that do so at the same moment
    # leave them with two schema versions, and no process can open them after that.
    with FileLock(home / "opening.lock"):
        if not (home / "dagster.yaml").exists():
            shutil.copyfile(INSTANCE_FILE, home / "dagster.yaml")
        return dg.DagsterInstance.from_ref(InstanceRef.from_dir(str(home), overrides=_LEAVE_OUTPUT_ALONE))


@contextmanager
def _environment(settings: Settings) -> Iterator[None]:
    """Resources read the environment, as they do in a run of the platform: let it say what `settings` says."""
    wanted = settings.as_env()
    before = {name: os.environ.get(name) for name in wanted}
    os.environ.update(wanted)
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name, None) if value is None else os.environ.update({name: value})


def _raise_unless_recorded(ws: Workspace, ref: DatasetRef, cr_id: str, result: dg.ExecuteInProcessResult) -> None:
    """A refusal or conflict has moved the change request; anything else is told as it is."""
    with ws.catalog.read() as tx:
        cr = get_change_request(tx, ref, cr_id)
    if cr.state not in NEXT_STEP:
        return
    remedy = f"See the run in Dagster, then: oreo cr retry {ref} {cr_id}"
    for failure in [e.event_specific_data for e in result.all_events if e.is_step_failure]:
        assert isinstance(failure, StepFailureData)
        if failure.user_failure_data and (told := from_dagster(failure.user_failure_data.metadata)):
            raise told
        error = failure.error and (failure.error.cause or failure.error)
        if error:
            raise DefectError(error.message.strip(), remedy)
    raise DefectError(f"The run for {cr_id} failed.", remedy)
