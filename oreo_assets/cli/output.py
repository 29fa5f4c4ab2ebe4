"""Where answers go: one JSON document for scripts, a console for people."""

from __future__ import annotations

import json
import math
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date, datetime, time
from decimal import Decimal
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console

_WIDE = 1000


def print_json(document: Any) -> None:
    """The one document. A lone surrogate (a file name in another encoding) becomes its JSON escape."""
    indent = 2 if sys.stdout.isatty() else None
    text = json.dumps(plain(document), ensure_ascii=False, allow_nan=False, indent=indent)
    sys.stdout.flush()
    sys.stdout.buffer.write(text.encode("utf-8", "backslashreplace") + b"\n")
    sys.stdout.buffer.flush()


def plain(value: Any) -> Any:
    """The value as JSON has it. A decimal is a number where a float says exactly the same, else text."""
    if value is None or isinstance(value, (bool, int)):
        return value
    if isinstance(value, str):
        return str(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, Decimal):
        near = float(value)
        return near if math.isfinite(near) and Decimal(repr(near)) == value else str(value)
    if isinstance(value, (date, datetime, time)):
        return value.isoformat()
    if isinstance(value, dict):
        return {str(name): plain(item) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, (bytes, bytearray)):
        return bytes(value).hex()
    return str(value)


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
