"""A check that is relative to main, in the life of a change request."""

from __future__ import annotations

import pytest

from oreo_assets.catalog.models import ChangeRequest
from oreo_assets.model.spec_file import parse_spec
from oreo_assets.model.states import CRState, Mode
from oreo_assets.quality.outcomes import CheckOutcome
from oreo_assets.workflow import datasets
from oreo_assets.workflow.validation import load_run
from oreo_assets_tests.house import ORDERS, House

pytestmark = pytest.mark.spark

CHECK = "known_status"
KNOWN = f"  - {{type: expect_column_values_to_not_be_null, column: status, name: {CHECK}, relative: main}}\n"
FIRST = "order_id,amount,status\nA1,1,open\nA2,2,\nA3,3,\nA4,4,paid\n"


def found(house: House, cr: ChangeRequest) -> CheckOutcome:
    run = load_run(house.ws, cr)
    assert run is not None
    return next(o for o in run.outcomes if o.name == CHECK)


@pytest.fixture
def stained(house: House) -> House:
    """Main got two rows without a status before anybody asked for one."""
    house.land(FIRST)
    spec = ORDERS.replace("constraints:", f"{KNOWN}constraints:")
    datasets.apply_dataset(house.ws, house.ann, parse_spec(spec))
    return house


def test_old_stains_do_not_stop_a_repair_but_a_new_one_is_refused(stained: House):
    before = stained.version
    worse = stained.cr(stained.review("order_id,amount,status\nA5,5,\n"))
    assert worse.state is CRState.REFUSED
    outcome = found(stained, worse)
    assert outcome.observed == "3 of 5 rows do not meet it; in main now 2 of 4 rows do not meet it: worse"
    assert [r.row_id for r in outcome.failing] == ["A2", "A3", "A5"]
    assert stained.version == before

    repaired = stained.land("order_id,status\nA2,paid\n")
    assert repaired.state is CRState.CLOSED
    outcome = found(stained, repaired)
    assert outcome.observed == "1 of 4 rows does not meet it; in main now 2 of 4 rows do not meet it: no worse"
    assert stained.rows()["A2"] == ("2.00", "paid")

    # What main is now has become better, and so has what is asked for.
    assert stained.cr(stained.review("order_id,amount,status\nA6,6,\n")).state is CRState.REFUSED


def test_rows_that_leave_are_seen_too(stained: House):
    cr = stained.cr(stained.review("order_id\nA1\n", mode=Mode.DELETE))
    assert cr.state is CRState.REFUSED
    assert found(stained, cr).observed.startswith("2 of 3 rows do not meet it; in main now 2 of 4")
    assert stained.cr(stained.review("order_id\nA2\n", mode=Mode.DELETE)).state is CRState.IN_REVIEW


def test_the_first_rows_of_a_dataset_are_judged_as_they_are(house: House):
    spec = ORDERS.replace("constraints:", f"{KNOWN}constraints:")
    datasets.apply_dataset(house.ws, house.ann, parse_spec(spec))
    cr = house.cr(house.review(FIRST))
    assert cr.state is CRState.REFUSED
    assert found(house, cr).observed_before == "main has no rows"
    assert house.cr(house.review("order_id,amount,status\nA1,1,open\n")).state is CRState.IN_REVIEW
