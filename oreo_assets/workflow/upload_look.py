"""A look at a file before it is sent: its first rows, and every bad row with its reason."""

from __future__ import annotations

import csv
import io
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ..catalog.users import Actor
from ..convert import Conversion
from ..model.errors import BadFileError, NotFoundError
from ..model.ids import DatasetRef
from ..model.safe_text import for_spreadsheet
from .intake import UploadOptions, convert_into, refusal_of
from .workspace import Workspace

_FIRST_ROWS = 20
_AT_ONCE = 5_000
_LINE, _REASON, _TEXT = "_line", "_reason", "_text"


@dataclass(frozen=True)
class Look:
    """What sending the file as it is meant now would come to. `refusal` says why it cannot go on, if it cannot."""

    conversion: Conversion | None
    refusal: BadFileError | None
    header: tuple[str, ...]
    """Its columns as the file calls them; empty if it could not be read so far."""
    sheets: tuple[str, ...]
    sheet: str | None
    columns: tuple[str, ...]
    rows: tuple[dict[str, Any], ...]


def look_over(ws: Workspace, actor: Actor, ref: DatasetRef, file: Path, options: UploadOptions, folder: Path) -> Look:
    """Convert the file into `folder`, which is emptied first, as a dry run does; the bad rows are kept there.

    A file that cannot be taken is no error here: the look says why.
    """
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    try:
        found = convert_into(ws, actor, ref, file, replace(options, set_aside=True), folder)
    except BadFileError as error:
        return Look(None, error, *_known(error.details), (), ())
    finally:
        for raw in folder.glob("raw.*"):
            raw.unlink()  # the sender's own copy is enough
    columns, rows = _first_rows(folder / "converted.parquet")
    return Look(found, refusal_of(found, options.set_aside), *_known(found.details), columns, rows)


def bad_rows_csv(folder: Path) -> Iterator[str]:
    """The bad rows of the last look as they came, with their lines and reasons, for a spreadsheet."""
    rejected = folder / "rejected.parquet"
    if not rejected.exists():
        raise NotFoundError("There are no bad rows.", "Look at the file again.")
    return _csv(rejected)


def _csv(rejected: Path) -> Iterator[str]:
    import pyarrow.parquet as pq

    with pq.ParquetFile(rejected) as file:
        names = [n for n in file.schema_arrow.names if n not in (_LINE, _REASON, _TEXT)]
        yield "\ufeff" + _lines([["reason", "line", *names]])
        for batch in file.iter_batches(_AT_ONCE):
            yield _lines([_cells(record, names) for record in batch.to_pylist()])


def _cells(record: dict[str, Any], names: list[str]) -> list[Any]:
    """A line that does not fall into columns stands whole in the first one."""
    cells = [record[name] for name in names]
    if record[_TEXT] is not None and all(cell is None for cell in cells):
        cells[0] = record[_TEXT]
    return [record[_REASON], record[_LINE], *cells]


def _lines(rows: list[list[Any]]) -> str:
    text = io.StringIO()
    csv.writer(text).writerows([[for_spreadsheet(cell) for cell in row] for row in rows])
    return text.getvalue()


def _known(details: dict[str, Any]) -> tuple[tuple[str, ...], tuple[str, ...], str | None]:
    """What was found of the file, also where it was refused: header, sheets, the sheet that was read."""
    return tuple(details.get("header", ())), tuple(details.get("sheets", ())), details.get("sheet")


def _first_rows(converted: Path) -> tuple[tuple[str, ...], tuple[dict[str, Any], ...]]:
    import pyarrow.parquet as pq

    with pq.ParquetFile(converted) as file:
        batch = next(file.iter_batches(_FIRST_ROWS), None)
        names = tuple(n for n in file.schema_arrow.names)
        return names, tuple(batch.to_pylist()) if batch is not None else ()
