"""Reads for people, by DuckDB over Delta tables: no JVM, locked down, as of any version."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..model.errors import NotFoundError, UnavailableError, UsageError
from ..model.filters import Filter, Op, Order
from .exactly import is_exact, linear_pattern
from .sql import quote_identifier, quote_literal
from .turns import turn

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_MEMORY = "1GB"
_THREADS = 2
_COMPARISONS = {Op.EQ: "=", Op.NEQ: "<>", Op.LT: "<", Op.LTE: "<=", Op.GT: ">", Op.GTE: ">="}
_IS = {"null": "IS NULL", "notnull": "IS NOT NULL", "true": "IS TRUE", "false": "IS FALSE"}


@dataclass(frozen=True)
class TableAt:
    """A Delta table as of a version, and the name it goes by in a query of ours."""

    name: str
    uri: str
    version: int | None = None

    @property
    def scan(self) -> str:
        at = "" if self.version is None else f", version => {int(self.version)}"
        return f"delta_scan({quote_literal(self.uri)}{at})"


@contextmanager
def reading(*tables: TableAt) -> Iterator[DuckDBPyConnection]:
    """A connection that sees these tables as views, and nothing else of the machine."""
    with turn(), _locked_down(tables) as connection:
        yield connection


@contextmanager
def _locked_down(tables: Sequence[TableAt]) -> Iterator[DuckDBPyConnection]:
    import duckdb

    # The extension is a file of our own environment, as trusted as this module; checking the signature of
    # its 80 MB would take half of the time of a small query.
    connection = duckdb.connect(
        ":memory:", config={"threads": _THREADS, "memory_limit": _MEMORY, "allow_unsigned_extensions": True}
    )
    try:
        connection.execute(f"LOAD {quote_literal(str(_delta_extension(duckdb.__version__)))}")
        connection.execute("SET TimeZone = 'UTC'")
        folders = ", ".join(quote_literal(uri) for uri in sorted({t.uri for t in tables}))
        connection.execute(f"SET allowed_directories = [{folders}]")
        for locked in ("enable_external_access = false", "lock_configuration = true"):
            connection.execute(f"SET {locked}")
        for table in tables:
            connection.execute(f"CREATE VIEW {quote_identifier(table.name)} AS SELECT * FROM {table.scan}")
        yield connection
    except duckdb.OutOfMemoryException as error:
        raise UnavailableError(
            f"The query needs more than {_MEMORY} of memory.", "Select fewer columns or add a filter."
        ) from error
    except duckdb.IOException as error:
        if "No such file" not in str(error):
            raise
        asked = " or ".join(f"version {t.version} of {t.uri}" if t.version is not None else t.uri for t in tables)
        raise NotFoundError(
            f"A file of {asked} is not there any more (vacuumed away, or lost).",
            "Read a newer version: oreo history P/D",
        ) from error
    finally:
        connection.close()


def query_rows(
    table: TableAt,
    *,
    select: Sequence[str] = (),
    where: Sequence[Filter] = (),
    order: Sequence[Order] = (),
    limit: int = 100,
    offset: int = 0,
) -> list[dict[str, Any]]:
    """Rows of one table. Columns and operators come from lists, values are bound."""
    with reading(table) as connection:
        types = column_types(connection, table.name)
        for name in [*select, *(o.column for o in order)]:
            require_column(name, types)
        condition, values = compile_filters(connection, where, types)
        ordering = ", ".join(f"{quote_identifier(o.column)}{' DESC' if o.descending else ''}" for o in order)
        result = connection.execute(
            f"SELECT {', '.join(map(quote_identifier, select)) or '*'} FROM {quote_identifier(table.name)}"
            f"{' WHERE ' + condition if condition else ''}"
            f"{' ORDER BY ' + ordering if ordering else ''} LIMIT ? OFFSET ?",
            [*values, limit, offset],
        )
        return fetch_dicts(result)


def count_rows(table: TableAt) -> int:
    with reading(table) as connection:
        row = connection.execute(f"SELECT count(*) FROM {quote_identifier(table.name)}").fetchone()
        return int(row[0]) if row else 0


def has_row(table: TableAt, row_id: str) -> bool:
    """Whether a table has a row of that id. The files' statistics spare most of the reading."""
    with reading(table) as connection:
        found = connection.execute(f"SELECT 1 FROM {quote_identifier(table.name)} WHERE row_id = ? LIMIT 1", [row_id])
        return found.fetchone() is not None


