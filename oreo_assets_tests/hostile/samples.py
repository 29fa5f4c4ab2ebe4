"""Whole files, for others to damage."""

from __future__ import annotations

import io
import random
import struct

import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq


def _workbook() -> bytes:
    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    sheet.append(["id", "name", "qty"])
    for n in range(30):
        sheet.append([f"a{n}", f"name {n}", n])
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


def parquet(**options: object) -> bytes:
    table = pa.table(
        {
            "id": [f"a{n}" for n in range(1000)],
            "name": [f"name {n % 7}" for n in range(1000)],
            "qty": pa.array(range(1000), pa.int32()),
        }
    )
    out = io.BytesIO()
    pq.write_table(table, out, **options)
    return out.getvalue()


WORKBOOK = _workbook()
PARQUET = parquet()


def old_workbook(number: int) -> bytes:
    """What begins like an .xls and goes on with sector numbers that lead anywhere; the number decides where."""
    chance = random.Random(number)
    links = [0, 1, 2, 3, 0xFFFFFFFD, 0xFFFFFFFE, 0xFFFFFFFF]
    head = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(16)
    head += struct.pack("<5H", 0x3E, chance.choice([3, 4]), 0xFFFE, chance.choice([9, 12]), 6) + bytes(6)
    head += struct.pack("<118I", *(chance.choice([*links, chance.getrandbits(32)]) for _ in range(118)))
    sectors = [struct.pack("<128I", *chance.choices(links, k=128)) for _ in range(chance.randint(1, 8))]
    return head + b"".join(sectors) + chance.randbytes(512)
