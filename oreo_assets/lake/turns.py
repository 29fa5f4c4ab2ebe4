"""Reads take turns: each may use a gigabyte, and fifty readers of one process at once would use up the machine."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from ..model.errors import UnavailableError

AT_ONCE = 2 * (os.cpu_count() or 1)
_WAIT_SECONDS = 60
_slots = threading.BoundedSemaphore(AT_ONCE)
_mine = threading.local()


@contextmanager
def turn() -> Iterator[None]:
    """Wait until it is one's turn. A read within a read of the same thread has it already."""
    if getattr(_mine, "held", False):
        yield
        return
    if not _slots.acquire(timeout=_WAIT_SECONDS):
        raise UnavailableError("Too many read at once.", "Try again in a moment.")
    _mine.held = True
    try:
        yield
    finally:
        _mine.held = False
        _slots.release()
