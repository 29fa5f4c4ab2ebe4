"""Delimited text: dialects, encodings, headers, and records that have the wrong shape."""

from __future__ import annotations

import pytest

from oreo_assets.model.errors import BadFileError
from oreo_assets.model.states import Mode

from .conftest import Convert


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"])
def test_every_common_delimiter_and_line_ending_is_recognised(
    convert_here: Convert, delimiter: str, ending: str
) -> None:
    text = ending.join(delimiter.join(r) for r in (["id", "name", "qty"], ["a1", "Ann", "3"], ["a2", "", "4"]))
    done = convert_here(text + ending)
    assert done.rows == [("a1", "a1", "Ann", 3), ("a2", "a2", None, 4)]
    assert done.conversion.details["delimiter"] == delimiter


def test_delimiter_is_chosen_by_known_columns_even_if_another_is_more_regular(convert_here: Convert) -> None:
    done = convert_here('id;name;qty\na1;"x,y";1\na2;p,q;2\na3;r,s;3\n')
    assert [row[2] for row in done.rows] == ["x,y", "p,q", "r,s"]


def test_excel_separator_hint_is_followed_and_lines_keep_their_numbers(convert_here: Convert) -> None:
    done = convert_here("sep=;\r\nid;qty\r\na1;1\r\na2;x\r\n")
    assert done.rejects == [(4, "qty", "not a whole number")]


@pytest.mark.parametrize(
    ("encoding", "name"),
    [
        ("utf-8", "utf-8"),
        ("utf-8-sig", "utf-8"),
        ("utf-16", "utf-16-le"),
        ("utf-16-le", "utf-16-le"),
        ("utf-16-be", "utf-16-be"),
        ("cp1252", "cp1252"),
        ("latin-1", "cp1252"),
    ],
)
def test_every_common_encoding_is_recognised(convert_here: Convert, encoding: str, name: str) -> None:
    done = convert_here("id,name\na1,Zoë Müller\n".encode(encoding))
    assert done.rows == [("a1", "a1", "Zoë Müller")]
    assert done.conversion.details["encoding"] == name


def test_damaged_utf8_is_refused_with_its_offset_and_not_read_as_something_else(
    convert_here: Convert,
) -> None:
    content = "id,name\na1,Zoë Müller Öz\n".encode() + b"a2,\xff\n"
    with pytest.raises(BadFileError, match="offset 31 is not text in UTF-8"):
        convert_here(content)


def test_bytes_that_are_no_text_in_windows_1252_are_named(convert_here: Convert) -> None:
    with pytest.raises(BadFileError, match=r"offset 11 is not text in Windows-1252"):
        convert_here(b"id,name\na1,\x81\x8d\n")


def test_half_a_utf16_character_is_named(convert_here: Convert) -> None:
    with pytest.raises(BadFileError, match="is not text in UTF-16-LE"):
        convert_here("id,name\na1,b".encode("utf-16") + b"\x00\xd8")


def test_nul_bytes_mean_that_it_is_no_text_file(convert_here: Convert) -> None:
    with pytest.raises(BadFileError, match="not a text file"):
        convert_here(b"id,name\na1,b\x00c\n" + b"x,y\n" * 3000 + b"\x00")


def test_quoted_newlines_delimiters_and_quotes_are_part_of_the_value(convert_here: Convert) -> None:
    done = convert_here('id,name\n"a""1","x,\r\ny\n"\na2,5" pipe\n')
    assert done.rows == [('a"1', 'a"1', "x,\r\ny\n"), ("a2", "a2", '5" pipe')]


def test_backslash_escapes_are_recognised_where_doubling_does_not_add_up(convert_here: Convert) -> None:
    done = convert_here('id,name\n"a1","say \\"hi\\", ok"\n"a2","C:\\\\x\\n"\n')
    assert [row[2] for row in done.rows] == ['say "hi", ok', "C:\\x\\n"]
    assert done.conversion.details["escape"] == "\\"


def test_a_backslash_before_a_closing_quote_is_just_a_backslash(convert_here: Convert) -> None:
    done = convert_here('id,name\n"a1","C:\\dir\\"\n"a2","b"\n')
    assert [row[2] for row in done.rows] == ["C:\\dir\\", "b"]


def test_apostrophes_are_quotes_if_the_file_uses_them_so(convert_here: Convert) -> None:
    done = convert_here("'id','name'\n'a1','it''s, well'\n")
    assert done.rows == [("a1", "a1", "it's, well")]
    done = convert_here("id,name\na1,'x,y'\na2,'it''s'\n")
    assert [row[2] for row in done.rows] == ["x,y", "it's"]


