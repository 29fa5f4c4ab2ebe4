"""The three-way comparison by itself, on tables that no Spark has written."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
from deltalake import write_deltalake

from oreo_assets.lake.conflicts import find_conflicts
from oreo_assets.lake.diff import ChangeSet
from oreo_assets.model.states import Mode

BASE = [("a", 1, 1), ("b", 1, 1)]
OURS = [("a", 2, 1), ("b", 2, 1)]
THEIRS = [("a", 1, 3), ("b", 3, 1)]
"""Of `a` both sides change another cell; of `b` the same one."""


def test_the_limit_counts_conflicts_and_not_the_rows_before_them_in_which_both_sides_agree(tmp_path: Path):
    main, staged = str(tmp_path / "main"), str(tmp_path / "staged")
    write_deltalake(main, _table(BASE))
    write_deltalake(main, _table(THEIRS), mode="overwrite")
    write_deltalake(staged, _table(OURS))
    change = ChangeSet.of(main, 0, staged, 0, Mode.UPSERT)
    (found,) = find_conflicts(change, 1, "cell", limit=1)
    assert (found.row_id, found.column, found.base, found.ours, found.theirs) == ("b", "x", 1, 2, 3)
    assert [(c.row_id, c.column) for c in find_conflicts(change, 1, "row")] == [("a", None), ("b", "x")]


def _table(rows: list[tuple[str, int, int]]) -> pa.Table:
    return pa.table(dict(zip(("row_id", "x", "y"), map(list, zip(*rows, strict=True)), strict=True)))
