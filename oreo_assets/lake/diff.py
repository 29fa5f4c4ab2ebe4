"""The difference between what is staged and main: one implementation for page, API and CLI."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..model.filters import Filter
from ..model.spec import ROW_ID
from ..model.states import Mode
from .read import TableAt, column_types, compile_filters, fetch_dicts, reading
from .sql import quote_identifier as q

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

KINDS = ("inserted", "updated", "deleted", "unchanged")


@dataclass(frozen=True)
class ChangeSet:
    """What is compared: a staged table and how it is meant, against main as of a version."""

    main: TableAt
    staged: TableAt
    mode: Mode

    @classmethod
    def of(cls, main_uri: str, base_version: int, staging_uri: str, staging_version: int, mode: Mode) -> ChangeSet:
        return cls(TableAt("main", main_uri, base_version), TableAt("staged", staging_uri, staging_version), mode)


@dataclass(frozen=True)
class Counts:
    """Rows by what happens to them."""

    inserted: int = 0
    updated: int = 0
    deleted: int = 0
    unchanged: int = 0

    def as_json(self) -> dict[str, int]:
        return {kind: getattr(self, kind) for kind in KINDS}


@dataclass(frozen=True)
class DiffPage:
    """Counts and columns of the whole change set, and one page of its rows."""

    counts: Counts
    columns: tuple[tuple[str, int], ...]
    rows: tuple[dict[str, Any], ...]
    next: str | None

    def as_json(self) -> dict[str, Any]:
        return {
            "counts": self.counts.as_json(),
            "columns": [{"name": name, "cells_changed": n} for name, n in self.columns],
            "rows": list(self.rows),
            "next": self.next,
        }


def diff(change: ChangeSet, *, kinds: Sequence[str] = KINDS[:3], limit: int = 100, after: str = "") -> DiffPage:
    """Counts, cells changed per column, and the rows after `after`, in the order of `row_id`."""
    with reading(change.main, change.staged) as connection:
        compared = _Compared.of(connection, change)
        counts, columns = _totals(connection, compared)
        rows = _page(connection, compared, kinds, limit + 1, after)
        more = len(rows) > limit
        return DiffPage(counts, columns, tuple(rows[:limit]), rows[limit - 1]["row_id"] if more else None)


def count_changes(change: ChangeSet) -> Counts:
    with reading(change.main, change.staged) as connection:
        return _totals(connection, _Compared.of(connection, change))[0]


def changed_rows(
    change: ChangeSet, *, row_ids: Sequence[str] = (), where: Sequence[Filter] = (), limit: int = 100_000
) -> list[str]:
    """Which of the rows that the change set changes are named by id, or meet all filters (on new values)."""
    with reading(change.main, change.staged) as connection:
        compared = _Compared.of(connection, change)
        types = column_types(connection, change.staged.name)
        conditions, values = ["change <> 'unchanged'"], []
        if row_ids:
            conditions.append("row_id IN (SELECT unnest(?))")
            values.append(list(row_ids))
        if where:
            condition, bound = compile_filters(connection, where, types)
            conditions.append(f"row_id IN (SELECT row_id FROM staged WHERE {condition})")
            values += bound
        found = connection.execute(
            f"SELECT row_id FROM ({compared.sql}) WHERE {' AND '.join(conditions)} ORDER BY row_id LIMIT ?",
            [*values, limit],
        )
        return [row[0] for row in found.fetchall()]


def content_hash(table: TableAt) -> str:
    """A hash of a table's rows that does not depend on their order or on the files they lie in."""
    with reading(table) as connection:
        types = column_types(connection, table.name)
        names = sorted(types)
        cells = " || ".join(
            f"coalesce(length(CAST({q(n)} AS VARCHAR)) || ':' || CAST({q(n)} AS VARCHAR), '-')" for n in names
        )
        total = connection.execute(
            f"SELECT count(*), bit_xor(h), sum(CAST(h % 1000000007 AS HUGEINT)) "
            f"FROM (SELECT md5_number({cells}) AS h FROM {q(table.name)})"
        ).fetchone()
    text = repr((sorted(types.items()), total))
    return hashlib.sha256(text.encode()).hexdigest()


