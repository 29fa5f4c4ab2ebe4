from __future__ import annotations

import threading

import pytest
from sqlalchemy import text

from oreo_assets.catalog import Catalog, audit
from oreo_assets.model.ids import DatasetRef

REF = DatasetRef("p", "d")


def _tell(catalog: Catalog, count: int) -> None:
    for n in range(count):
        with catalog.write() as tx:
            audit.record(tx, "ann", "test.event", REF, f"s{n}", number=n, amount="12.50", deep={"ä": [1, None]})


def test_an_untouched_chain_verifies(catalog: Catalog):
    _tell(catalog, 5)
    report = audit.verify(catalog)
    assert (report.intact, report.events) == (True, 5)


@pytest.mark.parametrize(
    ("tampering", "broken_at"),
    [
        ("UPDATE audit_events SET actor = 'eve' WHERE seq = 3", 3),
        ("UPDATE audit_events SET details = '{}' WHERE seq = 2", 2),
        ("DELETE FROM audit_events WHERE seq = 3", 4),
        ("UPDATE audit_events SET seq = 9 WHERE seq = 5", 9),
    ],
)
def test_any_tampering_breaks_it_at_the_right_place(catalog: Catalog, tampering: str, broken_at: int):
    _tell(catalog, 5)
    with catalog.engine.begin() as connection:
        connection.execute(text(tampering))
    report = audit.verify(catalog)
    assert (report.intact, report.broken_at) == (False, broken_at)


def test_an_event_falls_with_its_transaction(catalog: Catalog):
    with pytest.raises(ZeroDivisionError), catalog.write() as tx:
        audit.record(tx, "ann", "never.happened")
        raise ZeroDivisionError
    assert audit.verify(catalog).events == 0


def test_links_made_at_the_same_time_still_form_one_chain(catalog: Catalog):
    threads = [threading.Thread(target=_tell, args=(catalog, 10)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    report = audit.verify(catalog)
    assert (report.intact, report.events) == (True, 40)


def test_events_come_newest_first_and_in_pages(catalog: Catalog):
    _tell(catalog, 7)
    first = audit.events(catalog, REF, limit=3)
    assert [e.seq for e in first] == [7, 6, 5]
    assert [e.seq for e in audit.events(catalog, REF, limit=3, before=5)] == [4, 3, 2]
    assert audit.events(catalog, DatasetRef("p", "other")) == []
