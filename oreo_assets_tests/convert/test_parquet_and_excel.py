"""Files that carry types of their own."""

from __future__ import annotations

import datetime as dt
import zipfile
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import openpyxl
import pytest

from oreo_assets.model.errors import BadFileError
from oreo_assets.model.spec import Column, Limits

from .conftest import Convert


def write_parquet(path: Path, query: str) -> Path:
    with duckdb.connect() as connection:
        connection.execute("SET TimeZone = 'UTC'")
        connection.execute(f"COPY ({query}) TO '{path}' (FORMAT parquet)")
    return path


def write_xlsx(path: Path, rows: list[list[Any]], title: str = "Sheet") -> Path:
    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    sheet.title = title
    for row in rows:
        sheet.append(row)
    book.save(path)
    return path


def test_parquet_columns_that_fit_are_taken_as_they_are(convert_here: Convert, tmp_path: Path) -> None:
    raw = write_parquet(
        tmp_path / "raw.parquet",
        """SELECT 'a' || range AS id, 'n' AS name, range::INT AS qty, 1.5::DECIMAL(5,1) AS amount,
           DATE '2024-01-02' AS day FROM range(3)""",
    )
    done = convert_here(raw)
    assert done.rows[2] == ("a2", "a2", "n", 2, Decimal("1.50"), dt.date(2024, 1, 2))
    assert done.conversion.rows_read == 3


def test_parquet_columns_of_another_type_go_through_the_same_checks(convert_here: Convert, tmp_path: Path) -> None:
    raw = write_parquet(
        tmp_path / "raw.parquet",
        """SELECT * FROM (VALUES
            (1, 3.0::DOUBLE, '12.50', TIMESTAMP '2024-01-02 00:00:00'),
            (2, 3.5::DOUBLE, '12.505', TIMESTAMP '2024-01-02 10:00:00')) t(id, qty, amount, day)""",
    )
    done = convert_here(raw)
    assert [(r.line, r.column) for r in done.conversion.rejects] == [(2, "qty"), (2, "amount"), (2, "day")]
    done = convert_here(raw, set_aside=True)
    assert done.rows == [("1", "1", 3, Decimal("12.50"), dt.date(2024, 1, 2))]


def test_new_parquet_columns_keep_their_type(convert_here: Convert, tmp_path: Path) -> None:
    raw = write_parquet(
        tmp_path / "raw.parquet",
        """SELECT 'a' AS id, '007' AS code, 7::TINYINT AS small, 1.25::DECIMAL(9,3) AS d,
           TIMESTAMP '2024-01-02 03:04:05' AS t, 1.5::DOUBLE AS f, 5::UBIGINT AS u""",
    )
    done = convert_here(raw)
    assert done.conversion.new_columns == (
        ("code", "string"),
        ("small", "smallint"),
        ("d", "decimal(9,3)"),
        ("t", "timestamp"),
        ("f", "double"),
        ("u", "decimal(20,0)"),
    )
    assert done.rows[0][2:] == (
        "007", 7, Decimal("1.250"), dt.datetime(2024, 1, 2, 3, 4, 5, tzinfo=dt.UTC), 1.5, Decimal(5),
    )  # fmt: skip


def test_parquet_values_that_no_table_should_hold_are_refused(convert_here: Convert, tmp_path: Path) -> None:
    raw = write_parquet(
        tmp_path / "raw.parquet",
        "SELECT 'a' AS id, 'nan'::DOUBLE AS f UNION ALL SELECT NULL, 1.0 UNION ALL SELECT 'c', 'inf'::DOUBLE",
    )
    assert convert_here(raw).rejects == [
        (1, "f", "not a finite number"),
        (2, "id", "must not be empty"),
        (3, "f", "not a finite number"),
    ]


def test_nested_parquet_columns_are_refused_by_name(convert_here: Convert, tmp_path: Path) -> None:
    raw = write_parquet(tmp_path / "raw.parquet", "SELECT 'a' AS id, [1, 2] AS tags, {'x': 1} AS s")
    with pytest.raises(BadFileError, match=r"tags \(INTEGER\[\]\), s \(STRUCT"):
        convert_here(raw)


