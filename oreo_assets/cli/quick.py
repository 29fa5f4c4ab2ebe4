"""What keeps reading under a second."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def without_pandas() -> Iterator[None]:
    """Keep DuckDB from importing pandas, which it does at the first value it binds, to know pandas' nulls.

    We bind text and numbers only, and the import takes longer than most queries. Only for a process with
    one thread, as the command line is: another thread that wants pandas meanwhile would not find it.
    """
    if "pandas" in sys.modules:
        yield
        return
    sys.modules["pandas"] = None  # type: ignore[assignment]
    try:
        yield
    finally:
        del sys.modules["pandas"]
