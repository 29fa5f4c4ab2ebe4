"""New and absent columns, duplicate keys, row ids, setting aside, and what is left on disk."""

from __future__ import annotations

import datetime as dt
import json

import pytest

from oreo_assets.convert.request import PlainColumn
from oreo_assets.model.errors import BadFileError
from oreo_assets.model.spec import Column, RowIdRule
from oreo_assets.model.states import Mode

from .conftest import Convert
from .support import COLUMNS, read_parquet


@pytest.mark.parametrize(
    ("values", "type_"),
    [
        (["1", "-20", "0"], "bigint"),
        (["1", "007"], "string"),
        (["+1", "2"], "string"),
        (["123456789012345678"], "bigint"),
        (["1234567890123456789"], "string"),
        (["12.50", "3"], "double"),
        (["1234567890.123456"], "string"),
        (["1e5"], "string"),
        (["00.5"], "string"),
        (["2024-01-02", ""], "date"),
        (["2024-02-30"], "string"),
        (["2024-01-02T03:04:05Z", "2024-01-02 03:04"], "timestamp"),
        (["2024-01-02T03:04:05Z", "2024-01-02"], "string"),
        (["02/01/2024"], "string"),
        (["true", "FALSE"], "boolean"),
        (["yes", "no"], "string"),
        (["", ""], "string"),
        ([" 1"], "string"),
        (["1"] * 3000 + ["x"], "string"),
    ],
)
def test_new_columns_get_a_type_that_loses_nothing(convert_here: Convert, values: list[str], type_: str) -> None:
    done = convert_here("id,extra\n" + "".join(f"a{i},{v}\n" for i, v in enumerate(values)))
    assert done.conversion.new_columns == (("extra", type_),)
    if type_ == "string":
        assert [row[2] or "" for row in done.rows] == values


def test_quoted_empty_in_a_new_number_column_is_no_value(convert_here: Convert) -> None:
    done = convert_here('id,extra\na1,""\na2,5\n')
    assert [row[2] for row in done.rows] == [None, 5]


def test_new_columns_are_refused_by_policy(convert_here: Convert) -> None:
    with pytest.raises(BadFileError, match="no column named extra, more"):
        convert_here("id,extra,more\na1,1,2\n", new_columns="refuse")


@pytest.mark.parametrize("name", ["two words", "1st", "_hidden", "a-b", "x" * 129])
def test_new_columns_need_a_name_that_a_column_may_have(convert_here: Convert, name: str) -> None:
    with pytest.raises(BadFileError, match="cannot be called") as refused:
        convert_here(f"id,{name}\na1,1\n")
    assert "Rename" in refused.value.remedy


def test_absent_columns_are_left_out_and_never_nulled(convert_here: Convert) -> None:
    done = convert_here("id,qty\na1,1\n")
    assert done.conversion.absent_columns == ("name", "amount", "day")
    assert done.names == ["row_id", "id", "qty"]


def test_new_rows_need_the_required_columns_but_an_upsert_may_leave_them_out(convert_here: Convert) -> None:
    columns = (Column(name="id", type="string"), Column(name="qty", type="int", nullable=False))
    for mode in (Mode.APPEND, Mode.REPLACE):
        with pytest.raises(BadFileError, match="lacks qty, which must not be empty"):
            convert_here("id\na1\n", columns=columns, mode=mode)
    assert convert_here("id\na1\n", columns=columns).conversion.absent_columns == ("qty",)


def test_columns_stand_in_the_datasets_order_with_new_ones_last(convert_here: Convert) -> None:
    done = convert_here("extra,day,name,id\nz,2024-01-02,b,a1\n")
    assert done.names == ["row_id", "id", "name", "day", "extra"]
    assert done.conversion.columns == (
        ("id", "string"),
        ("name", "string"),
        ("day", "date"),
        ("extra", "string"),
    )


@pytest.mark.parametrize("mode", [mode for mode in Mode if mode is not Mode.PATCH])
def test_every_occurrence_of_a_repeated_key_is_refused(convert_here: Convert, mode: Mode) -> None:
    done = convert_here('id,name\na1,"x\ny"\na2,b\na1,c\na1,d\n', mode=mode)
    reason = "key id='a1' appears 3 times (lines 2, 5, 6)"
    assert done.rejects == [(2, "id", reason), (5, "id", reason), (6, "id", reason)]
    assert done.conversion.rows_good == 1


def test_keys_are_compared_by_value_and_not_by_spelling(convert_here: Convert) -> None:
    columns = (Column(name="n", type="int"), Column(name="d", type="decimal(5,2)"))
    done = convert_here("n,d\n1,2.5\n01,2.50\n1,2.51\n", columns=columns, key=("n", "d"))
    assert done.rejects[0] == (2, "n, d", "key n='1', d='2.50' appears 2 times (lines 2, 3)")
    assert [r[0] for r in done.rejects] == [2, 3]


def test_a_key_repeated_many_times_lists_the_first_lines_only(convert_here: Convert) -> None:
    done = convert_here("id\n" + "a1\n" * 50)
    assert done.conversion.rejects_total == 50
    assert "50 times (lines 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, …)" in done.conversion.rejects[0].reason


def test_row_id_of_a_single_key_is_its_canonical_text(convert_here: Convert) -> None:
    for type_, text, row_id in [
        ("int", "+007", "7"),
        ("decimal(8,3)", "1.5", "1.500"),
        ("date", "2024-01-02T00:00:00", "2024-01-02"),
        ("timestamp", "2024-01-02T03:04:05+02:00", "2024-01-02T01:04:05Z"),
        ("timestamp", "2024-01-02T03:04:05.12", "2024-01-02T03:04:05.120000Z"),
        ("timestamp_ntz", "2024-01-02 03:04", "2024-01-02T03:04:00"),
        ("boolean", "YES", "true"),
        ("string", " a|b\\ ", " a|b\\ "),
    ]:
        done = convert_here(f"k\n{text}\n", columns=(Column(name="k", type=type_),), key=("k",))
        assert done.rows[0][0] == row_id, type_


