"""Main with a staged table laid over it, as Spark sees it: nothing is written."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from ..model.spec import ROW_ID
from ..model.states import Mode
from .diff import ChangeSet
from .sql import delta_table, quote_spark

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def rows_to_be(spark: SparkSession, change: ChangeSet, needed: Collection[str] | None = None) -> DataFrame:
    """The staged rows as they will be in main: columns absent from the file keep main's values.

    Those have to be looked up in main, row by row; with `needed` only the columns that somebody will look at.
    """
    main, staged = _at(spark, change)
    names = [c for c in main.columns if c != ROW_ID and (needed is None or c in needed or c in staged.columns)]
    names += [c for c in staged.columns if c not in main.columns]
    if change.mode is Mode.DELETE:
        return main.limit(0)
    columns = [f"s.{quote_spark(c)}" if c in staged.columns else f"m.{quote_spark(c)}" for c in names]
    missing = [c for c in names if c not in staged.columns]
    rows = staged.alias("s")
    if missing:
        rows = rows.join(main.alias("m"), on=_same_row(), how="left")
    return rows.selectExpr(f"s.{ROW_ID}", *columns)


def table_to_be(spark: SparkSession, change: ChangeSet) -> DataFrame:
    """The whole table as it will be."""
    main, staged = _at(spark, change)
    to_be = rows_to_be(spark, change)
    if change.mode is Mode.REPLACE:
        return to_be
    kept = main.alias("m").join(staged.alias("s"), on=_same_row(), how="left_anti")
    return kept.unionByName(to_be, allowMissingColumns=True)


def main_as_is(spark: SparkSession, change: ChangeSet) -> DataFrame:
    """Main as it is, at the version that the change set is compared with."""
    return _at(spark, change)[0]


def _at(spark: SparkSession, change: ChangeSet) -> tuple[DataFrame, DataFrame]:
    frames = [
        spark.sql(f"SELECT * FROM {delta_table(t.uri)} VERSION AS OF {t.version}") for t in (change.main, change.staged)
    ]
    return frames[0], frames[1]


def _same_row():  # type: ignore[no-untyped-def]  # a Column of whichever Spark this is
    from pyspark.sql import functions as F

    return F.col(f"m.{ROW_ID}") == F.col(f"s.{ROW_ID}")
