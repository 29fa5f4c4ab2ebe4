"""The files a conversion leaves: `converted.parquet`, `schema.json`, and `rejected.parquet` if asked for."""

from __future__ import annotations

import json
import os
from pathlib import Path

from ..crash_points import reach
from ..lake.sql import quote_identifier, quote_literal
from .faults import Cell
from .header import ROW_ID, Header
from .request import Conversion, ConversionRequest
from .workspace import Workspace

_GOOD, _BAD, _SCHEMA = "converted.parquet", "rejected.parquet", "schema.json"
_MIN_DICTIONARY, _MAX_DICTIONARY, _ALL_DICTIONARIES = 1 << 14, 1 << 20, 1 << 26


def write_good(space: Workspace, row_id: str, cells: list[Cell], any_faults: bool) -> None:
    """The good rows in the order of the file, `row_id` first."""
    columns = [f"{row_id} AS {ROW_ID}", *(f"{c.rule.value} AS {quote_identifier(c.name)}" for c in cells)]
    only_good = "WHERE _rec NOT IN (SELECT _rec FROM faults)" if any_faults else ""
    _copy(space, f"SELECT {', '.join(columns)} FROM raw {only_good}", _GOOD, len(columns))


def write_rejected(space: Workspace, header: Header) -> None:
    """The bad rows as they came: text, or the whole line where it does not fall into columns."""
    own = ("_line", "_reason", "_text")
    called = [f"{name} (in the file)" if name.lower() in own else name for name in header.names]
    names = [f"CAST(c{i} AS VARCHAR) AS {quote_identifier(name)}" for i, name in enumerate(called)]
    query = f"""
        WITH reasons AS (
            SELECT _rec, min(_line) AS _line,
                string_agg(coalesce(col || ': ', '') || reason, '; ' ORDER BY place, reason) AS _reason,
                max(value) FILTER (WHERE place = -1) AS _text
            FROM faults GROUP BY _rec)
        SELECT {", ".join(names)}, reasons._line, reasons._reason, reasons._text
        FROM reasons LEFT JOIN raw USING (_rec) ORDER BY _rec"""
    _copy(space, query, _BAD, len(names))


def publish(folder: Path, request: ConversionRequest, conversion: Conversion) -> None:
    """Put what was written in its place, each file whole or not at all; `out` last, as a sign of success."""
    schema = {
        "columns": [{"name": name, "type": type_} for name, type_ in conversion.columns],
        "new_columns": [{"name": name, "type": type_} for name, type_ in conversion.new_columns],
        "absent_columns": list(conversion.absent_columns),
        "rows": conversion.rows_good,
        "rejected_rows": conversion.rows_rejected,
        "source": {
            "sha256": conversion.source_sha256,
            "bytes": conversion.source_bytes,
            **conversion.details,
        },
    }
    (folder / _SCHEMA).write_text(json.dumps(schema, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    for name, target in ((_BAD, request.rejected_path), (_SCHEMA, request.schema_path), (_GOOD, request.out)):
        if (folder / name).exists():
            _sync(folder / name)
            os.replace(folder / name, target)
            reach(f"convert.{name}")
    _sync(request.out.parent)


def clear(request: ConversionRequest) -> None:
    """Nothing of an earlier attempt may pass for the result of this one."""
    for path in (request.out, request.schema_path, request.rejected_path):
        path.unlink(missing_ok=True)


def _copy(space: Workspace, query: str, name: str, width: int) -> None:
    # DuckDB sets aside room for a dictionary per text column, 1 MB each unless told otherwise.
    dictionary = max(_MIN_DICTIONARY, min(_MAX_DICTIONARY, _ALL_DICTIONARIES // width))
    target = quote_literal(str(space.folder / name))
    space.run(
        f"COPY ({query}) TO {target} (FORMAT parquet, COMPRESSION zstd, STRING_DICTIONARY_PAGE_SIZE_LIMIT {dictionary})"
    )


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
