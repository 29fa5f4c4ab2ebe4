"""Which process is meant, when its number may have been given to another one since."""

from __future__ import annotations

import signal
from functools import cache
from pathlib import Path

import psutil


def start_mark(pid: int) -> str | None:
    """What tells this process from a later one of the same number; None when there is no such process.

    On Linux the kernel's own tick count and boot, since a wall-clock start time moves when the clock is set.
    """
    fields = _stat(pid)
    if fields:
        return f"{_boot()}:{fields[19]}"
    try:
        return f"{psutil.Process(pid).create_time():.2f}"
    except psutil.Error:
        return None


def is_alive(pid: int, mark: str) -> bool:
    """Whether exactly that process still runs. One that ended and waits to be reaped does not."""
    if start_mark(pid) != mark:
        return False
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.Error:
        return False


def describe_exit(code: int) -> str:
    """An exit status (negative: the signal that ended it, as `subprocess` has it) in words."""
    if code >= 0:
        return f"exited with status {code}"
    try:
        name = signal.Signals(-code).name
    except ValueError:
        name = f"signal {-code}"
    hint = " (often: the machine ran out of memory)" if -code == signal.SIGKILL else ""
    return f"was killed by {name}{hint}"


def _stat(pid: int) -> list[str] | None:
    """The fields of /proc/PID/stat after the command's name, which may itself hold spaces and brackets."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None


@cache
def _boot() -> str:
    return Path("/proc/sys/kernel/random/boot_id").read_text()[:8]
