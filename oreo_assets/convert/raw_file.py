"""The raw file itself: opened without following links, recognised by its first bytes, hashed, unchanged."""

from __future__ import annotations

import hashlib
import os
import stat
import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from ..model.errors import BadFileError
from .request import RAW_ENDINGS

CHUNK = 1 << 20
TEXT_ENDINGS = ("csv", "tsv", "txt")
EXCEL_ENDINGS = ("xlsx", "xls", "xlsb", "ods")
UNZIP_ERRORS = (zipfile.BadZipFile, zlib.error, struct.error, OSError, EOFError, ValueError, RuntimeError, KeyError)
"""What Python's own zip reader ends with on an archive that is damaged, or made to look so."""
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_MAGIC = (
    (b"PAR1", "a Parquet file"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"\x28\xb5\x2f\xfd", "a zstd archive"),
    (b"BZh9", "a bzip2 archive"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive"),
    (b"%PDF-", "a PDF document"),
    (b"SQLite format 3", "an SQLite database"),
    (b"\x89PNG", "a picture"),
    (b"\xff\xd8\xff", "a picture"),
    (b"ORC", "an ORC file"),
    (b"Obj\x01", "an Avro file"),
    (b"ARROW1", "an Arrow file"),
)


@dataclass(frozen=True)
class RawFile:
    """An open regular file of a known kind (`text`, `parquet` or `excel`)."""

    path: Path
    handle: BinaryIO
    ending: str
    kind: str
    size: int
    sha256: str


@contextmanager
def open_raw(path: Path, max_file_mb: int) -> Iterator[RawFile]:
    """The file, hashed; on leaving, proof that it did not change while it was read."""
    ending = path.suffix.lower().lstrip(".")
    if ending not in RAW_ENDINGS:
        raise BadFileError(
            f"Files ending in .{ending} are not taken.",
            f"Send one of: {', '.join('.' + e for e in RAW_ENDINGS)}.",
        )
    with os.fdopen(_open(path), "rb") as handle:
        before = os.fstat(handle.fileno())
        if before.st_size == 0:
            raise BadFileError("The file is empty.", "Send a file with a header line and rows.")
        if before.st_size > max_file_mb << 20:
            raise BadFileError(
                f"The file has {before.st_size >> 20:,} MB; this dataset takes up to {max_file_mb:,} MB.",
                "Send it in parts, or ask for a higher policies.limits.max_file_mb.",
            )
        _check_kind(handle, ending)
        sha256 = hashlib.sha256()
        handle.seek(0)
        while chunk := handle.read(CHUNK):
            sha256.update(chunk)
        yield RawFile(path, handle, ending, kind_of(ending), before.st_size, sha256.hexdigest())
        _check_unchanged(path, handle, before)


def kind_of(ending: str) -> str:
    return "text" if ending in TEXT_ENDINGS else "excel" if ending in EXCEL_ENDINGS else "parquet"


def looks_like(handle: BinaryIO) -> str | None:
    """What the first bytes say the file is, in plain words; None if they look like text."""
    handle.seek(0)
    head = handle.read(8192)
    handle.seek(0)
    if head.startswith(_OLE):
        return "an old Excel workbook (.xls), or one protected by a password"
    if head.startswith(b"PK\x03\x04"):
        return _zip_kind(handle)
    for magic, words in _MAGIC:
        if head.startswith(magic):
            return words
    if head.lstrip()[:14].lower().startswith((b"<!doctype html", b"<html")):
        return "a web page (HTML)"
    return None


def _open(path: Path) -> int:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError as error:
        raise BadFileError(f"There is no file {path.name}.", "Send it again.") from error
    except OSError as error:
        raise BadFileError(
            f"{path.name} cannot be opened: {error.strerror}.", "Send a regular file, not a link."
        ) from error
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise BadFileError(f"{path.name} is not a regular file.", "Send a regular file, not a folder, link or pipe.")
    return descriptor


def _check_kind(handle: BinaryIO, ending: str) -> None:
    seen = looks_like(handle)
    wanted = {
        "parquet": "a Parquet file",
        "xlsx": "an Excel workbook (.xlsx)",
        "xlsb": "a binary Excel workbook (.xlsb)",
        "ods": "an OpenDocument spreadsheet (.ods)",
        "xls": "an old Excel workbook (.xls), or one protected by a password",
    }.get(ending)
    if seen == wanted or (seen is None and ending == "xls"):  # the oldest .xls files have no magic bytes
        return
    if seen is not None and "password" in seen:
        raise BadFileError(
            f"The file ends in .{ending} but looks like {seen}.",
            "Save it without a password, as the kind its name says, and send it again.",
        )
    raise BadFileError(
        f"The file ends in .{ending} but looks like {seen or 'something else'}.",
        "Send it with the ending of what it is, or save it again as the kind its name says.",
    )


def _zip_kind(handle: BinaryIO) -> str:
    try:
        with zipfile.ZipFile(handle) as archive:
            names = set(archive.namelist())
            opendocument = "mimetype" in names and b"spreadsheet" in archive.open("mimetype").read(200)
    except UNZIP_ERRORS:
        return "a damaged or cut-off zip archive"
    finally:
        handle.seek(0)
    if "xl/workbook.bin" in names:
        return "a binary Excel workbook (.xlsb)"
    if any(name.startswith("xl/") for name in names):
        return "an Excel workbook (.xlsx)"
    return "an OpenDocument spreadsheet (.ods)" if opendocument else "a zip archive"


def _check_unchanged(path: Path, handle: BinaryIO, before: os.stat_result) -> None:
    """Readers that open by name must have read what was hashed, so the name is looked at again too."""
    try:
        now = (os.fstat(handle.fileno()), os.lstat(path))
    except OSError as error:
        raise BadFileError(f"{path.name} went away while it was read.", "Send it again.") from error
    for after in now:
        if _identity(after) != _identity(before):
            raise BadFileError(f"{path.name} changed while it was read.", "Send it again when it is complete.")


def _identity(status: os.stat_result) -> tuple[int, ...]:
    """Writing moves the time of change too, and nobody can set that one back."""
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns
