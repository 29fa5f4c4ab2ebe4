"""Columns that are called what a query calls its own: the diff and the hash still tell them apart."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
from deltalake import write_deltalake

from oreo_assets.lake.diff import ChangeSet, content_hash, count_changes, diff
from oreo_assets.lake.read import TableAt
from oreo_assets.model.states import Mode

from .filter_oracle import ODD_NAMES

NAMES = [
    *ODD_NAMES,
    *("change", "changed", "old", "new", "kept", "staged", "m", "s", "h", "count", "order", "group", "rowid", "n"),
    *("old x", "new x", "x", "old old x", "changed x", "cells", "matching"),
]


def table(folder: Path, rows: list[dict[str, Any]]) -> str:
    schema = pa.schema([("row_id", pa.string()), *((name, pa.string()) for name in NAMES)])
    write_deltalake(str(folder), pa.Table.from_pylist(rows, schema=schema))
    return str(folder)


def row(row_id: str, **changed: str) -> dict[str, Any]:
    return {"row_id": row_id} | {name: f"{name} of {row_id}" for name in NAMES} | changed


def test_a_change_is_told_of_the_column_it_is_in(tmp_path: Path):
    """One row per column, and in each only that column changes."""
    rows = {f"r{n:02}": name for n, name in enumerate(NAMES)}
    main = table(tmp_path / "main", [row(row_id) for row_id in rows])
    staged = [row(row_id, **{name: "changed"}) for row_id, name in rows.items()]
    staging = table(tmp_path / "staging", [*staged, row("z")])
    change = ChangeSet.of(main, 0, staging, 0, Mode.UPSERT)
    counts = count_changes(change)
    assert (counts.inserted, counts.updated, counts.deleted, counts.unchanged) == (1, len(NAMES), 0, 0)
    found = {row["row_id"]: row["cells"] for row in diff(change).rows if row["change"] == "updated"}
    told = {row_id: {c: (cell["old"], cell["new"]) for c, cell in cells.items()} for row_id, cells in found.items()}
    assert told == {row_id: {name: (f"{name} of {row_id}", "changed")} for row_id, name in rows.items()}


def test_the_same_texts_in_other_columns_have_another_hash(tmp_path: Path):
    one = table(tmp_path / "one", [row("a", x="1", **{"old x": "2"})])
    two = table(tmp_path / "two", [row("a", x="2", **{"old x": "1"})])
    again = table(tmp_path / "again", [row("a", x="1", **{"old x": "2"})])
    hashes = [content_hash(TableAt("main", uri, 0)) for uri in (one, two, again)]
    assert hashes[0] == hashes[2] != hashes[1]
