"""`oreo live`: the life of a session from the command line."""

from __future__ import annotations

from .conftest import Oreo

KEYS = {"session_id", "owner", "state", "base_version", "counts", "expires_at", "bytes", "change_request_id", "where"}


def opened(shop: Oreo, *args: str) -> str:
    ran = shop("live", "open", "shop/orders", *args, "--json", user="con")
    assert ran.code == 0, ran.err
    assert set(ran.json) >= KEYS
    return str(ran.json["session_id"])


def test_a_session_from_opening_to_its_change_request(shop: Oreo):
    session = opened(shop)

    def live(verb: str, *args: str) -> dict:
        ran = shop("live", verb, "shop/orders", session, *args, "--json", user="con")
        assert ran.code == 0, ran.err
        return ran.json

    done = live("set", "A1:amount=-5", "A2:ordered_on=2026-02-01", "--null", "A3:amount")
    assert [cell["new"] for cell in done["cells"]] == ["-5.00", "2026-02-01", None]
    assert done["cells"][0]["validation"]["failed"][0]["severity"] == "warning"
    assert live("add", "order_id=B1", "amount=7.50")["row_ids"] == ["B1"]
    assert live("delete", "A2")["counts"]["deleted"] == 1
    assert live("undo")["can_redo"] is True
    assert live("redo")["counts"] == {
        **{"inserted": 1, "updated": 2, "deleted": 1, "cells": 2},
        **{"failed_fatal": 0, "failed_warning": 1, "failed_info": 0},
    }
    changed = live("rows", "--changed", "--order", "amount.desc", "--limit", "1")
    assert ([row["row_id"] for row in changed["rows"]], changed["next"]) == (["B1"], 1)
    diff = live("diff")
    assert diff["counts"] == {"inserted": 1, "updated": 2, "deleted": 1, "unchanged": 0}
    assert {"counts", "columns", "rows", "next"} <= set(diff)
    assert live("others") == {"rows": []}
    assert live("show")["edits"] == 9
    sent = live("submit", "--note", "October")
    assert (sent["session_id"], sent["mode"], sent["note"], sent["base_version"]) == (session, "patch", "October", 1)
    assert live("submit")["change_request_id"] == sent["change_request_id"]
    assert shop("live", "list", "--json", user="con").json == []
    (listed,) = shop("live", "list", "shop/orders", "--all", "--mine", "--json", user="con").json
    assert (listed["state"], listed["change_request_id"]) == ("submitted", sent["change_request_id"])


def test_people_see_values_warnings_and_what_to_do_next(shop: Oreo):
    session = opened(shop, "--where", "amount=gte.10")
    ran = shop("live", "set", "shop/orders", session, "A1:amount=-5", user="con")
    assert "A1:amount" in ran.out and "12.50 → -5.00" in ran.out
    assert "warning: amount is at least 0" in ran.out
    shown = shop("live", "show", "shop/orders", session)
    assert "amount=gte.10" in shown.out and f"oreo live set shop/orders {session}" in shown.out
    assert session in shop("live", "list", "shop/orders").out
    assert "~" in shop("live", "rows", "shop/orders", session).out
    assert "Nobody else" in shop("live", "others", "shop/orders", session).out
    assert "-5.00" in shop("live", "diff", "shop/orders", session).out
    assert "discarded" in shop("live", "discard", "shop/orders", session, user="con").out


def test_each_mistake_has_its_exit_code(shop: Oreo):
    session = opened(shop)
    place = ("shop/orders", session)
    for code, args, user in [
        (3, ("set", *place, "A1:amount=1,5"), "con"),
        (2, ("set", *place, "A1amount=1"), "con"),
        (2, ("set", *place), "con"),
        (2, ("add", *place, "order_id"), "con"),
        (6, ("set", *place, "A9:amount=1"), "con"),
        (4, ("undo", *place), "con"),
        (4, ("submit", *place), "con"),
        (5, ("set", *place, "A1:amount=1"), "rev"),
        (5, ("open", "shop/orders"), "vic"),
        (6, ("show", "shop/orders", "se_nothing"), "con"),
        (2, ("show", "shop/orders", "../../etc"), "con"),
    ]:
        ran = shop("live", *args, "--json", user=user)
        assert ran.code == code, (args, ran.out, ran.err)
        assert set(ran.json["error"]) >= {"code", "message", "remedy", "retryable"}
    assert shop("live", "show", *place, "--json").json["edits"] == 0
