"""One run in a process forked from the nursery: make the world as a fresh process has it, then run."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

INTERRUPTS = frozenset({signal.SIGTERM, signal.SIGINT})


@dataclass(frozen=True)
class Worker:
    """What a forked child is to do. The parent blocks `INTERRUPTS` around the fork; `run` lets them in."""

    command: str
    args: str
    env: Mapping[str, str]
    cwd: str
    log: Path

    def run(self) -> int:
        """Execute the run as `dagster api` does, and return its exit status."""
        os.setsid()
        self._redirect_streams()
        self._see_the_callers_world()
        _forget_the_nursery()

        from dagster._cli.api import execute_run_command, resume_run_command
        from dagster._utils.interrupts import capture_interrupts

        commands = {"execute_run": execute_run_command, "resume_run": resume_run_command}
        # A termination that comes before Dagster listens is kept, and cancels the run at its first step.
        with capture_interrupts():
            signal.pthread_sigmask(signal.SIG_UNBLOCK, INTERRUPTS)
            try:
                commands[self.command].main(args=[self.args], prog_name="dagster", standalone_mode=False)
            except SystemExit as exit_:
                return exit_.code if isinstance(exit_.code, int) else 1
        return 0

    def _redirect_streams(self) -> None:
        """To the run's own log; Dagster's capture then takes descriptors 1 and 2 for each step."""
        self.log.parent.mkdir(mode=0o700, exist_ok=True)
        log = os.open(self.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        nothing = os.open(os.devnull, os.O_RDONLY)
        for source, target in ((nothing, 0), (log, 1), (log, 2)):
            os.dup2(source, target)
        os.close(log)
        os.close(nothing)

    def _see_the_callers_world(self) -> None:
        os.environ.clear()
        os.environ.update(self.env)
        os.chdir(self.cwd)
        # What `python -m dagster` would have put there.
        paths = [self.cwd, *filter(None, self.env.get("PYTHONPATH", "").split(os.pathsep))]
        sys.path[:0] = [path for path in dict.fromkeys(paths) if path not in sys.path]


def _forget_the_nursery() -> None:
    """Signal handlers and random states of the parent; `random` and `ssl` look after a fork themselves."""
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        numpy.random.seed()