def export_parquet(table: TableAt, file: Path, row_ids: Sequence[str] | None = None) -> None:
    """Write a table, or some of its rows, as one Parquet file.

    By way of Arrow batches: the locked connection itself cannot write.
    """
    import pyarrow.parquet as pq

    with reading(table) as connection:
        some = "" if row_ids is None else " WHERE row_id IN (SELECT unnest(?))"
        values = [] if row_ids is None else [list(row_ids)]
        batches = connection.execute(f"SELECT * FROM {quote_identifier(table.name)}{some}", values).to_arrow_reader(
            100_000
        )
        with pq.ParquetWriter(file, batches.schema) as writer:
            for batch in batches:
                writer.write_batch(batch)


def column_types(connection: DuckDBPyConnection, table: str) -> dict[str, str]:
    """Column names of a view, with DuckDB's types."""
    rows = connection.execute(f"DESCRIBE {quote_identifier(table)}").fetchall()
    return {name: kind for name, kind, *_ in rows}


def compile_filters(
    connection: DuckDBPyConnection, filters: Sequence[Filter], types: dict[str, str], prefix: str = ""
) -> tuple[str, list[Any]]:
    """A WHERE condition with placeholders, and the values to bind. An unknown column is an error."""
    parts: list[str] = []
    values: list[Any] = []
    for item in filters:
        kind = require_column(item.column, types)
        column = prefix + quote_identifier(item.column)
        if item.op is Op.IS:
            if item.values[0] in ("true", "false") and kind != "BOOLEAN":
                raise UsageError(
                    f"The column {item.column} is {kind.lower()}, so it is neither true nor false.",
                    "Use is.null or is.notnull, or compare it with a value.",
                )
            parts.append(f"{column} {_IS[item.values[0]]}")
        elif item.op is Op.LIKE:
            test, pattern = _like(connection, item.values[0])
            parts.append(test.format(f"CAST({column} AS VARCHAR)"))
            values.append(pattern)
        else:
            bound = [_checked(connection, value, kind, item.column) for value in item.values]
            slots = ", ".join(f"CAST(? AS {kind})" for _ in bound)
            parts.append(f"{column} IN ({slots})" if item.op is Op.IN else f"{column} {_COMPARISONS[item.op]} {slots}")
            values += bound
    return " AND ".join(parts), values


def require_column(name: str, types: dict[str, str]) -> str:
    if name not in types:
        raise UsageError(f"There is no column {name!r}.", f"The columns are {', '.join(types)}.")
    return types[name]


def fetch_dicts(result: DuckDBPyConnection) -> list[dict[str, Any]]:
    names = [column[0] for column in result.description or []]
    return [dict(zip(names, row, strict=True)) for row in result.fetchall()]


def _checked(connection: DuckDBPyConnection, value: str, kind: str, column: str) -> str:
    """The value, if the column's type can hold it; DuckDB itself is asked, so that both always agree.

    What the type would round or cut is no such value: qty=eq.1.5 must not find 2.
    """
    row = connection.execute(f"SELECT CAST(TRY_CAST(? AS {kind}) AS VARCHAR)", [value]).fetchone()
    if row is None or row[0] is None or not is_exact(value, row[0], kind):
        shown = value if len(value) <= 100 else f"{value[:99]}…"
        raise UsageError(
            f"{shown!r} does not fit the column {column}, which is {kind.lower()}.",
            "Mend the filter's value.",
        )
    return value


def _like(connection: DuckDBPyConnection, pattern: str) -> tuple[str, str]:
    """The test of a text against a pattern, and what to bind in it."""
    import duckdb

    expression = linear_pattern(pattern)
    if expression is None:
        return "{} LIKE ?", pattern
    try:
        connection.execute("SELECT regexp_full_match('', ?)", [expression])
    except duckdb.InvalidInputException as error:
        raise UsageError("The pattern after `like` is too long.", "Write a shorter one.") from error
    return "regexp_full_match({}, ?)", expression


@lru_cache(maxsize=1)
def _delta_extension(duckdb_version: str) -> Path:
    """The extension as it lies in its wheel: loaded from there, it needs neither network nor install."""
    spec = find_spec("duckdb_extension_delta")
    if spec is None or spec.origin is None:
        raise UnavailableError("DuckDB's delta extension is not installed.", "Run: make setup")
    found = sorted(Path(spec.origin).parent.glob(f"extensions/v{duckdb_version}/delta.duckdb_extension"))
    if not found:
        raise UnavailableError(
            f"DuckDB's delta extension is not the one for DuckDB {duckdb_version}.", "Run: make setup"
        )
    return found[0]
