"""Ctrl-C that is not lost: Dagster takes it for itself while it runs a step, and the caller would go on."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def noticing_ctrl_c() -> Iterator[Callable[[], None]]:
    """A function that raises KeyboardInterrupt if Ctrl-C was pressed since it was last asked.

    Python writes the number of every signal to this pipe, whoever handles it. Signals reach the main thread
    only, so elsewhere there is nothing to notice.
    """
    if threading.current_thread() is not threading.main_thread():
        yield lambda: None
        return
    reader, writer = os.pipe()
    for end in (reader, writer):
        os.set_blocking(end, False)
    before = signal.set_wakeup_fd(writer, warn_on_full_buffer=False)

    def stop_if_asked() -> None:
        try:
            seen = os.read(reader, 1024)
        except BlockingIOError:
            return
        if signal.SIGINT in seen:
            raise KeyboardInterrupt

    try:
        yield stop_if_asked
    finally:
        signal.set_wakeup_fd(before)
        os.close(reader)
        os.close(writer)
