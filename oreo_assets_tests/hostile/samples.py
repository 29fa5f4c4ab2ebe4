"""Whole files, for others to damage."""

from __future__ import annotations

import io

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
