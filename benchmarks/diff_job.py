"""The diff of a large change against a large main, beside the bare DuckDB join of the same Parquet files."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import duckdb
from deltalake import write_deltalake

from .measure import Measured, median_seconds

_ROWS = """
    SELECT printf('%09d', i) AS row_id, printf('%09d', i) AS order_id, 'customer ' || (i * 7919 % 200000) AS customer,
        ((i * 7 % 100000) / 100.0 + {bump})::DECIMAL(12,2) AS amount, DATE '2020-01-01' + (i % 2000)::INT AS ordered_on,
        ['open', 'paid', 'sent', 'lost'][1 + i % 4] AS status,
        CASE WHEN i % 10 = 0 THEN NULL ELSE i % 97 END AS quantity
    FROM range({stop}) t(i) WHERE {which}
"""
_COLUMNS = ("order_id", "customer", "amount", "ordered_on", "status", "quantity")
_FILE_ROWS = 1_000_000


def run(rows: int, changed: int, times: int) -> Iterator[Measured]:
    """`changed` rows, spread over all of main, nine of ten of them updates; with the memory of a process of its own."""
    with tempfile.TemporaryDirectory(prefix="oreo-bench-diff-") as folder:
        _make(Path(folder), rows, changed)
        ours, peer = (_measure(what, folder, times) for what in ("ours", "bare"))
    job = f"diff of {changed:,} rows against {rows:,}: first page, all figures, {ours['gigabytes']:.2f} GB of memory"
    yield Measured(job, ours["seconds"], "bare DuckDB join, all columns", peer["seconds"])


def _make(folder: Path, rows: int, changed: int) -> None:
    main, staged = str(folder / "main"), str(folder / "staged")
    for start in range(0, rows, _FILE_ROWS):
        part = _ROWS.format(bump=0, stop=min(rows, start + _FILE_ROWS), which=f"i >= {start}")
        write_deltalake(main, duckdb.sql(part).to_arrow_table(), mode="append")
    every = rows * 10 // (changed * 9)
    which = f"(i < {rows} AND i % {every} = 0) OR i >= {rows}"
    write_deltalake(staged, duckdb.sql(_ROWS.format(bump=1, stop=rows + changed // 10, which=which)).to_arrow_table())


def _measure(what: str, folder: str, times: int) -> dict[str, float]:
    """In a new process, so that its peak of memory is that of this work alone."""
    command = [sys.executable, "-m", "benchmarks.diff_job", what, folder, str(times)]
    return dict(json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout))


def _ours(folder: str) -> None:
    from oreo_assets.lake.diff import ChangeSet, diff
    from oreo_assets.lake.log import current_version
    from oreo_assets.model.states import Mode

    main, staged = f"{folder}/main", f"{folder}/staged"
    page = diff(ChangeSet.of(main, current_version(main), staged, 0, Mode.UPSERT))
    assert page.rows and page.counts.updated


def _bare(folder: str) -> None:
    counted = ", ".join(f"count(*) FILTER (m.{c} IS DISTINCT FROM s.{c})" for c in _COLUMNS)
    with duckdb.connect(config={"threads": 2}) as connection:
        connection.execute(
            f"SELECT count(*) FILTER (m.row_id IS NULL), {counted} FROM '{folder}/staged/*.parquet' s "
            f"LEFT JOIN '{folder}/main/*.parquet' m ON s.row_id = m.row_id"
        ).fetchall()


def _peak_gigabytes() -> float:
    """From Linux itself: `getrusage` would tell of the process that started this one, if that was larger."""
    status = Path("/proc/self/status").read_text()
    return int(next(line for line in status.splitlines() if line.startswith("VmHWM")).split()[1]) / 2**20


if __name__ == "__main__":
    _what, _folder, _times = sys.argv[1:]
    _work = {"ours": _ours, "bare": _bare}[_what]
    _seconds = median_seconds(lambda: _work(_folder), int(_times), warm_up=1)
    sys.stdout.write(json.dumps({"seconds": _seconds, "gigabytes": _peak_gigabytes()}))