def test_damaged_parquet_is_refused_in_plain_words(convert_here: Convert, tmp_path: Path) -> None:
    whole = write_parquet(
        tmp_path / "whole.parquet", "SELECT 'a' || range AS id, 'x' || range AS name FROM range(5000)"
    ).read_bytes()
    middle = len(whole) // 3
    for damaged in (
        whole[:-100],
        b"PAR1" + whole[-8:],
        b"PAR1" + b"\xff" * 200 + b"\xc8\x00\x00\x00PAR1",
        whole[:40] + b"\xff" * middle + whole[40 + middle :],
        b"PAR1\xff\xff\xff\x7fPAR1",
    ):
        with pytest.raises(BadFileError, match="damaged or was cut off"):
            convert_here(damaged, "parquet")


def test_text_named_parquet_and_a_workbook_named_csv_are_recognised(convert_here: Convert, tmp_path: Path) -> None:
    with pytest.raises(BadFileError, match=r"ends in .parquet but looks like something else"):
        convert_here("id,name\n", "parquet")
    book = write_xlsx(tmp_path / "book.xlsx", [["id"], ["a"]]).read_bytes()
    with pytest.raises(BadFileError, match=r"ends in .csv but looks like an Excel workbook"):
        convert_here(book)
    with pytest.raises(BadFileError, match=r"ends in .ods but looks like an Excel workbook"):
        convert_here(book, "ods")


def test_excel_cells_become_what_a_person_sees(convert_here: Convert, tmp_path: Path) -> None:
    raw = write_xlsx(
        tmp_path / "raw.xlsx",
        [
            ["id", "name", "qty", "amount", "day", "flag", "code", "at", "share"],
            [
                "a1",
                'x, "y"\nz',
                3.0,
                0.1 + 0.2,
                dt.date(2024, 1, 2),
                True,
                "007",
                dt.datetime(2024, 1, 2, 3, 4),
                0.5,
            ],
            ["a2", None, 4, 12.5, dt.datetime(2024, 1, 3), False, "008", dt.datetime(2024, 1, 3), 1e-7],
            [17, 18, None, None, None, None, None, None, None],
        ],
    )
    done = convert_here(raw)
    utc = dt.UTC
    assert done.rows == [
        ("a1", "a1", 'x, "y"\nz', 3, Decimal("0.30"), dt.date(2024, 1, 2), True, "007",
         dt.datetime(2024, 1, 2, 3, 4, tzinfo=utc), 0.5),
        ("a2", "a2", None, 4, Decimal("12.50"), dt.date(2024, 1, 3), False, "008",
         dt.datetime(2024, 1, 3, tzinfo=utc), 1e-7),
        ("17", "17", "18", None, None, None, None, None, None, None),
    ]  # fmt: skip
    assert dict(done.conversion.new_columns) == {
        "flag": "boolean", "code": "string", "at": "timestamp", "share": "double",
    }  # fmt: skip


