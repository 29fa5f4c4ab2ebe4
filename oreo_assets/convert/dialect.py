"""Which delimiter and quote a text uses, judged by the columns it should have, then by its regularity."""

from __future__ import annotations

import re
from dataclasses import dataclass

from .csv_records import Dialect, Lines, Record, read_record, read_records

SAMPLE_BYTES = 1 << 18
_SAMPLE_RECORDS = 200
_DELIMITERS = (b",", b";", b"\t", b"|")
_SEPARATOR_LINE = re.compile(rb'"?sep=([,;\t|])"?[\r\n]*\Z', re.IGNORECASE)


@dataclass(frozen=True)
class Sniffed:
    """The dialect, and the header as it reads in it."""

    dialect: Dialect
    header: Record


@dataclass(frozen=True)
class _Candidate:
    sniffed: Sniffed
    known: int
    regular: float


def sniff(sample: bytes, ending: str, expected: frozenset[str]) -> Sniffed | None:
    """The likeliest dialect; None if the text is blank. `expected` are the column names, in lower case."""
    given = separator_line(sample)
    body = sample[len(given[0]) :] if given else sample
    natural = (given[1],) if given else _natural_order(ending)
    candidates = []
    for quote in (b'"', b"'"):
        for delimiter in natural:
            dialect = Dialect(delimiter, quote)
            header = read_record(Lines([body]), dialect)
            if header is None:
                return None
            names = {_name(f.value) for f in header.fields}
            candidates.append(_Candidate(Sniffed(dialect, header), len(names & expected), 0.0))
    most = max(c.known for c in candidates)
    best = [c for c in candidates if c.known == most]
    if len(best) > 1:
        best = [_Candidate(c.sniffed, c.known, _regularity(body, c.sniffed)) for c in best]
    # max() keeps the first of equals, and the natural choice stands first.
    return max(best, key=lambda c: c.regular).sniffed


def separator_line(sample: bytes) -> tuple[bytes, bytes] | None:
    """Excel's own hint `sep=;` in the first line: the line and the delimiter."""
    first = sample.splitlines(keepends=True)[:1]
    match = _SEPARATOR_LINE.match(first[0]) if first else None
    return (first[0], match[1]) if match else None


def _natural_order(ending: str) -> tuple[bytes, ...]:
    return (b"\t", b",", b";", b"|") if ending == "tsv" else _DELIMITERS


def _name(value: bytes) -> str:
    return value.decode("utf-8", "replace").strip().lower()


def _regularity(body: bytes, sniffed: Sniffed) -> float:
    """How many of the first records have as many fields as the header, as a share.

    A header of one field says nothing: whatever the rows hold, some delimiter is not in them. A doubled
    apostrophe inside apostrophes is the one sure sign that they are quotes and not part of the values.
    """
    width = len(sniffed.header.fields)
    if width <= 1 or sniffed.header.fault:
        return 0.0
    seen = good = 0
    doubled = False
    truncated = len(body) >= SAMPLE_BYTES
    for record in read_records(Lines([body]), sniffed.dialect):
        seen += 1
        good += len(record.fields) == width
        doubled |= any(f.quoted and sniffed.dialect.quote in f.value for f in record.fields)
        if seen >= _SAMPLE_RECORDS:
            truncated = False
            break
    if truncated and seen > 1 and good < seen:
        seen -= 1  # the sample may end in the middle of its last record
    share = good / seen
    return share + 0.001 if doubled and sniffed.dialect.quote == b"'" and share == 1.0 else share
