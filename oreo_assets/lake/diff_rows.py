"""The rows of a change set that a reader asks for, page by page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ..model.errors import UsageError
from ..model.filters import Filter
from ..model.spec import ROW_ID
from .change_set import KINDS, Counts
from .diff_compare import Comparison
from .read import compile_filters, fetch_dicts
from .sql import quote_identifier as q


@dataclass(frozen=True)
class Wanted:
    """Which of the rows that change are asked for; all conditions must hold."""

    kinds: tuple[str, ...] = KINDS[:3]
    columns: tuple[str, ...] = ()
    """Rows in which one of these columns changes."""
    row_ids: frozenset[str] | None = None
    where: tuple[Filter, ...] = ()
    """On the new values; of a row that is deleted, on its last ones."""

    @property
    def is_by_kind_only(self) -> bool:
        return self.row_ids is None and not self.columns and not self.where


@dataclass(frozen=True)
class Chosen:
    """The rows that are asked for, as a condition on a relation of compared rows."""

    compared: Comparison
    wanted: Wanted
    rows: str
    condition: str
    values: tuple[Any, ...]

    @classmethod
    def of(cls, compared: Comparison, rows: str, wanted: Wanted) -> Chosen:
        parts = [f"change IN ({', '.join('?' for _ in wanted.kinds) or 'NULL'})"]
        values: list[Any] = list(wanted.kinds)
        if wanted.columns:
            parts.append(f"change = 'updated' AND ({_any_changed(compared, wanted.columns)})")
        if wanted.row_ids is not None:
            parts.append("row_id IN (SELECT unnest(?::VARCHAR[]))")
            values.append(sorted(wanted.row_ids))
        for item in wanted.where:
            part, bound = _filter(compared, rows, item)
            parts.append(part)
            values += bound
        return cls(compared, wanted, rows, " AND ".join(f"({part})" for part in parts), tuple(values))

    def page(self, limit: int, after: str) -> list[dict[str, Any]]:
        flags = "".join(f", {_differs(c)} AS {q('changed ' + c)}" for c in self.compared.columns)
        return fetch_dicts(
            self.compared.connection.execute(
                f"SELECT *{flags} FROM {self.rows} WHERE {self.condition} AND row_id > ? ORDER BY row_id LIMIT ?",
                [*self.values, after, limit],
            )
        )

    def row_ids(self, limit: int) -> list[str]:
        found = self.compared.connection.execute(
            f"SELECT row_id FROM {self.rows} WHERE {self.condition} ORDER BY row_id LIMIT ?", [*self.values, limit]
        )
        return [row[0] for row in found.fetchall()]

    def count(self, counts: Counts) -> int:
        if self.wanted.is_by_kind_only:
            return sum(getattr(counts, kind) for kind in set(self.wanted.kinds))
        row = self.compared.connection.execute(
            f"SELECT count(*) FROM {self.rows} WHERE {self.condition}", list(self.values)
        ).fetchone()
        return int(row[0]) if row else 0

    def show(self, page: Sequence[dict[str, Any]], *, all_columns: bool) -> Iterator[dict[str, Any]]:
        """Each row with the cells that change, or with all of them."""
        columns = self.compared.columns
        others = self._others([r[ROW_ID] for r in page]) if all_columns else {}
        for record in page:
            kind = record["change"]
            whole = kind in ("inserted", "deleted")
            changed = [c for c in columns if whole or (kind == "updated" and record[f"changed {c}"])]
            cells = {c: _cell(record, c) for c in (columns if all_columns else changed)}
            for name, value in others.get(record[ROW_ID], {}).items():
                cells[name] = {"old": value, "new": None if kind == "deleted" else value}
            yield {"row_id": record[ROW_ID], "change": kind, "cells": cells, "changed": changed}

    def _others(self, row_ids: list[str]) -> dict[str, dict[str, Any]]:
        """The cells of columns that the change leaves alone, by row."""
        if not self.compared.absent or not row_ids:
            return {}
        names = ", ".join(q(c) for c in (ROW_ID, *self.compared.absent))
        found = self.compared.connection.execute(
            f"SELECT {names} FROM main WHERE row_id IN (SELECT unnest(?::VARCHAR[]))", [row_ids]
        )
        return {record.pop(ROW_ID): record for record in fetch_dicts(found)}


def _any_changed(compared: Comparison, columns: Sequence[str]) -> str:
    for name in columns:
        if name not in compared.columns:
            raise UsageError(
                f"The column {name!r} is not part of the change.",
                f"The columns that are compared are {', '.join(compared.columns)}.",
            )
    return " OR ".join(_differs(c) for c in columns)


def _filter(compared: Comparison, rows: str, item: Filter) -> tuple[str, list[Any]]:
    """A column that the change leaves alone is looked up in main."""
    if item.column in compared.absent:
        condition, bound = compile_filters(compared.connection, [item], compared.types)
        return f"row_id IN (SELECT row_id FROM main WHERE {condition})", bound
    known = {c: compared.types[c] for c in (ROW_ID, *compared.columns)}
    condition, bound = compile_filters(compared.connection, [item], known)
    if item.column == ROW_ID:
        return condition, bound
    name = q(item.column)
    last = f"CASE WHEN change = 'deleted' THEN {q('old ' + item.column)} ELSE {q('new ' + item.column)} END AS {name}"
    return f"row_id IN (SELECT row_id FROM (SELECT row_id, {last} FROM {rows}) WHERE {condition})", bound


def _differs(column: str) -> str:
    return f"({q('old ' + column)} IS DISTINCT FROM {q('new ' + column)})"


def _cell(record: dict[str, Any], column: str) -> dict[str, Any]:
    return {"old": record[f"old {column}"], "new": record[f"new {column}"]}
