"""Text files without end, without shape, or in no encoding at all."""

from __future__ import annotations

import pytest

from oreo_assets.convert import ConversionRequest, convert
from oreo_assets.model.spec import Limits

from ..convert.support import read_parquet
from .conftest import Meets

HEAD = b"id,name,qty\n"
ROOMY = Limits(max_file_mb=64, max_memory_mb=256, max_seconds=20)
LONG = 40 << 20


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"x" * LONG, "Line 1 is longer than 16 MB"),
        (b"," * LONG, "Line 1 is longer than 16 MB"),
        (b'"' * LONG, "Line 1 is longer than 16 MB"),
        (HEAD + b"a," + b"x" * LONG, "Line 2 is longer than 16 MB"),
        (HEAD + b'a,"' + b"x" * LONG, "Line 2 is longer than 16 MB"),
        (b"\n" * LONG, "nothing but blank lines"),
        (b",".join(b"c%d" % n for n in range(100_000)) + b"\n", "100,000 columns; up to 2,000"),
        (HEAD + b"a,b,1\n" * 5000 + b"\x00,b,1\n", "NUL"),
        (b"\xff\xfe" + "id,name\na,".encode("utf-16-le") + b"\x00\xd8\n\x00", "not text in UTF-16"),
        (HEAD + b"a,\xed\xa0\x80,1\n", "not text in UTF-8"),
        (HEAD + "a,é,1\n".encode() + "b,é,1\n".encode("latin-1"), "not text in UTF-8"),
        (HEAD + b"x" * 3000 + b"\n" + b"k" * 10, None),
    ],
    ids=[
        "one letter", "commas", "quotes", "second line", "open quote", "line breaks", "columns", "nul", "half a pair",
        "half a pair in utf-8", "two encodings", "ragged",
    ],
)  # fmt: skip
def test_what_is_no_table_is_refused_quickly(meets: Meets, content: bytes, says: str | None):
    if says is None:
        assert meets(content, "csv", limits=ROOMY).rows_rejected == 2
    else:
        assert says in meets.refused(content, "csv", limits=ROOMY).message


def test_a_million_blank_lines_are_no_rows(meets: Meets):
    found = meets(HEAD + b"\n" * 1_000_000 + b"a,b,1\n", "csv")
    assert (found.rows_read, found.rows_good) == (1, 1)


def test_a_quote_that_is_open_at_the_end_costs_its_line_only(meets: Meets):
    found = meets(HEAD + b'a,b,1\nc,d,2\ne,"f,3', "csv", set_aside=True)
    assert (found.rows_good, found.rows_rejected) == (2, 1)
    assert (found.rejects[0].line, found.rejects[0].reason) == (4, "a quote is opened and never closed")


def test_formulas_are_data_on_the_way_in(make_request):
    cells = ["=1+1", "@SUM(A1)", "+1", "-2+3", "\tx", "=cmd|' /C calc'!A0"]
    content = "id,name\n" + "".join(f'k{n},"{cell}"\n' for n, cell in enumerate(cells))
    request: ConversionRequest = make_request(content)
    convert(request)
    assert [row[2] for row in read_parquet(request.out)[1]] == cells
