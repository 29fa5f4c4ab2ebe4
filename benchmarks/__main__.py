"""`python -m benchmarks [--scale small|full]`: one run, one table."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

from rich.console import Console
from rich.table import Table

from . import diff_job, platform_job, readers_job, table_job
from .measure import Measured

RESULTS = Path(__file__).parent / "results"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--scale", choices=("small", "full"), default="small", help="small takes under 10 minutes")
    parser.add_argument("--only", choices=("platform", "tables", "diff", "readers"), help="one group of jobs")
    options = parser.parse_args()
    console = Console()
    done: list[Measured] = []
    for measured in _jobs(options.scale, options.only):
        done.append(measured)
        console.print(f"{measured.job}: {measured.ours:.2f} s", style="dim")
    console.print(_table(done))
    RESULTS.mkdir(exist_ok=True)
    file = RESULTS / f"{datetime.now(UTC):%Y%m%dT%H%M%S}-{options.scale}.json"
    file.write_text(json.dumps([m.as_json() for m in done], indent=1))
    console.print(f"Kept in {file}", style="dim")


def _jobs(scale: str, only: str | None) -> Iterator[Measured]:
    small = scale == "small"
    rows = 1_000_000 if small else 10_000_000
    jobs: dict[str, Callable[[], Iterator[Measured]]] = {
        "platform": lambda: platform_job.run(times=3 if small else 9),
        "tables": lambda: table_job.run(rows=rows, changed=rows // 100),
        "diff": lambda: diff_job.run(rows=10_000_000, changed=100_000, times=3 if small else 7),
        "readers": lambda: readers_job.run(rows=rows, each=4),
    }
    for name, job in jobs.items():
        if only in (None, name):
            yield from job()


def _table(done: list[Measured]) -> Table:
    table = Table(title="Oreo beside what one would use instead")
    for name in ("job", "ours", "instead", "its time", "ratio"):
        table.add_column(name, justify="left" if name in ("job", "instead") else "right")
    for m in done:
        peer = f"{m.peer:.2f} s" if m.peer else ""
        ratio = f"{m.ratio:.2f}" if m.ratio else m.limit
        table.add_row(m.job, f"{m.ours:.2f} s", m.peer_name, peer, ratio)
    return table


if __name__ == "__main__":
    main()