def test_excel_lines_are_the_sheets_row_numbers(convert_here: Convert, tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    for cell, value in {
        "B3": "id",
        "C3": "qty",
        "B4": "a1",
        "C4": 1,
        "B7": "a2",
        "C7": "x",
        "B8": "a3",
        "C8": 2.5,
    }.items():
        sheet[cell] = value
    book.save(tmp_path / "raw.xlsx")
    done = convert_here(tmp_path / "raw.xlsx")
    assert [(r.line, r.column, r.value) for r in done.conversion.rejects] == [
        (7, "qty", "x"),
        (8, "qty", "2.5"),
    ]
    assert done.conversion.rows_read == 3


def test_excel_numbers_beyond_its_precision_and_error_cells_are_refused(convert_here: Convert, tmp_path: Path) -> None:
    raw = write_xlsx(tmp_path / "raw.xlsx", [["id", "name"], [12345678901234567890, "a"], ["b", "#N/A"], ["c", "=1/0"]])
    rejects = convert_here(raw).rejects
    assert rejects[0][:2] == (2, "id")
    assert "format the cell as text" in rejects[0][2]
    assert rejects[1] == (3, "name", "#N/A is an error in the spreadsheet")


def test_sheet_is_chosen_by_name_or_the_first_visible_one(convert_here: Convert, tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    hidden = book.active
    assert hidden is not None
    hidden.title, hidden.sheet_state = "Hidden", "hidden"
    hidden.append(["id"])
    for title, value in (("First", "a"), ("Second", "b")):
        sheet = book.create_sheet(title)
        sheet.append(["id"])
        sheet.append([value])
    book.save(tmp_path / "raw.xlsx")
    done = convert_here(tmp_path / "raw.xlsx")
    assert done.rows == [("a", "a")]
    assert done.conversion.details["sheet"] == "First"
    assert "left out Second" in done.conversion.details["note"]
    assert convert_here(tmp_path / "raw.xlsx", sheet="Second").rows == [("b", "b")]
    with pytest.raises(BadFileError, match=r"no sheet '\.\./Third'") as refused:
        convert_here(tmp_path / "raw.xlsx", sheet="../Third")
    assert refused.value.details["sheets"] == ["Hidden", "First", "Second"]


def test_an_empty_workbook_is_refused(convert_here: Convert, tmp_path: Path) -> None:
    with pytest.raises(BadFileError, match="holds no data"):
        convert_here(write_xlsx(tmp_path / "raw.xlsx", []))


def test_a_workbook_that_unpacks_to_too_much_is_refused_before_it_is_opened(
    convert_here: Convert, tmp_path: Path
) -> None:
    bomb = tmp_path / "raw.xlsx"
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/workbook.xml", "<workbook/>")
        archive.writestr("xl/worksheets/sheet1.xml", b"0" * (3 << 20))
    with pytest.raises(BadFileError, match="more than 200 times its size"):
        convert_here(bomb)
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/workbook.xml", "<workbook/>")
        for part in range(9):
            archive.writestr(f"xl/{part}.xml", bytes(range(256)) * 2000)
    with pytest.raises(BadFileError, match="Unpacked, the workbook has 4 MB"):
        convert_here(bomb, limits=Limits(max_file_mb=1))


def test_password_protected_and_damaged_workbooks_are_refused(convert_here: Convert, tmp_path: Path) -> None:
    with pytest.raises(BadFileError, match="password"):
        convert_here(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(2000), "xlsx")
    whole = write_xlsx(tmp_path / "whole.xlsx", [["id"], ["a"]]).read_bytes()
    with pytest.raises(BadFileError, match="damaged"):
        convert_here(whole[: len(whole) // 2], "xlsx")
    with zipfile.ZipFile(tmp_path / "raw.xlsx", "w") as archive:
        archive.writestr("xl/workbook.xml", "<not xml")
    with pytest.raises(BadFileError, match="damaged"):
        convert_here(tmp_path / "raw.xlsx")


def test_excel_with_a_declared_double_keeps_every_bit(convert_here: Convert, tmp_path: Path) -> None:
    raw = write_xlsx(tmp_path / "raw.xlsx", [["id", "f"], ["a", 1 / 3]])
    done = convert_here(raw, columns=(Column(name="id", type="string"), Column(name="f", type="double")))
    assert done.rows == [("a", "a", 1 / 3)]


def test_opendocument_spreadsheets_are_read_too(convert_here: Convert, tmp_path: Path) -> None:
    cells = [["id", "qty"], ["a1", "7"]]
    rows = "".join(
        "<table:table-row>"
        + "".join(
            '<table:table-cell office:value-type="string"><text:p>' + c + "</text:p></table:table-cell>" for c in row
        )
        + "</table:table-row>"
        for row in cells
    )
    names = "urn:oasis:names:tc:opendocument:xmlns:"
    content = (
        f'<office:document-content xmlns:office="{names}office:1.0" xmlns:table="{names}table:1.0"'
        f' xmlns:text="{names}text:1.0"><office:body><office:spreadsheet><table:table table:name="One">{rows}'
        "</table:table></office:spreadsheet></office:body></office:document-content>"
    )
    with zipfile.ZipFile(tmp_path / "raw.ods", "w") as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        archive.writestr("META-INF/manifest.xml", f'<m:manifest xmlns:m="{names}manifest:1.0"/>')
        archive.writestr("content.xml", content)
    done = convert_here(tmp_path / "raw.ods")
    assert done.rows == [("a1", "a1", 7)]
    assert done.conversion.details["sheet"] == "One"
