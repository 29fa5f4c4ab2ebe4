"""Where answers go: one JSON document for scripts, a console for people."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ..model.plain import json_bytes

if TYPE_CHECKING:
    from rich.console import Console

_WIDE = 1000


def print_json(document: Any) -> None:
    """The one document."""
    sys.stdout.flush()
    sys.stdout.buffer.write(json_bytes(document, indent=2 if sys.stdout.isatty() else None) + b"\n")
    sys.stdout.buffer.flush()


def console(*, stderr: bool = False) -> Console:
    """Rich's console, colourless where NO_COLOR says so. What is piped is not cut to a terminal's width."""
    from rich.console import Console

    class _Console(Console):
        def on_broken_pipe(self) -> None:
            # Rich would exit with 1, which for us means a defect; running.py knows better.
            raise BrokenPipeError

    stream = sys.stderr if stderr else sys.stdout
    width = None if stream.isatty() or os.environ.get("COLUMNS") else _WIDE
    return _Console(stderr=stderr, width=width, highlight=False)


@contextmanager
def only_ours_on_stdout() -> Iterator[None]:
    """Whatever a library, or Java inside this process, prints meanwhile goes to standard error."""
    sys.stdout.flush()
    kept = os.dup(1)
    before = sys.stdout
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    try:
        yield
    finally:
        sys.stdout = before
        os.dup2(kept, 1)
        os.close(kept)
