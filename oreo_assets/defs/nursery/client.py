"""How others speak to the nursery: start it, ask it, stop it. Light: imports neither Dagster nor Spark.

The nursery is a process that has imported what runs need and forks one worker per run (`server.py`).
It lives in a folder of the Dagster instance and listens there on a socket, one line of JSON each way.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...model.errors import UnavailableError

SOCKET = "nursery.sock"
LOCK = "nursery.lock"
LOG = "nursery.log"
RUN_LOGS = "logs"
IDLE_SECONDS = 15 * 60
START_SECONDS = 90.0

_PACKAGE = Path(__file__).resolve().parents[2]
_ANSWER_SECONDS = 15.0
_LONGEST_SOCKET_PATH = 100


@dataclass(frozen=True)
class NurseryStatus:
    """What `oreo up` shows of a nursery. It is `starting` until everything is imported."""

    pid: int | None
    starting: bool
    workers: int = 0
    preload_seconds: float | None = None
    not_loaded: tuple[str, ...] = ()


@dataclass(frozen=True)
class LaunchRequest:
    """One run for the nursery: the `dagster api` command, its argument, and the world it should see."""

    run_id: str
    command: str
    args: str
    env: Mapping[str, str]
    cwd: str


@dataclass(frozen=True)
class Launched:
    """The worker that was forked, and the nursery that did it."""

    pid: int
    mark: str
    nursery_pid: int


@dataclass(frozen=True)
class WorkerHealth:
    """What the nursery knows of a run's worker; `exit_code` once it ended."""

    pid: int
    exit_code: int | None


def nursery_dir(dagster_home: str | Path) -> Path:
    """Where the nursery of a Dagster instance lives."""
    return Path(dagster_home) / "nursery"


def ensure(
    home: Path,
    *,
    preload: Sequence[str] | None = None,
    idle_seconds: int = IDLE_SECONDS,
    wait_seconds: float = START_SECONDS,
) -> NurseryStatus:
    """Start a nursery in `home` unless one is there, and wait until it takes runs.

    Two callers at once end with one nursery: it holds a lock for its life, and a second one leaves at once.
    With `wait_seconds=0` it is started and not waited for.
    """
    deadline = time.monotonic() + wait_seconds
    process: subprocess.Popen[bytes] | None = None
    while True:
        with suppress(UnavailableError):
            remaining = max(deadline - time.monotonic(), 0.1)
            return _as_status(_ask(home, {"do": "ping"}, remaining))
        if process is None:
            process = _start(home, preload, idle_seconds)
        elif process.poll() is not None and not _listens(home):
            if process.returncode != 0:
                raise UnavailableError(
                    f"The nursery in {home} did not start (status {process.returncode}).",
                    f"Its log is {home / LOG}.",
                )
            process = _start(home, preload, idle_seconds)
        if time.monotonic() >= deadline:
            if wait_seconds <= 0:
                return NurseryStatus(process.pid, starting=True)
            raise UnavailableError(
                f"The nursery in {home} was not ready in {wait_seconds:.0f} s.", f"Its log is {home / LOG}."
            )
        time.sleep(0.05)


def status(home: Path) -> NurseryStatus | None:
    """The nursery of `home`, or None when there is none."""
    if not _listens(home):
        return None
    try:
        return _as_status(_ask(home, {"do": "ping", "quiet": True}, 1.0))
    except UnavailableError:
        # It listens before it imports, and answers only after.
        return NurseryStatus(_pid_of_lock(home), starting=True) if _listens(home) else None


def stop(home: Path, *, end_workers: bool = False, wait_seconds: float = 30.0) -> bool:
    """End the nursery; True when there was one. Runs under way go on, unless `end_workers`."""
    if not _listens(home):
        return False
    with suppress(UnavailableError):
        _ask(home, {"do": "stop", "end_workers": end_workers}, wait_seconds)
    deadline = time.monotonic() + wait_seconds
    while _listens(home):
        if time.monotonic() > deadline:
            raise UnavailableError(f"The nursery in {home} does not end.", f"End process {_pid_of_lock(home)}.")
        time.sleep(0.02)
    return True


