"""Three-way comparison: what the author saw, what is staged, and main as it is now."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..model.spec import ROW_ID
from ..model.states import Mode
from .diff import ChangeSet
from .read import TableAt, column_types, fetch_dicts, reading
from .sql import quote_identifier as q


@dataclass(frozen=True)
class Conflict:
    """One cell that changed on both sides (or one row, if it was inserted or deleted on one: no column)."""

    row_id: str
    column: str | None
    base: Any
    ours: Any
    theirs: Any

    def as_json(self) -> dict[str, Any]:
        return {
            "row_id": self.row_id,
            "column": self.column,
            "base": self.base,
            "staged": self.ours,
            "main": self.theirs,
        }


def find_conflicts(change: ChangeSet, main_now: int, by: str, limit: int = 10_000) -> list[Conflict]:
    """Rows that the change set touches and that main changed since its base.

    `by` is the dataset's rule: with "row", any two changes to one row conflict; with "cell", only two
    different changes to one cell do (or a change against a deletion).
    """
    now = TableAt("now", change.main.uri, main_now)
    with reading(change.main, now, change.staged) as connection:
        in_base, in_now = column_types(connection, "main"), column_types(connection, "now")
        in_staged = column_types(connection, "staged")
        compared = [c for c in in_staged if c != ROW_ID and c in in_base]
        shared = [c for c in in_now if c != ROW_ID and c in in_base]
        ours_changed = {c: f"b.{q(c)} IS DISTINCT FROM s.{q(c)}" for c in compared}
        theirs_changed = {c: f"b.{q(c)} IS DISTINCT FROM n.{q(c)}" for c in shared}
        touched = {
            Mode.DELETE: "b.row_id IS NOT NULL",
            Mode.REPLACE: f"b.row_id IS NULL OR s.row_id IS NULL OR {_any(ours_changed)}",
        }.get(change.mode, f"b.row_id IS NULL OR {_any(ours_changed)}")
        join = "FULL JOIN" if change.mode is Mode.REPLACE else "LEFT JOIN"
        moved = f"(b.row_id IS NULL) <> (n.row_id IS NULL) OR {_any(theirs_changed)}"
        cells = [
            f"b.{q(c)} AS {q('base ' + c)}, s.{q(c)} AS {q('ours ' + c)}, n.{q(c)} AS {q('theirs ' + c)}"
            for c in compared
            if c in shared
        ]
        result = connection.execute(
            "SELECT coalesce(s.row_id, b.row_id) AS row_id, b.row_id IS NOT NULL AS in_base, "
            "s.row_id IS NOT NULL AS in_staged, n.row_id IS NOT NULL AS in_now"
            + "".join(f", {c}" for c in cells)
            + f" FROM staged s {join} main b ON s.row_id = b.row_id "
            "LEFT JOIN now n ON n.row_id = coalesce(s.row_id, b.row_id) "
            f"WHERE ({touched}) AND ({moved}) ORDER BY 1 LIMIT ?",
            [limit],
        )
        records = fetch_dicts(result)
    columns = [c for c in compared if c in shared]
    return [c for record in records for c in _conflicts_of(record, columns, change.mode, by)]


def _conflicts_of(record: dict[str, Any], columns: list[str], mode: Mode, by: str) -> list[Conflict]:
    row_id = record["row_id"]
    deletes = mode is Mode.DELETE or not record["in_staged"]
    ours = "deleted" if deletes else "changed" if record["in_base"] else "inserted"
    theirs = "deleted" if not record["in_now"] else "changed" if record["in_base"] else "inserted"
    if deletes and theirs == "deleted":
        return []  # both sides want it gone
    if deletes or theirs == "deleted":
        return [Conflict(row_id, None, None, ours, theirs)]
    cells = [
        Conflict(row_id, c, record[f"base {c}"], record[f"ours {c}"], record[f"theirs {c}"])
        for c in columns
        if record[f"ours {c}"] != record[f"base {c}"]
        and record[f"theirs {c}"] != record[f"base {c}"]
        and record[f"ours {c}"] != record[f"theirs {c}"]
    ]
    if cells:
        return cells
    same = all(record[f"ours {c}"] == record[f"theirs {c}"] for c in columns)
    return [] if by == "cell" or same else [Conflict(row_id, None, None, ours, theirs)]


def _any(tests: dict[str, str]) -> str:
    return " OR ".join(tests.values()) or "false"
