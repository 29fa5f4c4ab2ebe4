"""Watches over the local engine: starts its JVM, writes down where it is, and stops it when nobody uses it.

Run as `python -m oreo_assets.lake.local_engine_supervisor` by `local_engine.ensure`, which sends its order
as JSON on standard input, so that the token appears in no command line.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import psutil
from filelock import FileLock

from oreo_assets.lake.engine_state import EngineFolder, EngineState, has_socket

# More of one core than an idle Spark ever uses: a job whose client died is still at work.
_BUSY_CORES = 0.25


@dataclass(frozen=True)
class Order:
    """What to start and when to stop it."""

    folder: str
    command: list[str]
    port: int
    token: str
    idle_seconds: float


def main() -> int:
    order = Order(**json.load(sys.stdin))
    server = subprocess.Popen(order.command, stdin=subprocess.DEVNULL)
    # Whoever stops the supervisor means the engine.
    signal.signal(signal.SIGTERM, lambda *_: server.terminate())
    jvm = psutil.Process(server.pid)
    if not _comes_up(server, jvm, order.port):
        server.terminate()
        return 1
    folder = EngineFolder(Path(order.folder))
    folder.write(EngineState(jvm.pid, jvm.create_time(), os.getpid(), order.port, order.token, started_at=time.time()))
    _watch(server, jvm, order, folder)
    return 0


def _comes_up(server: subprocess.Popen[bytes], jvm: psutil.Process, port: int) -> bool:
    """Whether our own JVM, and not somebody else, comes to listen on the port."""
    while server.poll() is None:
        if has_socket(jvm.pid, port, psutil.CONN_LISTEN):
            return True
        time.sleep(0.05)
    return False


def _watch(server: subprocess.Popen[bytes], jvm: psutil.Process, order: Order, folder: EngineFolder) -> None:
    pause = min(5.0, order.idle_seconds / 4) if order.idle_seconds else 5.0
    last_busy, cpu = time.time(), _cpu_seconds(jvm)
    while server.poll() is None:
        # Not a sleep: a JVM that has ended must be noticed at once, as whoever ended it waits for that.
        with contextlib.suppress(subprocess.TimeoutExpired):
            server.wait(pause)
        cpu_before, cpu = cpu, _cpu_seconds(jvm)
        if (
            has_socket(jvm.pid, order.port, psutil.CONN_ESTABLISHED)
            or cpu - cpu_before > _BUSY_CORES * pause
            or folder.is_held()
        ):
            last_busy = time.time()
        elif order.idle_seconds and _idle_for(last_busy, folder) > order.idle_seconds:
            # Under the lock, so that a client which finds no engine now starts one only after this is gone.
            with FileLock(folder.lock):
                if _idle_for(last_busy, folder) > order.idle_seconds:
                    folder.forget()
                    _end(server)
                    return
    state = folder.read()
    if state is not None and state.pid == server.pid:
        folder.forget()


def _idle_for(last_busy: float, folder: EngineFolder) -> float:
    return time.time() - max(last_busy, folder.last_used())


def _cpu_seconds(jvm: psutil.Process) -> float:
    try:
        times = jvm.cpu_times()
    except psutil.Error:
        return 0.0
    return float(times.user + times.system)


def _end(server: subprocess.Popen[bytes]) -> None:
    server.terminate()
    try:
        server.wait(20)
    except subprocess.TimeoutExpired:
        server.kill()
        server.wait()


if __name__ == "__main__":
    sys.exit(main())
