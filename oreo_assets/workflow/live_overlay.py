"""A session's edits laid over main at its base version, by DuckDB: nothing is written."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..convert.cells import text_rule
from ..convert.row_ids import canonical_text
from ..lake.change_set import Sides
from ..lake.read import TableAt, compile_filters, fetch_dicts, reading, require_column
from ..lake.sql import quote_identifier as q
from ..model.filters import Filter, Order
from ..model.spec import ROW_ID, Column
from ..model.states import CHANGE, Mode, RowChange
from .live_state import DELETED, INSERTED, UPDATED, NetChange

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_STATE = "_state"
_OLD, _TEXT, _SET = "_old ", "_text ", "_set "


@dataclass(frozen=True)
class Part:
    """Main at a session's base version: its columns, and the filters that say which rows the session is about."""

    main: TableAt
    columns: tuple[Column, ...]
    where: tuple[Filter, ...]

    @property
    def types(self) -> dict[str, str]:
        return {ROW_ID: "VARCHAR", **{c.name: c.parsed.duckdb for c in self.columns}}


@dataclass(frozen=True)
class Shown:
    """What a page of rows is asked for."""

    where: Sequence[Filter] = ()
    order: Sequence[Order] = ()
    changed_only: bool = False
    limit: int = 100
    offset: int = 0


@dataclass(frozen=True)
class OverlaidRow:
    """A row with the session's values, the base's values of edited cells, and the whole base row as text."""

    row_id: str
    change: str
    values: dict[str, Any]
    old: dict[str, Any]
    base: dict[str, str | None] | None


def base_rows(part: Part, row_ids: Sequence[str]) -> dict[str, dict[str, str | None]]:
    """The rows as the base has them, each cell in its canonical spelling. Rows it has not are left out."""
    with reading(part.main) as connection:
        condition, values = compile_filters(connection, part.where, part.types)
        texts = [f"{canonical_text(q(c.name), c.parsed)} AS {q(c.name)}" for c in part.columns]
        found = connection.execute(
            f"SELECT {', '.join([ROW_ID, *texts])} FROM main WHERE {ROW_ID} IN (SELECT unnest(?::VARCHAR[]))"
            f"{' AND ' + condition if condition else ''}",
            [list(row_ids), *values],
        )
        return {record.pop(ROW_ID): record for record in fetch_dicts(found)}


def page(part: Part, net: NetChange, shown: Shown) -> list[OverlaidRow]:
    """Rows as the session has them, one more than the limit if there are more."""
    edited = _edited(part, net)
    with reading(part.main) as connection:
        _take_in(connection, net, edited)
        for order in shown.order:
            require_column(order.column, part.types)
        scope, bound = compile_filters(connection, part.where, part.types, "m.")
        condition, values = compile_filters(connection, shown.where, part.types)
        conditions = [c for c in (condition, f"{_STATE} <> 'unchanged'" if shown.changed_only else "") if c]
        by = [*shown.order, *([] if any(o.column == ROW_ID for o in shown.order) else [Order(ROW_ID)])]
        # Spelt out only for the rows of the page: main may have millions.
        texts = [f"{canonical_text(q(_OLD + c.name), c.parsed)} AS {q(_TEXT + c.name)}" for c in part.columns]
        result = connection.execute(
            f"SELECT {', '.join(['*', *texts])} FROM (SELECT * FROM ({_overlaid(part, edited, scope)})"
            f"{' WHERE ' + ' AND '.join(conditions) if conditions else ''} {_ordered(by)} LIMIT ? OFFSET ?) "
            f"{_ordered(by)}",
            [*bound, *values, shown.limit + 1, shown.offset],
        )
        return [_row(record, part, net) for record in fetch_dicts(result)]


@contextmanager
def as_patch(part: Part, net: NetChange, key: Sequence[str]) -> Iterator[Sides]:
    """The session as a patch: `staged` has the rows it changes, whole in each column that the patch speaks of."""
    edited = _edited(part, net)
    named = [c for c in part.columns if net.adds_rows or c.name in edited or c.name in key]
    with reading(part.main) as connection:
        _take_in(connection, net, edited)
        values = [f"{_value(c.name, edited)} AS {q(c.name)}" for c in named]
        change = f"CASE WHEN t.{_STATE} = '{DELETED}' THEN '{RowChange.DELETE}' ELSE '{RowChange.UPSERT}' END"
        connection.execute(
            "CREATE TEMP TABLE staged AS "
            f"SELECT {', '.join([f't.{ROW_ID}', *values, f'{change} AS {CHANGE}'])} "
            f"FROM touched t LEFT JOIN main m ON m.{ROW_ID} = t.{ROW_ID} ORDER BY t.{ROW_ID}"
        )
        yield Sides(connection, Mode.PATCH)


