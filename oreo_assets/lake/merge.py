"""The one MERGE that brings a staged table into main."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..model.commit import MERGED, CommitMetadata, marker_of
from ..model.spec import ROW_ID, DatasetSpec, RowIdRule
from ..model.states import CHANGE, Mode, RowChange
from .diff import ChangeSet, Counts
from .log import Commit
from .read import column_types, reading
from .sql import delta_table, quote_identifier, quote_spark, quote_spark_literal
from .tables import committing

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_DELETES = "__deletes"
_SEEN = "__seen"
_METRICS = {
    "inserted": "numTargetRowsInserted",
    "updated": "numTargetRowsUpdated",
    "deleted": "numTargetRowsDeleted",
}


@dataclass(frozen=True)
class MergePlan:
    """What is merged, pinned to versions, so that nothing which arrived later can slip in."""

    spec: DatasetSpec
    change: ChangeSet
    columns: tuple[str, ...]
    new_columns: tuple[str, ...]
    main_moved: bool
    key_range: tuple[tuple[str, str, str], ...]

    @classmethod
    def of(cls, spec: DatasetSpec, change: ChangeSet, *, main_moved: bool) -> MergePlan:
        with reading(change.staged, change.main) as connection:
            staged = column_types(connection, "staged")
            in_main = column_types(connection, "main")
            columns = tuple(c for c in staged if c not in (ROW_ID, CHANGE))
            new = tuple(c for c in columns if c not in in_main)
            names = _range_columns(spec, change.mode, columns)
            bounds = _bounds(connection, names) if names else ()
        return cls(spec, change, columns, new, main_moved, bounds)

    def sql(self) -> str:
        target, mode = delta_table(self.change.main.uri), self.change.mode
        on = [f"t.{ROW_ID} = s.{ROW_ID}", *(self._between(bound) for bound in self.key_range)]
        clauses = []
        if mode in (Mode.DELETE, Mode.REPLACE, Mode.PATCH):
            clauses.append(f"WHEN MATCHED AND s.{_DELETES} THEN DELETE")
        if mode in (Mode.UPSERT, Mode.REPLACE, Mode.PATCH) and self.columns:
            # Unqualified, as `t` does not have a column that this very merge adds.
            sets = ", ".join(f"{quote_spark(c)} = {self._new_value(c)}" for c in self.columns)
            clauses.append(f"WHEN MATCHED AND ({self._changed()}) THEN UPDATE SET {sets}")
        if mode is not Mode.DELETE:
            names = [ROW_ID, *self.columns]
            some_delete = mode in (Mode.REPLACE, Mode.PATCH)
            conditions = [f"NOT s.{_DELETES}"] * some_delete + [f"NOT s.{_SEEN}"] * self.main_moved
            clauses.append(
                f"WHEN NOT MATCHED{''.join(f' AND {c}' for c in conditions)} "
                f"THEN INSERT ({', '.join(map(quote_spark, names))}) "
                f"VALUES ({', '.join('s.' + quote_spark(c) for c in names)})"
            )
        evolution = "WITH SCHEMA EVOLUTION " if self.new_columns else ""
        source = f"({self._source()}) s ON {' AND '.join(on)}"
        return f"MERGE {evolution}INTO {target} t USING {source} {' '.join(clauses)}"

    def _source(self) -> str:
        """The staged rows, and (replace) the rows to delete.

        Where main moved, each row also says whether and how the author saw it: a row that others deleted
        does not come back because the file still lists it, and one that others added is not deleted.
        """
        staged = f"{delta_table(self.change.staged.uri)} VERSION AS OF {self.change.staged.version}"
        base = f"{delta_table(self.change.main.uri)} VERSION AS OF {self.change.main.version}"
        seen_join = f" LEFT JOIN {base} b ON x.{ROW_ID} = b.{ROW_ID}" if self.main_moved else ""
        if self.change.mode is Mode.DELETE:
            only_seen = f" WHERE b.{ROW_ID} IS NOT NULL" if self.main_moved else ""
            return f"SELECT x.{ROW_ID}, true AS {_DELETES} FROM {staged} x{seen_join}{only_seen}"
        columns = [f"x.{quote_spark(c)}" for c in self.columns]
        seen = [
            f"{'b.' + quote_spark(c) if c not in self.new_columns else 'NULL'} AS {quote_spark(_seen(c))}"
            for c in self.columns
        ]
        moved = [*seen, f"b.{ROW_ID} IS NOT NULL AS {_SEEN}"] if self.main_moved else []
        is_patch = self.change.mode is Mode.PATCH
        deletes = f"(x.{quote_spark(CHANGE)} = '{RowChange.DELETE}')" if is_patch else "false"
        selected = ", ".join([f"x.{ROW_ID}", *columns, *moved, f"{deletes} AS {_DELETES}"])
        only_seen = f" WHERE NOT {deletes} OR b.{ROW_ID} IS NOT NULL" if is_patch and self.main_moved else ""
        rows = f"SELECT {selected} FROM {staged} x{seen_join}{only_seen}"
        if self.change.mode is not Mode.REPLACE:
            return rows
        # Rows that the author saw and left out are deletions; rows that came to main since are not.
        nothing = [f"NULL AS {quote_spark(c)}" for c in self.columns]
        unseen = [f"NULL AS {quote_spark(_seen(c))}" for c in self.columns] + [f"true AS {_SEEN}"]
        selected = ", ".join([f"b.{ROW_ID}", *nothing, *(unseen if self.main_moved else []), f"true AS {_DELETES}"])
        gone = f"SELECT {selected} FROM {base} b LEFT ANTI JOIN {staged} x ON x.{ROW_ID} = b.{ROW_ID}"
        return f"{rows} UNION ALL {gone}"

    def _changed(self) -> str:
        return " OR ".join(
            f"s.{quote_spark(c)} IS NOT NULL"
            if c in self.new_columns
            else f"NOT (t.{quote_spark(c)} <=> {self._new_value(c)})"
            for c in self.columns
        )

    def _new_value(self, column: str) -> str:
        """The staged value; where main moved, a cell that the author left alone keeps what main has now."""
        name = quote_spark(column)
        if not self.main_moved or column in self.new_columns:
            return f"s.{name}"
        return f"CASE WHEN s.{name} <=> s.{quote_spark(_seen(column))} THEN t.{name} ELSE s.{name} END"

    def _between(self, bound: tuple[str, str, str]) -> str:
        column, low, high = bound
        kind = self.spec.column(column).type if column != ROW_ID else "string"
        literals = [f"CAST({quote_spark_literal(v)} AS {kind})" for v in (low, high)]
        return f"t.{quote_spark(column)} BETWEEN {literals[0]} AND {literals[1]}"


def merge(spark: SparkSession, plan: MergePlan, metadata: CommitMetadata) -> None:
    """Commit the plan, at most once for its change request, with the metadata in the log."""
    assert metadata.change_request_id is not None
    with committing(spark, metadata, marker_of(metadata.change_request_id), MERGED):
        spark.sql(plan.sql()).collect()


def fence_off(spark: SparkSession, uri: str, metadata: CommitMetadata, change_request_id: str, fence: int) -> None:
    """See to it that no MERGE of the change request which began before can still commit.

    Spark goes on with a MERGE whose client died. An empty commit under the same marker makes Delta refuse
    it; if it was faster, Delta refuses (or leaves out) the empty one instead.
    """
    table = delta_table(uri)
    with committing(spark, metadata, marker_of(change_request_id), fence):
        spark.sql(f"INSERT INTO {table} SELECT * FROM {table} WHERE false").collect()


def merged_counts(commit: Commit) -> Counts:
    """How many rows a merge commit says it changed."""
    return Counts(**{kind: int(commit.metrics.get(metric) or 0) for kind, metric in _METRICS.items()})


def _range_columns(spec: DatasetSpec, mode: Mode, columns: Sequence[str]) -> list[str]:
    """The columns whose range in the staged rows bounds the target rows that can match.

    With a bound in the condition Delta skips files. A replace touches everything, so it has none; and
    only a `row_id` that follows from the key ties the key's range to the matching rows. A patch names its
    rows by `row_id` alone.
    """
    if mode is Mode.REPLACE:
        return []
    if spec.row_id_rule is RowIdRule.KEY and mode is not Mode.PATCH:
        return [c for c in spec.key if c in columns and not spec.column(c).parsed.name.startswith(("float", "double"))]
    return [ROW_ID]


def _bounds(connection: Any, names: Sequence[str]) -> tuple[tuple[str, str, str], ...]:
    parts = ", ".join(
        f"CAST(min({quote_identifier(n)}) AS VARCHAR), CAST(max({quote_identifier(n)}) AS VARCHAR)" for n in names
    )
    row = connection.execute(f"SELECT {parts} FROM staged").fetchone()
    pairs = [(n, row[2 * i], row[2 * i + 1]) for i, n in enumerate(names)]
    return tuple((n, low, high) for n, low, high in pairs if low is not None)


def _seen(column: str) -> str:
    return f"__base {column}"
