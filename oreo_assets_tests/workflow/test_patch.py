"""Patches: rows that are written and rows that are deleted in one change request; and reverting by one."""

from __future__ import annotations

import pytest

from oreo_assets.lake.rebase import Take
from oreo_assets.model.errors import ConflictError, StateError
from oreo_assets.model.filters import Filter
from oreo_assets.model.states import CRState, Mode
from oreo_assets.workflow import review
from oreo_assets.workflow.conflicts import conflicts, reject_rows, resolve
from oreo_assets.workflow.revert import revert
from oreo_assets_tests.house import House

pytestmark = pytest.mark.spark

FIRST = "order_id,amount,status\nA1,1,open\nA2,2,open\nA3,3,open\nA4,4,open\n"
PATCH = "_change,order_id,amount,status\nupsert,A1,10,open\ndelete,A2,2,open\nupsert,B1,7,new\nupsert,A3,3,open\n"
BEFORE = {"A1": ("1.00", "open"), "A2": ("2.00", "open"), "A3": ("3.00", "open"), "A4": ("4.00", "open")}
AFTER = {"A1": ("10.00", "open"), "B1": ("7.00", "new"), "A3": ("3.00", "open"), "A4": ("4.00", "open")}


def test_a_patch_inserts_updates_and_deletes_and_its_revert_undoes_all_of_it(house: House):
    house.land(FIRST)
    cr_id = house.review(PATCH, mode=Mode.PATCH)
    before = review.review_diff(house.ws, house.ann, house.ref, cr_id)
    assert before.counts.as_json() == {"inserted": 1, "updated": 1, "deleted": 1, "unchanged": 1}
    house.approve(cr_id)
    merged = house.merge(cr_id)
    assert house.rows() == AFTER

    # What it changed is still to be seen when its staged table is gone, and reads the same.
    assert not house.staging_folder(cr_id).exists()
    after = review.review_diff(house.ws, house.ann, house.ref, cr_id)
    assert after.counts == before.counts
    kinds = {row["row_id"]: row["change"] for row in after.rows}
    assert kinds == {"A1": "updated", "A2": "deleted", "B1": "inserted"}
    (a1,) = (row for row in after.rows if row["row_id"] == "A1")
    assert {name: [str(v) for v in cell.values()] for name, cell in a1["cells"].items()} == {
        "amount": ["1.00", "10.00"]
    }

    inverse = revert(house.ws, house.ann, house.ref, cr_id).change_request_id
    assert inverse
    with pytest.raises(StateError, match=f"{inverse} reverts"):
        revert(house.ws, house.ann, house.ref, cr_id)
    staged = house.check(inverse)
    assert (staged.base_version, staged.follows, staged.state) == (merged.merged_version, cr_id, CRState.IN_REVIEW)
    assert staged.counts == {"inserted": 1, "updated": 1, "deleted": 1, "unchanged": 0}
    house.approve(inverse)
    house.merge(inverse)
    assert house.rows() == BEFORE


def test_a_patch_lands_beside_what_others_changed_meanwhile(house: House):
    house.land(FIRST)
    cr_id = house.review(PATCH, mode=Mode.PATCH)
    house.approve(cr_id)
    house.land("order_id,amount,status\nA4,40,paid\nC1,5,new\n")
    house.land("order_id\nA3\n", mode=Mode.DELETE)
    assert house.merge(cr_id).state is CRState.CLOSED
    # A3 stands in the patch as it was: it does not come back.
    assert house.rows() == {
        "A1": ("10.00", "open"),
        "A4": ("40.00", "paid"),
        "B1": ("7.00", "new"),
        "C1": ("5.00", "new"),
    }
    assert house.merge(cr_id).merged_version == house.version  # again changes nothing


def test_a_row_that_a_patch_deletes_and_somebody_changed_is_settled_by_a_person(house: House):
    house.land(FIRST)
    cr_id = house.review(PATCH + "delete,A4,4,open\n", mode=Mode.PATCH)
    house.approve(cr_id)
    house.land("order_id,amount\nA2,22\nA4,44\n")
    with pytest.raises(ConflictError, match="row A2, row A4"):
        house.merge(cr_id)
    found = conflicts(house.ws, house.ann, house.ref, cr_id).conflicts
    assert {(c.row_id, c.column, c.ours, c.theirs) for c in found} == {
        ("A2", None, "deleted", "changed"),
        ("A4", None, "deleted", "changed"),
    }
    resolve(house.ws, house.ann, house.ref, cr_id, Take.OURS, {("A2", None): Take.THEIRS})
    assert house.check(cr_id).counts == {"inserted": 1, "updated": 1, "deleted": 1, "unchanged": 1}
    house.approve(cr_id)
    house.merge(cr_id)
    assert house.rows() == {"A1": ("10.00", "open"), "A2": ("22.00", "open"), "A3": ("3.00", "open"), "B1": AFTER["B1"]}


def test_a_revert_does_not_overwrite_what_was_changed_since(house: House):
    house.land(FIRST)
    wrong = house.land("order_id,amount\nA1,100\nA2,200\n")
    house.land("order_id,amount\nA1,111\n")
    inverse = revert(house.ws, house.ann, house.ref, wrong.id).change_request_id
    assert inverse
    house.check(inverse)
    house.approve(inverse)
    with pytest.raises(ConflictError, match="A1:amount"):
        house.merge(inverse)
    assert house.rows()["A1"] == ("111.00", "open")
    # Even tried again from the beginning, it answers to the version whose changes it undoes.
    review.retry(house.ws, house.ann, house.ref, inverse)
    assert house.check(inverse).base_version == wrong.merged_version


def test_rows_of_a_patch_are_rejected_one_by_one_and_the_follow_up_is_a_patch(house: House):
    house.land(FIRST)
    cr_id = house.review(PATCH, mode=Mode.PATCH)
    part = reject_rows(house.ws, house.bob, house.ref, cr_id, "A2 stays", where=[Filter.parse("order_id=eq.A2")])
    assert part.rows == 1
    assert house.check(cr_id).counts == {"inserted": 1, "updated": 1, "deleted": 0, "unchanged": 1}
    follow_up = house.check(str(part.follow_up.change_request_id))
    assert (follow_up.mode, follow_up.counts["deleted"]) == (Mode.PATCH, 1)
