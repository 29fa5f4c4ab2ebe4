"""Deciding on a change request from the command line."""

from __future__ import annotations

from .conftest import Oreo
from .lake_without_spark import WARNING


def test_show_has_the_keys_scripts_read_and_the_next_command_for_people(shop: Oreo, in_review):
    cr_id = in_review()
    shown = shop("cr", "show", "shop/orders", cr_id, "--json", user="vic").json
    assert (shown["change_request_id"], shown["state"], shown["mode"]) == (cr_id, "in_review", "upsert")
    assert (shown["author"], shown["base_version"], shown["staging_version"]) == ("con", 1, 0)
    assert shown["counts"] == {"inserted": 1, "updated": 1, "deleted": 0, "unchanged": 1}
    assert shown["checks"] == {"passed": 1, "failed_fatal": 0, "failed_warning": 0}
    assert (shown["approvals"], shown["merged_version"], shown["commit_id"]) == ([], None, None)
    card = shop("cr", "show", "shop/orders", cr_id).out
    assert f"oreo cr approve shop/orders {cr_id}" in card
    assert "main 1 → staged 0" in card
    assert "October" in card


def test_list_is_newest_first_and_can_be_of_open_ones_only(shop: Oreo, in_review):
    older, newer = in_review(), in_review(fatal=True)
    assert [cr["change_request_id"] for cr in shop("cr", "list", "--json").json] == [newer, older]
    only = shop("cr", "list", "shop/orders", "--open", "--json").json
    assert [cr["change_request_id"] for cr in only] == [older]


def test_checks_come_with_their_failing_rows(shop: Oreo, in_review):
    cr_id = in_review(warning=True)
    run = shop("cr", "checks", "shop/orders", cr_id, "--json").json
    assert run["validation_run_id"].startswith("vr_")
    assert run["verdict"]["failed_warning"] == 1
    failed = next(check for check in run["checks"] if check["status"] == "failed")
    assert failed["failing"] == [{"row_id": "A1", "key": {"order_id": "A1"}, "values": {"amount": "-5.00"}}]
    assert "-5.00" in shop("cr", "checks", "shop/orders", cr_id).out
    assert "-5.00" not in shop("cr", "checks", "shop/orders", cr_id, "--rows", "0").out


def test_diff_pages_and_filters(shop: Oreo, in_review):
    cr_id = in_review()
    first = shop("cr", "diff", "shop/orders", cr_id, "--limit", "1", "--json").json
    assert first["counts"] == {"inserted": 1, "updated": 1, "deleted": 0, "unchanged": 1}
    assert {column["name"]: column["cells_changed"] for column in first["columns"]}["amount"] == 1
    (row,) = first["rows"]
    assert (row["row_id"], row["change"], row["cells"]) == ("A1", "updated", {"amount": {"old": 12.5, "new": -5.0}})
    rest = shop("cr", "diff", "shop/orders", cr_id, "--after", first["next"], "--json").json
    assert [(row["row_id"], row["change"]) for row in rest["rows"]] == [("A4", "inserted")]
    assert rest["next"] is None
    inserted = shop("cr", "diff", "shop/orders", cr_id, "--kind", "inserted,deleted", "--json").json
    assert [row["row_id"] for row in inserted["rows"]] == ["A4"]


def test_approve_wants_a_second_person_and_each_warning_acknowledged(shop: Oreo, in_review):
    cr_id = in_review(warning=True, author="rev")
    assert shop("cr", "approve", "shop/orders", cr_id, user="rev").code == 5
    ran = shop("cr", "approve", "shop/orders", cr_id, "--json")
    assert ran.code == 4
    assert f"--ack {WARNING}" in ran.json["error"]["remedy"]
    ran = shop("cr", "approve", "shop/orders", cr_id, "--ack", f"{WARNING}=a refund = fine", "--json")
    assert ran.json["state"] == "approved"
    assert ran.json["approvals"][0]["acknowledged"] == {WARNING: "a refund = fine"}


def test_refused_cannot_be_approved(shop: Oreo, in_review):
    assert shop("cr", "approve", "shop/orders", in_review(fatal=True), user="rev").code == 4


def test_reject_withdraw_and_retry(shop: Oreo, in_review):
    cr_id = in_review()
    rejected = shop("cr", "reject", "shop/orders", cr_id, "--reason", "wrong month", "--json", user="rev").json
    assert (rejected["state"], rejected["reason"]) == ("rejected", "wrong month")
    assert shop("cr", "reject", "shop/orders", cr_id, "--reason", "again", user="rev").code == 4
    assert shop("cr", "withdraw", "shop/orders", in_review(), "--json", user="con").json["state"] == "withdrawn"
    assert shop("cr", "retry", "shop/orders", in_review(), "--json", user="con").json["state"] == "converted"
    assert shop("cr", "retry", "shop/orders", cr_id).code == 4
