"""Filters as plain Python understands them, on a table whose columns are named to be misread."""

from __future__ import annotations

import datetime as dt
import re
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from functools import lru_cache
from pathlib import Path
from typing import Any

import pyarrow as pa
from deltalake import write_deltalake
from hypothesis import strategies as st

from oreo_assets.lake.read import TableAt, query_rows
from oreo_assets.model.errors import OreoError, UsageError
from oreo_assets.model.filters import IS_WORDS, Filter, Op, Order

UTC = dt.UTC
ODD_NAMES = (
    "select", "From", "old name", "changed name", "new name", 'quo"te', "Größe", "row_id2", "*", "1", "?", "$1",
    "read_csv('/etc/passwd')", "x; DROP TABLE main; --", "main",
)  # fmt: skip
TEXTS = ["", "a", "A%", "a_b", "null", "5", "=1+1", "\u202eabc", "it's", 'say "x"', "a\nb", "ab" * 200, "é", "\\", None]
_INTS = [0, 1, 2, -7, 2**31 - 1, None]
_AMOUNTS = [Decimal("0.00"), Decimal("12.35"), Decimal("12.34"), Decimal("-0.01"), Decimal("9999999999.99"), None]
_DAYS = [dt.date(2026, 1, 31), dt.date(1, 1, 1), dt.date(9999, 12, 31), None]
_TIMES = [dt.datetime(2026, 1, 31, 12, 30, 0, 123456, UTC), dt.datetime(1970, 1, 1, tzinfo=UTC), None]
_RATIOS = [0.0, 0.1, -1.5, 1e300, None]
_FLAGS = [True, False, None]
_TRUE, _FALSE = ("true", "t", "1", "yes", "y", "on"), ("false", "f", "0", "no", "n", "off")


def _rows() -> list[dict[str, Any]]:
    def at(values: list[Any], n: int) -> Any:
        return values[n % len(values)]

    return [
        {
            "row_id": f"r{n:02}",
            "name": at(TEXTS, n),
            "qty": at(_INTS, n),
            "amount": at(_AMOUNTS, n),
            "day": at(_DAYS, n),
            "at": at(_TIMES, n),
            "ratio": at(_RATIOS, n),
            "flag": at(_FLAGS, n),
            **{name: f"{name} {n % 3}" for name in ODD_NAMES},
        }
        for n in range(len(TEXTS) * 2)
    ]


@dataclass(frozen=True)
class Odd:
    """The table, and what is in it."""

    table: TableAt
    rows: list[dict[str, Any]]
    folder: tempfile.TemporaryDirectory[str]


@lru_cache(maxsize=1)
def odd_table() -> Odd:
    folder = tempfile.TemporaryDirectory(prefix="oreo-odd-")
    schema = pa.schema(
        [
            ("row_id", pa.string()),
            ("name", pa.string()),
            ("qty", pa.int32()),
            ("amount", pa.decimal128(12, 2)),
            ("day", pa.date32()),
            ("at", pa.timestamp("us", "UTC")),
            ("ratio", pa.float64()),
            ("flag", pa.bool_()),
            *((name, pa.string()) for name in ODD_NAMES),
        ]
    )
    uri = str(Path(folder.name, "main"))
    write_deltalake(uri, pa.Table.from_pylist(_rows(), schema=schema))
    return Odd(TableAt("main", uri, 0), _rows(), folder)


def told_well(error: OreoError) -> None:
    """An error that a person can do something about."""
    assert error.message
    assert error.remedy
    assert "Traceback" not in error.message


def check_filter(case: tuple[list[Filter], list[Order]]) -> str:
    """The right rows in the right order, or a usage error where a value does not fit; never anything else."""
    where, order = case
    odd = odd_table()
    try:
        found = query_rows(odd.table, where=where, order=[*order, Order("row_id")], limit=1000)
    except UsageError as error:
        told_well(error)
        fair = any(_may_be_refused(item) for item in where) or any(o.column not in odd.rows[0] for o in order)
        return "refused" if fair else "refused without reason"
    assert all(item.column in odd.rows[0] for item in where)
    wanted = {row["row_id"] for row in odd.rows if all(_holds(item, row[item.column]) for item in where)}
    assert {row["row_id"] for row in found} == wanted
    for row in found:
        original = next(r for r in odd.rows if r["row_id"] == row["row_id"])
        assert row == original
    return "answered"


def _may_be_refused(item: Filter) -> bool:
    """Whether a usage error is a fair answer. What a value of the column itself looks like must be taken."""
    if item.column not in odd_table().rows[0]:
        return True
    if item.op in (Op.LIKE, Op.IS):
        return item.op is Op.LIKE or (item.values[0] in ("true", "false") and item.column != "flag")
    known = {_written(row[item.column]) for row in odd_table().rows}
    return not all(value in known for value in item.values)


