"""Reviewing over HTTP: comments, requested changes, standing, and reports as pages."""

from __future__ import annotations

from collections.abc import Callable

from .conftest import ORDERS, Api

InReview = Callable[..., str]


def test_a_conversation_about_a_change_request(api: Api, in_review: InReview):
    place = f"{ORDERS}/change-requests/{in_review()}"
    said = api.post(f"{place}/comments", {"text": "net?", "row_id": "A1", "column": "amount"}, "rev")
    assert (said.status_code, said.json()["kind"]) == (201, "comment")
    again = api.post(f"{place}/comments", {"text": "x"}, "con", headers={"Idempotency-Key": "k"})
    assert api.post(f"{place}/comments", {"text": "x"}, "con", headers={"Idempotency-Key": "k"}).json() == again.json()
    listed = api.get(f"{place}/comments", "vic")
    assert [c["text"] for c in listed.json()] == ["net?", "x"]
    first = api.get(f"{place}/comments?limit=1", "vic")
    assert 'rel="next"' in first.headers["Link"] and len(first.json()) == 1
    settled = api.post(f"{place}/comments/{said.json()['comment_id']}/resolve", user="con")
    assert settled.json()["resolved_by"] == "con"
    assert api.post(f"{place}/comments/cm_none/resolve", user="con").status_code == 404
    assert api.post(f"{place}/comments", {"text": "x", "row_id": "nope"}, "con").status_code == 404


def test_requested_changes_are_seen_and_block_the_approval(api: Api, in_review: InReview):
    place = f"{ORDERS}/change-requests/{in_review()}"
    assert api.get(f"{place}/standing", "ada").json()["can_approve"] is True
    api.post(f"{place}/request-changes", {"reason": "net, please"}, "rev")
    stands = api.get(f"{place}/standing", "ada").json()
    assert [reason["code"] for reason in stands["reasons"]] == ["changes_requested"]
    refused = api.post(f"{place}/approve", {}, "ada")
    assert (refused.status_code, refused.json()["error"]["message"]) == (409, stands["reasons"][0]["message"])


def test_a_diff_by_conflict_is_never_taken_for_known(api: Api, in_review: InReview):
    place = f"{ORDERS}/change-requests/{in_review(warning=True)}/diff"
    assert "ETag" in api.get(place).headers
    assert "ETag" not in api.get(f"{place}?conflict=true").headers
    failed = api.get(f"{place}?check=values_to_be_between__amount").json()
    assert ([row["row_id"] for row in failed["rows"]], failed["matching"]) == (["A1"], 1)
    assert api.get(f"{place}?check=nope").status_code == 422


def test_only_what_was_merged_can_be_reverted(api: Api, in_review: InReview):
    assert api.post(f"{ORDERS}/change-requests/{in_review()}/revert", user="con").status_code == 409


def test_a_report_is_a_page_for_those_who_may_see_the_dataset(api: Api, in_review: InReview):
    cr_id = in_review(warning=True)
    run_id = api.get(f"{ORDERS}/change-requests/{cr_id}").json()["validation_run_id"]
    page = api.get(f"/reports/shop/orders/{run_id}", "vic")
    assert (page.status_code, page.headers["Content-Type"]) == (200, "text/html; charset=utf-8")
    assert "default-src 'none'" in page.headers["Content-Security-Policy"]
    assert "values_to_be_between__amount" in page.text and f"/p/shop/orders/cr/{cr_id}" in page.text
    assert api.get(f"/reports/shop/orders/{run_id}", None).status_code == 401
    browser = {"headers": {"Accept": "text/html"}, "follow_redirects": False}
    sent_on = api.get(f"/reports/shop/orders/{run_id}", None, **browser)
    assert sent_on.headers["Location"] == f"/sign-in?next=%2Freports%2Fshop%2Forders%2F{run_id}"
    assert api.get("/reports/shop/orders/vr_none").status_code == 404
    assert api.get(f"/reports/shop/other/{run_id}").status_code == 404
    assert api.get("/reports/shop/orders/..%2f..%2fcatalog").status_code in (404, 422)