def write_patch(sides: Sides, file: Path) -> None:
    """The patch as one Parquet file; by way of Arrow, as the locked connection cannot write."""
    import pyarrow.parquet as pq

    batches = sides.connection.execute("SELECT * FROM staged").to_arrow_reader(100_000)
    with pq.ParquetWriter(file, batches.schema) as writer:
        for batch in batches:
            writer.write_batch(batch)


def _edited(part: Part, net: NetChange) -> dict[str, Column]:
    names = net.columns
    return {c.name: c for c in part.columns if c.name in names}


def _take_in(connection: DuckDBPyConnection, net: NetChange, edited: Mapping[str, Column]) -> None:
    """The table `touched`: for each row that is not as in the base, its new cells, typed, and which they are."""
    import pyarrow as pa

    columns: dict[str, Any] = {
        ROW_ID: pa.array(list(net.kinds), pa.string()),
        _STATE: pa.array(list(net.kinds.values()), pa.string()),
    }
    typed = []
    for i, (name, column) in enumerate(edited.items()):
        cells = [net.cells[row_id].get(name) for row_id in net.kinds]
        columns[f"c{i}"] = pa.array([cell.new_value if cell else None for cell in cells], pa.string())
        columns[f"s{i}"] = pa.array([cell is not None for cell in cells], pa.bool_())
        value = text_rule(f"c{i}", column.parsed, False, False).value
        typed.append(f"{value} AS {q(name)}, s{i} AS {q(_SET + name)}")
    connection.register("texts", pa.table(columns))
    connection.execute(f"CREATE TEMP TABLE touched AS SELECT {', '.join([ROW_ID, _STATE, *typed])} FROM texts")
    connection.unregister("texts")


def _overlaid(part: Part, edited: Mapping[str, Column], scope: str) -> str:
    """Main's rows with new cells in place of old ones, and after them the rows that were added."""
    values = [f"{_value(c.name, edited)} AS {q(c.name)}" for c in part.columns]
    old = [f"m.{q(c.name)} AS {q(_OLD + c.name)}" for c in part.columns]
    kept = ", ".join([f"m.{ROW_ID}", f"coalesce(t.{_STATE}, 'unchanged') AS {_STATE}", *values, *old])
    rows = f"SELECT {kept} FROM main m LEFT JOIN touched t ON t.{ROW_ID} = m.{ROW_ID}"
    new = [f"t.{q(c.name)}" if c.name in edited else f"CAST(NULL AS {c.parsed.duckdb})" for c in part.columns]
    added = ", ".join([f"t.{ROW_ID}", f"t.{_STATE}", *new, *(["NULL"] * len(part.columns))])
    return (
        f"{rows}{' WHERE ' + scope if scope else ''} "
        f"UNION ALL SELECT {added} FROM touched t WHERE t.{_STATE} = '{INSERTED}'"
    )


def _value(name: str, edited: Mapping[str, Column]) -> str:
    if name not in edited:
        return f"m.{q(name)}"
    return f"CASE WHEN t.{q(_SET + name)} THEN t.{q(name)} ELSE m.{q(name)} END"


def _ordered(by: Sequence[Order]) -> str:
    return "ORDER BY " + ", ".join(f"{q(o.column)}{' DESC' if o.descending else ''}" for o in by)


def _row(record: dict[str, Any], part: Part, net: NetChange) -> OverlaidRow:
    row_id, change = record[ROW_ID], record[_STATE]
    names = [c.name for c in part.columns]
    changed = [name for name in names if change == UPDATED and name in net.cells[row_id]]
    return OverlaidRow(
        row_id,
        change,
        {name: record[name] for name in names},
        {name: record[_OLD + name] for name in changed},
        None if change == INSERTED else {name: record[_TEXT + name] for name in names},
    )
