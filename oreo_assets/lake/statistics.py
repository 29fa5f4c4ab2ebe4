"""What is in each column of a table: distinct values, nulls, the least and the greatest. By DuckDB."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .read import TableAt, fetch_dicts, reading
from .sql import quote_identifier


@dataclass(frozen=True)
class ColumnStatistics:
    """One column. `distinct` is an estimate; texts are as DuckDB writes the values."""

    name: str
    type: str
    rows: int
    null_percent: float
    distinct: int
    least: str | None
    greatest: str | None
    mean: str | None


def column_statistics(table: TableAt) -> Sequence[ColumnStatistics]:
    """All columns, in the table's order."""
    with reading(table) as connection:
        found = fetch_dicts(connection.execute(f"SUMMARIZE SELECT * FROM {quote_identifier(table.name)}"))
    return [
        ColumnStatistics(
            name=row["column_name"],
            type=row["column_type"].lower(),
            rows=row["count"] or 0,
            null_percent=float(row["null_percentage"] or 0),
            distinct=row["approx_unique"] or 0,
            least=_text(row["min"]),
            greatest=_text(row["max"]),
            mean=_text(row["avg"]),
        )
        for row in found
    ]


def _text(value: Any) -> str | None:
    return None if value is None else str(value)
