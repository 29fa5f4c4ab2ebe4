"""DuckDB in a folder of its own: limited, locked down, and gone when the work is done."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb

from ..lake.sql import quote_literal
from .csv_records import MAX_LINE_BYTES, Dialect
from .request import ConversionRequest

PREFIX = ".converting-"
# One record may be as long as a line may be, and a little more for its number and for doubled quotes.
_MAX_RECORD_BYTES = 2 * MAX_LINE_BYTES + (1 << 16)
_DEFAULT_RECORD_BYTES = 2_000_000


@dataclass(frozen=True)
class Workspace:
    """A connection and the folder it may use. `raw` holds the cells, `faults` what is wrong with them."""

    connection: duckdb.DuckDBPyConnection
    folder: Path

    @property
    def strict(self) -> Path:
        """The file's records in strict form, on their way into `raw`."""
        return self.folder / "strict.csv"

    @property
    def faults(self) -> Path:
        """Faults found before DuckDB sees the records, on their way into `faults`."""
        return self.folder / "faults.csv"

    def run(self, sql: str, values: list[Any] | None = None) -> None:
        self.connection.execute(sql, values)

    def rows(self, sql: str, values: list[Any] | None = None) -> list[tuple[Any, ...]]:
        return self.connection.execute(sql, values).fetchall()

    def row(self, sql: str, values: list[Any] | None = None) -> tuple[Any, ...]:
        return self.rows(sql, values)[0]

    def load_strict(self, dialect: Dialect, width: int, keep: list[int], longest: int) -> None:
        """Make `raw` of the strict file: `_line`, `_rec` and the columns in `keep`, all text."""
        columns = {"_line": "BIGINT", "_rec": "BIGINT"} | {f"c{i}": "VARCHAR" for i in range(width)}
        names = ", ".join(["_line", "_rec", *(f"c{i}" for i in keep)])
        source = _read_csv(self.strict, columns, dialect, longest)
        self.run(f"CREATE TABLE raw AS SELECT {names} FROM {source}")
        self.strict.unlink()

    def load_faults(self, longest: int) -> None:
        """Make `faults`: one row per thing wrong. `place` orders a row's faults; -1 is the row as such."""
        columns = {
            "_line": "BIGINT",
            "_rec": "BIGINT",
            "place": "INTEGER",
            "col": "VARCHAR",
            "value": "VARCHAR",
            "reason": "VARCHAR",
        }
        declared = ", ".join(f"{name} {type_}" for name, type_ in columns.items())
        self.run(f"CREATE TABLE faults ({declared})")
        if self.faults.exists() and self.faults.stat().st_size:
            self.run(f"INSERT INTO faults SELECT * FROM {_read_csv(self.faults, columns, Dialect(), longest)}")


@contextmanager
def open_workspace(request: ConversionRequest, folder: Path | None) -> Iterator[Workspace]:
    """A workspace beside `out`, in a folder that is made and removed here unless one is given."""
    own = Path(tempfile.mkdtemp(prefix=PREFIX, dir=request.out.parent)) if folder is None else folder
    try:
        (own / "spill").mkdir()
        connection = duckdb.connect(
            ":memory:",
            config={
                "threads": "2",
                "memory_limit": f"{request.limits.max_memory_mb * 6 // 10}MB",
                "temp_directory": str(own / "spill"),
                "max_temp_directory_size": f"{request.limits.max_file_mb * 8}MB",
                "autoinstall_known_extensions": "false",
                "autoload_known_extensions": "false",
                "allow_community_extensions": "false",
            },
        )
        try:
            connection.execute("SET TimeZone = 'UTC'")
            connection.execute("SET enable_progress_bar = false")
            connection.execute(f"SET allowed_directories = [{quote_literal(str(own.resolve()) + '/')}]")
            connection.execute(f"SET allowed_paths = [{quote_literal(str(request.raw))}]")
            connection.execute("SET enable_external_access = false")
            connection.execute("SET lock_configuration = true")
            yield Workspace(connection, own.resolve())
        finally:
            connection.close()
    finally:
        if folder is None:
            shutil.rmtree(own, ignore_errors=True)


def _read_csv(path: Path, columns: dict[str, str], dialect: Dialect, longest: int) -> str:
    """The reader told everything, so that it guesses nothing. An empty field is NULL, a quoted one is ''."""
    typed = ", ".join(f"{quote_literal(n)}: {quote_literal(t)}" for n, t in columns.items())
    delimiter, quote = quote_literal(dialect.delimiter.decode()), quote_literal(dialect.quote.decode())
    room = ""
    if longest > _DEFAULT_RECORD_BYTES:  # DuckDB sets aside 16 such lines, unless told how much
        size = min(longest + 4096, _MAX_RECORD_BYTES)
        room = f", max_line_size = {size}, buffer_size = {2 * size}"
    return (
        f"read_csv({quote_literal(str(path))}, columns = {{{typed}}}, auto_detect = false, header = false,"
        f" delim = {delimiter}, quote = {quote}, escape = {quote}, nullstr = '', allow_quoted_nulls = false,"
        rf" new_line = '\n', strict_mode = true, compression = 'none'{room})"
    )
