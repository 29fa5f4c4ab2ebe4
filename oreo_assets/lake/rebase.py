"""A staged table laid anew on main as it is now: what the author left alone follows main, what both changed
goes by the reviewer's choice."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from ..model.spec import ROW_ID
from ..model.states import CHANGE, Mode, RowChange
from .diff import ChangeSet
from .sql import delta_table, quote_spark, quote_spark_literal

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_WHOLE_ROW = "*"


class Take(StrEnum):
    """Whose value stays: the change request's (ours) or main's (theirs)."""

    OURS = "ours"
    THEIRS = "theirs"


@dataclass(frozen=True)
class Choice:
    """What is taken for one cell, or (no column) for one row."""

    row_id: str
    column: str | None
    take: Take


def rebase(spark: SparkSession, change: ChangeSet, main_now: int, choices: Sequence[Choice]) -> DataFrame:
    """The staged rows as they should be against main at `main_now`."""
    staged = spark.sql(f"SELECT * FROM {_at(change.staged.uri, change.staged.version)}")
    base = spark.sql(f"SELECT * FROM {_at(change.main.uri, change.main.version)}")
    now = spark.sql(f"SELECT * FROM {_at(change.main.uri, main_now)}")
    taken = _as_frame(spark, choices)
    columns = [c for c in staged.columns if c not in (ROW_ID, CHANGE)]
    joined = (
        staged.alias("s")
        .join(base.alias("b"), on=_same("s", "b"), how="left")
        .join(now.alias("n"), on=_same("s", "n"), how="left")
        .join(taken.alias("k"), on=_same("s", "k"), how="left")
    )
    if change.mode is Mode.DELETE:
        return joined.where(f"NOT {_took_row_of_theirs()}").selectExpr("s.*")
    values = [_value(c, c in base.columns, c in now.columns) for c in columns]
    untouched = " AND ".join(f"s.{quote_spark(c)} <=> b.{quote_spark(c)}" for c in columns if c in base.columns)
    gone = f"n.{ROW_ID} IS NULL AND ({_took_row_of_theirs()} OR (b.{ROW_ID} IS NOT NULL AND {untouched or 'true'}))"
    if change.mode is Mode.PATCH:
        spared = f"s.{quote_spark(CHANGE)} = '{RowChange.DELETE}' AND {_took_row_of_theirs()}"
        return joined.where(f"NOT ({gone} OR {spared})").selectExpr(f"s.{ROW_ID}", *values, f"s.{quote_spark(CHANGE)}")
    rows = joined.where(f"NOT ({gone})").selectExpr(f"s.{ROW_ID}", *values)
    if change.mode is not Mode.REPLACE:
        return rows
    # A full snapshot must name what others added meanwhile, or it would delete it.
    theirs = (
        now.alias("n")
        .join(staged.alias("s"), on=_same("n", "s"), how="left_anti")
        .join(base.alias("b"), on=_same("n", "b"), how="left")
        .join(taken.alias("k"), on=_same("n", "k"), how="left")
        .where(f"b.{ROW_ID} IS NULL OR {_took_row_of_theirs()}")
        .selectExpr(
            f"n.{ROW_ID}",
            *(f"n.{quote_spark(c)}" if c in now.columns else f"NULL AS {quote_spark(c)}" for c in columns),
        )
    )
    return rows.unionByName(theirs)


def _value(column: str, in_base: bool, in_now: bool) -> str:
    name = quote_spark(column)
    if not in_now:
        return f"s.{name}"
    left_alone = f"b.{ROW_ID} IS NOT NULL AND s.{name} <=> b.{name}" if in_base else "false"
    chosen = f"coalesce(element_at(k.takes, {quote_spark_literal(column)}), '') = '{Take.THEIRS}'"
    return (
        f"CASE WHEN n.{ROW_ID} IS NOT NULL AND ({_took_row_of_theirs()} OR {left_alone} OR {chosen}) "
        f"THEN n.{name} ELSE s.{name} END AS {name}"
    )


def _took_row_of_theirs() -> str:
    return f"(coalesce(element_at(k.takes, '{_WHOLE_ROW}'), '') = '{Take.THEIRS}')"


def _as_frame(spark: SparkSession, choices: Sequence[Choice]) -> DataFrame:
    takes: dict[str, dict[str, str]] = {}
    for choice in choices:
        takes.setdefault(choice.row_id, {})[choice.column or _WHOLE_ROW] = str(choice.take)
    return spark.createDataFrame(list(takes.items()), f"{ROW_ID} STRING, takes MAP<STRING, STRING>")


def _at(uri: str, version: int | None) -> str:
    return f"{delta_table(uri)} VERSION AS OF {version}"


def _same(left: str, right: str):  # type: ignore[no-untyped-def]  # a Column of whichever Spark this is
    from pyspark.sql import functions as F

    return F.col(f"{left}.{ROW_ID}") == F.col(f"{right}.{ROW_ID}")
