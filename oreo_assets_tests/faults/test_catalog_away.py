"""The catalog locked, stopped, or asked by two at the same moment."""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import make_url, update

from oreo_assets.catalog import audit
from oreo_assets.catalog.models import ChangeRequest, now
from oreo_assets.catalog.users import Actor
from oreo_assets.crash_points import Fault
from oreo_assets.model.errors import StateError, UnavailableError
from oreo_assets.model.states import CRState, Role
from oreo_assets.workflow import maintenance, review
from oreo_assets_tests.house import House

from .conftest import Lake
from .oracle import LEDGER, assert_invariants, come_back
from .processes import until
from .table import note

pytestmark = [pytest.mark.spark, pytest.mark.slow]


def test_a_catalog_that_is_locked_for_a_while_is_waited_for(lake: Lake):
    rows = lake.new_rows()
    cr_id = lake.approved(rows)
    lock = _lock(lake.house)
    child = lake.start("merge", cr_id=cr_id)
    time.sleep(3)
    assert child.is_alive()
    lock.rollback()
    lock.close()
    assert child.wait().error is None
    lake.oracle.lands(cr_id, rows)
    come_back(lake.house)
    assert_invariants(lake.house, lake.oracle)
    note("catalog locked for 3 s", "catalog", "unaffected", "waited")


def test_a_catalog_that_stays_locked_after_the_commit_is_told_later(lake: Lake):
    rows = lake.new_rows()
    cr_id = lake.approved(rows)
    child = lake.start("merge", cr_id=cr_id, at="merge.committed", fault=Fault.FREEZE, lock_patience=1)
    assert until(child.is_frozen)
    lock = _lock(lake.house)
    child.wake()
    answer = child.wait()
    lock.rollback()
    lock.close()
    assert (answer.error, answer.retryable) == ("UnavailableError", True)
    assert lake.house.cr(cr_id).state is CRState.MERGING
    back = come_back(lake.house)
    assert back.finished
    lake.oracle.lands(cr_id, rows)
    assert_invariants(lake.house, lake.oracle)
    note("catalog locked past its patience, log committed", "catalog", "recovered", "finished from the marker")


def test_approve_clicked_twice_at_the_same_moment_counts_once(lake: Lake):
    rows = lake.new_rows()
    cr_id = lake.house.review(lake.file(rows).read_text(), name=f"file-{lake.made}.csv")
    answers = at_once(lambda: lake.house.approve(cr_id), lambda: lake.house.approve(cr_id))
    assert [str(a.state) for a in answers] == ["approved", "approved"]
    approvals = review.show(lake.house.ws, lake.house.ann, lake.house.ref, cr_id)["approvals"]
    assert [a["approver"] for a in approvals] == ["bob"]
    come_back(lake.house)
    lake.oracle.lands(cr_id, rows)
    assert_invariants(lake.house, lake.oracle)
    note("approve clicked twice at once", "race", "unaffected", "one approval")


def test_cleanup_and_an_approval_at_the_same_moment(lake: Lake):
    """Whoever is first decides: it is expired or approved, never both, and never approved without its rows."""
    ways = []
    for delay in (0, 0.02, 0.1):
        rows = lake.new_rows()
        cr_id = lake.house.review(lake.file(rows).read_text(), name=f"file-{lake.made}.csv")
        with lake.house.ws.catalog.write() as tx:
            old = now() - timedelta(days=1000)
            tx.execute(update(ChangeRequest).where(ChangeRequest.id == cr_id).values(updated_at=old))
        at_once(
            lambda cr_id=cr_id, delay=delay: (time.sleep(delay), lake.house.approve(cr_id)),
            lambda: maintenance.maintain(lake.house.ws, lake.house.ann, maintenance.Chore.CLEANUP, lake.house.ref),
        )
        state = lake.house.cr(cr_id).state
        assert state in (CRState.APPROVED, CRState.EXPIRED)
        if state is CRState.APPROVED:
            lake.oracle.lands(cr_id, rows)
        ways.append(str(state))
        come_back(lake.house)
        assert_invariants(lake.house, lake.oracle)
    note("cleanup beside an approval", "race", "unaffected", f"three times: {', '.join(ways)}")


@pytest.fixture
def on_postgres(
    make_lake: Callable[..., Lake], postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Lake]:
    monkeypatch.setenv("OREO_CATALOG_URL", postgres_url)
    return make_lake


def test_two_people_who_approve_at_the_same_moment_are_two(on_postgres: Callable[..., Lake]):
    """Each transaction sees only its own approval until the other has committed; together they must be enough."""
    lake = on_postgres(LEDGER + "approvals: 2\n")
    eve = Actor("eve", {"*": Role.REVIEWER})
    for _ in range(2):
        cr_id = lake.house.review(lake.file(lake.new_rows()).read_text(), name=f"file-{lake.made}.csv")
        at_once(
            lambda cr_id=cr_id: lake.house.approve(cr_id),
            lambda cr_id=cr_id: review.approve(lake.house.ws, eve, lake.house.ref, cr_id),
        )
        assert lake.house.cr(cr_id).state is CRState.APPROVED
    note("two approvals at the same moment (Postgres)", "race", "unaffected", "both count")


def test_a_postgres_that_is_gone_for_a_while(on_postgres: Callable[..., Lake], postgres_server: Any):
    lake = on_postgres()
    rows = lake.new_rows()
    cr_id = lake.approved(rows)
    child = lake.start("merge", cr_id=cr_id, at="merge.committed", fault=Fault.FREEZE)
    assert until(child.is_frozen)
    with stopped(postgres_server):
        child.wake()
        answer = child.wait()
        assert (answer.error, answer.retryable) == ("UnavailableError", True)
        with pytest.raises(UnavailableError):
            lake.house.cr(cr_id)
    back = come_back(lake.house)
    assert back.finished
    lake.oracle.lands(cr_id, rows)
    assert_invariants(lake.house, lake.oracle)
    assert audit.verify(lake.house.ws.catalog).intact
    note("Postgres stopped, log committed", "catalog", "recovered", "finished from the marker")


def at_once(*calls: Callable[[], Any]) -> list[Any]:
    """All of them, as nearly at the same moment as threads can. An error of ours is an answer too."""
    barrier = threading.Barrier(len(calls))
    answers: list[Any] = [None] * len(calls)

    def run(place: int) -> None:
        barrier.wait()
        try:
            answers[place] = calls[place]()
        except (StateError, UnavailableError) as error:
            answers[place] = error

    threads = [threading.Thread(target=run, args=(place,)) for place in range(len(calls))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return answers


class stopped:
    """The server is down for the length of a `with` block."""

    def __init__(self, server: Any) -> None:
        self._server = server

    def __enter__(self) -> None:
        self._server.stop()

    def __exit__(self, *_: object) -> None:
        self._server.ensure_postgres_running()


def _lock(house: House) -> sqlite3.Connection:
    """Another program holds the catalog for writing."""
    path = make_url(house.ws.settings.catalog_url).database
    assert path and Path(path).exists()
    connection = sqlite3.connect(path, isolation_level=None, timeout=60)
    connection.execute("BEGIN IMMEDIATE")
    return connection
