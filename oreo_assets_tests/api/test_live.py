"""Live sessions over HTTP: the same documents as the command line, and the right status for each mistake."""

from __future__ import annotations

from typing import Any

import pytest

from .conftest import ORDERS, V1, Api

SESSIONS = f"{ORDERS}/live-sessions"


@pytest.fixture
def session(api: Api) -> str:
    made = api.post(SESSIONS, {}, "con")
    assert made.status_code == 201
    place = made.headers["Location"]
    assert place == f"{SESSIONS}/{made.json()['session_id']}"
    return place


def cells(*items: tuple[str, str, str | None]) -> dict[str, Any]:
    return {"cells": [{"row_id": r, "column": c, "value": v} for r, c, v in items]}


def test_a_session_from_opening_to_its_change_request(api: Api, session: str):
    done = api.post(f"{session}/cells", cells(("A1", "amount", "-5"), ("A3", "amount", None)), "con")
    assert done.status_code == 200
    assert done.json()["cells"][0]["validation"]["failed"][0]["check"] == "values_to_be_between__amount"
    added = api.post(f"{session}/rows", {"rows": [{"order_id": "B1", "amount": "7"}]}, "con")
    assert added.json()["row_ids"] == ["B1"]
    assert api.post(f"{session}/delete-rows", {"row_ids": ["A2"]}, "con").json()["counts"]["deleted"] == 1
    assert api.post(f"{session}/undo", None, "con").json()["can_redo"] is True
    assert api.post(f"{session}/redo", None, "con").json()["counts"]["deleted"] == 1
    page = api.get(f"{session}/rows?changed=true&order=amount.desc&limit=1", "vic").json()
    assert ([row["row_id"] for row in page["rows"]], page["next"], page["version"]) == (["B1"], 1, 1)
    (a1,) = api.get(f"{session}/rows", "vic", params={"where": "row_id=eq.A1"}).json()["rows"]
    assert (a1["change"], a1["values"]["amount"], a1["old"]) == ("updated", -5.0, {"amount": 12.5})
    assert api.get(f"{session}/diff?kind=deleted", "vic").json()["rows"][0]["row_id"] == "A2"
    theirs = api.post(SESSIONS, {"where": ["row_id=eq.A1"]}, "ada").headers["Location"]
    api.post(f"{theirs}/cells", cells(("A1", "ordered_on", "2026-02-01")), "ada")
    (overlap,) = api.get(f"{session}/others", "vic").json()["rows"]
    assert (overlap["row_id"], overlap["columns"], overlap["owner"]) == ("A1", ["ordered_on"], "ada")
    assert len(api.get(f"{V1}/live-sessions", "vic").json()) == 2
    assert len(api.get(f"{SESSIONS}?mine=true", "con").json()) == 1
    sent = api.post(f"{session}/submit", {"note": "October"}, "con")
    assert (sent.status_code, sent.json()["mode"], sent.json()["note"]) == (202, "patch", "October")
    assert sent.headers["Location"] == f"{ORDERS}/change-requests/{sent.json()['change_request_id']}"
    again = api.post(f"{session}/submit", None, "con")
    assert again.json()["change_request_id"] == sent.json()["change_request_id"]
    assert api.get(session, "vic").json()["state"] == "submitted"
    assert api.post(f"{theirs}/discard", None, "ada").json()["state"] == "discarded"


def test_each_mistake_has_its_status_and_changes_nothing(api: Api, session: str):
    for status, path, body, user in [
        (422, "cells", cells(("A2", "amount", "1"), ("A1", "amount", "1,5")), "con"),
        (404, "cells", cells(("A9", "amount", "1")), "con"),
        (409, "rows", {"rows": [{"order_id": "A1"}]}, "con"),
        (422, "rows", {"rows": [{"amount": "1"}]}, "con"),
        (404, "delete-rows", {"row_ids": ["A9"]}, "con"),
        (409, "undo", None, "con"),
        (409, "redo", None, "con"),
        (409, "submit", None, "con"),
        (422, "cells", {"cells": []}, "con"),
        (403, "cells", cells(("A1", "amount", "1")), "rev"),
        (403, "cells", cells(("A1", "amount", "1")), "vic"),
    ]:
        answer = api.post(f"{session}/{path}", body, user)
        assert answer.status_code == status, (path, body, answer.text)
        assert set(answer.json()["error"]) >= {"code", "message", "remedy", "retryable"}
    refused = api.post(f"{session}/cells", cells(("A1", "amount", "1,5")), "con").json()["error"]
    assert refused["details"]["cells"][0]["reason"].startswith("not a number: write it like")
    assert api.get(session).json()["edits"] == 0
    assert api.get(f"{SESSIONS}/se_nothing").status_code == 404


def test_an_edit_that_is_sent_again_under_its_key_is_done_once(api: Api, session: str):
    for _ in range(2):
        answer = api.post(
            f"{session}/rows", {"rows": [{"order_id": "B1"}]}, "con", headers={"Idempotency-Key": "row-b1"}
        )
        assert (answer.status_code, answer.json()["row_ids"]) == (200, ["B1"])
    assert api.get(session).json()["counts"]["inserted"] == 1
