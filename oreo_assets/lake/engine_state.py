"""What is known of the local engine on disk: `engine.json`, its lock, its log and who holds it.

Standard library and psutil only, as the supervisor that imports this stays in memory as long as the engine.
"""

from __future__ import annotations

import json
import os
import time
from dataclasses import asdict, dataclass
from pathlib import Path

import psutil


@dataclass(frozen=True)
class ProcessId:
    """A process, told apart from a later one that happens to get the same number."""

    pid: int
    created: float

    @classmethod
    def of(cls, pid: int) -> ProcessId:
        return cls(pid, psutil.Process(pid).create_time())

    def process(self) -> psutil.Process | None:
        """The process if it is still the same one and running."""
        try:
            found = psutil.Process(self.pid)
            same = abs(found.create_time() - self.created) < 1 and found.status() != psutil.STATUS_ZOMBIE
        except psutil.Error:
            return None
        return found if same else None


@dataclass(frozen=True)
class EngineState:
    """A running engine: its JVM, who watches over it, and how to reach it."""

    pid: int
    created: float
    supervisor_pid: int
    port: int
    token: str
    started_at: float

    @property
    def server(self) -> ProcessId:
        return ProcessId(self.pid, self.created)


@dataclass(frozen=True)
class EngineFolder:
    """The files of one engine."""

    path: Path

    @property
    def lock(self) -> Path:
        return self.path / "lock"

    @property
    def log(self) -> Path:
        return self.path / "engine.log"

    @property
    def _state(self) -> Path:
        return self.path / "engine.json"

    @property
    def _last_used(self) -> Path:
        return self.path / "last_used"

    @property
    def _holders(self) -> Path:
        return self.path / "holders"

    def make(self) -> None:
        self.path.mkdir(parents=True, exist_ok=True)
        self.path.chmod(0o700)
        self._holders.mkdir(exist_ok=True)

    def read(self) -> EngineState | None:
        try:
            return EngineState(**json.loads(self._state.read_text()))
        except (OSError, ValueError, TypeError):
            return None

    def write(self, state: EngineState) -> None:
        draft = self._state.with_suffix(f".{os.getpid()}")
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w") as sink:
            json.dump(asdict(state), sink)
        os.replace(draft, self._state)

    def forget(self) -> None:
        self._state.unlink(missing_ok=True)

    def touch(self) -> None:
        """Say that a client is about to connect, so that the engine does not stop under its hands."""
        self._last_used.touch()

    def last_used(self) -> float:
        try:
            return self._last_used.stat().st_mtime
        except OSError:
            return 0.0

    def hold(self, pid: int) -> None:
        """Keep the engine up for as long as this process lives."""
        holder = ProcessId.of(pid)
        (self._holders / str(pid)).write_text(json.dumps(asdict(holder)))

    def release(self, pid: int) -> None:
        (self._holders / str(pid)).unlink(missing_ok=True)

    def is_held(self) -> bool:
        held = False
        for note in self._holders.glob("*"):
            try:
                alive = ProcessId(**json.loads(note.read_text())).process() is not None
            except (OSError, ValueError, TypeError):
                alive = time.time() - note.stat().st_mtime < 5 if note.exists() else False
            if alive:
                held = True
            else:
                note.unlink(missing_ok=True)
        return held


def has_socket(pid: int, port: int, status: str) -> bool:
    """Whether a process has a socket on the port in this state: listening, or with somebody at the other end."""
    try:
        sockets = psutil.Process(pid).net_connections(kind="tcp")
    except psutil.Error:
        return False
    return any(s.status == status and s.laddr and s.laddr.port == port for s in sockets)
