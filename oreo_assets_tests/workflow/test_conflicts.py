"""When main moved: disjoint changes land by themselves, overlaps go to a person, nobody's work is lost."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from oreo_assets.catalog.change_requests import list_change_requests
from oreo_assets.catalog.users import add_user, sign_in
from oreo_assets.lake.rebase import Take
from oreo_assets.model.errors import ConflictError, NotAllowedError, StateError, UsageError
from oreo_assets.model.filters import Filter
from oreo_assets.model.states import CRState, Mode, Role
from oreo_assets.workflow import review
from oreo_assets.workflow.conflicts import conflicts, reject_rows, resolve
from oreo_assets.workflow.maintenance import Chore, maintain
from oreo_assets_tests.house import ORDERS, House

pytestmark = pytest.mark.spark

FIRST = "order_id,amount,status\nA1,1,open\nA2,2,open\nA3,3,open\n"
BY_CELL = ORDERS + "policies: {conflicts: cell}\n"


def _approved(house: House, *texts: str, mode: Mode = Mode.UPSERT) -> list[str]:
    """Change requests that were all made on the same version of main, and all approved."""
    ids = [house.review(text, mode=mode) for text in texts]
    for cr_id in ids:
        house.approve(cr_id)
    return ids


def test_disjoint_changes_made_on_one_version_all_land(house: House):
    house.land(FIRST)
    for cr_id in _approved(house, "order_id,amount\nA1,10\n", "order_id,status\nA2,paid\n", "order_id,amount\nB1,7\n"):
        assert house.merge(cr_id).state is CRState.CLOSED
    assert house.rows() == {
        "A1": ("10.00", "open"),
        "A2": ("2.00", "paid"),
        "A3": ("3.00", "open"),
        "B1": ("7.00", None),
    }


def test_two_changes_to_one_cell_conflict_and_the_cell_is_named(house: House):
    house.land(FIRST)
    first, second = _approved(house, "order_id,amount\nA1,10\nA2,2\n", "order_id,amount\nA1,11\nA3,33\n")
    house.merge(first)
    before = house.version
    with pytest.raises(ConflictError, match="A1:amount"):
        house.merge(second)
    assert (house.cr(second).state, house.version) == (CRState.CONFLICTED, before)
    report = conflicts(house.ws, house.ann, house.ref, second)
    (found,) = report.conflicts
    values = [str(v) for v in (found.base, found.ours, found.theirs)]
    assert (found.row_id, found.column, values) == ("A1", "amount", ["1.00", "11.00", "10.00"])


@pytest.mark.parametrize(("take", "amount"), [(Take.OURS, "11.00"), (Take.THEIRS, "10.00")])
def test_a_conflict_is_resolved_in_bulk_and_reviewed_again(house: House, take: Take, amount: str):
    house.land(FIRST)
    first, second = _approved(house, "order_id,amount,status\nA1,10,paid\n", "order_id,amount\nA1,11\nA3,33\n")
    house.merge(first)
    with pytest.raises(ConflictError):
        house.merge(second)
    resolve(house.ws, house.ann, house.ref, second, take)
    assert house.check(second).state is CRState.IN_REVIEW
    with pytest.raises(StateError, match="not approved"):
        house.merge(second)
    house.approve(second)
    house.merge(second)
    # The other's change to another cell of the row stays, whichever side was taken for the amount.
    assert house.rows() == {"A1": (amount, "paid"), "A2": ("2.00", "open"), "A3": ("33.00", "open")}


def test_conflicts_are_resolved_cell_by_cell(house: House):
    house.land(FIRST)
    first, second = _approved(
        house, "order_id,amount,status\nA1,10,x\nA2,20,x\n", "order_id,amount,status\nA1,11,y\nA2,22,y\n"
    )
    house.merge(first)
    with pytest.raises(ConflictError):
        house.merge(second)
    with pytest.raises(UsageError, match="Not settled"):
        resolve(house.ws, house.ann, house.ref, second, None, {("A1", "amount"): Take.OURS})
    with pytest.raises(UsageError, match="no conflict there"):
        resolve(house.ws, house.ann, house.ref, second, Take.OURS, {("A3", "amount"): Take.OURS})
    resolve(house.ws, house.ann, house.ref, second, Take.THEIRS, {("A1", "amount"): Take.OURS, ("A2", None): Take.OURS})
    house.check(second)
    house.approve(second)
    house.merge(second)
    assert house.rows() == {"A1": ("11.00", "x"), "A2": ("22.00", "y"), "A3": ("3.00", "open")}


def test_who_resolved_may_not_approve(house: House):
    house.land(FIRST)
    first, second = _approved(house, "order_id,amount\nA1,10\n", "order_id,amount\nA1,11\n")
    house.merge(first)
    with pytest.raises(ConflictError):
        house.merge(second)
    resolve(house.ws, house.bob, house.ref, second, Take.OURS)
    house.check(second)
    with pytest.raises(NotAllowedError, match="edited"):
        house.approve(second)
    cleo = sign_in(house.ws.catalog, add_user(house.ws.catalog, house.ann, "cleo", Role.REVIEWER, "shop").token)
    assert review.approve(house.ws, cleo, house.ref, second).state is CRState.APPROVED


def test_edits_to_different_cells_of_one_row_conflict_by_default(house: House):
    house.land(FIRST)
    first, second = _approved(house, "order_id,amount\nA1,10\n", "order_id,status\nA1,paid\n")
    house.merge(first)
    with pytest.raises(ConflictError, match="row A1"):
        house.merge(second)


def test_edits_to_different_cells_merge_by_themselves_where_the_policy_says_cell(new_house: Callable[..., House]):
    house = new_house(BY_CELL)
    house.land(FIRST)
    # Full rows: each file also repeats the cell that the other one changes.
    first, second = _approved(house, "order_id,amount,status\nA1,10,open\n", "order_id,amount,status\nA1,1,paid\n")
    house.merge(first)
    house.merge(second)
    assert house.rows()["A1"] == ("10.00", "paid")


def test_the_same_change_twice_is_no_conflict(house: House):
    house.land(FIRST)
    first, second = _approved(house, "order_id,amount\nA1,10\n", "order_id,amount\nA1,10\nB1,5\n")
    house.merge(first)
    house.merge(second)
    assert house.rows()["A1"] == ("10.00", "open")
    assert house.rows()["B1"] == ("5.00", None)


def test_a_row_that_others_deleted_does_not_come_back(house: House):
    house.land(FIRST)
    upsert = house.review("order_id,amount\nA1,1\nA2,22\n")  # A1 is as it was
    house.approve(upsert)
    house.land("order_id\nA1\n", mode=Mode.DELETE)
    house.merge(upsert)
    assert house.rows() == {"A2": ("22.00", "open"), "A3": ("3.00", "open")}


def test_a_change_against_a_deletion_is_a_conflict_of_the_row(house: House):
    house.land(FIRST)
    upsert = house.review("order_id,amount\nA1,10\n")
    house.approve(upsert)
    house.land("order_id\nA1\n", mode=Mode.DELETE)
    with pytest.raises(ConflictError, match="row A1"):
        house.merge(upsert)
    resolve(house.ws, house.ann, house.ref, upsert, Take.OURS)
    house.check(upsert)
    house.approve(upsert)
    house.merge(upsert)
    assert house.rows()["A1"] == ("10.00", None)


def test_a_full_snapshot_deletes_what_its_author_saw_and_not_what_came_since(house: House):
    house.land(FIRST)
    snapshot = house.review("order_id,amount,status\nA1,1,open\nA2,2,open\n", mode=Mode.REPLACE)
    assert house.cr(snapshot).counts == {"inserted": 0, "updated": 0, "deleted": 1, "unchanged": 2}
    house.approve(snapshot)
    house.land("order_id,amount\nB1,5\n")
    house.merge(snapshot)
    assert set(house.rows()) == {"A1", "A2", "B1"}


def test_a_conflicting_snapshot_keeps_what_came_since_when_resolved(house: House):
    house.land(FIRST)
    snapshot = house.review("order_id,amount,status\nA1,100,open\nA2,2,open\n", mode=Mode.REPLACE)
    house.approve(snapshot)
    house.land("order_id,amount\nB1,5\nA1,10\nA3,30\n")
    with pytest.raises(ConflictError):
        house.merge(snapshot)
    resolve(house.ws, house.ann, house.ref, snapshot, Take.OURS, {("A3", None): Take.THEIRS})
    house.check(snapshot)
    house.approve(snapshot)
    house.merge(snapshot)
    assert house.rows() == {
        "A1": ("100.00", "open"),
        "A2": ("2.00", "open"),
        "A3": ("30.00", "open"),
        "B1": ("5.00", None),
    }


def test_maintenance_between_approval_and_merge_is_no_conflict(house: House):
    house.land(FIRST)
    (cr_id,) = _approved(house, "order_id,amount\nA1,10\n")
    for chore in (Chore.OPTIMIZE, Chore.VACUUM, Chore.CHECKPOINT):
        maintain(house.ws, house.ann, chore, house.ref)
    assert house.merge(cr_id).state is CRState.CLOSED
    assert house.rows()["A1"] == ("10.00", "open")


def test_rejected_rows_become_a_follow_up_and_the_rest_goes_on(house: House):
    house.land(FIRST)
    cr_id = house.review("order_id,amount\nA1,10\nA2,20\nB1,5\nB2,6\n")
    with pytest.raises(UsageError, match="needs a reason"):
        reject_rows(house.ws, house.bob, house.ref, cr_id, " ", row_ids=["A1"])
    with pytest.raises(UsageError, match="Which rows"):
        reject_rows(house.ws, house.bob, house.ref, cr_id, "no")
    with pytest.raises(StateError, match="every row"):
        reject_rows(house.ws, house.bob, house.ref, cr_id, "no", where=[Filter.parse("amount=gt.0")])
    part = reject_rows(
        house.ws, house.bob, house.ref, cr_id, "too high", where=[Filter.parse("amount=gte.10")], row_ids=()
    )
    assert part.rows == 2
    assert house.check(cr_id).counts == {"inserted": 2, "updated": 0, "deleted": 0, "unchanged": 2}
    follow_up = part.follow_up.change_request_id
    assert follow_up is not None
    assert (house.cr(follow_up).follows, house.cr(follow_up).author) == (cr_id, "ann")
    assert "too high" in house.cr(follow_up).note
    assert house.check(follow_up).counts == {"inserted": 0, "updated": 2, "deleted": 0, "unchanged": 0}
    cleo = sign_in(house.ws.catalog, add_user(house.ws.catalog, house.ann, "cleo", Role.REVIEWER, "shop").token)
    review.approve(house.ws, cleo, house.ref, cr_id)
    house.merge(cr_id)
    assert house.rows() == {
        "A1": ("1.00", "open"),
        "A2": ("2.00", "open"),
        "A3": ("3.00", "open"),
        "B1": ("5.00", None),
        "B2": ("6.00", None),
    }
    assert len(list_change_requests(house.ws.catalog, house.ref)) == 3


def test_checks_on_the_whole_table_see_what_the_merge_would_give(new_house: Callable[..., House]):
    unique = "  - {type: expect_column_values_to_be_unique, column: status, severity: fatal}\nconstraints"
    house = new_house(ORDERS.replace("constraints", unique))
    house.land("order_id,amount,status\nA1,1,a\nA2,2,b\n")
    # Unique among themselves, but not beside what is in main.
    cr_id = house.review("order_id,amount,status\nB1,1,c\nB2,2,b\n")
    assert house.cr(cr_id).state is CRState.REFUSED
    # Both holders of the value are in the file: the result is unique.
    swap = house.review("order_id,amount,status\nA1,1,b\nA2,2,a\n")
    assert house.cr(swap).state is CRState.IN_REVIEW
