"""`python -m oreo_assets.defs.nursery --home DIR`: import what runs need, then fork one worker per run.

Importing Great Expectations, PySpark and Dagster takes ten seconds, a fork some milliseconds.
"""

from __future__ import annotations

import argparse
import fcntl
import logging
import os
import socket
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from .client import IDLE_SECONDS, LOCK, LOG, RUN_LOGS, SOCKET
from .preload import LIBRARIES, OWN, fingerprint, preload
from .server import Nursery, received_children

KEEP_LOGS_SECONDS = 7 * 24 * 3600

_log = logging.getLogger("oreo.nursery")


def main(argv: Sequence[str] | None = None) -> int:
    """Serve until stopped or idle. In a forked child the same call returns the run's exit status."""
    options = _options(argv)
    home = Path(options.home).absolute()
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    home.chmod(0o700)
    lock = options.lock_fd if options.lock_fd is not None else _take_lock(home)
    if lock is None:
        return 0  # Another one was first; whoever started us finds it at the socket.
    _log_to_stderr()
    _remove_old_logs(home)
    listener = _listen(home, options.listen_fd)
    seen = fingerprint()
    started = time.monotonic()
    not_loaded = preload(options.preload.split(",") if options.preload is not None else LIBRARIES + OWN)
    seconds = time.monotonic() - started
    children = received_children(home) if options.lock_fd is not None else {}
    nursery = Nursery(home, lock, listener, seen, options.idle_seconds, not_loaded, seconds, children)
    _log.info("Ready after %.1f s, process %d.", nursery.preload_seconds, os.getpid())
    # The loop returns in the child, too, with what to do: so a run ends as any program does, at the bottom.
    worker = nursery.serve()
    return 0 if worker is None else worker.run()


def _options(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m oreo_assets.defs.nursery", description=__doc__)
    parser.add_argument("--home", required=True, help="the folder of socket, lock and logs")
    parser.add_argument("--idle-seconds", type=int, default=IDLE_SECONDS, help="end after this long unused")
    parser.add_argument("--preload", help="modules to import instead of the usual ones, comma-separated")
    parser.add_argument("--lock-fd", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--listen-fd", type=int, help=argparse.SUPPRESS)
    return parser.parse_args(argv)


def _take_lock(home: Path) -> int | None:
    """The one lock of this folder, held while we live; None when another nursery holds it."""
    lock = os.open(home / LOCK, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(lock)
        return None
    os.truncate(lock, 0)
    os.pwrite(lock, str(os.getpid()).encode(), 0)
    return lock


def _listen(home: Path, inherited: int | None) -> socket.socket:
    """Listen before anything is imported: callers queue instead of starting another one."""
    os.chdir(home)  # A relative path is never too long for a socket.
    if inherited is not None:
        os.set_inheritable(inherited, False)
        return socket.socket(fileno=inherited)
    Path(SOCKET).unlink(missing_ok=True)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listener.bind(SOCKET)
    listener.listen(512)
    return listener


def _remove_old_logs(home: Path) -> None:
    logs = home / RUN_LOGS
    logs.mkdir(mode=0o700, exist_ok=True)
    oldest = time.time() - KEEP_LOGS_SECONDS
    for path in logs.glob("*.log"):
        if path.stat().st_mtime < oldest:
            path.unlink(missing_ok=True)
    if (home / LOG).exists() and (home / LOG).stat().st_size > 1_000_000:
        os.truncate(home / LOG, 0)


def _log_to_stderr() -> None:
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    _log.addHandler(handler)
    _log.setLevel(logging.INFO)
    _log.propagate = False


if __name__ == "__main__":
    sys.exit(main())
