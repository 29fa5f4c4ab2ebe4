"""What the processes that may die do: the use cases, one after the other, as the faces call them."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from oreo_assets.catalog import leases, store
from oreo_assets.catalog.change_requests import get_change_request
from oreo_assets.catalog.users import Actor
from oreo_assets.model.errors import BusyError, OreoError
from oreo_assets.model.ids import DatasetRef
from oreo_assets.model.states import Mode, Role
from oreo_assets.settings import Settings
from oreo_assets.workflow import intake, maintenance, recovery, review, workspace
from oreo_assets.workflow.merge import merge_change_request
from oreo_assets.workflow.pipeline import run_pipeline
from oreo_assets.workflow.staging import rows_to_stage, stage
from oreo_assets.workflow.validation import validate
from oreo_assets.workflow.workspace import Workspace

ANN = Actor("ann", {"*": Role.ADMIN})
BOB = Actor("bob", {"*": Role.REVIEWER})


@dataclass(frozen=True)
class Job:
    """Which steps to take, with which file or change request."""

    ref: DatasetRef
    steps: tuple[str, ...]
    file: Path | None = None
    mode: Mode = Mode.UPSERT
    cr_id: str | None = None
    lock_patience: int = 30
    """How many seconds it waits for a catalog that somebody else has locked."""
    lease_seconds: float = leases.LEASE_SECONDS


@dataclass(frozen=True)
class Answer:
    """How far a worker came. `error` is the name of the error that ended it, if one did."""

    cr_id: str | None
    state: str | None = None
    error: str | None = None
    message: str = ""
    retryable: bool = False


def perform(environ: dict[str, str], job: Job, pipe: Connection) -> None:
    """The body of a worker process. It tells its change request's id as soon as it has one."""
    enter(environ)
    store._LOCK_WAIT_SECONDS = job.lock_patience
    workspace.lease = partial(leases.lease, seconds=job.lease_seconds)
    cr_id = job.cr_id
    try:
        ws = Workspace.open(Settings.from_env())
        for step in job.steps:
            cr_id = STEPS[step](ws, job, cr_id)
            pipe.send(Answer(cr_id))
        pipe.send(Answer(cr_id, _state(ws, job.ref, cr_id)))
    except Exception as error:
        retryable = isinstance(error, OreoError) and error.retryable
        pipe.send(Answer(cr_id, None, type(error).__name__, str(error), retryable))
    pipe.close()
    # Nothing to tidy up, and a session whose engine is gone would be waited for.
    os._exit(0)


def enter(environ: dict[str, str]) -> None:
    """See the world as `environ` says, and nothing of what the fork server may have inherited."""
    for name in [n for n in os.environ if n.startswith(("SPARK_", "OREO_", "DELTA_DATA_ROOT"))]:
        del os.environ[name]
    os.environ.update(environ)


def _send(ws: Workspace, job: Job, cr_id: str | None) -> str | None:
    assert job.file is not None
    return intake.upload(ws, ANN, job.ref, job.file, intake.UploadOptions(mode=job.mode)).change_request_id


def _check(ws: Workspace, job: Job, cr_id: str | None) -> str | None:
    assert cr_id is not None
    with ws.catalog.read() as tx:
        cr = get_change_request(tx, job.ref, cr_id)
    validate(ws, stage(ws, cr, rows_to_stage(ws, cr)))
    return cr_id


def _approve(ws: Workspace, job: Job, cr_id: str | None) -> str | None:
    assert cr_id is not None
    review.approve(ws, BOB, job.ref, cr_id)
    return cr_id


def _merge(ws: Workspace, job: Job, cr_id: str | None) -> str | None:
    assert cr_id is not None
    merge_change_request(ws, job.ref, cr_id)
    return cr_id


def _recover(ws: Workspace, job: Job, cr_id: str | None) -> str | None:
    recovery.recover(ws, job.ref)
    return cr_id


def _merge_all(ws: Workspace, job: Job, cr_ids: str | None) -> str | None:
    """Several change requests, patiently: whoever finds the dataset busy comes again."""
    assert cr_ids is not None
    for cr_id in cr_ids.split(","):
        _patiently(lambda cr_id=cr_id: run_pipeline(ws, job.ref, cr_id, patience=120))
    return cr_ids.split(",")[-1]


def _patiently(work: Callable[[], Any], seconds: float = 120) -> None:
    deadline = time.monotonic() + seconds
    while True:
        try:
            work()
            return
        except BusyError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.1)


def _chore(chore: maintenance.Chore) -> Callable[[Workspace, Job, str | None], str | None]:
    def do(ws: Workspace, job: Job, cr_id: str | None) -> str | None:
        _patiently(lambda: maintenance.maintain(ws, ANN, chore, job.ref))
        return cr_id

    return do


STEPS: dict[str, Callable[[Workspace, Job, str | None], str | None]] = {
    "send": _send,
    "check": _check,
    "approve": _approve,
    "merge": _merge,
    "recover": _recover,
    "merge_all": _merge_all,
    "drive": _merge_all,
    **{f"{chore}!": _chore(chore) for chore in maintenance.Chore},
}


def _state(ws: Workspace, ref: DatasetRef, cr_id: str | None) -> Any:
    if cr_id is None:
        return None
    with ws.catalog.read() as tx:
        return str(get_change_request(tx, ref, cr_id).state)
