"""The diff: counts, figures of columns, and pages of rows, over tables that delta-rs wrote."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet
import pytest
from deltalake import DeltaTable, write_deltalake

from oreo_assets.lake import diff_columns, diff_compare
from oreo_assets.lake.diff import ChangeSet, CommittedChange, Counts, Wanted, changed_rows, count_changes, diff
from oreo_assets.lake.inverse import export_inverse
from oreo_assets.model.errors import NotFoundError, UsageError
from oreo_assets.model.filters import Filter
from oreo_assets.model.states import Mode

MAIN = {
    "row_id": ["a", "b", "c", "d"],
    "amount": [Decimal("1.00"), Decimal("2.00"), None, Decimal("4.00")],
    "status": ["open", "open", "paid", "paid"],
    "day": [date(2026, 1, day) for day in (1, 2, 3, 4)],
}
STAGED = {
    "row_id": ["a", "b", "c", "e"],
    "amount": [Decimal("1.00"), Decimal("5.00"), Decimal("3.00"), None],
    "status": ["open", "paid", "paid", "lost"],
}
CDF = {"delta.enableChangeDataFeed": "true"}


@pytest.fixture
def make(tmp_path: Path) -> Any:
    """A change set of MAIN and the given staged columns."""

    def made(mode: Mode = Mode.UPSERT, staged: dict[str, list[Any]] | None = None) -> ChangeSet:
        main, other = str(tmp_path / "main"), str(tmp_path / "staged")
        write_deltalake(main, pa.table(MAIN), mode="overwrite")
        write_deltalake(other, pa.table(staged or STAGED), mode="overwrite", schema_mode="overwrite")
        versions = DeltaTable(main).version(), DeltaTable(other).version()
        return ChangeSet.of(main, versions[0], other, versions[1], mode)

    return made


PATCH = {**STAGED, "_change": ["upsert", "delete", "upsert", "upsert"]}


@pytest.mark.parametrize(
    ("mode", "staged", "counts"),
    [
        (Mode.UPSERT, STAGED, Counts(inserted=1, updated=2, unchanged=1)),
        (Mode.APPEND, STAGED, Counts(inserted=1, updated=2, unchanged=1)),
        (Mode.REPLACE, STAGED, Counts(inserted=1, updated=2, deleted=1, unchanged=1)),
        (Mode.DELETE, {"row_id": ["a", "x"]}, Counts(deleted=1, unchanged=1)),
        (Mode.PATCH, PATCH, Counts(inserted=1, updated=1, deleted=1, unchanged=1)),
    ],
)
def test_every_mode_counts_its_rows_the_same_with_and_without_a_page(
    make: Any, mode: Mode, staged: Any, counts: Counts
):
    change = make(mode, staged)
    page = diff(change)
    assert (page.counts, count_changes(change)) == (counts, counts)
    kinds = [row["change"] for row in page.rows]
    assert {kind: kinds.count(kind) for kind in set(kinds)} == {
        kind: n for kind, n in counts.as_json().items() if n and kind != "unchanged"
    }


def test_a_column_tells_what_becomes_of_it(make: Any):
    columns = {c.name: c for c in diff(make()).columns}
    assert list(columns) == ["amount", "status"]
    amount, status = columns["amount"], columns["status"]
    assert (amount.cells_changed, status.cells_changed) == (2, 1)
    # Of the rows that change: b and c as they are, b, c and e as they will be.
    assert (amount.null_rate.before, amount.null_rate.after) == (1 / 2, 1 / 3)
    assert (amount.minimum.before, amount.maximum.before) == (Decimal("2.00"), Decimal("2.00"))
    assert (amount.minimum.after, amount.maximum.after) == (Decimal("3.00"), Decimal("5.00"))
    assert [(t.old, t.new, t.count) for t in status.top_changes] == [("open", "paid", 1)]
    # `paid` is in main already, in another row; only `lost` is new.
    assert (status.new_values, status.new_value_examples, status.approximate) == (1, ("lost",), False)


def test_too_many_new_values_are_counted_from_above_and_say_so(make: Any, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(diff_columns, "CHECKED_VALUES", 1)
    (amount, _) = diff(make()).columns
    assert (amount.new_values, amount.approximate, amount.new_value_examples) == (2, True, ())


def test_a_change_that_is_too_large_to_keep_is_counted_exactly_and_sampled_otherwise(
    make: Any, monkeypatch: pytest.MonkeyPatch
):
    whole = diff(make())
    monkeypatch.setattr(diff_compare, "KEPT_ROWS", 1)
    monkeypatch.setattr(diff_compare, "SAMPLE_ROWS", 2)
    page = diff(make())
    assert (page.counts, page.rows, page.matching) == (whole.counts, whole.rows, whole.matching)
    assert [c.cells_changed for c in page.columns] == [c.cells_changed for c in whole.columns]
    assert [c.minimum for c in page.columns] == [c.minimum for c in whole.columns]
    assert page.sampled and all(c.sampled for c in page.columns)
    assert not whole.sampled


def test_pages_follow_one_another_by_row_id(make: Any):
    seen, after = [], ""
    while True:
        page = diff(make(Mode.REPLACE), limit=1, after=after)
        seen += [row["row_id"] for row in page.rows]
        assert page.matching == 4
        if page.next is None:
            break
        after = page.next
    assert seen == ["b", "c", "d", "e"]


def test_a_row_has_its_changed_cells_or_all_of_them(make: Any):
    (b, *_) = diff(make()).rows
    assert (list(b["cells"]), b["changed"]) == (["amount", "status"], ["amount", "status"])
    (_, c, e) = diff(make(), all_columns=True).rows
    assert c["changed"] == ["amount"]
    assert c["cells"]["status"] == {"old": "paid", "new": "paid"}
    assert c["cells"]["day"] == {"old": date(2026, 1, 3), "new": date(2026, 1, 3)}
    assert "day" not in e["cells"]


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        (Wanted(kinds=("inserted",)), ["e"]),
        (Wanted(kinds=("deleted",)), ["d"]),
        (Wanted(kinds=("unchanged", "inserted")), ["a", "e"]),
        (Wanted(columns=("status",)), ["b"]),
        (Wanted(columns=("status", "amount")), ["b", "c"]),
        (Wanted(row_ids=frozenset({"a", "b", "x"})), ["b"]),
        (Wanted(row_ids=frozenset()), []),
        (Wanted(where=(Filter.parse("amount=gte.4"),)), ["b", "d"]),
        (Wanted(where=(Filter.parse("status=eq.paid"), Filter.parse("amount=lt.4"))), ["c"]),
        (Wanted(where=(Filter.parse("row_id=in.b,e"),)), ["b", "e"]),
        (Wanted(where=(Filter.parse("day=eq.2026-01-02"),)), ["b"]),
    ],
)
def test_rows_are_chosen_by_kind_column_id_and_value(make: Any, wanted: Wanted, found: list[str]):
    change = make(Mode.REPLACE, {**STAGED, "day": [*MAIN["day"][:3], None]})
    page = diff(change, wanted)
    assert [row["row_id"] for row in page.rows] == changed_rows(change, wanted) == found
    assert page.matching == len(found)
    assert page.counts == diff(change).counts


def test_a_filter_may_name_a_column_that_the_change_leaves_alone(make: Any):
    page = diff(make(), Wanted(where=(Filter.parse("day=lt.2026-01-03"),)))
    assert [row["row_id"] for row in page.rows] == ["b"]


@pytest.mark.parametrize("wanted", [Wanted(columns=("nope",)), Wanted(where=(Filter.parse("nope=eq.1"),))])
def test_a_column_that_is_not_there_is_named(make: Any, wanted: Wanted):
    with pytest.raises(UsageError, match="nope"):
        diff(make(), wanted)


def test_odd_names_and_values_are_never_read_as_sql(make: Any):
    odd = 'x" FROM main; --'
    staged = {"row_id": ["a'; DROP TABLE kept; --", "b"], odd: ["'", None]}
    page = diff(make(Mode.UPSERT, staged), Wanted(columns=(odd,)))
    assert (page.counts.inserted, page.matching) == (1, 0)
    page = diff(make(Mode.UPSERT, staged), after="a'")
    assert [row["row_id"] for row in page.rows] == ["a'; DROP TABLE kept; --"]


@pytest.mark.parametrize("configuration", [CDF, None], ids=["by its change data feed", "by comparing versions"])
def test_a_commit_tells_what_it_changed_and_how_to_undo_it(tmp_path: Path, configuration: Any):
    main = str(tmp_path / "main")
    write_deltalake(main, pa.table(MAIN), configuration=configuration)
    write_deltalake(main, pa.table(MAIN).slice(0, 0), mode="append")
    merged = (
        DeltaTable(main)
        .merge(pa.table(STAGED), "t.row_id = s.row_id", source_alias="s", target_alias="t")
        .when_matched_delete("s.row_id = 'c'")
        .when_matched_update({"amount": "s.amount", "status": "s.status"}, "t.amount <> s.amount")
        .when_not_matched_insert({name: f"s.{name}" for name in STAGED})
    )
    merged.execute()
    change = CommittedChange(main, DeltaTable(main).version())
    write_deltalake(main, pa.table({**MAIN, "row_id": list("wxyz")}), mode="append")  # what came later is not its doing
    page = diff(change)
    assert {row["row_id"]: row["change"] for row in page.rows} == {"b": "updated", "c": "deleted", "e": "inserted"}
    assert {c.name: c.new_values for c in page.columns} == {"amount": 1, "status": 1, "day": 0}

    file = tmp_path / "inverse.parquet"
    assert export_inverse(change, file) == 3
    undone = {row["row_id"]: row for row in pa.parquet.read_table(file).to_pylist()}
    assert {row_id: row["_change"] for row_id, row in undone.items()} == {"b": "upsert", "c": "upsert", "e": "delete"}
    assert (undone["b"]["amount"], undone["b"]["status"]) == (Decimal("2.00"), "open")


def test_the_first_version_came_from_no_change(tmp_path: Path):
    write_deltalake(str(tmp_path / "main"), pa.table(MAIN))
    with pytest.raises(NotFoundError):
        diff(CommittedChange(str(tmp_path / "main"), 0))
