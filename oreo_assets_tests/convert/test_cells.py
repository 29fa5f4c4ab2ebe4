"""What each type takes, what it refuses, and with which words."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any

import pytest

from oreo_assets.model.spec import Column
from oreo_assets.model.states import Mode

from .conftest import Convert

UTC = dt.UTC

GOOD: list[tuple[str, str, Any]] = [
    ("int", "12", 12),
    ("int", " -7\t", -7),
    ("int", "+007", 7),
    ("int", "-2147483648", -(2**31)),
    ("bigint", "9223372036854775807", 2**63 - 1),
    ("smallint", "32767", 32767),
    ("decimal(12,2)", "12.5", Decimal("12.50")),
    ("decimal(12,2)", "12.500", Decimal("12.50")),
    ("decimal(12,2)", "-.5", Decimal("-0.50")),
    ("decimal(12,2)", "5.", Decimal("5.00")),
    ("decimal(12,2)", "1.5e2", Decimal("150.00")),
    ("decimal(12,2)", "123456789012e-2", Decimal("1234567890.12")),
    ("decimal(12,2)", "1200e-4", Decimal("0.12")),
    ("decimal(12,2)", "0e-30", Decimal("0.00")),
    ("decimal(12,2)", "9999999999.99", Decimal("9999999999.99")),
    ("decimal(2,2)", "0.25", Decimal("0.25")),
    ("decimal(38,0)", "9" * 38, Decimal("9" * 38)),
    ("double", "1e-300", 1e-300),
    ("double", "0.1", 0.1),
    ("double", "0.0e-999", 0.0),
    ("float", "0.5", 0.5),
    ("boolean", "TRUE", True),
    ("boolean", "f", False),
    ("boolean", "Yes", True),
    ("boolean", "0", False),
    ("date", "2024-02-29", dt.date(2024, 2, 29)),
    ("date", "2024-01-02T00:00:00Z", dt.date(2024, 1, 2)),
    ("date", "2024-01-02 00:00:00.000", dt.date(2024, 1, 2)),
    ("timestamp", "2024-01-02T03:04:05Z", dt.datetime(2024, 1, 2, 3, 4, 5, tzinfo=UTC)),
    ("timestamp", "2024-01-02 03:04:05", dt.datetime(2024, 1, 2, 3, 4, 5, tzinfo=UTC)),
    ("timestamp", "2024-01-02T03:04:05.123456+02:00", dt.datetime(2024, 1, 2, 1, 4, 5, 123456, tzinfo=UTC)),
    ("timestamp", "2024-01-02T03:04-0530", dt.datetime(2024, 1, 2, 8, 34, tzinfo=UTC)),
    ("timestamp", "2024-01-02T03:04Z", dt.datetime(2024, 1, 2, 3, 4, tzinfo=UTC)),
    ("timestamp", "2024-01-02T03:04", dt.datetime(2024, 1, 2, 3, 4, tzinfo=UTC)),
    ("timestamp", "2024-01-02T03:04:05.100000000Z", dt.datetime(2024, 1, 2, 3, 4, 5, 100000, tzinfo=UTC)),
    ("timestamp", "2024-01-02", dt.datetime(2024, 1, 2, tzinfo=UTC)),
    ("timestamp_ntz", "2024-01-02 03:04:05", dt.datetime(2024, 1, 2, 3, 4, 5)),
    ("string", "  007 ", "  007 "),
]

BAD: list[tuple[str, str, str]] = [
    ("int", "12.0", "not a whole number"),
    ("int", "1e3", "not a whole number"),
    ("int", "0x1f", "not a whole number"),
    ("int", "1_000", "not a whole number"),
    ("int", "1,000", "without thousands separators"),
    ("int", "2147483648", "too large for int"),
    ("smallint", "32768", "too large for smallint"),
    ("bigint", "9223372036854775808", "too large for bigint"),
    ("decimal(12,2)", "0.005", "more than 2 digits after the point"),
    ("decimal(12,2)", "1.2345e1", "more than 2 digits after the point"),
    ("decimal(12,2)", "10000000000", "too large for decimal(12,2)"),
    ("decimal(2,2)", "1.25", "too large for decimal(2,2)"),
    ("decimal(12,2)", "1e99999", "too large for decimal(12,2)"),
    ("decimal(12,2)", "12,5", "with a point and no thousands separators"),
    ("decimal(12,2)", "1.234,50", "with a point and no thousands separators"),
    ("decimal(12,2)", "1,234.50", "not a number"),
    ("decimal(12,2)", "abc", "not a number"),
    ("decimal(12,2)", "NaN", "not a finite number"),
    ("double", "nan", "not a finite number"),
    ("double", "-Infinity", "not a finite number"),
    ("double", "1e999", "too large for double"),
    ("double", "1e-999", "too small for double"),
    ("float", "1e39", "too large for float"),
    ("double", "1_0", "not a number"),
    ("boolean", "maybe", "not true or false"),
    ("boolean", "2", "not true or false"),
    ("date", "2024-02-30", "no such day"),
    ("date", "0000-01-01", "no such day"),
    ("date", "2024-1-2", "not a date (YYYY-MM-DD)"),
    ("date", "02/01/2024", "not a date (YYYY-MM-DD)"),
    ("date", "20240102", "not a date (YYYY-MM-DD)"),
    ("date", "2024-01-02 10:00:00", "it has a time of day"),
    ("date", "infinity", "not a date"),
    ("date", "epoch", "not a date"),
    ("timestamp", "2024-01-02T25:00:00", "not a timestamp"),
    ("timestamp", "2024-01-02T24:00:00", "not a timestamp"),
    ("timestamp", "2024-02-30T10:00:00", "no such moment"),
    ("timestamp", "2024-01-02T03:04:05.1234567", "finer than a microsecond"),
    ("timestamp", "0001-01-01T00:00:00+02:00", "no such moment"),
    ("timestamp", "now", "not a timestamp"),
    ("timestamp_ntz", "2024-01-02T03:04:05Z", "has a time zone"),
]


@pytest.mark.parametrize("tidy", [True, False])
def test_every_good_cell_is_taken_exactly(convert_here: Convert, tidy: bool) -> None:
    """All at once, one column each; untidy blanks elsewhere in the column change nothing."""
    columns = [
        Column(name="id", type="string"),
        *(Column(name=f"v{i}", type=t) for i, (t, *_) in enumerate(GOOD)),
    ]
    quoted = ['"' + text + '"' for _, text, _ in GOOD]
    blanks = ",".join('" "' if not tidy else "" for _ in GOOD)
    text = f"{','.join(c.name for c in columns)}\na,{','.join(quoted)}\nb,{blanks}\n"
    done = convert_here(text, columns=columns)
    assert done.conversion.rejects == ()
    wrong = [(g, v) for g, v in zip(GOOD, done.rows[0][2:], strict=True) if g[2] != v or type(g[2]) is not type(v)]
    assert wrong == []


def test_every_bad_cell_is_refused_with_its_reason(convert_here: Convert) -> None:
    """One row, all columns bad: all are reported in one pass, in the order of the file."""
    columns = [
        Column(name="id", type="string"),
        *(Column(name=f"v{i}", type=t) for i, (t, *_) in enumerate(BAD)),
    ]
    text = f"{','.join(c.name for c in columns)}\na,{','.join(chr(34) + t + chr(34) for _, t, _ in BAD)}\n"
    done = convert_here(text, columns=columns)
    assert [r.column for r in done.conversion.rejects] == [f"v{i}" for i in range(len(BAD))]
    assert [r.value for r in done.conversion.rejects] == [t for _, t, _ in BAD]
    wrong = [(b, r.reason) for b, r in zip(BAD, done.conversion.rejects, strict=True) if b[2] not in r.reason]
    assert wrong == []
    assert (done.conversion.rows_rejected, done.conversion.rejects_total) == (1, len(BAD))
    assert not done.request.out.exists()


def test_each_bad_cell_of_each_row_is_listed_with_line_and_value(convert_here: Convert) -> None:
    done = convert_here('id,name,qty,day\na1,"two\nlines",x,2024-13-01\na2,b,1,2024-01-01\na3,c,1.5,\n')
    assert [(r.line, r.column, r.value) for r in done.conversion.rejects] == [
        (2, "qty", "x"),
        (2, "day", "2024-13-01"),
        (5, "qty", "1.5"),
    ]


def test_required_columns_must_not_be_empty(convert_here: Convert) -> None:
    columns = (
        Column(name="id", type="string"),
        Column(name="name", type="string", nullable=False),
        Column(name="qty", type="int", nullable=False),
    )
    done = convert_here('id,name,qty\n,b,1\n" ",b,1\na3,"",1\na4,b,\na5,b," "\na6,c,6\n', columns=columns)
    assert done.rejects == [
        (2, "id", "must not be empty"),
        (3, "id", "must not be empty"),
        (4, "name", "must not be empty"),
        (5, "qty", "must not be empty"),
        (6, "qty", "must not be empty"),
    ]


def test_a_long_bad_value_is_cut_for_display(convert_here: Convert) -> None:
    done = convert_here(f"id,qty\na1,{'z' * 5000}\n")
    assert done.only_reject.value == "z" * 200 + "…"


def test_only_ten_thousand_rejects_are_listed_but_all_are_counted(convert_here: Convert) -> None:
    done = convert_here("id,qty\n" + "".join(f"a{i},x\n" for i in range(10_500)))
    assert len(done.conversion.rejects) == 10_000
    assert done.conversion.rejects_total == done.conversion.rows_rejected == 10_500
    assert done.conversion.rejects[-1].line == 10_001


def test_delete_needs_only_the_key_and_looks_at_nothing_else(convert_here: Convert) -> None:
    done = convert_here("id,qty,Weird Column!\na1,not a number,x\n", mode=Mode.DELETE)
    assert done.rows == [("a1", "a1")]
    assert done.conversion.details["ignored_columns"] == ["qty", "Weird Column!"]