def _written(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return value.isoformat() if isinstance(value, (dt.date, dt.datetime)) else str(value)


def _holds(item: Filter, value: Any) -> bool:
    if item.op is Op.IS:
        words = {"null": value is None, "notnull": value is not None, "true": value is True, "false": value is False}
        return words[item.values[0]]
    if value is None:
        return False
    if item.op is Op.LIKE:
        pattern = "".join({"%": ".*", "_": "."}.get(c) or re.escape(c) for c in item.values[0])
        return re.fullmatch(pattern, value, re.DOTALL) is not None
    given = [_read(text, value) for text in item.values]
    tests: dict[Op, Callable[[Any], bool]] = {
        Op.EQ: lambda x: value == x,
        Op.NEQ: lambda x: value != x,
        Op.LT: lambda x: value < x,
        Op.LTE: lambda x: value <= x,
        Op.GT: lambda x: value > x,
        Op.GTE: lambda x: value >= x,
        Op.IN: lambda x: value == x,
    }
    return any(tests[item.op](x) for x in given)


def _read(text: str, like: Any) -> Any:
    """The text as a value of the same kind; failing here means that DuckDB took what means nothing."""
    if isinstance(like, str):
        return _Bytes(text)
    text = text.strip()
    if isinstance(like, bool):
        assert text.lower() in _TRUE + _FALSE, text
        return text.lower() in _TRUE
    if isinstance(like, (int, Decimal)):
        try:
            return Decimal(text)
        except InvalidOperation as error:
            raise AssertionError(f"{text!r} is no number") from error
    if isinstance(like, float):
        return float(text)
    if isinstance(like, dt.datetime):
        moment = dt.datetime.fromisoformat(text)
        return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return dt.date.fromisoformat(text)


class _Bytes(str):
    """Text that compares by its bytes, as databases do, and not by UTF-16 or by a language."""

    def __lt__(self, other: str) -> bool:
        return self.encode() < other.encode()


_NEAR_MISSES = (
    *("1.5", "12.345", "12.350", "0x1F", "1_000", " 5 ", "1e3", "1e400", "-1e-400", "nan", "infinity", "9" * 400),
    *("epoch", "today", "2026-01-31", "2026-1-31", "2026-02-30", "2026-01-31 12:30:00.1234561", "0044-03-15 (BC)"),
    *("2026-01-31T13:30:00.123456+01:00", "NULL", "null", "true", "TRUE", "t", "yes", "2", "?", "$1", "{}", "[]"),
    *("' OR 1=1 --", "'; DROP TABLE main; --", "%", "_", "%_a%_a%_a%_a%_a%b", "\\%", "a%", "%%%", "__"),
    *("-" * 50, "٣", "１", "\x00", "a\x00b"),
)
_ANY_VALUE = st.one_of(
    st.text(max_size=20),
    st.integers().map(str),
    st.decimals(allow_nan=True, allow_infinity=True).map(str),
    st.floats().map(str),
    st.dates().map(str),
    st.datetimes().map(str),
    st.sampled_from(_NEAR_MISSES),
    st.sampled_from([t for t in TEXTS if t is not None]),
    st.sampled_from([_written(v) for v in [*_INTS, *_AMOUNTS, *_DAYS, *_TIMES, *_RATIOS, *_FLAGS] if v is not None]),
)
_COLUMN = st.one_of(
    st.sampled_from(["row_id", "name", "qty", "amount", "day", "at", "ratio", "flag"]),
    st.sampled_from([*ODD_NAMES, "ROW_ID", "Select", "no such", 'a" OR 1=1 --', "main.name", "rowid", ""]),
)


@st.composite
def _filter(draw: st.DrawFn) -> Filter:
    op = draw(st.sampled_from(list(Op)))
    if op is Op.LIKE:
        return Filter(draw(st.sampled_from(["row_id", "name", *ODD_NAMES])), op, (draw(_ANY_VALUE),))
    if op is Op.IS:
        return Filter(draw(_COLUMN), op, (draw(st.sampled_from(IS_WORDS)),))
    most = 4 if op is Op.IN else 1
    return Filter(draw(_COLUMN), op, tuple(draw(st.lists(_ANY_VALUE, min_size=1, max_size=most))))


filters = st.tuples(
    st.lists(_filter(), min_size=1, max_size=2), st.lists(st.builds(Order, _COLUMN, st.booleans()), max_size=1)
)
