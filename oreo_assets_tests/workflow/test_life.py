"""The life of a change request, on real Spark and Delta."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from sqlalchemy import update

from oreo_assets.catalog import audit
from oreo_assets.catalog.datasets import get_meta
from oreo_assets.catalog.models import ChangeRequest
from oreo_assets.catalog.users import add_user, sign_in
from oreo_assets.lake import log
from oreo_assets.model.errors import (
    BadFileError,
    NotAllowedError,
    NotFoundError,
    StaleApprovalError,
    StateError,
    UsageError,
)
from oreo_assets.model.spec_file import parse_spec
from oreo_assets.model.states import CRState, Mode, Role
from oreo_assets.workflow import datasets, query, review
from oreo_assets.workflow.staging import rows_to_stage, stage
from oreo_assets.workflow.validation import load_run
from oreo_assets_tests.house import ORDERS, House

pytestmark = pytest.mark.spark

FIRST = "order_id,amount,status,ordered_on\nA1,10.50,open,2026-01-01\nA2,20,open,2026-01-02\nA3,30,paid,2026-01-03\n"


def test_a_good_file_goes_all_the_way_and_every_record_agrees(house: House):
    cr = house.land(FIRST)
    assert cr.state is CRState.CLOSED
    assert house.rows() == {"A1": ("10.50", "open"), "A2": ("20.00", "open"), "A3": ("30.00", "paid")}
    commit = log.commits(house.ws.layout(house.ref).main, 1)[0]
    assert commit.metadata is not None
    assert (commit.version, commit.metadata.commit_id) == (cr.merged_version, cr.commit_id)
    assert (commit.metadata.author, commit.metadata.approvers) == ("ann", ("bob",))
    assert commit.metadata.validation_run_id == cr.validation_run_id
    assert commit.metadata.source_sha256
    with house.ws.catalog.read() as tx:
        meta = get_meta(tx, house.ref)
    assert meta is not None
    assert (meta.delta_version, meta.last_commit_id, meta.row_count) == (cr.merged_version, cr.commit_id, 3)
    assert not house.staging_folder(cr.id).exists()
    assert audit.verify(house.ws.catalog).intact
    told = [e.action.removeprefix("change_request.") for e in reversed(audit.events(house.ws.catalog, house.ref))]
    assert told[1:] == [
        *("received", "converted", "staged", "checked", "in_review"),
        *("approve", "approved", "merging", "merged", "closed"),
    ]


def test_a_fatal_check_leaves_main_untouched_and_keeps_the_failing_rows(house: House):
    before = house.version
    cr_id = house.review("order_id,amount\nA1,5\nA2,\n")
    cr = house.cr(cr_id)
    assert cr.state is CRState.REFUSED
    assert cr.checks is not None
    assert (cr.checks["failed_fatal"], house.version) == (1, before)
    run = load_run(house.ws, cr)
    assert run is not None
    failed = [o for o in run.outcomes if o.status != "passed"]
    assert [(o.name, [r.row_id for r in o.failing]) for o in failed] == [("values_to_not_be_null__amount", ["A2"])]
    assert run.facts.staging_version == cr.staging_version
    assert run.facts.suite_hash == house.ws.spec(house.ref).suite_hash
    with pytest.raises(StateError, match="is refused"):
        house.approve(cr_id)
    with pytest.raises(StateError, match="main was not touched"):
        house.merge(cr_id)


def test_an_update_changes_only_what_the_file_names(house: House):
    house.land(FIRST)
    cr_id = house.review("order_id;amount\nA1;11.50\nA2;20\nA4;4\n")
    page = review.review_diff(house.ws, house.ann, house.ref, cr_id)
    assert page.counts.as_json() == {"inserted": 1, "updated": 1, "deleted": 0, "unchanged": 1}
    assert {c.name: c.cells_changed for c in page.columns} == {"order_id": 0, "amount": 1}
    updated = next(r for r in page.rows if r["change"] == "updated")
    assert {k: str(v) for k, v in updated["cells"]["amount"].items()} == {"old": "10.50", "new": "11.50"}
    house.approve(cr_id)
    merged = house.merge(cr_id)
    assert house.rows() == {
        "A1": ("11.50", "open"),
        "A2": ("20.00", "open"),
        "A3": ("30.00", "paid"),
        "A4": ("4.00", None),
    }
    metrics = log.commits(house.ws.layout(house.ref).main, 1)[0].metrics
    assert (metrics["numTargetRowsUpdated"], metrics["numTargetRowsInserted"]) == ("1", "1")
    assert merged.merged_version is not None
    assert house.rows(merged.merged_version - 1)["A1"] == ("10.50", "open")


def test_the_author_cannot_approve_and_one_yes_counts_once(house: House):
    cr_id = house.review(FIRST)
    with pytest.raises(NotAllowedError, match="cannot approve it as well"):
        review.approve(house.ws, house.ann, house.ref, cr_id)
    assert house.approve(cr_id).state is CRState.APPROVED
    assert house.approve(cr_id).state is CRState.APPROVED
    shown = review.show(house.ws, house.ann, house.ref, cr_id)
    assert [a["approver"] for a in shown["approvals"]] == ["bob"]


def test_two_approvals_take_two_people(new_house: Callable[..., House]):
    house = new_house(ORDERS + "approvals: 2\n")
    cr_id = house.review(FIRST)
    assert house.approve(cr_id).state is CRState.IN_REVIEW
    with pytest.raises(StateError, match="not approved"):
        house.merge(cr_id)
    cleo = sign_in(house.ws.catalog, add_user(house.ws.catalog, house.ann, "cleo", Role.REVIEWER, "shop").token)
    assert review.approve(house.ws, cleo, house.ref, cr_id).state is CRState.APPROVED
    house.merge(cr_id)
    commit = log.commits(house.ws.layout(house.ref).main, 1)[0]
    assert commit.metadata is not None
    assert commit.metadata.approvers == ("bob", "cleo")


def test_a_warning_must_be_acknowledged_with_a_reason(house: House):
    cr_id = house.review("order_id,amount\nA1,-5\n")
    check = "values_to_be_between__amount"
    with pytest.raises(StateError, match=check):
        house.approve(cr_id)
    with pytest.raises(StateError, match=check):
        house.approve(cr_id, **{check: "  "})
    with pytest.raises(UsageError, match="no failed warning"):
        house.approve(cr_id, **{check: "a refund", "other": "x"})
    assert house.approve(cr_id, **{check: "a refund"}).state is CRState.APPROVED


def test_who_may_only_look_may_neither_send_nor_approve(house: House):
    viewer = sign_in(house.ws.catalog, add_user(house.ws.catalog, house.ann, "vic", Role.VIEWER, "shop").token)
    cr_id = house.review(FIRST)
    for attempt in (
        lambda: house.send(FIRST, by=viewer),
        lambda: review.approve(house.ws, viewer, house.ref, cr_id),
        lambda: review.reject(house.ws, viewer, house.ref, cr_id, "no"),
        lambda: review.withdraw(house.ws, viewer, house.ref, cr_id),
    ):
        with pytest.raises(NotAllowedError):
            attempt()
    assert query.query(house.ws, viewer, house.ref).rows == []


def test_what_was_staged_after_the_approval_is_not_merged(house: House):
    cr_id = house.review(FIRST)
    house.approve(cr_id)
    before = house.version
    # Somebody with access to the lake writes into the staged table behind our back.
    cr = house.cr(cr_id)
    rows = rows_to_stage(house.ws, cr)
    rows.write.format("delta").mode("append").save(str(house.staging_folder(cr_id)))
    with pytest.raises(StaleApprovalError, match="changed after the approval"):
        house.merge(cr_id)
    assert house.version == before
    assert house.cr(cr_id).state is CRState.IN_REVIEW
    with pytest.raises(StateError, match="not approved"):
        house.merge(cr_id)


def test_staging_anew_voids_the_approval(new_house: Callable[..., House]):
    house = new_house(ORDERS + "approvals: 2\n")
    cr_id = house.review(FIRST)
    house.approve(cr_id)
    stage(house.ws, house.cr(cr_id), rows_to_stage(house.ws, house.cr(cr_id)))
    shown = review.show(house.ws, house.ann, house.ref, cr_id)
    assert [(a["valid"], a["void_reason"]) for a in shown["approvals"]] == [(False, "staged anew")]


def test_changed_checks_void_the_approval(house: House):
    cr_id = house.review(FIRST)
    house.approve(cr_id)
    datasets.apply_dataset(house.ws, house.ann, parse_spec(ORDERS.replace("min_value: 0", "min_value: 1")))
    with pytest.raises(StaleApprovalError, match="checks changed"):
        house.merge(cr_id)
    review.retry(house.ws, house.ann, house.ref, cr_id)
    assert house.check(cr_id).state is CRState.IN_REVIEW


@pytest.mark.parametrize("lie", [{"content_hash": "0" * 64}, {"staging_version": 7}, {"validation_run_id": None}])
def test_a_catalog_that_was_tampered_with_fails_closed(house: House, lie: dict[str, object]):
    cr_id = house.review(FIRST)
    house.approve(cr_id)
    with house.ws.catalog.write() as tx:
        tx.execute(update(ChangeRequest).where(ChangeRequest.id == cr_id).values(**lie))
    before = house.version
    with pytest.raises(StaleApprovalError):
        house.merge(cr_id)
    assert house.version == before


def test_merging_twice_commits_once(house: House):
    cr = house.land(FIRST)
    assert house.merge(cr.id).merged_version == cr.merged_version
    assert house.version == cr.merged_version


def test_append_meets_a_row_that_is_there_already(house: House):
    house.land(FIRST)
    cr_id = house.review("order_id,amount\nA1,1\nB1,2\n", mode=Mode.APPEND)
    assert house.cr(cr_id).state is CRState.REFUSED
    run = load_run(house.ws, house.cr(cr_id))
    assert run is not None
    failed = [o for o in run.outcomes if o.status != "passed"]
    assert [(o.name, [r.row_id for r in o.failing]) for o in failed] == [("appended_rows_are_new", ["A1"])]


def test_replace_deletes_what_the_file_leaves_out(house: House):
    house.land(FIRST)
    cr_id = house.review("order_id,amount,status\nA1,10.50,open\nB1,1,new\n", mode=Mode.REPLACE)
    assert house.cr(cr_id).counts == {"inserted": 1, "updated": 0, "deleted": 2, "unchanged": 1}
    house.approve(cr_id)
    house.merge(cr_id)
    assert house.rows() == {"A1": ("10.50", "open"), "B1": ("1.00", "new")}


def test_delete_takes_keys_and_leaves_the_rest(house: House):
    house.land(FIRST)
    house.land("order_id\nA2\nnot-there\n", mode=Mode.DELETE)
    assert set(house.rows()) == {"A1", "A3"}


def test_a_dataset_without_a_key_only_grows(new_house: Callable[..., House]):
    house = new_house(ORDERS.replace("key: [order_id]\n", ""))
    with pytest.raises(UsageError, match="has no key"):
        house.send(FIRST)
    house.land(FIRST, mode=Mode.APPEND)
    house.land(FIRST, mode=Mode.APPEND)
    assert len(query.query(house.ws, house.ann, house.ref).rows) == 6


def test_an_unknown_column_is_shown_for_review_and_added_with_the_merge(house: House):
    house.land(FIRST)
    cr_id = house.review("order_id,amount,channel\nA1,10.50,web\nA9,9,shop\n")
    assert house.cr(cr_id).new_columns == [{"name": "channel", "type": "string"}]
    assert "channel" not in house.ws.spec(house.ref).column_names
    house.approve(cr_id)
    house.merge(cr_id)
    assert house.ws.spec(house.ref).column_names[-1] == "channel"
    found = {r["row_id"]: r["channel"] for r in query.query(house.ws, house.ann, house.ref).rows}
    assert found == {"A1": "web", "A2": None, "A3": None, "A9": "shop"}


def test_a_dataset_may_refuse_unknown_columns(new_house: Callable[..., House]):
    house = new_house(ORDERS + "policies: {new_columns: refuse}\n")
    with pytest.raises(BadFileError, match="channel"):
        house.send("order_id,amount,channel\nA1,10.50,web\n")


def test_without_approvals_needed_a_good_file_is_approved_by_its_policy(new_house: Callable[..., House]):
    house = new_house(ORDERS + "approvals: 0\n")
    cr_id = house.review(FIRST)
    assert house.cr(cr_id).state is CRState.APPROVED
    assert house.merge(cr_id).state is CRState.CLOSED


def test_reject_and_withdraw_end_it_and_delete_what_was_staged(house: House):
    rejected, withdrawn = house.review(FIRST), house.review(FIRST)
    with pytest.raises(UsageError):
        review.reject(house.ws, house.bob, house.ref, rejected, " ")
    assert review.reject(house.ws, house.bob, house.ref, rejected, "wrong month").state is CRState.REJECTED
    with pytest.raises(NotAllowedError):
        review.withdraw(house.ws, house.bob, house.ref, withdrawn)
    assert review.withdraw(house.ws, house.ann, house.ref, withdrawn).state is CRState.WITHDRAWN
    assert not house.staging_folder(rejected).exists()
    assert not house.staging_folder(withdrawn).exists()
    assert house.rows() == {}


def test_bad_rows_refuse_the_file_and_are_all_named(house: House):
    cr_id = house.send("order_id,amount,ordered_on\nA1,1,2026-01-01\nA2,x,2026-02-30\nA1,2,2026-01-01\n")
    cr = house.cr(cr_id)
    assert cr.state is CRState.FAILED
    assert cr.reason == "3 of 3 rows cannot be taken."
    with pytest.raises(StateError):
        stage(house.ws, cr, None)  # type: ignore[arg-type]


def test_good_rows_go_on_when_bad_ones_are_set_aside(house: House):
    cr_id = house.send("order_id,amount\nA1,1\nA2,x\n", set_aside=True)
    assert house.check(cr_id).state is CRState.IN_REVIEW
    house.approve(cr_id)
    house.merge(cr_id)
    assert house.rows() == {"A1": ("1.00", None)}


def test_an_unknown_dataset_or_change_request_is_not_found(house: House):
    from oreo_assets.model.ids import DatasetRef

    with pytest.raises(NotFoundError):
        query.query(house.ws, house.ann, DatasetRef("shop", "nothing"))
    with pytest.raises(NotFoundError):
        review.show(house.ws, house.ann, house.ref, "cr_none")
