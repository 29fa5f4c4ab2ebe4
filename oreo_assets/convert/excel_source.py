"""One sheet of a workbook into the workspace, by way of the same strict form that text takes."""

from __future__ import annotations

import datetime as dt
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from python_calamine import CalamineError, CalamineSheet, CalamineWorkbook, PasswordError, SheetVisibleEnum

from ..model.errors import BadFileError
from .csv_records import Dialect, Field, strict_form
from .excel_errors import error_cells
from .header import Header, match_header, some
from .loaded import Loaded, columns_to_keep
from .raw_file import UNZIP_ERRORS, RawFile
from .request import MAX_COLUMNS, ConversionRequest, LimitsLike
from .workspace import Workspace

_MAX_RATIO = 200
_RATIO_FROM_BYTES = 1 << 20
_EXACT_FLOATS = 2**53
_SHEET_NAME, _LISTED_SHEETS = 100, 200
_STRICT = Dialect()


@dataclass(frozen=True)
class _Grid:
    """A sheet's header row and the rows below it, each with its number in the sheet."""

    header_row: int
    first_column: int
    names: list[str]
    rows: Iterator[tuple[int, list[Any]]]


def load_excel(raw: RawFile, request: ConversionRequest, space: Workspace) -> Loaded:
    """Check the archive's size before opening it, choose the sheet, and write its cells as canonical text."""
    if raw.ending != "xls":
        _check_archive(raw, request.limits)
    raw.handle.seek(0)
    try:
        book = CalamineWorkbook.from_filelike(raw.handle)
        sheet, details = _choose(book, request.sheet)
        errors = error_cells(raw, sheet.name) if raw.ending == "xlsx" else {}
        grid = _grid(sheet, {row for row, _ in errors})
    except PasswordError as error:
        raise BadFileError(
            "The workbook is protected by a password.", "Save it without one and send it again."
        ) from error
    except CalamineError as error:
        raise BadFileError(
            "The workbook is damaged and cannot be opened.", "Save it again in your spreadsheet program."
        ) from error
    try:
        header = match_header(grid.names, request)
    except BadFileError as error:
        error.details |= details
        raise
    records, longest = _write_rows(grid, header, errors, space)
    space.load_strict(_STRICT, len(grid.names), columns_to_keep(header, request), longest)
    space.load_faults(longest)
    return Loaded(header, records, lenient=True, details={"format": raw.ending} | details)


def _check_archive(raw: RawFile, limits: LimitsLike) -> None:
    """A workbook is a zip archive, and a small archive can hold more than the memory of the machine."""
    raw.handle.seek(0)
    try:
        with zipfile.ZipFile(raw.handle) as archive:
            entries = archive.infolist()
    except UNZIP_ERRORS as error:
        raise BadFileError(
            "The workbook is damaged and cannot be opened.", "Save it again in your spreadsheet program."
        ) from error
    if any(entry.flag_bits & 1 for entry in entries):
        raise BadFileError("The workbook is protected by a password.", "Save it without one and send it again.")
    unzipped = sum(entry.file_size for entry in entries)
    if unzipped > 4 * limits.max_file_mb << 20:
        raise BadFileError(
            f"Unpacked, the workbook has {unzipped >> 20:,} MB; it may have {4 * limits.max_file_mb:,} MB.",
            "Send it as CSV or Parquet, or in parts.",
        )
    for entry in entries:
        if entry.file_size > _RATIO_FROM_BYTES and entry.file_size > _MAX_RATIO * max(1, entry.compress_size):
            raise BadFileError(
                f"A part of the workbook unpacks to more than {_MAX_RATIO} times its size.",
                "Remove empty formatted rows and columns, save it again, or send it as CSV.",
            )


