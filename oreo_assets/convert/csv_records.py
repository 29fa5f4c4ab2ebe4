"""Records of a delimited text: where each begins, how many fields it has, and what is wrong with it.

The result is the same text in one strict form, each record led by its line and its number, so that DuckDB
reads it without guessing and every later complaint can name the line that a person sees in an editor.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from ..model.errors import BadFileError

MAX_LINE_BYTES = 16 << 20
NEVER_CLOSED = "a quote is opened and never closed"
TEXT_AFTER_QUOTE = "text follows a closing quote"


@dataclass(frozen=True)
class Dialect:
    """Single ASCII characters, as bytes: the text is UTF-8 by now."""

    delimiter: bytes = b","
    quote: bytes = b'"'
    backslash: bool = False


@dataclass(frozen=True)
class Field:
    value: bytes
    quoted: bool


@dataclass(frozen=True)
class Record:
    """One record: its first line, its text, its fields; or the fault for which it has none."""

    line: int
    text: bytes
    fields: tuple[Field, ...] = ()
    fault: str | None = None


class Lines:
    """Physical lines with their numbers and endings; a line can be put back."""

    def __init__(self, chunks: Iterable[bytes]) -> None:
        self._chunks = iter(chunks)
        self._ready: deque[bytes] = deque()
        self._rest = b""
        self.number = 0

    def next(self) -> bytes | None:
        """The next line, None at the end. Its number is `number`."""
        if not self._ready and not self._fill():
            return None
        self.number += 1
        return self._ready.popleft()

    def put_back(self, lines: list[bytes]) -> None:
        self._ready.extendleft(reversed(lines))
        self.number -= len(lines)

    def _fill(self) -> bool:
        while not self._ready:
            chunk = next(self._chunks, None)
            if chunk is None:
                if self._rest:
                    self._ready.append(self._rest)
                    self._rest = b""
                break
            data = self._rest + chunk
            # A CR at the very end may be half of a CRLF, and a last line without an ending may go on.
            whole = max(data.rfind(b"\n"), data.rfind(b"\r", 0, len(data) - 1)) + 1
            self._ready.extend(data[:whole].splitlines(keepends=True))
            self._rest = data[whole:]
            if len(self._rest) > MAX_LINE_BYTES:
                raise line_too_long(self.number + len(self._ready) + 1)
        return bool(self._ready)


def line_too_long(number: int) -> BadFileError:
    return BadFileError(
        f"Line {number} is longer than {MAX_LINE_BYTES >> 20} MB.",
        "Check that the file has line breaks, and that every quote is closed.",
        line=number,
    )


def read_record(lines: Lines, dialect: Dialect) -> Record | None:
    """The record that begins on the next line that is not blank; None at the end.

    Where quotes do not add up, only the first line is given up and the next one starts afresh: one stray
    quote must not swallow the rows below it.
    """
    while (line := lines.next()) is not None:
        if line.strip(b"\r\n"):
            break
    else:
        return None
    number, taken = lines.number, [line]
    parser = _Parser(dialect)
    size = len(line)
    fault = parser.feed(line)
    while fault is None and parser.in_quotes:
        following = lines.next()
        if following is None or size > MAX_LINE_BYTES:
            fault = NEVER_CLOSED
            if following is not None:
                taken.append(following)
            break
        taken.append(following)
        size += len(following)
        fault = parser.feed(following)
    if fault is None:
        return Record(number, b"".join(taken).rstrip(b"\r\n"), tuple(parser.fields))
    lines.put_back(taken[1:])
    return Record(number, line.rstrip(b"\r\n"), fault=fault)


def read_records(lines: Lines, dialect: Dialect) -> Iterator[Record]:
    while (record := read_record(lines, dialect)) is not None:
        yield record


def strict_form(fields: Iterable[Field], dialect: Dialect) -> bytes:
    """The record as DuckDB is told to expect it: quotes doubled, nothing escaped otherwise."""
    delimiter, quote = dialect.delimiter, dialect.quote
    special = re.compile(b"[\r\n" + re.escape(delimiter + quote) + b"]")
    return delimiter.join(
        quote + f.value.replace(quote, quote * 2) + quote if f.quoted or special.search(f.value) else f.value
        for f in fields
    )


def plain_record(dialect: Dialect, width: int) -> re.Pattern[bytes]:
    """Matches a line that is one whole record of `width` fields and already in strict form."""
    quote, delimiter = re.escape(dialect.quote), re.escape(dialect.delimiter)
    one = b"(?:%b(?:[^%b]++|%b%b)*+%b|[^%b%b\r\n]*+)" % (quote, quote, quote, quote, quote, quote, delimiter)
    return re.compile(one + b"(?:%b%b){%d}[\r\n]*+" % (delimiter, one, width - 1))


@lru_cache(maxsize=32)
def _patterns(dialect: Dialect) -> tuple[re.Pattern[bytes], re.Pattern[bytes]]:
    """What ends or interrupts a quoted field, and a bare one."""
    quote, delimiter = re.escape(dialect.quote), re.escape(dialect.delimiter)
    escape = rb"|\\[\\%b%b]" % (quote, delimiter) if dialect.backslash else b""
    return re.compile(quote + quote + b"|" + quote + escape), re.compile(delimiter + escape)


class _Parser:
    """Takes the lines of one record and gathers its fields."""

    def __init__(self, dialect: Dialect) -> None:
        self.fields: list[Field] = []
        self.in_quotes = False
        self._parts: list[bytes] = []
        self._dialect = dialect
        self._in_quoted, self._in_bare = _patterns(dialect)

    def feed(self, line: bytes) -> str | None:
        """A fault, or None: then the record is complete unless `in_quotes`."""
        end = len(line.rstrip(b"\r\n"))
        at = 0
        while True:
            if not self.in_quotes:
                if line.startswith(self._dialect.quote, at, end):
                    self.in_quotes, at = True, at + 1
                else:
                    at = self._bare(line, at, end)
                    if at > end:
                        return None
                    continue
            at = self._quoted(line, at)
            if self.in_quotes:
                return None
            if at >= end:
                return None
            if line[at : at + 1] != self._dialect.delimiter:
                return TEXT_AFTER_QUOTE
            at += 1

    def _bare(self, line: bytes, at: int, end: int) -> int:
        """Up to behind the next delimiter, or beyond the end of the line."""
        value = b""
        while hit := self._in_bare.search(line, at, end):
            value += line[at : hit.start()]
            at = hit.end()
            if hit.end() - hit.start() == 1:
                self.fields.append(Field(value, False))
                return at
            value += hit.group()[1:]
        self.fields.append(Field(value + line[at:end], False))
        return end + 1

    def _quoted(self, line: bytes, at: int) -> int:
        """Up to behind the closing quote; `in_quotes` stays if it is not on this line."""
        while hit := self._in_quoted.search(line, at):
            self._parts.append(line[at : hit.start()])
            at = hit.end()
            if hit.end() - hit.start() == 1:
                self.fields.append(Field(b"".join(self._parts), True))
                self._parts = []
                self.in_quotes = False
                return at
            self._parts.append(hit.group()[1:])
        self._parts.append(line[at:])
        return len(line)