def test_apostrophes_are_text_if_the_file_does_not(convert_here: Convert) -> None:
    done = convert_here("id,name\na1,'tis\na2,'so'\n")
    assert [row[2] for row in done.rows] == ["'tis", "'so'"]


def test_unquoted_empty_is_null_and_quoted_empty_is_empty_text(convert_here: Convert) -> None:
    done = convert_here('id,name,qty\na1,,\na2,"",""\n')
    assert done.rows == [("a1", "a1", None, None), ("a2", "a2", "", None)]


def test_blank_lines_are_no_rows(convert_here: Convert) -> None:
    done = convert_here("\n\nid,qty\n\na1,1\n   \na2,x\n\n\n")
    assert done.conversion.rows_read == 2
    assert done.rejects == [(7, "qty", "not a whole number")]


def test_header_names_match_in_any_case_and_with_blanks_around(convert_here: Convert) -> None:
    done = convert_here("ID, Name ,QTY\na1,b,1\n")
    assert done.names == ["row_id", "id", "name", "qty"]
    assert done.conversion.absent_columns == ("amount", "day")
    assert done.conversion.new_columns == ()


@pytest.mark.parametrize(
    ("header", "message"),
    [
        ("id,name,ID", "names columns twice: ID, id"),
        ("id,,name", "no name for column 2"),
        ("foo,bar", "Found: foo, bar. Expected: id, name"),
        ("name,qty", "lacks the key column id"),
        ("id," + ",".join(f"c{i}" for i in range(100_000)), "100,001 columns; up to 2,000"),
        ('id,"name', "a quote is opened and never closed"),
    ],
)
def test_a_header_that_cannot_be_right_is_refused(convert_here: Convert, header: str, message: str) -> None:
    with pytest.raises(BadFileError, match=message):
        convert_here(header + "\na1,b\n")


def test_an_empty_file_and_a_blank_one_are_refused(convert_here: Convert) -> None:
    with pytest.raises(BadFileError, match="The file is empty"):
        convert_here("")
    with pytest.raises(BadFileError, match="nothing but blank lines"):
        convert_here("\n\n")


def test_a_header_alone_gives_no_rows(convert_here: Convert) -> None:
    done = convert_here("id,name")
    assert done.conversion.rows_read == 0
    assert done.rows == []


def test_ragged_rows_are_named_by_their_first_physical_line(convert_here: Convert) -> None:
    done = convert_here('id,name,qty\na1,"x\ny\nz",1\na2,b\na3,"p\nq",2,3\na4,c,z\na5,d,5\n')
    assert done.rejects == [
        (5, None, "has 2 fields, the header has 3"),
        (6, None, "has 4 fields, the header has 3"),
        (8, "qty", "not a whole number"),
    ]
    assert done.conversion.rejects[1].value == 'a3,"p\nq",2,3'
    assert (done.conversion.rows_read, done.conversion.rows_good) == (5, 2)
    assert not done.request.out.exists()


def test_a_stray_quote_costs_its_own_line_only(convert_here: Convert) -> None:
    done = convert_here('id,name,qty\na1,"open,1\na2,"b",2\na3,c,x\na4,"d" e,4\na5,"never\n')
    assert done.rejects == [
        (2, None, "text follows a closing quote"),
        (4, "qty", "not a whole number"),
        (5, None, "text follows a closing quote"),
        (6, None, "a quote is opened and never closed"),
    ]


def test_a_long_cell_is_fine_and_a_line_without_end_is_not(convert_here: Convert) -> None:
    done = convert_here(f"id,name\na1,{'x' * 10_000}\na2,{'y' * 5_000_000}\n")
    assert [len(row[2]) for row in done.rows] == [10_000, 5_000_000]
    with pytest.raises(BadFileError, match="Line 3 is longer than 16 MB"):
        convert_here(f"id,name\na1,b\na2,{'y' * (18 << 20)}\n")


def test_a_single_column_file_is_read_whatever_its_values_hold(convert_here: Convert) -> None:
    done = convert_here('id\na1\n"a,2"\n\n', mode=Mode.DELETE)
    assert done.rows == [("a1", "a1"), ("a,2", "a,2")]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"PAR1xxxxxxxxPAR1", "a Parquet file"),
        (b"\x1f\x8b\x08\x00", "a gzip archive"),
        (b"PK\x03\x04garbage", "zip archive"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600), "an old Excel workbook"),
        (b"%PDF-1.7", "a PDF document"),
    ],
)
def test_a_file_that_is_not_what_its_name_says_is_recognised(convert_here: Convert, content: bytes, words: str) -> None:
    with pytest.raises(BadFileError, match=words):
        convert_here(content)
