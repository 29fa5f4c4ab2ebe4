from __future__ import annotations

import threading
from pathlib import Path

import pytest
from sqlalchemy.exc import IntegrityError

from oreo_assets.catalog import Catalog, audit
from oreo_assets.catalog.change_requests import get_change_request, transition, valid_approvals, void_approvals
from oreo_assets.catalog.leases import is_leased, lease
from oreo_assets.catalog.models import Approval, ChangeRequest, Dataset, Project
from oreo_assets.model.errors import BusyError, NotFoundError, StateError
from oreo_assets.model.ids import DatasetRef
from oreo_assets.model.states import CRState, Mode

REF = DatasetRef("p", "d")


@pytest.fixture
def cr(catalog: Catalog) -> ChangeRequest:
    with catalog.write() as tx:
        tx.add(Project(id="p", created_by="ann"))
        tx.flush()
        tx.add(Dataset(project="p", dataset="d", spec={}, fingerprint="f", created_by="ann"))
        tx.flush()
        row = ChangeRequest(id="cr_1", project="p", dataset="d", state=CRState.RECEIVED, mode=Mode.UPSERT, author="ann")
        tx.add(row)
    return row


def _approval(approver: str, author: str = "ann") -> Approval:
    return Approval(
        id=f"ap_{approver}",
        change_request_id="cr_1",
        author=author,
        approver=approver,
        staging_version=0,
        content_hash="c",
        base_version=1,
        suite_hash="s",
        acknowledged={},
    )


def test_a_transition_moves_the_state_and_tells_the_audit_trail(catalog: Catalog, cr: ChangeRequest):
    with catalog.write() as tx:
        transition(tx, get_change_request(tx, REF, "cr_1"), CRState.CONVERTED, actor="ann")
    event = audit.events(catalog, REF)[0]
    assert (event.action, event.subject, event.details["previous"]) == ("change_request.converted", "cr_1", "received")


def test_a_transition_that_the_rules_do_not_know_is_refused(catalog: Catalog, cr: ChangeRequest):
    with pytest.raises(StateError, match="cannot become merged"), catalog.write() as tx:
        transition(tx, get_change_request(tx, REF, "cr_1"), CRState.MERGED, actor="ann")
    assert audit.verify(catalog).events == 0


def test_of_two_who_move_it_at_once_one_is_told_no(catalog: Catalog, cr: ChangeRequest):
    with catalog.read() as tx:
        mine = get_change_request(tx, REF, "cr_1")
    with catalog.read() as tx:
        theirs = get_change_request(tx, REF, "cr_1")
    with catalog.write() as tx:
        transition(tx, theirs, CRState.WITHDRAWN, actor="bob")
    with pytest.raises(StateError, match="somebody else moved it"), catalog.write() as tx:
        transition(tx, mine, CRState.CONVERTED, actor="ann")
    with catalog.read() as tx:
        assert get_change_request(tx, REF, "cr_1").state is CRState.WITHDRAWN


def test_the_database_itself_refuses_the_authors_approval(catalog: Catalog, cr: ChangeRequest):
    with pytest.raises(IntegrityError), catalog.write() as tx:
        tx.add(_approval("ann"))
    with pytest.raises(IntegrityError), catalog.write() as tx:
        tx.add(_approval("ann", author="somebody-else"))  # lying about the author does not help


def test_one_person_has_one_valid_approval(catalog: Catalog, cr: ChangeRequest):
    with catalog.write() as tx:
        tx.add(_approval("bob"))
    again = _approval("bob")
    again.id = "ap_again"
    with pytest.raises(IntegrityError), catalog.write() as tx:
        tx.add(again)
    with catalog.write() as tx:
        void_approvals(tx, get_change_request(tx, REF, "cr_1"), "system", "staged anew")
        assert valid_approvals(tx, "cr_1") == []
    with catalog.write() as tx:
        fresh = _approval("bob")
        fresh.id = "ap_fresh"
        tx.add(fresh)


def test_a_change_request_of_another_dataset_is_not_found(catalog: Catalog, cr: ChangeRequest):
    with pytest.raises(NotFoundError), catalog.read() as tx:
        get_change_request(tx, DatasetRef("p", "other"), "cr_1")


def test_a_lease_has_one_holder_and_fences_grow(catalog: Catalog):
    with lease(catalog, "main") as first:
        assert is_leased(catalog, "main")
        with pytest.raises(BusyError), lease(catalog, "main"):
            pass
        assert first.still_held()
    assert not is_leased(catalog, "main")
    with lease(catalog, "main") as second:
        assert second.fence == first.fence + 1


def test_a_holder_that_slept_past_its_lease_is_told_before_it_writes(catalog: Catalog):
    with lease(catalog, "main", seconds=60) as sleeper:
        sleeper.seconds = -1
        assert sleeper.renew()  # as if the heartbeat had stopped long ago
        with lease(catalog, "main") as taker:
            with pytest.raises(BusyError, match="was lost before the commit"):
                sleeper.assert_held()
            assert taker.still_held()
        assert not sleeper.still_held()


def test_of_many_who_want_a_lease_one_gets_it(catalog: Catalog):
    held = threading.Barrier(5)
    won: list[int] = []
    lost: list[BusyError] = []

    def compete() -> None:
        try:
            with lease(catalog, "main") as mine:
                won.append(mine.fence)
                held.wait(timeout=20)
        except BusyError as error:
            lost.append(error)
            held.wait(timeout=20)

    threads = [threading.Thread(target=compete) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (won, len(lost)) == ([1], 4)


def test_the_sqlite_file_lies_beside_the_root(tmp_path: Path):
    from oreo_assets.settings import Settings

    settings = Settings.from_env({}, root=str(tmp_path / "delta"))
    Catalog.open(settings.catalog_url).close()
    assert (tmp_path / "delta.oreo" / "catalog.db").is_file()
    assert not (tmp_path / "delta").exists()