def test_row_id_of_several_columns_is_escaped_so_that_none_collide(convert_here: Convert) -> None:
    columns = (Column(name="a", type="string"), Column(name="b", type="string"))
    done = convert_here("a,b\nx|y,z\nx,y|z\nx\\,|y\n", columns=columns, key=("a", "b"))
    assert [row[0] for row in done.rows] == ["x\\|y|z", "x|y\\|z", "x\\\\|\\|y"]


def test_row_id_from_the_file_is_required_present_and_unique(convert_here: Convert) -> None:
    rule = {"row_id_rule": RowIdRule.FILE, "key": ()}
    done = convert_here("row_id,name\nr1,b\nr2,c\n", **rule)
    assert done.rows == [("r1", "b"), ("r2", "c")]
    assert done.conversion.columns == (("name", "string"),)
    done = convert_here("ROW_ID,name\nr1,b\n,c\nr1,d\n", **rule)
    assert [(line, column) for line, column, _ in done.rejects] == [
        (2, "row_id"),
        (3, "row_id"),
        (4, "row_id"),
    ]
    with pytest.raises(BadFileError, match="no column row_id"):
        convert_here("name\nb\n", **rule)


def test_generated_row_ids_count_the_records_of_the_file(convert_here: Convert) -> None:
    changes = {"row_id_rule": RowIdRule.GENERATED, "key": (), "mode": Mode.APPEND}
    done = convert_here('name,qty\n"x\ny",1\n\nb,z\nc,3\n', set_aside=True, **changes)
    assert done.rows == [("up_1-0000000001", "x\ny", 1), ("up_1-0000000003", "c", 3)]


def test_a_row_id_column_that_the_rule_does_not_use_is_left_out_and_told(convert_here: Convert) -> None:
    done = convert_here("row_id,id,qty\nold,a1,1\n")
    assert done.rows == [("a1", "a1", 1)]
    assert done.conversion.details["ignored_columns"] == ["row_id"]


def test_bad_rows_are_set_aside_as_they_came_with_their_reasons(convert_here: Convert) -> None:
    done = convert_here("id,name,qty,day\na1,b,007,2024-01-01\na2,c,x,y\na3,d\na4,e,4,\na4,f,5,\n", set_aside=True)
    assert done.rows == [("a1", "a1", "b", 7, dt.date(2024, 1, 1))]
    names, rows = read_parquet(done.request.rejected_path)
    assert names == ["id", "name", "qty", "day", "_line", "_reason", "_text"]
    assert rows[0] == ("a2", "c", "x", "y", 3, "qty: not a whole number; day: not a date (YYYY-MM-DD)", None)
    assert rows[1] == (None, None, None, None, 4, "has 2 fields, the header has 4", "a3,d")
    assert [row[4] for row in rows] == [3, 4, 5, 6]
    assert (done.conversion.rows_good, done.conversion.rows_rejected) == (1, 4)


def test_a_refused_file_leaves_nothing_behind_not_even_from_before(convert_here: Convert) -> None:
    folder = convert_here("id,qty\na1,1\n").request.out.parent
    assert {p.name for p in folder.iterdir()} == {"raw.csv", "converted.parquet", "schema.json"}
    convert_here("id,qty\na1,x\n")
    assert {p.name for p in folder.iterdir()} == {"raw.csv"}


def test_schema_file_tells_columns_and_source(convert_here: Convert) -> None:
    done = convert_here("id,extra\na1,5\n")
    schema = json.loads(done.request.schema_path.read_text())
    assert schema["columns"] == [{"name": "id", "type": "string"}, {"name": "extra", "type": "bigint"}]
    assert schema["new_columns"] == [{"name": "extra", "type": "bigint"}]
    assert schema["source"]["sha256"] == done.conversion.source_sha256
    assert schema["rows"] == 1


def test_column_names_are_never_read_as_sql(convert_here: Convert) -> None:
    done = convert_here("id,select,naïve\na1,1,x\n")
    assert done.names == ["row_id", "id", "select", "naïve"]


def test_two_thousand_columns_fit_into_the_default_limits(convert_here: Convert) -> None:
    columns = (Column(name="id", type="string"), *(Column(name=f"c{i}", type="int") for i in range(1999)))
    text = ",".join(c.name for c in columns) + "\na1" + ",7" * 1999 + "\n"
    done = convert_here(text, columns=columns)
    assert done.rows == [("a1", "a1", *[7] * 1999)]


def test_each_row_of_a_patch_says_what_becomes_of_it(convert_here: Convert) -> None:
    patch = {"mode": Mode.PATCH, "columns": (*COLUMNS, PlainColumn("_change", "string", False))}
    done = convert_here("_change,id,qty\nupsert,a1,1\n Delete ,a2,2\n", **patch)
    assert done.names == ["row_id", "id", "qty", "_change"]
    assert [row[-1] for row in done.rows] == ["upsert", "delete"]
    assert done.conversion.new_columns == ()
    bad = convert_here("_change,id,qty\nremove,a1,1\n,a2,2\n", **patch).conversion
    assert [(r.line, r.column, r.reason) for r in bad.rejects] == [
        (2, "_change", "must be upsert or delete"),
        (3, "_change", "must not be empty"),
    ]
    with pytest.raises(BadFileError, match="no column _change"):
        convert_here("id,qty\na1,1\n", **patch)
    with pytest.raises(BadFileError, match="New columns cannot be called _change"):
        convert_here("_change,id\nupsert,a1\n")
