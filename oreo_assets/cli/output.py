"""Where answers go: one JSON document for scripts, a console for people."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ..model.plain import json_bytes
from ..model.safe_text import for_terminal

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rich.console import Console, ConsoleOptions, RenderableType
    from rich.segment import Segment

_WIDE = 1000


def print_json(document: Any) -> None:
    """The one document."""
    sys.stdout.flush()
    sys.stdout.buffer.write(json_bytes(document, indent=2 if sys.stdout.isatty() else None) + b"\n")
    sys.stdout.buffer.flush()


def console(*, stderr: bool = False) -> Console:
    """Rich's console, colourless where NO_COLOR says so. What is piped is not cut to a terminal's width.

    Whatever a command shows, nothing in it commands the terminal: file names, notes and cells are other
    people's words. Rich's own commands (colours, the spinner) are no text and stay.
    """
    from rich.console import Console

    class _Console(Console):
        def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
            for segment in super().render(renderable, options):
                yield segment if segment.control else segment._replace(text=for_terminal(segment.text))

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
