"""Three-way comparison: what the author saw, what is staged, and main as it is now."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..model.spec import ROW_ID
from ..model.states import CHANGE, Mode, RowChange
from .diff import ChangeSet
from .read import TableAt, column_types, fetch_dicts, reading
from .sql import quote_identifier as q

_DELETED_BY_PATCH = f"s.{q(CHANGE)} = '{RowChange.DELETE}'"


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
        compared = [c for c in in_staged if c not in (ROW_ID, CHANGE) and c in in_base]
        shared = [c for c in in_now if c != ROW_ID and c in in_base]
        ours_changed = {c: f"b.{q(c)} IS DISTINCT FROM s.{q(c)}" for c in compared}
        theirs_changed = {c: f"b.{q(c)} IS DISTINCT FROM n.{q(c)}" for c in shared}
        touched = {
            Mode.DELETE: "b.row_id IS NOT NULL",
            Mode.REPLACE: f"b.row_id IS NULL OR s.row_id IS NULL OR {_any(ours_changed)}",
            Mode.PATCH: f"CASE WHEN {_DELETED_BY_PATCH} THEN b.row_id IS NOT NULL "
            f"ELSE b.row_id IS NULL OR {_any(ours_changed)} END",
        }.get(change.mode, f"b.row_id IS NULL OR {_any(ours_changed)}")
        deletes = {Mode.DELETE: "true", Mode.PATCH: _DELETED_BY_PATCH}.get(change.mode, "s.row_id IS NULL")
        join = "FULL JOIN" if change.mode is Mode.REPLACE else "LEFT JOIN"
        moved = f"(b.row_id IS NULL) <> (n.row_id IS NULL) OR {_any(theirs_changed)}"
        columns = [c for c in compared if c in shared]
        clash = {
            c: f"({ours_changed[c]} AND {theirs_changed[c]} AND s.{q(c)} IS DISTINCT FROM n.{q(c)})" for c in columns
        }
        differ = clash if by == "cell" else {c: f"s.{q(c)} IS DISTINCT FROM n.{q(c)}" for c in columns}
        # In SQL, so that the limit counts conflicts and not the rows in which both sides agree.
        overlap = f"CASE WHEN {deletes} THEN n.row_id IS NOT NULL ELSE n.row_id IS NULL OR {_any(differ)} END"
        cells = [
            f"b.{q(c)} AS {q('base ' + c)}, s.{q(c)} AS {q('ours ' + c)}, n.{q(c)} AS {q('theirs ' + c)}, "
            f"{clash[c]} AS {q('clash ' + c)}"
            for c in columns
        ]
        result = connection.execute(
            "SELECT coalesce(s.row_id, b.row_id) AS row_id, b.row_id IS NOT NULL AS in_base, "
            f"{deletes} AS deletes, n.row_id IS NOT NULL AS in_now"
            + "".join(f", {c}" for c in cells)
            + f" FROM staged s {join} main b ON s.row_id = b.row_id "
            "LEFT JOIN now n ON n.row_id = coalesce(s.row_id, b.row_id) "
            f"WHERE ({touched}) AND ({moved}) AND ({overlap}) ORDER BY 1 LIMIT ?",
            [limit],
        )
        records = fetch_dicts(result)
    return [c for record in records for c in _conflicts_of(record, columns)]


def _conflicts_of(record: dict[str, Any], columns: list[str]) -> list[Conflict]:
    """The cells that clash; or the row, if one side deleted it or (by the rule of rows) both changed it."""
    row_id, deletes, in_now = record["row_id"], record["deletes"], record["in_now"]
    if not deletes and in_now:
        cells = [
            Conflict(row_id, c, record[f"base {c}"], record[f"ours {c}"], record[f"theirs {c}"])
            for c in columns
            if record[f"clash {c}"]
        ]
        if cells:
            return cells
    ours = "deleted" if deletes else "changed" if record["in_base"] else "inserted"
    theirs = "deleted" if not in_now else "changed" if record["in_base"] else "inserted"
    return [Conflict(row_id, None, None, ours, theirs)]


def _any(tests: dict[str, str]) -> str:
    return " OR ".join(tests.values()) or "false"
