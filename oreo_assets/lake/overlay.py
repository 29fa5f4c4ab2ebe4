"""Main with a staged table laid over it, as Spark sees it: nothing is written."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from ..model.spec import ROW_ID
from ..model.states import CHANGE, Mode, RowChange
from .diff import ChangeSet
from .sql import delta_table, quote_spark

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def rows_to_be(spark: SparkSession, change: ChangeSet, needed: Collection[str] | None = None) -> DataFrame:
    """The staged rows as they will be in main: columns absent from the file keep main's values.

    Those have to be looked up in main, row by row; with `needed` only the columns that somebody will look at.
    """
    main, staged = _at(spark, change)
    if change.mode is Mode.PATCH:
        staged = staged.where(f"{quote_spark(CHANGE)} <> '{RowChange.DELETE}'").drop(CHANGE)
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


def table_on_moved_main(spark: SparkSession, change: ChangeSet, main_now: int) -> DataFrame:
    """The whole table as the merge would leave it on a main that has moved on since the change set's base.

    As in the merge: a cell that the author left alone keeps what main has now, a row that others deleted stays
    away, and only rows that the author saw are deleted.
    """
    base, staged = (frame.alias(name) for frame, name in zip(_at(spark, change), ("m", "s"), strict=True))
    now = table_at(spark, change.main.uri, main_now).alias("n")
    same = _same_row()
    if change.mode is Mode.REPLACE:
        gone = base.join(staged, on=same, how="left_anti")
    elif change.mode is Mode.PATCH:
        gone = staged.where(f"s.{quote_spark(CHANGE)} = '{RowChange.DELETE}'").join(base, on=same, how="left_semi")
    else:
        gone = staged.join(base, on=same, how="left_semi")
    left = now.join(gone.select(ROW_ID), on=ROW_ID, how="left_anti")
    if change.mode is Mode.DELETE:
        return left
    if change.mode is Mode.PATCH:
        staged = staged.where(f"s.{quote_spark(CHANGE)} <> '{RowChange.DELETE}'")
    names = [c for c in now.columns if c != ROW_ID]
    names += [c for c in staged.columns if c not in (*names, ROW_ID, CHANGE)]
    cells = [f"{_cell(c, staged.columns, base.columns, now.columns)} AS {quote_spark(c)}" for c in names]
    written = (
        staged.join(base, on=same, how="left")
        .join(now, on=_same_row("n"), how="left")
        .where(f"m.{ROW_ID} IS NULL OR n.{ROW_ID} IS NOT NULL")
        .selectExpr(f"s.{ROW_ID}", *cells)
    )
    untouched = left.join(staged.select(ROW_ID), on=ROW_ID, how="left_anti")
    return untouched.unionByName(written, allowMissingColumns=True)


def main_as_is(spark: SparkSession, change: ChangeSet) -> DataFrame:
    """Main as it is, at the version that the change set is compared with."""
    return _at(spark, change)[0]


def table_at(spark: SparkSession, uri: str, version: int | None) -> DataFrame:
    """A Delta table as of a version."""
    return spark.sql(f"SELECT * FROM {delta_table(uri)} VERSION AS OF {version}")


def _at(spark: SparkSession, change: ChangeSet) -> tuple[DataFrame, DataFrame]:
    return table_at(spark, change.main.uri, change.main.version), table_at(
        spark, change.staged.uri, change.staged.version
    )


def _cell(name: str, in_staged: list[str], in_base: list[str], in_now: list[str]) -> str:
    column = quote_spark(name)
    if name not in in_staged:
        return f"n.{column}"
    if name not in in_base or name not in in_now:
        return f"s.{column}"
    return f"CASE WHEN n.{ROW_ID} IS NOT NULL AND s.{column} <=> m.{column} THEN n.{column} ELSE s.{column} END"


def _same_row(other: str = "m"):  # type: ignore[no-untyped-def]  # a Column of whichever Spark this is
    from pyspark.sql import functions as F

    return F.col(f"{other}.{ROW_ID}") == F.col(f"s.{ROW_ID}")
