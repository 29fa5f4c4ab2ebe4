"""Parquet into the workspace: columns whose own type fits stay as they are, others go the way of text."""

from __future__ import annotations

import re
import struct

import duckdb

from ..lake.sql import quote_identifier, quote_literal
from ..model.errors import BadFileError
from ..model.types import ColumnType
from .header import FileColumn, match_header
from .loaded import Loaded, columns_to_keep
from .raw_file import RawFile
from .request import ConversionRequest
from .workspace import Workspace

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
        types = _column_types(raw, space)
        header = match_header(list(types), request)
        by_position = list(types.items())
        _refuse_unreadable([(c, by_position[c.position][1]) for c in header.read])
        native: dict[int, str] = {}
        wanted = {c.position: c for c in header.read}
        cells = ["file_row_number + 1 AS _line", "file_row_number + 1 AS _rec"]
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
        raise _damaged() from error
    space.load_faults(0)
    (records,) = space.row("SELECT count(*) FROM raw")
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


def _column_types(raw: RawFile, space: Workspace) -> dict[str, str]:
    path = quote_literal(str(raw.path))
    described = space.rows(f"DESCRIBE SELECT * EXCLUDE (file_row_number) FROM {_read(raw)}")
    # DuckDB renames a column that differs from another in case only; the file's own names tell.
    own = [r[0] for r in space.rows(f"SELECT name FROM parquet_schema({path})")]
    types = {name: str(type_) for name, type_, *_ in described}
    if renamed := [name for name in types if name not in own]:
        raise BadFileError(
            f"Columns are named twice: {', '.join(renamed)}.",
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
