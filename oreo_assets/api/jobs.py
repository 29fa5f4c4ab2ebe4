"""Long work: done one after the other by a thread of this process, and asked after at `/jobs/{id}`.

The table is kept in memory. What a job does is safe to be cut off and begun again (chores and recovery are), so
after a restart its sender asks once more.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

from ..catalog.users import EVERYWHERE, Actor
from ..model.errors import BusyError, DefectError, NotFoundError, OreoError
from ..model.ids import new_id
from ..model.states import Role

MAX_WAITING = 100
MAX_KEPT = 1000


class JobState(StrEnum):
    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"


@dataclass(frozen=True)
class Outcome:
    """What came of a job: a document, and (if not all of it went well) an error beside it."""

    document: Any
    error: OreoError | None = None


Work = Callable[[], Outcome]


@dataclass(frozen=True)
class Job:
    id: str
    kind: str
    created_by: str
    created_at: datetime
    state: JobState = JobState.WAITING
    finished_at: datetime | None = None
    result: Any = None
    error: dict[str, Any] | None = None

    def as_json(self) -> dict[str, Any]:
        return {
            "job_id": self.id,
            "kind": self.kind,
            "state": self.state,
            "created_by": self.created_by,
            "created_at": self.created_at,
            "finished_at": self.finished_at,
            "result": self.result,
            "error": self.error,
        }


class JobTable:
    """The newest jobs, and the thread that does them."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._jobs: dict[str, Job] = {}
        self._waiting: queue.Queue[tuple[str, Work]] = queue.Queue(MAX_WAITING)
        self._worker: threading.Thread | None = None

    def start(self, actor: Actor, kind: str, work: Work) -> Job:
        job = Job(new_id("job"), kind, actor.name, datetime.now(UTC))
        with self._lock:
            try:
                self._waiting.put_nowait((job.id, work))
            except queue.Full as error:
                raise BusyError(f"{MAX_WAITING} jobs are waiting already.", "Try again when some are done.") from error
            self._jobs[job.id] = job
            while len(self._jobs) > MAX_KEPT:
                self._jobs.pop(next(iter(self._jobs)))
            if self._worker is None:
                # A daemon: stopping the API does not wait for hours of compaction.
                self._worker = threading.Thread(target=self._run, name="jobs", daemon=True)
                self._worker.start()
        return job

    def get(self, actor: Actor, job_id: str) -> Job:
        """A job of the actor's own; an admin's, anybody's."""
        with self._lock:
            job = self._jobs.get(job_id)
        sees_all = actor.role_in(EVERYWHERE) is Role.ADMIN
        if job is None or not (sees_all or job.created_by == actor.name):
            raise NotFoundError(f"There is no job {job_id}.", "Jobs are forgotten at a restart: start it again.")
        return job

    def _run(self) -> None:
        from .errors import log_defect

        while True:
            job_id, work = self._waiting.get()
            self._change(job_id, state=JobState.RUNNING)
            result: Any = None
            error: OreoError | None = None
            try:
                outcome = work()
                result, error = outcome.document, outcome.error
            except OreoError as problem:
                error = problem
            except Exception as problem:
                log_defect(problem)
                error = DefectError("Something went wrong inside Oreo.", f"Tell its operator: {job_id}, in the log.")
            self._change(
                job_id,
                state=JobState.FAILED if error else JobState.DONE,
                finished_at=datetime.now(UTC),
                result=result,
                error=error.as_json()["error"] if error else None,
            )

    def _change(self, job_id: str, **changes: Any) -> None:
        with self._lock:
            if job := self._jobs.get(job_id):
                self._jobs[job_id] = replace(job, **changes)
