"""What must hold for any table, in any dialect: it comes out as it went in, and each bad cell is found."""

from __future__ import annotations

import csv
import io
import tempfile
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from oreo_assets.convert import ConversionRequest
from oreo_assets.convert.pipeline import run
from oreo_assets.model.errors import BadFileError
from oreo_assets.model.spec import Column, Limits, RowIdRule
from oreo_assets.model.states import Mode

from .support import read_parquet

QUICK = settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck))
COLUMNS = (
    Column(name="id", type="string"),
    Column(name="name", type="string"),
    Column(name="note", type="string"),
    Column(name="qty", type="int"),
)
SPECIAL = st.sampled_from([",", ";", "|", "\t", '"', "'", "\n", "\r\n", "\\", " ", "0", "é", "ß", "x", "#", "-"])
# A field that begins with an apostrophe may honestly be taken for a quoted one.
TEXT = st.lists(SPECIAL, min_size=1, max_size=8).map("".join).map(lambda t: f"x{t}" if t[0] == "'" else t)
WIDE_TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), min_size=1, max_size=8)
NUMBER = st.one_of(st.none(), st.integers(-(2**31), 2**31 - 1))


def convert_bytes(content: bytes, **changes: Any) -> tuple[Any, list[tuple[Any, ...]] | None]:
    with tempfile.TemporaryDirectory() as folder:
        raw = Path(folder, "raw.csv")
        raw.write_bytes(content)
        values: dict[str, Any] = {
            "raw": raw,
            "out": Path(folder, "converted.parquet"),
            "columns": COLUMNS,
            "key": (),
            "row_id_rule": RowIdRule.GENERATED,
            "row_id_prefix": "p",
            "mode": Mode.APPEND,
            "sheet": None,
            "set_aside": False,
            "new_columns": "review",
            "limits": Limits(),
        } | changes
        request = ConversionRequest(**values)
        conversion = run(request)
        return conversion, read_parquet(request.out)[1] if request.out.exists() else None


def written(rows: list[list[Any]], **dialect: Any) -> str:
    buffer = io.StringIO(newline="")
    writer = csv.writer(buffer, **dialect)
    writer.writerow([c.name for c in COLUMNS])
    writer.writerows(rows)
    return buffer.getvalue()


@QUICK
@given(
    rows=st.lists(st.tuples(TEXT, TEXT, TEXT, NUMBER), min_size=1, max_size=12),
    delimiter=st.sampled_from(",;\t|"),
    terminator=st.sampled_from(["\n", "\r\n", "\r"]),
    quoting=st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL, csv.QUOTE_NONNUMERIC]),
    encoding=st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "cp1252"]),
)
def test_any_table_in_any_dialect_comes_out_as_it_went_in(
    rows: list[tuple[Any, ...]], delimiter: str, terminator: str, quoting: Any, encoding: str
) -> None:
    if terminator == "\r":
        quoting = csv.QUOTE_ALL  # else the writer leaves a bare LF unquoted, and that ends a line
    text = written([list(r) for r in rows], delimiter=delimiter, lineterminator=terminator, quoting=quoting)
    conversion, out = convert_bytes(text.encode(encoding))
    assert conversion.rejects == ()
    assert out == [(f"p-{n:010d}", *row) for n, row in enumerate(rows, 1)]


@QUICK
@given(
    rows=st.lists(st.tuples(WIDE_TEXT, WIDE_TEXT, WIDE_TEXT, NUMBER), min_size=1, max_size=12),
    quote=st.sampled_from("\"'"),
    backslash=st.booleans(),
    encoding=st.sampled_from(["utf-8", "utf-16-le", "utf-16-be", "utf-8-sig", "utf-16"]),
)
def test_any_text_survives_any_way_of_quoting(
    rows: list[tuple[Any, ...]], quote: str, backslash: bool, encoding: str
) -> None:
    """With one row that shows how quotes are escaped, as any file that needs escaping has."""
    rows = [
        ("sign", f"a{quote}b", "plain ascii text, long enough to tell utf-16 by its zeros" * 40, 1),
        *rows,
    ]
    escaping = {"doublequote": False, "escapechar": "\\"} if backslash else {}
    text = written([list(r) for r in rows], quotechar=quote, quoting=csv.QUOTE_ALL, **escaping)
    conversion, out = convert_bytes(text.encode(encoding))
    assert conversion.rejects == ()
    assert out == [(f"p-{n:010d}", *row) for n, row in enumerate(rows, 1)]


@QUICK
@given(
    rows=st.lists(st.tuples(TEXT, TEXT, TEXT, st.integers(0, 99)), min_size=1, max_size=20),
    data=st.data(),
)
def test_exactly_the_injected_bad_cells_are_reported(rows: list[tuple[Any, ...]], data: st.DataObject) -> None:
    bad = data.draw(st.sets(st.integers(0, len(rows) - 1), max_size=5))
    ragged = data.draw(st.sets(st.integers(0, len(rows) - 1), max_size=3)) - bad
    table: list[list[Any]] = [list(row) for row in rows]
    for n in bad:
        table[n][3] = data.draw(st.sampled_from(["x", "1.5", "99999999999", "1e3", "--1", "1 2"]))
    for n in ragged:
        table[n] = table[n][:2]
    expected: list[tuple[int, str | None]] = []
    line = 2
    for n, row in enumerate(table):
        if n in bad:
            expected.append((line, "qty"))
        if n in ragged:
            expected.append((line, None))
        line += 1 + sum(str(cell).count("\n") for cell in row)
    # A lone CR would be one more physical line, and the writer quotes it like any other.
    text = written(table, quoting=csv.QUOTE_ALL)
    conversion, out = convert_bytes(text.encode(), set_aside=True)
    assert [(r.line, r.column) for r in conversion.rejects] == expected
    assert conversion.rows_good == len(rows) - len(bad) - len(ragged)
    assert out is not None
    assert [row[1:] for row in out] == [row for n, row in enumerate(rows) if n not in bad | ragged]


@QUICK
@given(content=st.binary(max_size=400), ending=st.sampled_from(["", "id,name\n", 'id,name\n"a']))
def test_no_bytes_make_the_reader_fail_in_a_way_that_nobody_named(content: bytes, ending: str) -> None:
    try:
        conversion, _ = convert_bytes(ending.encode() + content)
    except BadFileError:
        return
    assert conversion.rows_read == conversion.rows_good + conversion.rows_rejected
