"""Both sides of a change set joined by `row_id`, as one relation that counts, figures and pages are read from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..model.spec import ROW_ID
from ..model.states import CHANGE, Mode, RowChange
from .change_set import Counts, Sides
from .read import column_types
from .sql import quote_identifier as q
from .sql import quote_literal

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

KEPT_ROWS = 1_000_000
"""Up to so many changed rows are kept at hand; of more, figures beyond the counts come from a sample."""
SAMPLE_ROWS = 100_000
_DELETES = f"s.{q(CHANGE)} = '{RowChange.DELETE}'"


@dataclass(frozen=True)
class Comparison:
    """The columns that are compared, and the SQL of the joined rows: row_id, change, `old c` and `new c`."""

    connection: DuckDBPyConnection
    columns: tuple[str, ...]
    absent: tuple[str, ...]
    types: dict[str, str]
    whole: str
    joined: str
    names_deleted: bool
    """Whether the staged table names the rows that it deletes; a full snapshot leaves them out."""

    @classmethod
    def of(cls, sides: Sides) -> Comparison:
        """Work out how the two sides are compared. Only the staged side has been looked at so far."""
        connection, mode = sides.connection, sides.mode
        in_main, in_staged = column_types(connection, "main"), column_types(connection, "staged")
        main_columns = [c for c in in_main if c != ROW_ID]
        staged_columns = [c for c in in_staged if c not in (ROW_ID, CHANGE)]
        columns = main_columns if mode is Mode.DELETE else staged_columns
        types = {**{c: in_staged[c] for c in staged_columns}, **in_main}
        selected = [f"{_old(c, c in in_main, types)}, {_new(c, mode, types)}" for c in columns]
        changed = " OR ".join(
            f"m.{q(c)} IS DISTINCT FROM s.{q(c)}" if c in in_main else f"s.{q(c)} IS NOT NULL" for c in staged_columns
        )
        joined = (
            f"SELECT {'coalesce(s.row_id, m.row_id)' if mode is Mode.REPLACE else 's.row_id'} AS row_id, "
            f"{_kind(mode, changed or 'false')} AS change"
            + "".join(f", {part}" for part in selected)
            + f" FROM staged s {'FULL' if mode is Mode.REPLACE else 'LEFT'} JOIN {_main(connection, mode)} m "
            "ON s.row_id = m.row_id"
        )
        absent = tuple(c for c in main_columns if c not in columns)
        return cls(connection, tuple(columns), absent, types, sides.whole, joined, mode is not Mode.REPLACE)

    def counts(self) -> Counts:
        """In one pass, without keeping anything."""
        return self._counts(self._changing())

    def keep(self) -> KeptChanges:
        """Join once, and keep the rows that change (or, if they are too many, a sample of them)."""
        self.connection.execute(
            f"CREATE OR REPLACE TEMP TABLE kept AS SELECT * FROM {self._changing()} LIMIT {KEPT_ROWS + 1}"
        )
        if self._one("SELECT count(*) FROM kept") <= KEPT_ROWS:
            return KeptChanges(self._counts("kept"), "kept", "kept", is_sample=False)
        self.connection.execute(
            f"CREATE OR REPLACE TEMP TABLE kept AS SELECT * FROM {self._changing()} "
            f"USING SAMPLE reservoir({SAMPLE_ROWS} ROWS) REPEATABLE (1)"
        )
        return KeptChanges(self.counts(), self._changing(), "kept", is_sample=True)

    def _changing(self) -> str:
        return f"(SELECT * FROM ({self.joined}) WHERE change <> 'unchanged')"

    def _counts(self, changing: str) -> Counts:
        """The staged rows that do not change anything are those that are left."""
        found = dict(self.connection.execute(f"SELECT change, count(*) FROM {changing} GROUP BY 1").fetchall())
        named = sum(n for kind, n in found.items() if self.names_deleted or kind != "deleted")
        return Counts(**found, unchanged=self._one("SELECT count(*) FROM staged") - named)

    def _one(self, sql: str) -> int:
        row = self.connection.execute(sql).fetchone()
        return int(row[0]) if row else 0


@dataclass(frozen=True)
class KeptChanges:
    """The rows that change: all of them as `rows`, and in `at_hand` all, or a sample where they are too many."""

    counts: Counts
    rows: str
    at_hand: str
    is_sample: bool


def _kind(mode: Mode, changed: str) -> str:
    upserted = f"CASE WHEN m.row_id IS NULL THEN 'inserted' WHEN {changed} THEN 'updated' ELSE 'unchanged' END"
    deleted = "CASE WHEN m.row_id IS NULL THEN 'unchanged' ELSE 'deleted' END"
    if mode is Mode.DELETE:
        return deleted
    if mode is Mode.PATCH:
        return f"CASE WHEN {_DELETES} THEN {deleted} ELSE {upserted} END"
    if mode is Mode.REPLACE:
        return f"CASE WHEN s.row_id IS NULL THEN 'deleted' ELSE {upserted} END"
    return upserted


def _old(column: str, in_main: bool, types: dict[str, str]) -> str:
    return f"{f'm.{q(column)}' if in_main else f'CAST(NULL AS {types[column]})'} AS {q('old ' + column)}"


def _new(column: str, mode: Mode, types: dict[str, str]) -> str:
    value = f"s.{q(column)}"
    if mode is Mode.DELETE:
        value = f"CAST(NULL AS {types[column]})"
    elif mode is Mode.PATCH:
        value = f"CASE WHEN {_DELETES} THEN NULL ELSE s.{q(column)} END"
    return f"{value} AS {q('new ' + column)}"


def _main(connection: DuckDBPyConnection, mode: Mode) -> str:
    """Main, or (where only rows that are staged matter) the part of it in which they can be: files are skipped."""
    if mode is Mode.REPLACE:
        return "main"
    low, high = connection.execute("SELECT min(row_id), max(row_id) FROM staged").fetchone() or (None, None)
    if low is None or "\x00" in low + high:
        return "main"
    return f"(SELECT * FROM main WHERE row_id BETWEEN {quote_literal(low)} AND {quote_literal(high)})"
