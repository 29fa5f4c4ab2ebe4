"""Which delimiter and quote a text uses, judged by the columns it should have, then by its regularity."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import islice

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
            if quote == b"'" and not _uses_apostrophes(body, dialect):
                continue
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


def _uses_apostrophes(body: bytes, dialect: Dialect) -> bool:
    """Whether some field stands between apostrophes and none between the usual quotes."""
    if b"'" not in body:
        return False
    fields = [f for r in _first_records(body, dialect) for f in r.fields]
    return any(f.quoted for f in fields) and not any(not f.quoted and f.value.startswith(b'"') for f in fields)


def _first_records(body: bytes, dialect: Dialect) -> list[Record]:
    return list(islice(read_records(Lines([body]), dialect), _SAMPLE_RECORDS))


def _regularity(body: bytes, sniffed: Sniffed) -> float:
    """How many of the first records have as many fields as the header, as a share.

    A header of one field says nothing: whatever the rows hold, some delimiter is not in them. A doubled
    apostrophe inside apostrophes is the one sure sign that they are quotes and not part of the values.
    """
    width = len(sniffed.header.fields)
    if width <= 1 or sniffed.header.fault:
        return 0.0
    records = _first_records(body, sniffed.dialect)
    good = sum(len(record.fields) == width for record in records)
    seen = len(records)
    if len(body) >= SAMPLE_BYTES and good < seen < _SAMPLE_RECORDS:
        seen -= 1  # the sample may end in the middle of its last record
    quote = sniffed.dialect.quote
    doubled = any(f.quoted and quote in f.value for record in records for f in record.fields)
    return good / seen + (0.001 if doubled and quote == b"'" and good == seen else 0.0)
