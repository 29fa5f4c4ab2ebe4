"""The properties tried for minutes instead of seconds, each time with another seed, and a gigabyte in one line.

    python -m oreo_assets_tests.hostile.soak --minutes 5 --seed 1

`make soak` gives it a part of its time. Exits with 1 if a single input ended in a way that nobody named.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from oreo_assets.convert import convert
from oreo_assets.model.errors import BadFileError
from oreo_assets.model.spec import Limits

from .properties import PROPERTIES, request_for

GIGABYTE = 1 << 30
_ROOM = 3 * GIGABYTE
_LONG_ENOUGH = 60.0


@dataclass
class Tried:
    """What was tried, what became of it, and what failed."""

    ends: Counter[str] = field(default_factory=Counter)
    failed: list[str] = field(default_factory=list)

    def lines(self) -> list[str]:
        ends = ", ".join(f"{count:,} {word}" for word, count in self.ends.most_common())
        total = sum(self.ends.values())
        return [f"fuzz: {total:,} inputs, {ends}; {len(self.failed)} failed", *self.failed]


def fuzz(seconds: float, first_seed: int) -> Tried:
    """Every property in turn until the time is up; each at least once."""
    tried = Tried()
    until = time.monotonic() + seconds
    if seconds >= _LONG_ENOUGH:
        _try(tried, "a line of a gigabyte", lambda: tried.ends.update([a_gigabyte_in_one_line()]))
    number = first_seed * 1000
    while True:
        for case in PROPERTIES:
            examples = max(4, case.examples // 4)
            _try(tried, case.name, lambda: case.try_out(number, examples, lambda end: tried.ends.update([end])))  # noqa: B023
            if time.monotonic() > until and number > first_seed * 1000:
                return tried
        number += 1


def a_gigabyte_in_one_line() -> str:
    """The real thing, with the limits that every dataset has: refused, and nothing left."""
    with tempfile.TemporaryDirectory(prefix="oreo-fuzz-") as name:
        if shutil.disk_usage(name).free < _ROOM:
            return "not tried for want of room"
        folder = Path(name)
        raw = folder / "raw.csv"
        with raw.open("wb") as file:
            for _ in range(GIGABYTE >> 20):
                file.write(b"x" * (1 << 20))
        try:
            convert(request_for(raw, limits=Limits()))
        except BadFileError as error:
            told = error.message
        else:
            told = "it was taken"
        assert "longer than 16 MB" in told, told
        assert [p.name for p in folder.iterdir()] == ["raw.csv"]
        return "refused"


def _try(tried: Tried, name: str, work: Callable[[], object]) -> None:
    try:
        work()
    except Exception as error:
        notes = " ".join(getattr(error, "__notes__", []))
        tried.failed.append(f"{name}: {type(error).__name__}: {str(error)[:500]} {notes[:2000]}")


def main() -> int:
    parser = argparse.ArgumentParser(prog="fuzz", description=__doc__)
    parser.add_argument("--minutes", type=float, default=2)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    tried = fuzz(options.minutes * 60, options.seed)
    for line in tried.lines():
        print(line, flush=True)
    return 1 if tried.failed else 0


if __name__ == "__main__":
    sys.exit(main())
