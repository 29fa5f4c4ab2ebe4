"""Headers that stand for a column of another name, as the sender says."""

from __future__ import annotations

import io

import openpyxl
import pytest

from oreo_assets.convert import convert
from oreo_assets.model.errors import BadFileError
from oreo_assets.model.states import Mode

from .conftest import Convert
from .support import read_parquet


def test_a_header_stands_for_the_column_that_its_sender_names(convert_here: Convert) -> None:
    done = convert_here("Order no.,Qty (pcs),name\na1,3,x\n", renames={"Order no.": "id", "Qty (pcs)": "qty"})
    assert done.names == ["row_id", "id", "name", "qty"]
    assert done.rows == [("a1", "a1", "x", 3)]
    assert done.conversion.new_columns == ()
    assert done.conversion.details["header"] == ["Order no.", "Qty (pcs)", "name"]


def test_a_header_without_a_column_is_left_out(convert_here: Convert) -> None:
    done = convert_here("id,qty,remarks\na1,3,=1+1\n", renames={"remarks": ""})
    assert done.names == ["row_id", "id", "qty"]
    assert done.conversion.details["ignored_columns"] == ["remarks"]


def test_a_bad_cell_is_told_under_the_columns_name_and_set_aside_under_the_files(convert_here: Convert) -> None:
    done = convert_here("id;Menge\na1;3\na2;x\n", renames={"Menge": "qty"}, set_aside=True)
    assert done.rejects == [(3, "qty", "not a whole number")]
    assert done.rows == [("a1", "a1", 3)]


def test_a_header_of_the_files_cannot_hide_the_reason(convert_here: Convert) -> None:
    done = convert_here("id,_reason,qty\na1,none,x\n", renames={"_reason": ""}, set_aside=True)
    names, rows = read_parquet(done.request.rejected_path)
    assert dict(zip(names, rows[0], strict=True)) == {
        "id": "a1",
        "_reason (in the file)": "none",
        "qty": "x",
        "_line": 2,
        "_reason": "qty: not a whole number",
        "_text": None,
    }


def test_renamed_headers_tell_the_delimiter_too(convert_here: Convert) -> None:
    done = convert_here("Nr|Anzahl, alle\na1|1\n", renames={"Nr": "id", "Anzahl, alle": "qty"})
    assert done.rows == [("a1", "a1", 1)]


def test_rows_to_delete_are_found_by_a_renamed_key(convert_here: Convert) -> None:
    done = convert_here("Nr,Text\na1,x\n", renames={"Nr": "id"}, mode=Mode.DELETE)
    assert done.rows == [("a1", "a1")]
    assert done.conversion.details["ignored_columns"] == ["Text"]


def test_two_headers_cannot_stand_for_one_column(convert_here: Convert) -> None:
    with pytest.raises(BadFileError, match="The headers qty, Menge all stand for the column qty") as refused:
        convert_here("id,qty,Menge\na1,1,2\n", renames={"Menge": "qty"})
    assert refused.value.details["header"] == ["id", "qty", "Menge"]


def test_a_header_that_is_not_there_cannot_stand_for_anything(convert_here: Convert) -> None:
    with pytest.raises(BadFileError, match="The file has no header Nr"):
        convert_here("id,qty\na1,1\n", renames={"Nr": "id"})


def test_a_key_that_is_left_out_is_missed(convert_here: Convert) -> None:
    with pytest.raises(BadFileError, match="lacks the key column id"):
        convert_here("id,qty\na1,1\n", renames={"id": ""})


def test_the_child_hears_of_renames_and_a_refused_sheet_names_the_others(make_request: Convert) -> None:
    book = openpyxl.Workbook()
    book.active.title = "Notes"
    book.active.append(["hello"])
    orders = book.create_sheet("Orders")
    orders.append(["Nr", "Menge"])
    orders.append(["a1", 3])
    content = io.BytesIO()
    book.save(content)
    with pytest.raises(BadFileError, match="names no column") as refused:
        convert(make_request(content.getvalue(), "xlsx"))  # type: ignore[arg-type]
    details = refused.value.details
    assert (details["sheet"], details["sheets"], details["header"]) == ("Notes", ["Notes", "Orders"], ["hello"])
    renames = {"Nr": "id", "Menge": "qty"}
    found = convert(make_request(content.getvalue(), "xlsx", sheet="Orders", renames=renames))  # type: ignore[arg-type]
    assert (found.rows_good, [name for name, _ in found.columns]) == (1, ["id", "qty"])
