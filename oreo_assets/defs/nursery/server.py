"""The nursery's loop: one thread, one request at a time, a fork for each run.

Before a fork nothing but imports has happened: no channel, session, thread or connection is open, because
a child gets a copy of those that does not work.
"""

from __future__ import annotations

import gc
import json
import logging
import os
import selectors
import signal
import socket
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from .client import RUN_LOGS, SOCKET, code_home
from .preload import fingerprint
from .processes import describe_exit, start_mark
from .worker import INTERRUPTS, Worker

REMEMBER_SECONDS = 6 * 3600

_TICK_SECONDS = 2.0
_READ_SECONDS = 5.0
_HANDOVER = "handover.json"
_log = logging.getLogger("oreo.nursery")


@dataclass
class Child:
    """A worker of ours, and how it ended."""

    run_id: str
    pid: int
    mark: str
    exit_code: int | None = None
    ended: float | None = None


class Nursery:
    """The loop: answer requests, reap children, leave when idle, start afresh when the code changed."""

    def __init__(
        self,
        home: Path,
        lock: int,
        listener: socket.socket,
        seen: str,
        idle_seconds: int,
        not_loaded: tuple[str, ...],
        preload_seconds: float,
        children: dict[str, Child],
    ) -> None:
        self.home = home
        self.lock = lock
        self.listener = listener
        self.seen = seen
        self.idle_seconds = idle_seconds
        self.not_loaded = not_loaded
        self.preload_seconds = preload_seconds
        self.children = children
        self.stopping = False
        self.last_used = time.monotonic()
        self.socket_inode = os.stat(home / SOCKET).st_ino

    def serve(self) -> Worker | None:
        """Returns None when the nursery ends, and a worker to run in a child that was just forked."""
        gc.collect()
        gc.freeze()  # A child's collector must not touch, and so copy, what all of them share.
        woken, waker = socket.socketpair()
        for end in (woken, waker):
            end.setblocking(False)
        signal.set_wakeup_fd(waker.fileno(), warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.signal(signal.SIGTERM, lambda *_: self._stop())
        signal.signal(signal.SIGINT, lambda *_: self._stop())
        with selectors.DefaultSelector() as selector:
            selector.register(self.listener, selectors.EVENT_READ)
            selector.register(woken, selectors.EVENT_READ)
            while not self.stopping and not self._is_idle() and self._is_reachable():
                for key, _ in selector.select(_TICK_SECONDS):
                    if key.fileobj is woken:
                        woken.recv(4096)
                    elif worker := self._accept():
                        for end in (woken, waker, self.listener):
                            end.close()
                        os.close(self.lock)  # Else a run would hold the nursery's lock after its death.
                        return worker
                self._reap()
        self._leave()
        return None

    def _accept(self) -> Worker | None:
        connection, _ = self.listener.accept()
        with connection:
            connection.settimeout(_READ_SECONDS)
            try:
                with connection.makefile("rb") as lines:
                    line = lines.readline()
                if not line:
                    return None  # Someone looked whether we are here.
                request = json.loads(line)
                answer = self._answer(request)
                if isinstance(answer, Worker):
                    return answer
                connection.sendall(json.dumps(answer).encode() + b"\n")
            except (OSError, ValueError, KeyError) as error:
                _log.warning("A request could not be answered: %r", error)
                return None
        if answer.get("again"):
            self._start_afresh()
        return None

    def _answer(self, request: dict[str, Any]) -> dict[str, Any] | Worker:
        self._reap()
        if not request.get("quiet"):
            self.last_used = time.monotonic()
        match request["do"]:
            case "launch":
                return self._launch(request)
            case "health":
                return self._health(request["run_id"])
            case "terminate":
                return self._terminate(request["run_id"], request["signal"])
            case "stop":
                self.stopping = True
                for child in self._alive() if request.get("end_workers") else ():
                    os.kill(child.pid, signal.SIGTERM)
        return {
            "nursery": os.getpid(),
            "workers": len(self._alive()),
            "preload_seconds": round(self.preload_seconds, 2),
            "not_loaded": self.not_loaded,
        }

    def _launch(self, request: dict[str, Any]) -> dict[str, Any] | Worker:
        if time.monotonic() > request["deadline"]:
            return {"error": "The request came too late."}
        if request["code"] != code_home():
            return {"error": f"The nursery runs other code ({code_home()}) than asks for it ({request['code']})."}
        if fingerprint() != self.seen:
            return {"again": True}
        run_id = request["run_id"]
        log = self.home / RUN_LOGS / f"{run_id}.log"
        worker = Worker(request["command"], request["args"], request["env"], request["cwd"], log)
        signal.pthread_sigmask(signal.SIG_BLOCK, INTERRUPTS)
        try:
            pid = os.fork()
        except OSError as error:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, INTERRUPTS)
            return {"error": f"The nursery could not fork: {error}."}
        if pid == 0:
            return worker
        signal.pthread_sigmask(signal.SIG_UNBLOCK, INTERRUPTS)
        # Until we reap it the number is taken, so this is surely our child's mark.
        child = self.children[run_id] = Child(run_id, pid, start_mark(pid) or "")
        return {"pid": child.pid, "mark": child.mark, "nursery": os.getpid()}

    def _health(self, run_id: str) -> dict[str, Any]:
        child = self.children.get(run_id)
        return {"known": True, "pid": child.pid, "exit_code": child.exit_code} if child else {"known": False}

    def _terminate(self, run_id: str, signal_number: int) -> dict[str, Any]:
        child = self.children.get(run_id)
        if child and child.exit_code is None:
            os.kill(child.pid, signal_number)
        return self._health(run_id)

    def _reap(self) -> None:
        for child in self._alive():
            try:
                pid, status = os.waitpid(child.pid, os.WNOHANG)
            except ChildProcessError:
                # Reaped by nobody we know: rather no answer than a made-up exit status.
                del self.children[child.run_id]
                continue
            if pid:
                child.exit_code = os.waitstatus_to_exitcode(status)
                child.ended = self.last_used = time.monotonic()
                _log.info("Run %s, process %d, %s.", child.run_id, pid, describe_exit(child.exit_code))
        now = time.monotonic()
        forgotten = [c.run_id for c in self.children.values() if c.ended and now - c.ended > REMEMBER_SECONDS]
        for run_id in forgotten:
            del self.children[run_id]

    def _alive(self) -> list[Child]:
        return [child for child in self.children.values() if child.exit_code is None]

    def _stop(self) -> None:
        self.stopping = True

    def _is_idle(self) -> bool:
        return not self._alive() and time.monotonic() - self.last_used > self.idle_seconds

    def _is_reachable(self) -> bool:
        """Whether our socket is still there: the folder of a `dagster dev` goes away when that ends."""
        try:
            return os.stat(self.home / SOCKET).st_ino == self.socket_inode
        except FileNotFoundError:
            return False

    def _leave(self) -> None:
        if self._is_reachable():
            (self.home / SOCKET).unlink()
        self.listener.close()
        _log.info("Process %d ends; %d runs go on.", os.getpid(), len(self._alive()))

    def _start_afresh(self) -> None:
        """Become a new program in the same process: the children stay ours, callers wait at the socket."""
        _log.info("The code changed; importing it again.")
        (self.home / _HANDOVER).write_text(json.dumps([asdict(child) for child in self.children.values()]))
        os.set_inheritable(self.lock, True)
        os.set_inheritable(self.listener.fileno(), True)
        words = sys.orig_argv[1:]
        kept = words[: words.index("--lock-fd")] if "--lock-fd" in words else words
        given = ["--lock-fd", str(self.lock), "--listen-fd", str(self.listener.fileno())]
        os.execv(sys.executable, [sys.executable, *kept, *given])


def received_children(home: Path) -> dict[str, Child]:
    """What our former self knew before it started afresh."""
    path = home / _HANDOVER
    children = [Child(**facts) for facts in json.loads(path.read_text())]
    path.unlink()
    return {child.run_id: child for child in children}