def launch(
    home: Path,
    request: LaunchRequest,
    *,
    preload: Sequence[str] | None = None,
    idle_seconds: int = IDLE_SECONDS,
    wait_seconds: float = START_SECONDS,
) -> Launched:
    """Have the nursery fork a worker for a run, starting the nursery first where there is none."""
    deadline = time.monotonic() + wait_seconds
    while True:
        remaining = max(deadline - time.monotonic(), 0.1)
        ensure(home, preload=preload, idle_seconds=idle_seconds, wait_seconds=remaining)
        reply = _ask(
            home,
            {
                "do": "launch",
                "run_id": request.run_id,
                "command": request.command,
                "args": request.args,
                "env": dict(request.env),
                "cwd": request.cwd,
                "code": code_home(),
                # After this the caller starts the run in another way: a late fork would run it twice.
                "deadline": time.monotonic() + _ANSWER_SECONDS,
            },
            _ANSWER_SECONDS + 5,
        )
        if "pid" in reply:
            return Launched(reply["pid"], reply["mark"], reply["nursery"])
        if "error" in reply:
            raise UnavailableError(reply["error"])
        if time.monotonic() >= deadline:
            raise UnavailableError("The code changes faster than the nursery can import it.")


def health(home: Path, run_id: str) -> WorkerHealth | None:
    """The worker of a run, or None when no nursery knows it."""
    return _worker(home, {"do": "health", "run_id": run_id})


def terminate(home: Path, run_id: str, signal_number: int) -> WorkerHealth | None:
    """Send a signal to a run's worker; None when no nursery knows it."""
    return _worker(home, {"do": "terminate", "run_id": run_id, "signal": signal_number})


def code_home() -> str:
    """Which Python environment and which checkout a process runs: a nursery serves only its own."""
    return f"{sys.prefix}:{_PACKAGE}"


def _worker(home: Path, request: dict[str, Any]) -> WorkerHealth | None:
    if not _listens(home):
        return None
    try:
        reply = _ask(home, request, _ANSWER_SECONDS)
    except UnavailableError:
        return None
    return WorkerHealth(reply["pid"], reply["exit_code"]) if reply.get("known") else None


def _as_status(reply: Mapping[str, Any]) -> NurseryStatus:
    return NurseryStatus(
        pid=reply["nursery"],
        starting=False,
        workers=reply["workers"],
        preload_seconds=reply["preload_seconds"],
        not_loaded=tuple(reply["not_loaded"]),
    )


def _start(home: Path, preload: Sequence[str] | None, idle_seconds: int) -> subprocess.Popen[bytes]:
    """Start it detached: it outlives whoever needed it first."""
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    # -P and PYTHONPATH: our package, whatever lies in the current folder; -u: logs survive a kill.
    command = [sys.executable, "-u", "-P", "-m", "oreo_assets.defs.nursery", "--home", str(home.absolute())]
    command += ["--idle-seconds", str(idle_seconds)]
    command += [] if preload is None else ["--preload", ",".join(preload)]
    paths = [str(_PACKAGE.parent), os.environ.get("PYTHONPATH", "")]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in paths if path)}
    with (home / LOG).open("ab") as log:
        return subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True, env=env
        )


def _listens(home: Path) -> bool:
    try:
        with _connected(home, 1.0):
            return True
    except OSError:
        return False


def _ask(home: Path, request: Mapping[str, Any], timeout: float) -> dict[str, Any]:
    try:
        with _connected(home, timeout) as connection:
            connection.sendall(json.dumps(request).encode() + b"\n")
            with connection.makefile("rb") as lines:
                line = lines.readline()
    except OSError as error:
        raise UnavailableError(f"The nursery in {home} does not answer: {error}.") from error
    if not line:
        raise UnavailableError(f"The nursery in {home} closed the line without an answer.")
    reply: dict[str, Any] = json.loads(line)
    return reply


@contextmanager
def _connected(home: Path, timeout: float) -> Iterator[socket.socket]:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.settimeout(timeout)
        path = str(home / SOCKET)
        if len(os.fsencode(path)) <= _LONGEST_SOCKET_PATH:
            connection.connect(path)
        else:
            # The kernel takes some 100 bytes as a socket's path; by the folder's descriptor it is short.
            folder = os.open(home, os.O_RDONLY)
            try:
                connection.connect(f"/proc/self/fd/{folder}/{SOCKET}")
            finally:
                os.close(folder)
        yield connection


def _pid_of_lock(home: Path) -> int | None:
    with suppress(OSError, ValueError):
        return int((home / LOCK).read_text())
    return None
