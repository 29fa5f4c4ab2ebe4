"""Approved on one version of main, merged on another: the gate looks at what the two give together."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from oreo_assets.lake.diff import ChangeSet
from oreo_assets.lake.overlay import table_on_moved_main
from oreo_assets.model.errors import StaleApprovalError
from oreo_assets.model.states import CRState, Mode
from oreo_assets.workflow import review
from oreo_assets_tests.house import ORDERS, House

pytestmark = pytest.mark.spark

UNIQUE = ORDERS.replace(
    "constraints:",
    "  - {type: expect_column_values_to_be_unique, column: status, name: one_each, severity: fatal}\nconstraints:",
)
BY_CELL = ORDERS + "policies: {conflicts: cell}\n"
FIRST = "order_id,amount,status\nA1,1,open\nA2,2,open\nA3,3,open\nA4,4,open\n"


def test_two_disjoint_changes_that_only_together_break_a_check_of_the_table_do_not_both_land(
    new_house: Callable[..., House],
):
    house = new_house(UNIQUE)
    house.land("order_id,amount,status\nA1,1,a\nA2,2,b\n")
    first, second = house.review("order_id,amount,status\nB1,1,c\n"), house.review("order_id,amount,status\nB2,2,c\n")
    for cr_id in (first, second):
        house.approve(cr_id)
    house.merge(first)
    before = house.version
    with pytest.raises(StaleApprovalError, match=r"one_each does not hold: 2 of 4 rows"):
        house.merge(second)
    assert (house.cr(second).state, house.version) == (CRState.IN_REVIEW, before)
    assert [a["valid"] for a in review.show(house.ws, house.bob, house.ref, second)["approvals"]] == [False]

    review.retry(house.ws, house.ann, house.ref, second)
    assert house.check(second).state is CRState.REFUSED


OURS = {
    # The author saw every row: those left as they were must not undo what others did to them meanwhile.
    Mode.UPSERT: "order_id,amount,status\nA1,10,open\nA2,2,open\nA3,3,open\nC1,7,new\n",
    Mode.REPLACE: "order_id,amount,status\nA1,10,open\nA2,2,open\nA3,3,open\nC1,7,new\n",
    Mode.DELETE: "order_id\nA4\nB1\n",
}


@pytest.mark.parametrize("mode", OURS, ids=str)
def test_what_is_judged_is_what_the_merge_leaves(new_house: Callable[..., House], mode: Mode):
    house = new_house(BY_CELL)
    house.land(FIRST)
    cr_id = house.review(OURS[mode], mode=mode)
    house.land("order_id,amount,status\nA1,1,paid\nA3,3,paid\nB1,9,new\n")
    house.land("order_id\nA2\n", mode=Mode.DELETE)

    change: ChangeSet = house.ws.change_set(house.cr(cr_id))
    judged = table_on_moved_main(house.ws.spark(), change, house.version).collect()
    house.approve(cr_id)
    house.merge(cr_id)

    found = {r["row_id"]: (None if r["amount"] is None else str(r["amount"]), r["status"]) for r in judged}
    assert len(found) == len(judged)
    assert found == house.rows()
    assert "A2" not in found
