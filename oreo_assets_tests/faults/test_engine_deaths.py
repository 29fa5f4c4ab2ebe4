"""The JVM killed, alone or together with its client, between its jobs and in the middle of them.

The fast form takes the points that differ; `make faults` takes every one.
"""

from __future__ import annotations

import os
import signal
from pathlib import Path

import psutil
import pytest

from oreo_assets.catalog.change_requests import list_change_requests
from oreo_assets.crash_points import Fault
from oreo_assets.lake import log
from oreo_assets.model.states import CRState
from oreo_assets.settings import Settings
from oreo_assets.workflow import review
from oreo_assets.workflow.recovery import recover

from .conftest import Lake
from .oracle import Row, assert_invariants, come_back, let_leases_end
from .points import ALL, AROUND_THE_MERGE, BEFORE_THE_MERGE
from .processes import kill_when, new_data_file
from .table import note

pytestmark = [pytest.mark.spark, pytest.mark.slow]

FAST = [("merge.committed", Fault.BOTH)]
POINTS = [(p, f) for p in AROUND_THE_MERGE for f in (Fault.JVM, Fault.BOTH)] if ALL else FAST
EARLY = [(p, f) for p in BEFORE_THE_MERGE for f in (Fault.JVM, Fault.BOTH)]


def test_a_merge_that_outlived_its_client_cannot_land_after_the_change_request_was_withdrawn(
    lake: Lake, mortal: tuple[Settings, int]
):
    """The engine freezes in the middle of a MERGE, its client dies, the change request is taken back. Then it thaws."""
    rows = lake.new_rows()
    cr_id = lake.approved(rows)
    settings, jvm = mortal
    house = lake.house
    main = Path(house.ws.layout(house.ref).main)
    child = lake.start("merge", cr_id=cr_id, engine=settings)
    assert kill_when(new_data_file(main), child, [jvm], signal.SIGSTOP)
    child.kill()
    if log.is_committed(str(main), cr_id):
        os.kill(jvm, signal.SIGCONT)
        come_back(house)
        lake.oracle.lands(cr_id, rows)
        note("merge: engine frozen, client dead", "freeze", "recovered", "it had committed before it froze")
    else:
        let_leases_end(house)
        (done,) = recover(house.ws)
        assert "not committed" in done.action
        review.withdraw(house.ws, house.ann, house.ref, cr_id)
        os.kill(jvm, signal.SIGCONT)
        _wait_until_idle(jvm)
        assert house.cr(cr_id).state is CRState.WITHDRAWN
        note("merge: engine frozen, client dead", "freeze", "undone", "withdrawn; the fence refused the late commit")
    assert_invariants(house, lake.oracle, spark=True)
    assert recover(house.ws) == []


@pytest.mark.parametrize(("point", "fault"), POINTS)
def test_an_engine_killed_between_its_jobs(lake: Lake, mortal: tuple[Settings, int], point: str, fault: Fault):
    rows = lake.new_rows()
    cr_id = lake.approved(rows)
    settings, jvm = mortal
    child = lake.start("merge", cr_id=cr_id, at=point, fault=fault, engine=settings, jvm=jvm)
    answer = child.wait()
    _note_and_check(lake, point, fault, cr_id, rows, child.was_killed, answer.error)


@pytest.mark.at_length
@pytest.mark.parametrize(("point", "fault"), EARLY)
def test_an_engine_killed_before_the_merge(lake: Lake, mortal: tuple[Settings, int], point: str, fault: Fault):
    rows = lake.new_rows()
    settings, jvm = mortal
    child = lake.start("send", "check", "approve", "merge", rows=rows, at=point, fault=fault, engine=settings, jvm=jvm)
    answer = child.wait()
    (newest, *_) = list_change_requests(lake.house.ws.catalog, lake.house.ref, limit=1)
    _note_and_check(lake, point, fault, newest.id, rows, child.was_killed, answer.error)


def test_an_engine_killed_while_it_stages(lake: Lake, mortal: tuple[Settings, int]):
    rows = lake.new_rows()
    cr_id = lake.house.send(lake.file(rows).read_text(), name=f"file-{lake.made}.csv")
    settings, jvm = mortal
    child = lake.start("check", cr_id=cr_id, engine=settings)
    met = kill_when(new_data_file(lake.house.staging_folder(cr_id)), child, [jvm])
    answer = child.wait()
    _note_and_check(lake, "stage: data written, log not", Fault.JVM, cr_id, rows, False, answer.error, met)


@pytest.mark.parametrize("fault", [Fault.JVM, Fault.BOTH])
def test_an_engine_killed_while_it_merges(lake: Lake, mortal: tuple[Settings, int], fault: Fault):
    rows = lake.new_rows()
    cr_id = lake.approved(rows)
    settings, jvm = mortal
    main = Path(lake.house.ws.layout(lake.house.ref).main)
    child = lake.start("merge", cr_id=cr_id, engine=settings)
    victims = [jvm] if fault is Fault.JVM else [jvm, child.pid]
    met = kill_when(new_data_file(main), child, victims)
    answer = child.wait()
    if fault is Fault.JVM and answer.error:
        assert answer.error == "UnavailableError", f"the caller is told what happened, and to try again: {answer}"
    _note_and_check(lake, "merge: data written, log not", fault, cr_id, rows, child.was_killed, answer.error, met)


@pytest.mark.at_length
def test_recovery_and_its_engine_killed_after_the_fence(lake: Lake, mortal: tuple[Settings, int]):
    rows = lake.new_rows()
    cr_id = lake.approved(rows)
    child = lake.start("merge", cr_id=cr_id, at="merge.started")
    child.wait()
    assert child.was_killed
    let_leases_end(lake.house)
    settings, jvm = mortal
    helper = lake.start("recover", at="merge.fenced", fault=Fault.BOTH, engine=settings, jvm=jvm)
    helper.wait()
    assert helper.was_killed
    _note_and_check(lake, "merge.started, then recovery at merge.fenced", Fault.BOTH, cr_id, rows, True, None)


def _note_and_check(
    lake: Lake,
    point: str,
    fault: Fault,
    cr_id: str,
    rows: list[Row],
    killed: bool,
    error: str | None,
    met: bool = True,
) -> None:
    died_as = lake.house.cr(cr_id).state
    landed = log.is_committed(lake.house.ws.layout(lake.house.ref).main, cr_id)
    back = come_back(lake.house)
    lake.oracle.lands(cr_id, rows)
    assert_invariants(lake.house, lake.oracle)
    if not met or (not killed and error is None):
        note(point, fault, "unaffected", "went on with a new engine" if met else "too fast to be hit")
    elif back.undone:
        note(point, fault, "undone", "taken back, then merged")
    else:
        note(point, fault, "recovered", "the log had it: finished" if landed else f"went on from {died_as}")


def _wait_until_idle(jvm: int) -> None:
    """Until the engine has done whatever it still wanted to do."""
    process = psutil.Process(jvm)
    process.cpu_percent()
    quiet = 0
    while quiet < 3:
        quiet = quiet + 1 if process.cpu_percent(0.5) < 15 else 0
