"""Delimited text into the workspace."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import BinaryIO

from ..model.errors import BadFileError, DefectError
from .csv_records import (
    MAX_LINE_BYTES,
    Dialect,
    Field,
    Lines,
    Record,
    line_too_long,
    plain_record,
    read_record,
    strict_form,
)
from .dialect import SAMPLE_BYTES, Sniffed, separator_line, sniff
from .encoding import Encoding, detect, utf8_chunks
from .header import ROW_ID, match_header
from .loaded import Loaded, columns_to_keep
from .raw_file import RawFile
from .request import ConversionRequest
from .workspace import Workspace

_FLUSH_RECORDS = 4096
_FAULTS = Dialect()


@dataclass(frozen=True)
class _Tally:
    records: int
    good: int
    quote_faults: int
    longest: int


def load_text(raw: RawFile, request: ConversionRequest, space: Workspace) -> Loaded:
    """Find encoding and dialect, match the header, and load every record that has the right shape."""
    encoding = detect(raw.handle)
    sample = _sample(raw.handle, encoding)
    expected = frozenset({c.name.lower() for c in request.columns} | {h.lower() for h in request.renames} | {ROW_ID})
    sniffed = sniff(sample, raw.ending, expected)
    if sniffed is None:
        raise BadFileError("The file holds nothing but blank lines.", "Send a file with a header line and rows.")
    if sniffed.header.fault:
        raise BadFileError(
            f"The header in line {sniffed.header.line} cannot be read: {sniffed.header.fault}.",
            "Mend the first line and send the file again.",
        )
    names = [field.value.decode("utf-8", "replace") for field in sniffed.header.fields]
    header = match_header(names, request)
    dialect, tally = _write_strict(raw.handle, encoding, sniffed, len(names), space)
    space.load_strict(dialect, len(names), columns_to_keep(header, request), tally.longest)
    space.load_faults(tally.longest)
    (loaded,) = space.row("SELECT count(*) FROM raw")
    if loaded != tally.good:
        raise DefectError(f"{tally.good} records went into the reader and {loaded} came out.")
    details = {
        "format": "text",
        "encoding": encoding.name,
        "delimiter": dialect.delimiter.decode(),
        "quote": dialect.quote.decode(),
        "escape": "\\" if dialect.backslash else dialect.quote.decode(),
    }
    return Loaded(header=header, records=tally.records, lenient=False, details=details)


def _sample(handle: BinaryIO, encoding: Encoding) -> bytes:
    """The beginning, with a whole line in it; a file that has none within the longest line has no lines."""
    sample = b""
    for chunk in utf8_chunks(handle, encoding):
        sample += chunk
        if len(sample) >= SAMPLE_BYTES and b"\n" in sample[:SAMPLE_BYTES]:
            return sample[:SAMPLE_BYTES]
        if len(sample) > MAX_LINE_BYTES and not (b"\n" in sample or b"\r" in sample):
            raise line_too_long(1)
        if len(sample) > 2 * MAX_LINE_BYTES:
            return sample
    return sample


def _write_strict(
    handle: BinaryIO, encoding: Encoding, sniffed: Sniffed, width: int, space: Workspace
) -> tuple[Dialect, _Tally]:
    """Quotes are doubled as a rule; where that does not add up, backslashes are tried; the better wins."""
    plain, escaped = sniffed.dialect, replace(sniffed.dialect, backslash=True)
    tally = _write_as(handle, encoding, plain, width, space)
    if not tally.quote_faults or not _holds(handle, encoding, b"\\" + plain.quote):
        return plain, tally
    again = _write_as(handle, encoding, escaped, width, space)
    if again.quote_faults < tally.quote_faults:
        return escaped, again
    return plain, _write_as(handle, encoding, plain, width, space)


def _holds(handle: BinaryIO, encoding: Encoding, needle: bytes) -> bool:
    tail = b""
    for chunk in utf8_chunks(handle, encoding):
        if needle in tail + chunk:
            return True
        tail = chunk[-1:]
    return False


def _write_as(handle: BinaryIO, encoding: Encoding, dialect: Dialect, width: int, space: Workspace) -> _Tally:
    lines = Lines(_without_separator_line(handle, encoding))
    read_record(lines, dialect)  # the header
    delimiter, quote, want = dialect.delimiter, dialect.quote, width - 1
    lead = b"%d" + delimiter + b"%d" + delimiter + b"%b\n"
    plain = plain_record(dialect, width)
    number = good = quote_faults = longest = 0
    batch: list[bytes] = []
    with open(space.strict, "wb", 1 << 20) as strict, open(space.faults, "wb", 1 << 16) as faults:
        while (line := lines.next()) is not None:
            # Most lines of most files: nothing quoted, nothing escaped, as many fields as the header.
            simple = quote not in line and not (dialect.backslash and b"\\" in line)
            if (simple and line.count(delimiter) == want) or (
                not simple and not dialect.backslash and plain.fullmatch(line)
            ):
                body = line.rstrip(b"\r\n")
                if not body:
                    continue
                number += 1
                good += 1
                longest = max(longest, len(body))
                batch.append(lead % (lines.number, number, body))
                if len(batch) >= _FLUSH_RECORDS:
                    strict.write(b"".join(batch))
                    batch.clear()
                continue
            lines.put_back([line])
            record = read_record(lines, dialect)
            if record is None:
                break
            if _is_blank(record, width):
                continue
            number += 1
            reason = record.fault or _shape(record, width)
            if reason is None:
                good += 1
                body = strict_form(record.fields, dialect)
                batch.append(lead % (record.line, number, body))
            else:
                quote_faults += record.fault is not None
                body = record.text
                faults.write(_fault_row(record.line, number, body, reason))
            longest = max(longest, 2 * len(body))
        strict.write(b"".join(batch))
    return _Tally(number, good, quote_faults, longest + 64)


def _without_separator_line(handle: BinaryIO, encoding: Encoding) -> Iterator[bytes]:
    """Blank out Excel's `sep=;` line, so that the lines below keep their numbers."""
    first = True
    for chunk in utf8_chunks(handle, encoding):
        if first and (hint := separator_line(chunk[:64])):
            chunk = chunk[len(hint[0].rstrip(b"\r\n")) :]
        first = False
        yield chunk


def _is_blank(record: Record, width: int) -> bool:
    """A line of nothing but blanks is no row, unless the file has one column and blanks are its value."""
    return width > 1 and not record.fault and len(record.fields) == 1 and not record.text.strip()


def _shape(record: Record, width: int) -> str | None:
    found = len(record.fields)
    if found == width:
        return None
    return f"has {found} field{'s' if found != 1 else ''}, the header has {width}"


def _fault_row(line: int, number: int, text: bytes, reason: str) -> bytes:
    fields = [b"%d" % line, b"%d" % number, b"-1", b"", text, reason.encode()]
    return strict_form([Field(f, False) for f in fields], _FAULTS) + b"\n"
