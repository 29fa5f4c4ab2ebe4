"""Parquet into the workspace: columns whose own type fits stay as they are, others go the way of text."""

from __future__ import annotations

import re
import struct

import duckdb

from ..lake.sql import quote_identifier, quote_literal
from ..model.errors import BadFileError
from ..model.types import ColumnType
from .header import FileColumn, match_header, some
from .loaded import Loaded, columns_to_keep
from .raw_file import RawFile
from .request import ConversionRequest, LimitsLike
from .workspace import Workspace

_ROW_BYTES = 16
_ROW_NUMBER = "file_row_number"
"""The name under which DuckDB gives each row's place; it would hide a column of that name."""
_DECIMAL = re.compile(r"DECIMAL\((\d+),(\d+)\)")
_INTEGER_DIGITS = {
    "TINYINT": 3,
    "UTINYINT": 3,
    "SMALLINT": 5,
    "USMALLINT": 5,
    "INTEGER": 10,
    "UINTEGER": 10,
    "BIGINT": 19,
    "UBIGINT": 20,
    "HUGEINT": 38,
}
_NEW_TYPES = {
    "TINYINT": "smallint",
    "UTINYINT": "smallint",
    "SMALLINT": "smallint",
    "USMALLINT": "int",
    "INTEGER": "int",
    "UINTEGER": "bigint",
    "BIGINT": "bigint",
    "UBIGINT": "decimal(20,0)",
    "FLOAT": "float",
    "DOUBLE": "double",
    "BOOLEAN": "boolean",
    "DATE": "date",
    "TIMESTAMP": "timestamp",
    "TIMESTAMP_S": "timestamp",
    "TIMESTAMP_MS": "timestamp",
    "TIMESTAMP_NS": "timestamp",
    "TIMESTAMP WITH TIME ZONE": "timestamp",
}
_FITS = {
    "string": {"VARCHAR"},
    "boolean": {"BOOLEAN"},
    "smallint": {"TINYINT", "UTINYINT", "SMALLINT"},
    "int": {"TINYINT", "UTINYINT", "SMALLINT", "USMALLINT", "INTEGER"},
    "bigint": {"TINYINT", "UTINYINT", "SMALLINT", "USMALLINT", "INTEGER", "UINTEGER", "BIGINT"},
    "float": {"FLOAT"},
    "double": {"FLOAT", "DOUBLE"},
    "date": {"DATE"},
    "timestamp": {"TIMESTAMP", "TIMESTAMP WITH TIME ZONE"},
    "timestamp_ntz": {"TIMESTAMP"},
}


def load_parquet(raw: RawFile, request: ConversionRequest, space: Workspace) -> Loaded:
    """Read the footer, match the columns, then read the pages of those that are needed."""
    _check_ends(raw)
    try:
        told = _check_sizes(raw, request.limits, space)
        types = _column_types(raw, space)
        header = match_header(list(types), request)
        by_position = list(types.items())
        _refuse_unreadable([(c, by_position[c.position][1]) for c in header.read])
        native: dict[int, str] = {}
        wanted = {c.position: c for c in header.read}
        cells = [f"{_ROW_NUMBER} + 1 AS _line", f"{_ROW_NUMBER} + 1 AS _rec"]
        for position in columns_to_keep(header, request):
            name, type_ = by_position[position]
            column = quote_identifier(name)
            if position in wanted and _is_native(wanted[position], type_):
                native[position] = type_
            else:
                column = f"CAST({column} AS VARCHAR)"
            cells.append(f"{column} AS c{position}")
        source = _read(raw)
        space.run(f"CREATE TABLE raw AS SELECT {', '.join(cells)} FROM {source}")
    except duckdb.OutOfMemoryException:
        raise
    except (duckdb.Error, UnicodeDecodeError) as error:
        if "No space left" in str(error):
            raise
        raise _damaged() from error
    space.load_faults(0)
    (records,) = space.row("SELECT count(*) FROM raw")
    if records != told:
        raise _damaged()
    return Loaded(header, records, lenient=True, details={"format": "parquet"}, native=native)


def new_column_type(duckdb_type: str) -> ColumnType:
    """The type under which an undeclared column comes in; what has no counterpart comes in as text."""
    if match := _DECIMAL.match(duckdb_type):
        return ColumnType("decimal", int(match[1]), int(match[2]))
    return ColumnType.parse(_NEW_TYPES.get(duckdb_type, "string"))


def _check_ends(raw: RawFile) -> None:
    """A Parquet file begins and ends with its name; a footer that cannot be that long is a lie."""
    raw.handle.seek(-8, 2)
    length, magic = struct.unpack("<I4s", raw.handle.read(8))
    if raw.size < 12 or magic != b"PAR1" or length > raw.size - 12:
        raise _damaged()


def _check_sizes(raw: RawFile, limits: LimitsLike, space: Workspace) -> int:
    """How many rows the footer tells of, if its numbers agree and what they stand for is not too much.

    A few repeated bytes can stand for more rows than any machine has room for. Where the footer lies about
    it, the pages disagree with it, or the limits of the process stop what goes on.
    """
    path = quote_literal(str(raw.path))
    rows, in_groups, unpacked, wrong = space.row(
        f"""WITH chunks AS (FROM parquet_metadata({path})),
            groups AS (SELECT any_value(row_group_num_rows) AS n FROM chunks GROUP BY row_group_id)
        SELECT (SELECT sum(num_rows) FROM parquet_file_metadata({path})),
            (SELECT coalesce(sum(n), 0) FROM groups),
            (SELECT coalesce(sum(total_uncompressed_size), 0) FROM chunks),
            (SELECT count(*) FROM chunks WHERE num_values < row_group_num_rows OR row_group_num_rows < 0)"""
    )
    if wrong or rows != in_groups:
        raise _damaged()
    # Each row takes at least its line and its number on the way through.
    unpacked, most = max(unpacked, rows * _ROW_BYTES) >> 20, 4 * limits.max_file_mb
    if unpacked > most:
        raise BadFileError(
            f"Unpacked, the file has {rows:,} rows and {unpacked:,} MB; it may have {most:,} MB.",
            "Send it in parts, or ask for a higher policies.limits.max_file_mb.",
        )
    return int(rows)


def _column_types(raw: RawFile, space: Workspace) -> dict[str, str]:
    path = quote_literal(str(raw.path))
    own = [r[0] for r in space.rows(f"SELECT name FROM parquet_schema({path})")]
    if any(name.lower() == _ROW_NUMBER for name in own):
        raise BadFileError(f"A column cannot be called {_ROW_NUMBER}.", "Rename it and send the file again.")
    described = space.rows(f"DESCRIBE SELECT * EXCLUDE ({_ROW_NUMBER}) FROM {_read(raw)}")
    # DuckDB renames a column that differs from another in case only; the file's own names tell.
    types = {name: str(type_) for name, type_, *_ in described}
    if renamed := [name for name in types if name not in own]:
        raise BadFileError(
            f"Columns are named twice: {some(renamed)}.",
            "Keep one of each; upper and lower case count as the same name.",
        )
    return types


def _read(raw: RawFile) -> str:
    return f"read_parquet({quote_literal(str(raw.path))}, file_row_number = true, hive_partitioning = false)"


def _is_native(column: FileColumn, type_: str) -> bool:
    if column.declared is None:
        return type_ in _NEW_TYPES or bool(_DECIMAL.match(type_)) or type_ == "VARCHAR"
    target = ColumnType.parse(column.declared.type)
    if target.name != "decimal":
        return type_ in _FITS[target.name]
    match = _DECIMAL.match(type_)
    precision, scale = (int(match[1]), int(match[2])) if match else (_INTEGER_DIGITS.get(type_, 99), 0)
    wide, fine = target.precision or 38, target.scale or 0
    return scale <= fine and precision - scale <= wide - fine


def _refuse_unreadable(columns: list[tuple[FileColumn, str]]) -> None:
    nested = ("STRUCT", "MAP", "UNION", "BLOB", "INTERVAL", "BIT", "VARIANT", "GEOMETRY")
    bad = [f"{c.name} ({t})" for c, t in columns if t.startswith(nested) or t.endswith("]")]
    if bad:
        raise BadFileError(
            f"Nested or binary columns are not taken: {', '.join(bad)[:500]}.",
            "Flatten them into columns of their own, write them as text, or leave them out.",
        )


def _damaged() -> BadFileError:
    return BadFileError("The Parquet file is damaged or was cut off.", "Write it again and send it again.")