def _choose(book: CalamineWorkbook, name: str | None) -> tuple[CalamineSheet, dict[str, Any]]:
    names = list(book.sheet_names)
    if name is not None:
        if name not in names:
            raise BadFileError(
                f"The workbook has no sheet {name[:100]!r}.",
                f"It has: {some(names, 50)}.",
                sheets=_listed(names),
            )
        return book.get_sheet_by_name(name), {"sheet": name, "sheets": _listed(names)}
    visible = [s.name for s in book.sheets_metadata if s.visible == SheetVisibleEnum.Visible] or names
    for chosen in visible:
        sheet = book.get_sheet_by_name(chosen)
        if sheet.height:
            others = [other for other in visible if other != chosen]
            details: dict[str, Any] = {"sheet": chosen[:_SHEET_NAME], "sheets": _listed(names)}
            if others:
                details["note"] = f"No sheet was chosen: took {some([chosen])}, left out {some(others, 50)}."
            return sheet, details
    raise BadFileError("The workbook holds no data.", "Send one with a header row and rows.")


def _listed(sheets: list[str]) -> list[str]:
    """Excel allows 31 characters, and a file may hold any number of any length."""
    return [name[:_SHEET_NAME] for name in sheets[:_LISTED_SHEETS]]


def _grid(sheet: CalamineSheet, with_errors: set[int]) -> _Grid:
    """Blank rows are none, but one that holds nothing else than an error is not blank: it only reads so."""
    if sheet.start is None:
        raise _empty(sheet)
    if sheet.width > MAX_COLUMNS:
        raise BadFileError(
            f"The sheet is {sheet.width:,} columns wide; up to {MAX_COLUMNS:,} are taken.", "Remove columns."
        )
    rows = (
        (number, row)
        for number, row in enumerate(sheet.iter_rows(), 1)
        if any(v != "" for v in row) or number in with_errors
    )
    header_row, cells = next(rows, (0, []))
    if not cells:
        raise _empty(sheet)
    names = [_text(value, False) for value in cells]
    return _Grid(header_row, sheet.start[1], names, rows)


def _empty(sheet: CalamineSheet) -> BadFileError:
    return BadFileError(f"The sheet {some([sheet.name])} is empty.", "Send one with a header row and rows.")


def _write_rows(grid: _Grid, header: Header, errors: dict[tuple[int, int], str], space: Workspace) -> tuple[int, int]:
    """All rows in strict form, and a fault for each cell that the workbook itself does not hold exactly."""
    exact = {c.position for c in header.read if c.declared and c.declared.type in ("double", "float")}
    read = {c.position: c.name for c in header.read}
    records = longest = 0
    with open(space.strict, "wb", 1 << 20) as strict, open(space.faults, "wb", 1 << 16) as faults:
        for number, row in grid.rows:
            records += 1
            texts = [_text(value, place in exact) for place, value in enumerate(row)]
            fields = [b"%d" % number, b"%d" % records, *(t.encode("utf-8", "replace") for t in texts)]
            line = strict_form([Field(f, False) for f in fields], _STRICT) + b"\n"
            longest = max(longest, len(line))
            strict.write(line)
            for place, value in enumerate(row):
                reason = errors.get((number, place + grid.first_column)) or _inexact(value)
                if reason and place in read:
                    shown = texts[place] or reason.split(" ")[0]
                    cells = [b"%d" % number, b"%d" % records, b"%d" % place, read[place].encode()]
                    cells += [shown.encode(), reason.encode()]
                    faults.write(strict_form([Field(f, False) for f in cells], _STRICT) + b"\n")
    return records, longest + 64


def _text(value: Any, exact: bool) -> str:
    """A cell as one would type it. A spreadsheet works with 15 digits; more are noise of its arithmetic."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        if value.is_integer() and abs(value) < _EXACT_FLOATS:
            return str(int(value))
        return repr(value) if exact else _plain(f"{value:.15g}")
    if isinstance(value, dt.datetime):
        return value.isoformat(sep=" ")
    if isinstance(value, (dt.date, dt.time)):
        return value.isoformat()
    return str(value)


def _plain(number: str) -> str:
    """Without an exponent where that stays short, so that an undeclared column is still seen as a number."""
    mantissa, _, exponent = number.partition("e")
    if not exponent or not -20 <= int(exponent) <= 20:
        return number
    places = max(0, len(mantissa.partition(".")[2]) - int(exponent))
    return f"{float(number):.{places}f}"


def _inexact(value: Any) -> str | None:
    if isinstance(value, float) and abs(value) >= _EXACT_FLOATS and value.is_integer():
        return "more digits than a spreadsheet keeps in a number: format the cell as text"
    return None
