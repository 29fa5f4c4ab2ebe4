"""The run launcher: each run starts in a process that has everything imported already.

In dagster.yaml: `run_launcher: {module: oreo_assets.defs.launcher, class: WarmRunLauncher}`.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Self

from dagster import Array, DagsterInstance, DagsterRun, DagsterRunStatus, Field, Int, MetadataValue, Noneable
from dagster._config.config_schema import UserConfigSchema
from dagster._core.errors import DagsterInvariantViolationError
from dagster._core.events import EngineEventData
from dagster._core.launcher.base import (
    CheckRunHealthResult,
    LaunchRunContext,
    ResumeRunContext,
    RunLauncher,
    WorkerStatus,
)
from dagster._core.storage.tags import HIDDEN_TAG_PREFIX
from dagster._grpc.types import ExecuteRunArgs, ResumeRunArgs
from dagster._serdes import ConfigurableClass, ConfigurableClassData, serialize_value

from ..model.errors import UnavailableError
from .nursery import client, nursery_dir
from .nursery.client import IDLE_SECONDS, RUN_LOGS, START_SECONDS, LaunchRequest
from .nursery.processes import describe_exit, is_alive, start_mark

WORKER_TAG = f"{HIDDEN_TAG_PREFIX}oreo_worker"

_NOT_STARTED = (DagsterRunStatus.NOT_STARTED, DagsterRunStatus.STARTING)
_LOG_TAIL_BYTES = 4000


@dataclass(frozen=True)
class WorkerRecord:
    """Where a run's worker is: kept in the run's tags, so that daemon and web server both find it."""

    run_id: str
    host: str
    pid: int
    mark: str

    @property
    def is_here(self) -> bool:
        return self.host == socket.gethostname()


class WarmRunLauncher(RunLauncher[DagsterInstance], ConfigurableClass):
    """Hands each run to the nursery, which forks it; a plain process where that is not to be had."""

    def __init__(
        self,
        fork: bool | None = None,
        preload: Sequence[str] | None = None,
        idle_seconds: int = IDLE_SECONDS,
        start_seconds: float = START_SECONDS,
        inst_data: ConfigurableClassData | None = None,
    ) -> None:
        self._fork = fork
        self._preload = preload
        self._idle_seconds = idle_seconds
        self._start_seconds = start_seconds
        self._inst_data = inst_data
        self._plain: dict[str, subprocess.Popen[bytes]] = {}
        super().__init__()

    @property
    def inst_data(self) -> ConfigurableClassData | None:
        return self._inst_data

    @classmethod
    def config_type(cls) -> UserConfigSchema:
        return {
            "fork": Field(
                Noneable(bool),
                default_value=None,
                description="Whether to fork runs from a preloaded process. By default everywhere but on "
                "macOS, whose system libraries do not promise to work in a forked process.",
            ),
            "preload": Field(
                Noneable(Array(str)),
                default_value=None,
                description="The modules to import before forking, instead of the usual ones.",
            ),
            "idle_seconds": Field(
                Int, default_value=IDLE_SECONDS, description="How long the preloaded process stays unused."
            ),
            "start_seconds": Field(
                Int,
                default_value=int(START_SECONDS),
                description="How long to wait for it before a run starts as a plain process.",
            ),
        }

    @classmethod
    def from_config_value(cls, inst_data: ConfigurableClassData, config_value: Mapping[str, Any]) -> Self:
        return cls(inst_data=inst_data, **config_value)

    def launch_run(self, context: LaunchRunContext) -> None:
        run = context.dagster_run
        arguments = ExecuteRunArgs(
            job_origin=_origin(run),
            run_id=run.run_id,
            instance_ref=self._instance.get_ref(),
            set_exit_code_on_failure=True,
        )
        self._start(run, "execute_run", arguments)

    @property
    def supports_resume_run(self) -> bool:
        return True

    def resume_run(self, context: ResumeRunContext) -> None:
        run = context.dagster_run
        arguments = ResumeRunArgs(
            job_origin=_origin(run),
            run_id=run.run_id,
            instance_ref=self._instance.get_ref(),
            set_exit_code_on_failure=True,
        )
        self._start(run, "resume_run", arguments)

    def terminate(self, run_id: str) -> bool:
        run = self._instance.get_run_by_id(run_id)
        if run is None or run.is_finished:
            return False
        self._instance.report_run_canceling(run)
        # Dagster refuses to begin a run that is being canceled, and leaves it so. Nothing of it has run yet.
        not_begun = run.status in _NOT_STARTED
        if self._signal(run, signal.SIGKILL if not_begun else signal.SIGTERM):
            if not_begun:
                self._report_canceled(run_id, "Terminated before its first step.")
            return True
        if self._may_be_elsewhere(run):
            self._instance.report_engine_event(
                "The worker is on another machine, or never was recorded: no signal was sent.",
                run,
                cls=type(self),
            )
            return False
        return self._report_canceled(run_id, "Its worker had already ended.")

    @property
    def supports_check_run_worker_health(self) -> bool:
        return True

    def check_run_worker_health(self, run: DagsterRun) -> CheckRunHealthResult:
        """A worker that ended is reported as failed: Dagster asks only about runs that did not finish."""
        exit_code = self._exit_code(run.run_id)
        if exit_code is not None:
            return _failed(f"The run's worker {describe_exit(exit_code)} before the run was finished.")
        record = _record(run)
        if record is None:
            return CheckRunHealthResult(WorkerStatus.NOT_FOUND, "No worker was recorded for this run.")
        if not record.is_here:
            return CheckRunHealthResult(
                WorkerStatus.RUNNING, f"The worker is on {record.host}, which cannot be seen from here."
            )
        if is_alive(record.pid, record.mark):
            return CheckRunHealthResult(WorkerStatus.RUNNING, run_worker_id=str(record.pid))
        return _failed(f"The run's worker, process {record.pid}, is gone. So is whoever started it: why is not known.")

    def get_run_worker_debug_info(
        self,
        run: DagsterRun,
        include_container_logs: bool | None = True,  # noqa: ARG002 - Dagster's signature
    ) -> str | None:
        log = self._log(run.run_id)
        if not log.exists():
            return None
        tail = log.read_bytes()[-_LOG_TAIL_BYTES:].decode(errors="replace")
        return f"The end of {log}:\n{tail}" if tail.strip() else f"{log} is empty."

    @property
    def _home(self) -> Path:
        return nursery_dir(self._instance.root_directory)

    def _log(self, run_id: str) -> Path:
        return self._home / RUN_LOGS / f"{run_id}.log"

    def _start(self, run: DagsterRun, command: str, arguments: ExecuteRunArgs | ResumeRunArgs) -> None:
        started = time.monotonic()
        reason = self._why_not_fork(run)
        if reason is None:
            try:
                pid, mark, how = self._start_warm(run, command, serialize_value(arguments))
            except UnavailableError as error:
                reason = str(error)
        if reason is not None:
            # Not `get_command_args()`: that takes the `dagster` of the PATH, maybe another environment's.
            entry = [_origin(run).executable_path, "-m", "dagster", "api", command]
            pid, mark = self._start_plain(run, [*entry, serialize_value(arguments)])
            how = f"Started as a plain process ({pid}), which imports everything again: {reason}"
        record = WorkerRecord(run.run_id, socket.gethostname(), pid, mark)
        self._instance.add_run_tags(run.run_id, {WORKER_TAG: json.dumps(asdict(record))})
        self._instance.report_engine_event(
            how,
            run,
            EngineEventData(
                {
                    "pid": MetadataValue.text(str(pid)),
                    "log": MetadataValue.path(str(self._log(run.run_id))),
                    "seconds to start": MetadataValue.float(round(time.monotonic() - started, 3)),
                }
            ),
            cls=type(self),
        )

    def _why_not_fork(self, run: DagsterRun) -> str | None:
        if not hasattr(os, "fork"):
            return "this system has no fork."
        if self._fork is False:
            return "dagster.yaml says `fork: false`."
        if self._fork is None and sys.platform == "darwin":
            return "macOS; set `fork: true` in the launcher's config to try it."
        # By folder, not resolved: a virtual environment is its folder, its python a link to a shared one.
        wanted = Path(_origin(run).executable_path).absolute()
        if wanted.parent != Path(sys.executable).absolute().parent:
            return f"the code location uses another Python, {wanted}."
        return None

    def _start_warm(self, run: DagsterRun, command: str, arguments: str) -> tuple[int, str, str]:
        launched = client.launch(
            self._home,
            LaunchRequest(run.run_id, command, arguments, dict(os.environ), os.getcwd()),
            preload=self._preload,
            idle_seconds=self._idle_seconds,
            wait_seconds=self._start_seconds,
        )
        how = f"Forked (process {launched.pid}) from the nursery (process {launched.nursery_pid})."
        return launched.pid, launched.mark, how

    def _start_plain(self, run: DagsterRun, command: Sequence[str]) -> tuple[int, str]:
        log = self._log(run.run_id)
        log.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with log.open("ab") as output:
            process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True
            )
        self._plain = {run_id: p for run_id, p in self._plain.items() if p.poll() is None}
        self._plain[run.run_id] = process
        return process.pid, start_mark(process.pid) or ""

    def _exit_code(self, run_id: str) -> int | None:
        if run_id in self._plain:
            return self._plain[run_id].poll()
        known = client.health(self._home, run_id)
        return known.exit_code if known else None

    def _signal(self, run: DagsterRun, number: signal.Signals) -> bool:
        """Whether the worker was alive to get the signal."""
        known = client.terminate(self._home, run.run_id, number)
        if known is not None:
            return known.exit_code is None
        record = _record(run)
        if record is None or not record.is_here or not is_alive(record.pid, record.mark):
            return False
        os.kill(record.pid, number)
        return True

    def _may_be_elsewhere(self, run: DagsterRun) -> bool:
        if self._exit_code(run.run_id) is not None:
            return False
        record = _record(run)
        return record is None or not record.is_here

    def _report_canceled(self, run_id: str, why: str) -> bool:
        run = self._instance.get_run_by_id(run_id)
        if run is None or run.is_finished:
            return False
        self._instance.report_run_canceled(run, f"Run canceled. {why}")
        return True


def _origin(run: DagsterRun) -> Any:
    if run.job_code_origin is None:
        raise DagsterInvariantViolationError(f"Run {run.run_id} does not say which code it runs.")
    return run.job_code_origin


def _record(run: DagsterRun) -> WorkerRecord | None:
    """The worker in a run's tags; a re-executed run may carry its parent's, which is not its own."""
    text = run.tags.get(WORKER_TAG)
    if text is None:
        return None
    record = WorkerRecord(**json.loads(text))
    return record if record.run_id == run.run_id else None


def _failed(message: str) -> CheckRunHealthResult:
    return CheckRunHealthResult(WorkerStatus.FAILED, message)
