"""Cells of an .xlsx sheet that hold an error such as #N/A.

The Excel reader gives them as empty cells, and an empty cell would silently become no value.
"""

from __future__ import annotations

import posixpath
import re
import zipfile
from xml.etree import ElementTree

from ..model.errors import BadFileError
from .raw_file import UNZIP_ERRORS, RawFile

_CHUNK = 1 << 20
# Each part of it ends at the next `<`, or after so many characters: whatever the text, one pass is enough.
_TAG = rb"[^<>]{0,400}"
_ERROR_CELL = re.compile(
    rb"<(?:\w{1,64}:)?c\s(?=" + _TAG + rb'\bt="e")' + _TAG + rb'\br="([A-Z]{1,3})(\d{1,7})"' + _TAG + rb">"
    rb"([^<]{0,8192}(?:<(?!(?:\w{1,64}:)?c[\s>])[^<]{0,8192}){0,16}?)</(?:\w{1,64}:)?c>"
)
_VALUE = re.compile(rb"<(?:\w+:)?v>([^<]*)</")
_RELATION = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"
_OVERLAP = 16_384


def error_cells(raw: RawFile, sheet: str) -> dict[tuple[int, int], str]:
    """(row number, column index) of each error cell, with a reason that begins with the error."""
    raw.handle.seek(0)
    found: dict[tuple[int, int], str] = {}
    try:
        with zipfile.ZipFile(raw.handle) as archive:
            part = _part(archive, sheet)
            if part is None:
                return found
            with archive.open(part) as stream:
                rest = b""
                while chunk := stream.read(_CHUNK):
                    data = rest + chunk
                    if b't="e"' in data:
                        for match in _ERROR_CELL.finditer(data):
                            word = _VALUE.search(match[3])
                            name = word[1].decode("utf-8", "replace") if word else "#ERROR"
                            found[int(match[2]), _index(match[1])] = f"{name} is an error in the spreadsheet"
                    rest = data[-_OVERLAP:]
    except (*UNZIP_ERRORS, ElementTree.ParseError) as error:
        raise BadFileError(
            "The workbook is damaged and cannot be opened.", "Save it again in your spreadsheet program."
        ) from error
    return found


def _part(archive: zipfile.ZipFile, sheet: str) -> str | None:
    """The archive's name for a sheet, by way of the workbook's relations."""
    workbook = ElementTree.fromstring(archive.read("xl/workbook.xml"))
    relation = next(
        (e.get(_RELATION) for e in workbook.iter() if e.tag.endswith("}sheet") and e.get("name") == sheet),
        None,
    )
    relations = ElementTree.fromstring(archive.read("xl/_rels/workbook.xml.rels"))
    target = next((e.get("Target") for e in relations if e.get("Id") == relation), None)
    if target is None:
        return None
    name = target.lstrip("/") if target.startswith("/") else posixpath.normpath(posixpath.join("xl", target))
    return name if name in archive.namelist() else None


def _index(letters: bytes) -> int:
    index = 0
    for letter in letters:
        index = index * 26 + letter - 64
    return index - 1
