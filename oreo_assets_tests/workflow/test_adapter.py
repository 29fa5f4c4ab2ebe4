"""The storage adapter: reads and writes in the words of a table, by way of change requests."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from decimal import Decimal

import pytest

from oreo_assets.lake import log
from oreo_assets.model.errors import NotFoundError, UsageError
from oreo_assets.model.spec_file import parse_spec
from oreo_assets.model.states import CRState
from oreo_assets.workflow import datasets, query
from oreo_assets.workflow.adapter import StorageAdapter
from oreo_assets.workflow.pipeline import run_pipeline
from oreo_assets_tests.house import ORDERS, House

pytestmark = pytest.mark.spark

BY_ITSELF = ORDERS + "approvals: 0\n"
GROWING = BY_ITSELF.replace("key: [order_id]\n", "")


def adapter_of(house: House) -> StorageAdapter:
    return StorageAdapter(house.ws, house.ann, house.ref)


def test_rows_are_appended_overwritten_queried_and_brought_back(new_house: Callable[..., House]):
    house = new_house(BY_ITSELF)
    adapter = adapter_of(house)
    empty = house.version
    sent = adapter.append_rows(
        [
            {"order_id": "A1", "amount": Decimal("10.50"), "ordered_on": date(2026, 1, 1)},
            {"order_id": "A2", "amount": Decimal("7"), "status": "open"},
        ],
        note="by program",
    )
    assert sent.state is CRState.CLOSED
    assert sent.change_request_id is not None
    first = house.cr(sent.change_request_id).merged_version
    # The second row's status is there, though the first row has none.
    assert house.rows() == {"A1": ("10.50", None), "A2": ("7.00", "open")}

    adapter.overwrite([{"order_id": "A2", "amount": "8.25", "status": "paid"}])
    assert house.rows() == {"A2": ("8.25", "paid")}

    assert adapter.query(["status=eq.paid", "amount=gt.8"])[0]["order_id"] == "A2"
    assert adapter.query(["status=eq.open"]) == []
    assert [c["change_request_id"] for c in adapter.history(2)][1] == sent.change_request_id
    assert adapter.history()[1]["note"] == "by program"

    assert first is not None
    assert adapter.restore(first).state is CRState.CLOSED
    assert house.rows() == {"A1": ("10.50", None), "A2": ("7.00", "open")}
    assert adapter.query()[0]["ordered_on"] == date(2026, 1, 1)

    assert adapter.restore(empty).state is CRState.CLOSED
    assert house.rows() == {}
    assert adapter.restore(first).state is CRState.CLOSED
    assert set(house.rows()) == {"A1", "A2"}
    ids = [c.metadata.change_request_id for c in log.commits(house.ws.layout(house.ref).main) if c.metadata]
    assert len(ids) == len(set(ids)) == 5


def test_a_query_is_paged(new_house: Callable[..., House]):
    house = new_house(BY_ITSELF)
    adapter = adapter_of(house)
    adapter.append_rows([{"order_id": f"A{n}", "amount": n} for n in range(5)])
    assert [r["row_id"] for r in adapter.query(limit=2, offset=3)] == ["A3", "A4"]


def test_rows_of_a_dataset_without_a_key_keep_their_row_id_when_they_come_back(new_house: Callable[..., House]):
    house = new_house(GROWING)
    adapter = adapter_of(house)
    adapter.append_rows([{"order_id": "A1", "amount": 1}, {"order_id": "A1", "amount": 1}])
    first, version = {r["row_id"] for r in adapter.query()}, house.version
    adapter.append_rows([{"order_id": "A2", "amount": 2}])
    assert len(adapter.query()) == 3
    assert adapter.restore(version).state is CRState.CLOSED
    assert {r["row_id"] for r in adapter.query()} == first
    assert len(first) == 2


def test_rows_that_fail_a_fatal_check_do_not_get_in(new_house: Callable[..., House]):
    house = new_house(BY_ITSELF)
    before = house.version
    sent = adapter_of(house).append_rows([{"order_id": "A1", "amount": None}])
    assert sent.state is CRState.REFUSED
    assert house.version == before


def test_where_approvals_are_needed_a_write_waits_for_them(house: House):
    before = house.version
    sent = adapter_of(house).append_rows([{"order_id": "A1", "amount": 1}])
    assert sent.state is CRState.CONVERTED
    assert house.version == before
    assert sent.change_request_id is not None
    assert run_pipeline(house.ws, house.ref, sent.change_request_id).state is CRState.IN_REVIEW
    house.approve(sent.change_request_id)
    assert run_pipeline(house.ws, house.ref, sent.change_request_id).state is CRState.CLOSED
    assert run_pipeline(house.ws, house.ref, sent.change_request_id).merged_version == house.version


def test_a_conflict_is_where_the_pipeline_ends(house: House):
    house.land("order_id,amount\nA1,1\n")
    ours, theirs = house.review("order_id,amount\nA1,2\n"), house.review("order_id,amount\nA1,3\n")
    house.approve(ours)
    house.approve(theirs)
    house.merge(theirs)
    assert run_pipeline(house.ws, house.ref, ours).state is CRState.CONFLICTED


def test_while_somebody_else_writes_the_change_request_is_left_approved(new_house: Callable[..., House]):
    house = new_house(BY_ITSELF)
    cr_id = house.review("order_id,amount\nA1,1\n")
    with house.ws.sole_writer(house.ref):
        assert run_pipeline(house.ws, house.ref, cr_id, patience=0).state is CRState.APPROVED
    assert run_pipeline(house.ws, house.ref, cr_id).state is CRState.CLOSED


def test_what_cannot_be_written_or_found_is_told(house: House):
    adapter = adapter_of(house)
    with pytest.raises(UsageError, match="no rows"):
        adapter.append_rows([])
    with pytest.raises(UsageError, match="do not form a table"):
        adapter.append_rows([{"order_id": "A1", "amount": 1}, {"order_id": "A2", "amount": "x"}])
    with pytest.raises(NotFoundError, match="Version 99"):
        adapter.restore(99)


def test_a_verdict_on_rows_that_were_staged_anew_meanwhile_does_not_count(house: House, monkeypatch):
    from oreo_assets.model.errors import StateError
    from oreo_assets.workflow import validation
    from oreo_assets.workflow.staging import rows_to_stage, stage

    cr_id = house.send("order_id,amount\nA1,1\n")
    cr = stage(house.ws, house.cr(cr_id), rows_to_stage(house.ws, house.cr(cr_id)))
    judge = validation._outcomes

    def judge_while_another_stages(*given):
        outcomes = judge(*given)
        stage(house.ws, house.cr(cr_id), rows_to_stage(house.ws, house.cr(cr_id)))
        return outcomes

    monkeypatch.setattr(validation, "_outcomes", judge_while_another_stages)
    with pytest.raises(StateError, match="staged anew while it was checked"):
        validation.validate(house.ws, cr)
    monkeypatch.undo()
    assert house.cr(cr_id).state is CRState.STAGED
    assert run_pipeline(house.ws, house.ref, cr_id).state is CRState.IN_REVIEW


def test_a_restore_answers_to_the_checks_of_today(new_house: Callable[..., House]):
    house = new_house(BY_ITSELF)
    adapter = adapter_of(house)
    adapter.append_rows([{"order_id": "A1", "amount": 5}])
    version = house.version
    adapter.overwrite([{"order_id": "A1", "amount": 50}])
    stricter = BY_ITSELF.replace("min_value: 0, severity: warning", "min_value: 10, severity: fatal")
    datasets.apply_dataset(house.ws, house.ann, parse_spec(stricter))
    assert adapter.restore(version).state is CRState.REFUSED
    assert query.query(house.ws, house.ann, house.ref).rows[0]["amount"] == 50
