"""`edits.delta`: appended one commit at a time, read once, never rewritten."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import DeltaTable

from oreo_assets.lake import edits
from oreo_assets.lake.edits import Draft, Edit, EditLog, OutpacedError, create_edits
from oreo_assets.model.errors import NotFoundError

COLUMNS = ["edit_id", "session_id", "row_id", "column", "old_value", "new_value", "user_id", "ts", "validation"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    create_edits(tmp_path / "edits.delta")
    return tmp_path / "edits.delta"


def opened(folder: Path) -> EditLog:
    log = EditLog(folder, "se_1")
    log.read_new()
    return log


def test_the_table_has_exactly_the_columns_of_the_spec(folder: Path):
    assert [field.name for field in DeltaTable(str(folder)).schema().fields] == COLUMNS


def test_a_batch_is_one_commit_in_the_order_it_was_given(folder: Path):
    log = opened(folder)
    log.append([Draft("A1", "amount", "1", "2"), Draft("A2", "amount", None, None)], "con")
    assert DeltaTable(str(folder)).version() == 1
    first, second = opened_edits(folder)
    assert (first.edit_id, second.edit_id) == ("0000000001-000000", "0000000001-000001")
    assert (first.row_id, first.column, first.old_value, first.new_value) == ("A1", "amount", "1", "2")
    assert (first.session_id, first.user_id) == ("se_1", "con")
    assert first.ts is not None and first.ts.tzinfo is not None
    assert second.new_value is None


def test_what_was_read_is_not_read_again(folder: Path):
    writer, reader = opened(folder), opened(folder)
    writer.append([Draft("A1", "amount", "1", "2")], "con")
    assert [e.new_value for e in reader.read_new()] == ["2"]
    assert reader.read_new() == []
    assert writer.read_new() == [], "what it wrote itself is known to it"


def test_of_two_writers_the_slower_is_told_and_leaves_nothing(folder: Path):
    one, other = opened(folder), opened(folder)
    one.append([Draft("A1", "amount", "1", "2")], "con")
    with pytest.raises(OutpacedError):
        other.append([Draft("A1", "amount", "1", "3")], "con")
    assert [e.new_value for e in other.read_new()] == ["2"]
    other.append([Draft("A1", "amount", "1", "3")], "con")
    assert [e.new_value for e in opened_edits(folder)] == ["2", "3"]


def test_many_single_edits_stay_few_files_and_lose_nothing(folder: Path):
    writer, reader = opened(folder), opened(folder)
    for i in range(120):
        writer.append([Draft("A1", "amount", "0", str(i))], "con")
        writer.tidy()
        if i == 30:
            assert len(reader.read_new()) == 31
    assert len(DeltaTable(str(folder)).file_uris()) < 60
    assert len(list(folder.glob("*.parquet"))) < 60, "what was put together is not kept twice"
    assert [e.new_value for e in reader.read_new()] == [str(i) for i in range(31, 120)]
    fresh = opened_edits(folder)
    assert [e.new_value for e in fresh] == [str(i) for i in range(120)]
    assert [e.edit_id for e in fresh] == sorted(e.edit_id for e in fresh)


def test_a_handle_that_slept_while_others_tidied_loses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(edits._SETTINGS, "delta.logRetentionDuration", "interval 0 seconds")
    create_edits(tmp_path / "edits.delta")
    sleeper, busy = opened(tmp_path / "edits.delta"), opened(tmp_path / "edits.delta")
    for i in range(120):
        busy.append([Draft("A1", "amount", "0", str(i))], "con")
        busy.tidy()
    assert not (tmp_path / "edits.delta" / "_delta_log" / f"{1:020d}.json").exists(), "the log is kept short"
    assert len(sleeper.read_new()) == 120
    sleeper.append([Draft("A1", "amount", "0", "last")], "con")
    assert [e.new_value for e in busy.read_new()] == ["last"]
    assert len(opened_edits(tmp_path / "edits.delta")) == 121


def test_any_delta_reader_sees_the_edits(folder: Path):
    opened(folder).append([Draft("A1", "amount", "1", "2", '{"failed": []}')], "con")
    rows = pa.table(DeltaTable(str(folder)).to_pyarrow_table()).to_pylist()
    assert [(r["row_id"], r["column"], r["new_value"], r["validation"]) for r in rows] == [
        ("A1", "amount", "2", '{"failed": []}')
    ]


def test_a_table_that_is_gone_is_told_as_such(tmp_path: Path):
    with pytest.raises(NotFoundError, match="are gone"):
        EditLog(tmp_path / "nothing.delta", "se_1").read_new()


def opened_edits(folder: Path) -> list[Edit]:
    return EditLog(folder, "se_1").read_new()
