"""A small dataset of orders, with a frame of it."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from oreo_assets.model.spec import DatasetSpec
from oreo_assets.quality.outcomes import CheckOutcome

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

COLUMNS: list[dict[str, Any]] = [
    {"name": "order_id", "type": "string", "nullable": False},
    {"name": "line", "type": "int"},
    {"name": "amount", "type": "decimal(12,2)"},
    {"name": "ordered_on", "type": "date"},
    {"name": "status", "type": "string"},
    {"name": "weight", "type": "double"},
]
SCHEMA = "row_id string, " + ", ".join(f"{c['name']} {c['type']}" for c in COLUMNS)
NEW_YEAR = date(2024, 1, 1)


def orders_spec(*expectations: dict[str, Any], **changes: Any) -> DatasetSpec:
    declared = {
        "project": "pr_1",
        "dataset": "orders",
        "columns": COLUMNS,
        "key": ["order_id"],
        "expectations": list(expectations),
    }
    return DatasetSpec.model_validate(declared | changes)


def order(
    number: int,
    *,
    line: int | None = 1,
    amount: str | None = "10.00",
    ordered_on: date | None = NEW_YEAR,
    status: str | None = "open",
    weight: float | None = 1.5,
    order_id: str | None = "",
) -> tuple[Any, ...]:
    name = f"o{number}" if order_id == "" else order_id
    return (f"r{number:05}", name, line, Decimal(amount) if amount else None, ordered_on, status, weight)


def orders(spark: SparkSession, rows: Iterable[tuple[Any, ...]]) -> DataFrame:
    return spark.createDataFrame(list(rows), SCHEMA)


def by_name(outcomes: Iterable[CheckOutcome]) -> dict[str, CheckOutcome]:
    return {o.name: o for o in outcomes}
