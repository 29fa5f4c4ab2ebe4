"""Leases that end, or are taken, while their holder sleeps; and many who want the same dataset at once."""

from __future__ import annotations

from datetime import timedelta

import pytest
from sqlalchemy import update

from oreo_assets.catalog.models import Lease, now
from oreo_assets.crash_points import Fault
from oreo_assets.defs.sensors import plan_runs
from oreo_assets.model.states import CRState
from oreo_assets.workflow import recovery
from oreo_assets.workflow.workspace import lease_name

from .conftest import Lake
from .oracle import Row, assert_invariants, come_back
from .processes import until
from .table import note

pytestmark = [pytest.mark.spark, pytest.mark.slow]


@pytest.mark.parametrize("fate", ["expired", "stolen"])
def test_a_holder_that_slept_past_its_lease_does_not_commit(lake: Lake, fate: str):
    rows = lake.new_rows()
    cr_id = lake.approved(rows)
    before = lake.house.version
    sleeper = lake.start("merge", cr_id=cr_id, at="merge.started", fault=Fault.FREEZE)
    assert until(sleeper.is_frozen)
    values = {"expires_at": now() - timedelta(seconds=1)}
    if fate == "stolen":
        values = {"holder": "somebody:1:else", "fence": Lease.fence + 1, "expires_at": now() + timedelta(minutes=1)}
    _set_lease(lake, values)
    # On a local root the sleeper still has the file lock: recovery leaves the dataset to it.
    assert recovery.recover(lake.house.ws) == []
    assert lake.house.cr(cr_id).state is CRState.MERGING
    # Its heartbeat would renew a lease that merely ended; so that the sleeper meets an ended one, it is ended again
    # by a holder who came and went.
    if fate == "expired":
        _set_lease(lake, {"holder": None, "fence": Lease.fence + 1})
    sleeper.wake()
    answer = sleeper.wait()
    assert (answer.error, answer.retryable) == ("BusyError", True)
    assert "nothing was written" in answer.message
    assert lake.house.version == before
    come_back(lake.house)
    lake.oracle.lands(cr_id, rows)
    assert_invariants(lake.house, lake.oracle)
    note(f"merge.started, lease {fate}", "freeze", "undone", "the holder woke and wrote nothing; merged by recovery")


def test_ten_approved_change_requests_merged_at_once(lake: Lake):
    """Three processes, ten change requests: eight touch rows of their own, two the same row."""
    disjoint: dict[str, list[Row]] = {}
    overlapping: dict[str, list[Row]] = {}
    for n in range(8):
        lake.made += 1
        rows: list[Row] = [(f"t{n}", f"{n}.00", "ten")]
        disjoint[lake.approved(rows)] = rows
    for n in range(2):
        lake.made += 1
        rows = [("contested", f"{n}.00", f"by {n}")]
        overlapping[lake.approved(rows)] = rows
    waiting = [*disjoint, *overlapping]
    children = [lake.start("merge_all", cr_id=",".join(waiting[i:] + waiting[:i])) for i in (0, 3, 6)]
    answers = [child.wait() for child in children]
    assert [a.error for a in answers] == [None] * 3
    won = [cr_id for cr_id in overlapping if lake.house.cr(cr_id).state is CRState.CLOSED]
    lost = [cr_id for cr_id in overlapping if lake.house.cr(cr_id).state is CRState.CONFLICTED]
    assert (len(won), len(lost)) == (1, 1)
    for cr_id, rows in disjoint.items():
        assert lake.house.cr(cr_id).state is CRState.CLOSED
        lake.oracle.lands(cr_id, rows)
    lake.oracle.lands(won[0], overlapping[won[0]])
    come_back(lake.house)
    assert_invariants(lake.house, lake.oracle, spark=True)
    note("ten merged at once", "race", "unaffected", "nine landed once each, one in conflict with cells named")


def test_the_same_merge_asked_for_twice_commits_once(lake: Lake):
    """A daemon that died between its tick and the launch asks again: two runs for one change request."""
    rows = lake.new_rows()
    cr_id = lake.approved(rows)
    known = frozenset([lake.house.ref])
    asked = [plan_runs(recovery.pending(lake.house.ws), recovery.Step.MERGE, known) for _ in range(2)]
    assert asked[0][0].run_key == asked[1][0].run_key, "Dagster itself would launch only one of them"
    children = [lake.start("merge_all", cr_id=cr_id) for _ in range(2)]
    assert [child.wait().error for child in children] == [None, None]
    lake.oracle.lands(cr_id, rows)
    come_back(lake.house)
    assert_invariants(lake.house, lake.oracle)
    note("merge run requested twice", "race", "unaffected", "one commit")


def test_the_same_upload_staged_twice_at_once_is_checked_once(lake: Lake):
    rows = lake.new_rows()
    cr_id = lake.house.send(lake.file(rows).read_text(), name=f"file-{lake.made}.csv")
    children = [lake.start("drive", cr_id=cr_id) for _ in range(2)]
    assert [child.wait().error for child in children] == [None, None]
    assert lake.house.cr(cr_id).state is CRState.IN_REVIEW
    come_back(lake.house)
    lake.oracle.lands(cr_id, rows)
    assert_invariants(lake.house, lake.oracle)
    note("staging run requested twice", "race", "unaffected", "staged once, checked once")


def test_optimize_and_vacuum_beside_merges(lake: Lake):
    todo = []
    for _ in range(3):
        rows = [row for row in lake.new_rows() if row[0] != "shared"]
        todo.append((lake.approved(rows), rows))
    ids = ",".join(cr_id for cr_id, _ in todo)
    children = [
        lake.start("merge_all", cr_id=ids),
        lake.start("optimize!", "vacuum!", "checkpoint!", "optimize!"),
    ]
    assert [child.wait().error for child in children] == [None, None]
    for cr_id, rows in todo:
        lake.oracle.lands(cr_id, rows)
    come_back(lake.house)
    assert_invariants(lake.house, lake.oracle, spark=True)
    note("optimize, vacuum, checkpoint beside merges", "race", "unaffected", "one writer at a time")


def _set_lease(lake: Lake, values: dict) -> None:
    with lake.house.ws.catalog.write() as tx:
        tx.execute(update(Lease).where(Lease.name == lease_name(lake.house.ref)).values(**values))
