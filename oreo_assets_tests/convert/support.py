"""What the tests of this folder share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import duckdb

from oreo_assets.convert import Conversion, ConversionRequest, Reject
from oreo_assets.model.spec import Column

COLUMNS = (
    Column(name="id", type="string"),
    Column(name="name", type="string"),
    Column(name="qty", type="int"),
    Column(name="amount", type="decimal(12,2)"),
    Column(name="day", type="date"),
)


@dataclass(frozen=True)
class Converted:
    request: ConversionRequest
    conversion: Conversion

    @property
    def rows(self) -> list[tuple[Any, ...]]:
        """The rows of `out`, `row_id` first."""
        return read_parquet(self.request.out)[1]

    @property
    def names(self) -> list[str]:
        return read_parquet(self.request.out)[0]

    @property
    def rejects(self) -> list[tuple[int, str | None, str]]:
        return [(r.line, r.column, r.reason) for r in self.conversion.rejects]

    @property
    def only_reject(self) -> Reject:
        assert len(self.conversion.rejects) == 1, self.conversion.rejects
        return self.conversion.rejects[0]


def read_parquet(path: Any) -> tuple[list[str], list[tuple[Any, ...]]]:
    with duckdb.connect() as connection:
        connection.execute("SET TimeZone = 'UTC'")
        relation = connection.execute("SELECT * FROM read_parquet(?)", [str(path)])
        return [d[0] for d in relation.description or []], relation.fetchall()