@dataclass(frozen=True)
class _Compared:
    """The joined rows as one SQL relation, with the columns it compares."""

    sql: str
    columns: tuple[str, ...]
    distinct: dict[str, str]

    @classmethod
    def of(cls, connection: DuckDBPyConnection, change: ChangeSet) -> _Compared:
        in_main = column_types(connection, change.main.name)
        in_staged = column_types(connection, change.staged.name)
        main_columns = [c for c in in_main if c != ROW_ID]
        columns = main_columns if change.mode is Mode.DELETE else [c for c in in_staged if c != ROW_ID]
        distinct = {
            c: f"m.{q(c)} IS DISTINCT FROM s.{q(c)}" if c in in_main else f"s.{q(c)} IS NOT NULL"
            for c in columns
            if c in in_staged
        }
        changed = " OR ".join(distinct.values()) or "false"
        kind = {
            Mode.DELETE: "CASE WHEN m.row_id IS NULL THEN 'unchanged' ELSE 'deleted' END",
            Mode.REPLACE: "CASE WHEN m.row_id IS NULL THEN 'inserted' WHEN s.row_id IS NULL THEN 'deleted' "
            f"WHEN {changed} THEN 'updated' ELSE 'unchanged' END",
        }.get(
            change.mode,
            f"CASE WHEN m.row_id IS NULL THEN 'inserted' WHEN {changed} THEN 'updated' ELSE 'unchanged' END",
        )
        join = "FULL JOIN" if change.mode is Mode.REPLACE else "LEFT JOIN"
        old = [f"m.{q(c)} AS {q('old ' + c)}" if c in in_main else f"NULL AS {q('old ' + c)}" for c in columns]
        new = [
            f"s.{q(c)} AS {q('new ' + c)}"
            if c in in_staged and change.mode is not Mode.DELETE
            else f"NULL AS {q('new ' + c)}"
            for c in columns
        ]
        flags = [f"({test}) AS {q('changed ' + c)}" for c, test in distinct.items()]
        sql = (
            f"SELECT coalesce(s.row_id, m.row_id) AS row_id, {kind} AS change"
            + "".join(f", {part}" for part in [*old, *new, *flags])
            + f" FROM staged s {join} main m ON s.row_id = m.row_id"
        )
        return cls(sql, tuple(columns), distinct)


def _totals(connection: DuckDBPyConnection, compared: _Compared) -> tuple[Counts, tuple[tuple[str, int], ...]]:
    by_kind = [f"count(*) FILTER (change = '{kind}')" for kind in KINDS]
    by_column = [f"count(*) FILTER (change = 'updated' AND {q('changed ' + c)})" for c in compared.distinct]
    row = connection.execute(f"SELECT {', '.join(by_kind + by_column)} FROM ({compared.sql})").fetchone()
    assert row is not None
    counts = Counts(*row[: len(KINDS)])
    return counts, tuple(zip(compared.distinct, row[len(KINDS) :], strict=True))


def _page(
    connection: DuckDBPyConnection, compared: _Compared, kinds: Sequence[str], limit: int, after: str
) -> list[dict[str, Any]]:
    slots = ", ".join("?" for _ in kinds)
    result = connection.execute(
        f"SELECT * FROM ({compared.sql}) WHERE change IN ({slots}) AND row_id > ? ORDER BY row_id LIMIT ?",
        [*kinds, after, limit],
    )
    return [_row(record, compared) for record in fetch_dicts(result)]


def _row(record: dict[str, Any], compared: _Compared) -> dict[str, Any]:
    change = record["change"]
    shown = [c for c in compared.columns if change != "updated" or record.get(f"changed {c}")]
    cells = {c: {"old": record[f"old {c}"], "new": record[f"new {c}"]} for c in shown}
    return {"row_id": record["row_id"], "change": change, "cells": cells if change != "unchanged" else {}}
