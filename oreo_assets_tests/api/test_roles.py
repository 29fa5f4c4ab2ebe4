"""Who may do what: every route that changes something, for every role."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from .conftest import ORDERS, V1, Api
from .test_uploads import GOOD

ROLES = ["vic", "con", "rev", "ada"]
CR = f"{ORDERS}/change-requests/CR"
SESSION = f"{ORDERS}/live-sessions/SESSION"

DECLARED = {"project": "shop", "dataset": "x", "columns": [{"name": "a", "type": "string"}]}

# Each request, and the weakest role that it lets through (whatever else may then stand against it).
MATRIX: list[tuple[str, str, Any, str]] = [
    ("POST", f"{V1}/projects", {"project": "depot"}, "ada"),
    ("POST", f"{V1}/projects/shop/datasets", DECLARED, "ada"),
    ("POST", f"{V1}/users", {"name": "eve", "role": "viewer"}, "ada"),
    ("GET", f"{V1}/users", None, "ada"),
    ("DELETE", f"{V1}/users/vic", None, "ada"),
    ("POST", f"{ORDERS}/uploads", "file", "con"),
    ("POST", f"{CR}/approve", {}, "rev"),
    ("POST", f"{CR}/reject", {"reason": "no"}, "rev"),
    ("POST", f"{CR}/reject-rows", {"reason": "no", "row_ids": ["A1"]}, "rev"),
    ("POST", f"{CR}/withdraw", None, "con"),
    ("POST", f"{CR}/retry", None, "con"),
    ("POST", f"{CR}/resolve", {"take": "ours"}, "con"),
    ("POST", f"{CR}/request-changes", {"reason": "net, please"}, "rev"),
    ("POST", f"{CR}/comments", {"text": "why?"}, "con"),
    ("POST", f"{CR}/comments/COMMENT/resolve", None, "con"),
    ("POST", f"{CR}/revert", None, "con"),
    ("GET", f"{CR}/comments", None, "vic"),
    ("GET", f"{CR}/standing", None, "vic"),
    ("POST", f"{ORDERS}/live-sessions", {}, "con"),
    ("POST", f"{SESSION}/cells", {"cells": [{"row_id": "A1", "column": "amount", "value": "1"}]}, "con"),
    ("POST", f"{SESSION}/rows", {"rows": [{"order_id": "B1"}]}, "con"),
    ("POST", f"{SESSION}/delete-rows", {"row_ids": ["A1"]}, "con"),
    ("POST", f"{SESSION}/undo", None, "con"),
    ("POST", f"{SESSION}/redo", None, "con"),
    ("POST", f"{SESSION}/submit", None, "con"),
    ("POST", f"{SESSION}/discard", None, "con"),
    ("POST", f"{ORDERS}/restore", {"version": 0}, "con"),
    ("POST", f"{ORDERS}/maintenance/cleanup", None, "ada"),
    ("POST", f"{V1}/maintenance/cleanup", None, "ada"),
    ("POST", f"{V1}/recover", None, "vic"),
    ("POST", f"{ORDERS}/recover", None, "vic"),
    ("POST", "/delta/append", {"table": "shop/orders", "rows": [{"order_id": "B1"}]}, "con"),
    ("POST", "/delta/overwrite", {"table": "shop/orders", "rows": [{"order_id": "B1"}]}, "con"),
    ("POST", "/delta/restore", {"table": "shop/orders", "version": 0}, "con"),
    ("POST", "/delta/query", {"table": "shop/orders"}, "vic"),
    ("POST", "/api/datasets/shop.orders/restore", {"version": 0}, "con"),
]


@pytest.mark.parametrize(("method", "path", "body", "weakest"), MATRIX, ids=[f"{m} {p}" for m, p, _, _ in MATRIX])
def test_each_route_takes_its_role(
    api: Api,
    in_review: Callable[..., str],
    monkeypatch: pytest.MonkeyPatch,
    method: str,
    path: str,
    body: Any,
    weakest: str,
):
    monkeypatch.setattr("oreo_assets.workflow.workspace.Workspace.spark", _no_spark)
    for user in ROLES:
        # Rev's own would be refused for another reason, so it is con's.
        place = path.replace("CR", in_review(author="con")) if "CR" in path else path
        if "COMMENT" in path:
            said = api.post(place.removesuffix("/COMMENT/resolve"), {"text": "why?"}).json()
            place = place.replace("COMMENT", said["comment_id"])
        if "SESSION" in path:
            # Each edits a session of their own; a viewer has none.
            owner = "con" if user == "vic" else user
            place = path.replace("SESSION", api.post(f"{ORDERS}/live-sessions", {}, owner).json()["session_id"])
        if body == "file":
            answer = api.upload(GOOD, user=user)
        else:
            answer = api(method, place, user, **({"json": body} if body is not None else {}))
        if ROLES.index(user) < ROLES.index(weakest):
            assert (answer.status_code, answer.json()["error"]["code"]) == (403, "not_allowed"), (
                f"{user}: {answer.text}"
            )
        elif path.endswith("withdraw") and user == "rev":
            assert answer.status_code == 403  # somebody else's: an admin's to take back
        else:
            assert answer.status_code not in (401, 403, 404), f"{user}: {answer.text}"
            assert answer.status_code < 500 or answer.status_code == 503, answer.text


def test_no_route_that_changes_something_is_missing_here(api: Api):
    paths = api.get("/api/openapi.json").json()["paths"]
    declared = {
        (m.upper(), p) for p, methods in paths.items() for m in methods if m in ("post", "put", "patch", "delete")
    }
    tested = {(m, _template(p)) for m, p, _, _ in MATRIX if m != "GET"}
    assert {(m, _template(p)) for m, p in declared} == tested


def test_the_author_cannot_approve(api: Api, in_review):
    answer = api.post(f"{ORDERS}/change-requests/{in_review(author='rev')}/approve", {}, "rev")
    assert (answer.status_code, "cannot approve" in answer.json()["error"]["message"]) == (403, True)


def test_a_role_in_one_project_is_none_in_another(api: Api):
    api.post(f"{V1}/projects", {"project": "other"})
    token = api.post(f"{V1}/users", {"name": "far", "role": "admin", "project": "other"}).json()["token"]
    api.tokens = {**api.tokens, "far": token}
    assert api.upload(GOOD, user="far").status_code == 403
    assert api.post(f"{ORDERS}/restore", {"version": 0}, "far").status_code == 403
    assert api.post(f"{ORDERS}/maintenance/cleanup", None, "far").status_code == 403
    assert api.post(f"{V1}/users", {"name": "x", "role": "viewer", "project": "other"}, "far").status_code == 201
    assert api.post(f"{V1}/users", {"name": "x", "role": "viewer"}, "far").status_code == 403
    done = api.wait_for(api.post(f"{V1}/maintenance/cleanup", None, "far").json(), "far")
    assert done["result"]["reports"] == []


def _no_spark(*args: object) -> None:
    from oreo_assets.model.errors import UnavailableError

    raise UnavailableError("There is no Spark in this test.")


def _template(path: str) -> str:
    """The path with a star for each of its parameters, given or declared."""
    given = ("shop.orders", "shop", "orders", "CR", "COMMENT", "SESSION", "cleanup", "vic")
    return "/".join("*" if part in given or part.startswith("{") else part for part in path.split("/"))
