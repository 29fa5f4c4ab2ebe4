"""The local engine: one Spark Connect server per home, shared by every process that needs Spark.

Whoever needs it first starts it, under a lock. It outlives that process and stops by itself when nobody
has used it for a while (see `local_engine_supervisor`).
"""

from __future__ import annotations

import json
import logging
import secrets
import subprocess
import sys
import time
from dataclasses import dataclass

import psutil
from filelock import FileLock, Timeout

from ..model.errors import UnavailableError
from ..settings import Settings
from .connect_server import answers, connect_url, free_port, log_tail, server_launch
from .engine_state import EngineFolder, EngineState, has_socket
from .java import find_java

logger = logging.getLogger(__name__)

DEFAULT_IDLE_MINUTES = 10.0
_START_SECONDS = 120.0
_STOP_SECONDS = 20.0


@dataclass(frozen=True)
class Endpoint:
    """Where the engine is, and the word that lets one in."""

    pid: int
    port: int
    token: str
    started_at: float

    @property
    def url(self) -> str:
        return connect_url(self.port, self.token)

    def __repr__(self) -> str:
        # Ends up in logs and error messages, where a token has no business.
        return f"Endpoint(pid={self.pid}, port={self.port})"


def ensure(
    settings: Settings, *, idle_minutes: float = DEFAULT_IDLE_MINUTES, keep_alive_pid: int | None = None
) -> Endpoint:
    """The running engine, started now if there is none.

    It stops after `idle_minutes` without a client (0: never), and not while process `keep_alive_pid` lives.
    """
    folder = _folder(settings)
    folder.make()
    if keep_alive_pid is not None:
        folder.hold(keep_alive_pid)
    folder.touch()
    running = _running(folder)
    if running is not None:
        return running
    try:
        with FileLock(folder.lock, timeout=_START_SECONDS + _STOP_SECONDS):
            return _running(folder) or _start(settings, folder, idle_minutes)
    except Timeout as error:
        raise UnavailableError(
            "Another process has been starting the Spark engine for minutes.",
            f"Look into {folder.log}, then try again.",
        ) from error


def status(settings: Settings) -> Endpoint | None:
    """The engine if it is up; nothing is started."""
    return _running(_folder(settings))


def stop(settings: Settings) -> bool:
    """Stop the engine; False if none was running."""
    folder = _folder(settings)
    if folder.read() is None:
        return False
    with FileLock(folder.lock, timeout=_START_SECONDS + _STOP_SECONDS):
        state = folder.read()
        if state is None:
            return False
        stopped = _end(state)
        folder.forget()
    return stopped


def release(settings: Settings, pid: int) -> bool:
    """End what `keep_alive_pid` began, and stop the engine now unless somebody else needs it.

    Another platform may hold it, or a command be in the middle of its work: then it stops once it is idle.
    """
    folder = _folder(settings)
    folder.release(pid)
    state = folder.read()
    in_use = state is not None and has_socket(state.pid, state.port, psutil.CONN_ESTABLISHED)
    return False if folder.is_held() or in_use else stop(settings)


def _folder(settings: Settings) -> EngineFolder:
    return EngineFolder(settings.home / "engine")


def _running(folder: EngineFolder) -> Endpoint | None:
    state = folder.read()
    # The same process as the one that was written down, so what listens there is ours and may see the token.
    if state is None or state.server.process() is None or not answers(state.port):
        return None
    return Endpoint(state.pid, state.port, state.token, state.started_at)


def _start(settings: Settings, folder: EngineFolder, idle_minutes: float) -> Endpoint:
    find_java()
    stale = folder.read()
    if stale is not None:
        logger.info("The Spark engine (process %s) is gone or does not answer; starting another.", stale.pid)
        _end(stale)
        folder.forget()
    for attempt in (1, 2):
        started = _start_once(settings, folder, idle_minutes)
        if started is not None:
            return started
        # Between choosing a free port and Java's listening on it, somebody else may take it.
        if attempt == 2 or "BindException" not in log_tail(folder.log, 200):
            break
    raise UnavailableError(
        f"The Spark engine did not start. The end of {folder.log}:\n{log_tail(folder.log)}",
        "Run oreo doctor, and look into that file.",
    )


def _start_once(settings: Settings, folder: EngineFolder, idle_minutes: float) -> Endpoint | None:
    port, token = free_port(), secrets.token_urlsafe(32)
    launch = server_launch(settings, port, token)
    if folder.log.exists():
        folder.log.replace(folder.log.with_suffix(".log.1"))
    with folder.log.open("wb") as sink:
        supervisor = subprocess.Popen(
            [sys.executable, "-m", "oreo_assets.lake.local_engine_supervisor"],
            stdin=subprocess.PIPE,
            stdout=sink,
            stderr=sink,
            env=dict(launch.environ),
            cwd=folder.path,
            # A session of its own: Ctrl-C at the client's terminal is not meant for the engine.
            start_new_session=True,
        )
    order = {
        "folder": str(folder.path),
        "command": launch.command,
        "port": port,
        "token": token,
        "idle_seconds": idle_minutes * 60,
    }
    assert supervisor.stdin is not None
    supervisor.stdin.write(json.dumps(order).encode())
    supervisor.stdin.close()
    return _wait(folder, supervisor)


def _wait(folder: EngineFolder, supervisor: subprocess.Popen[bytes]) -> Endpoint | None:
    deadline = time.monotonic() + _START_SECONDS
    while time.monotonic() < deadline:
        running = _running(folder)
        if running is not None:
            # It lives on as nobody's child; without this Python would warn about it at exit.
            supervisor.returncode = 0
            return running
        if supervisor.poll() is not None:
            return None
        time.sleep(0.05)
    supervisor.terminate()
    return None


def _end(state: EngineState) -> bool:
    """End the server we started, and no process that merely has its number now."""
    process = state.server.process()
    if process is None:
        return False
    try:
        process.terminate()
        process.wait(_STOP_SECONDS)
    except psutil.TimeoutExpired:
        logger.warning("The Spark engine (process %s) does not stop politely; killing it.", state.pid)
        process.kill()
    except psutil.NoSuchProcess:
        pass
    return True
