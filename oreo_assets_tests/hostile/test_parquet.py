"""Parquet files whose sizes are lies, or true and too much."""

from __future__ import annotations

import io
import re
import struct
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from .conftest import Meets
from .samples import PARQUET, parquet


def written(table: pa.Table, **options: Any) -> bytes:
    out = io.BytesIO()
    pq.write_table(table, out, **options)
    return out.getvalue()


def with_footer(whole: bytes, old: bytes, new: bytes, which: int) -> bytes:
    """The file with one number of its footer changed: both are varints of the same length."""
    (length,) = struct.unpack("<I", whole[-8:-4])
    body, footer = whole[: -8 - length], whole[-8 - length : -8]
    at = [m.start() for m in re.finditer(re.escape(old), footer)][which]
    footer = footer[:at] + new + footer[at + len(old) :]
    return body + footer + struct.pack("<I", len(footer)) + b"PAR1"


@pytest.mark.parametrize("codec", ["gzip", "zstd", "snappy", "brotli", "lz4"])
def test_pages_that_unpack_to_too_much_are_refused_unread(meets: Meets, codec: str):
    table = pa.table({"id": ["a"], "name": ["x" * (60 << 20)]})
    bomb = written(table, compression=codec, use_dictionary=False, write_statistics=False)
    assert "has 1 rows and 60 MB; it may have 32 MB" in meets.refused(bomb, "parquet").message


def test_more_rows_than_there_is_room_for_are_refused_unread(meets: Meets):
    """Ten million equal rows are some kilobytes: neither the file nor its pages are large."""
    part = pa.table({"id": pa.array(["a"] * 1_000_000), "qty": pa.array([1] * 1_000_000, pa.int32())})
    out = io.BytesIO()
    with pq.ParquetWriter(out, part.schema, compression="zstd") as writer:
        for _ in range(10):
            writer.write_table(part)
    assert len(out.getvalue()) < 200_000
    assert "has 10,000,000 rows" in meets.refused(out.getvalue(), "parquet").message


THOUSAND = b"\xd0\x0f"  # 1000 as Thrift writes it


@pytest.mark.parametrize("says", [b"\x80\x01", b"\xfe\x7f", b"\xff\x7f"], ids=["64", "8191", "-8192"])
def test_footers_that_lie_about_their_rows_are_refused(meets: Meets, says: bytes):
    """Of 1,000 rows, the reader gave the first 64 where the footer said so: the others would have been lost."""
    whole = parquet(compression="none")
    (length,) = struct.unpack("<I", whole[-8:-4])
    places = len(re.findall(re.escape(THOUSAND), whole[-8 - length : -8]))
    lies = [with_footer(whole, THOUSAND, says, which) for which in range(places)]
    refused = 0
    for lie in lies:
        try:
            stated = pq.ParquetFile(io.BytesIO(lie)).metadata
        except Exception:
            stated = None
        if stated is None or {stated.num_rows, stated.row_group(0).num_rows} != {1000}:
            assert "damaged" in meets.refused(lie, "parquet").message
            refused += 1
    assert refused >= 2


def test_a_footer_longer_than_the_file_and_a_page_longer_than_its_chunk_are_refused(meets: Meets):
    for length in (len(PARQUET), 2**31 - 1, 2**32 - 1):
        lie = PARQUET[:-8] + struct.pack("<I", length) + b"PAR1"
        assert "damaged" in meets.refused(lie, "parquet").message
    page = PARQUET.index(THOUSAND)
    lie = PARQUET[:page] + b"\xff\x7f" + PARQUET[page + 2 :]
    assert "damaged" in meets.refused(lie, "parquet").message


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("x\x00y", r"x\x00y"),
        ("\u202etxt", r"\u202etxt"),
        ("a\nb", r"a\nb"),
        ("q\" FROM read_csv('/etc/passwd') --", "cannot be called"),
        ("../../x", "cannot be called"),
        ("_line", "cannot be called"),
        ("x" * 5000, "xxx…"),
        ("file_row_number", "cannot be called file_row_number"),
    ],
)
def test_column_names_are_never_more_than_names(meets: Meets, name: str, says: str):
    refusal = meets.refused(written(pa.table({"id": ["a"], name: ["b"]})), "parquet")
    assert says in refusal.message
    assert len(str(refusal)) < 500
    assert refusal.message.isprintable()


def test_text_that_is_none_is_refused(meets: Meets):
    halves = pa.Array.from_buffers(
        pa.string(), 1, [None, pa.py_buffer(struct.pack("<ii", 0, 2)), pa.py_buffer(b"\xff\xfe")]
    )
    assert "damaged" in meets.refused(written(pa.table({"id": halves})), "parquet").message
