"""Starting processes that may die, cheaply, and killing them at the worst moment."""

from __future__ import annotations

import multiprocessing
import os
import signal
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path

from oreo_assets.crash_points import AT, JVM, KILLS, Fault
from oreo_assets.settings import Settings

from .workers import Answer, Job, perform

# Imported once, in a process that opens nothing and only forks: a worker then starts in a tenth of a second
# instead of the ten that Great Expectations and PySpark take to import.
PRELOADED = [
    "pytest",
    "great_expectations",
    "pyspark.sql.connect.session",
    "pyspark.sql.connect.dataframe",
    "dagster_pyspark",
    "deltalake",
    "duckdb",
    "oreo_assets.quality.run",
    "oreo_assets.quality.constraints",
    "oreo_assets_tests.faults.workers",
]
context = multiprocessing.get_context("forkserver")
context.set_forkserver_preload(PRELOADED)


class Child:
    """A worker process, and what it has told so far."""

    def __init__(
        self, settings: Settings, job: Job, at: str | None = None, fault: Fault = Fault.PYTHON, jvm: int | None = None
    ) -> None:
        environ = settings.as_env()
        if at:
            environ |= {AT: at, KILLS: str(fault)}
        if jvm:
            environ |= {JVM: str(jvm)}
        self._receive, send = context.Pipe(duplex=False)
        self.process = context.Process(target=perform, args=(environ, job, send), daemon=True)
        self.process.start()
        send.close()
        self.last = Answer(job.cr_id)

    @property
    def pid(self) -> int:
        assert self.process.pid is not None
        return self.process.pid

    def wait(self, seconds: float = 180) -> Answer:
        """Its last word. A worker that hangs is killed, and that is a failure of the test."""
        self.process.join(seconds)
        if self.process.is_alive():
            self.kill()
            raise AssertionError(f"the worker hung for {seconds} seconds; its last word was {self.last}")
        self._listen()
        return self.last

    @property
    def was_killed(self) -> bool:
        return self.process.exitcode == -signal.SIGKILL

    def is_alive(self) -> bool:
        self._listen()
        return self.process.is_alive()

    def is_frozen(self) -> bool:
        with suppress(OSError):
            return Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()[0] == "T"
        return False

    def kill(self) -> None:
        with suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)
        self.process.join(10)

    def wake(self) -> None:
        os.kill(self.pid, signal.SIGCONT)

    def _listen(self) -> None:
        with suppress(EOFError, OSError):
            while self._receive.poll():
                self.last = self._receive.recv()


def kill_when(happens: Callable[[], bool], child: Child, victims: Iterable[int], sign: int = signal.SIGKILL) -> bool:
    """Look very often; the moment it happens, send the signal to the victims. Whether it happened at all."""
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline and child.process.is_alive():
        if happens():
            for victim in victims:
                with suppress(ProcessLookupError):
                    os.kill(victim, sign)
            return True
        time.sleep(0.0005)
    return False


def new_data_file(table: Path) -> Callable[[], bool]:
    """Whether a data file appeared that was not there when this was called."""

    def files() -> set[str]:
        with suppress(FileNotFoundError):
            return {e.name for e in os.scandir(table) if e.name.endswith(".parquet") and e.stat().st_size}
        return set()

    before = files()
    return lambda: bool(files() - before)


def until(condition: Callable[[], bool], seconds: float = 60) -> bool:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if condition():
            return True
        time.sleep(0.01)
    return False
