"""Each noun's way through the API, and the same documents as `oreo --json`."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest
from deltalake import write_deltalake
from fastapi.testclient import TestClient

from oreo_assets.api.app import create_app
from oreo_assets.platform_info import write_platform_info
from oreo_assets.workflow.workspace import Workspace

from ..cli.conftest import Oreo
from ..cli.lake_without_spark import WARNING, rows
from .conftest import ORDERS, V1, Api

CUSTOMERS = {
    "project": "shop",
    "dataset": "customers",
    "columns": [{"name": "customer_id", "type": "string", "nullable": False}],
    "key": ["customer_id"],
}


@pytest.mark.parametrize(
    ("path", "command"),
    [
        (f"{V1}/projects", "project list"),
        (f"{V1}/datasets", "dataset list"),
        (f"{V1}/projects/shop/datasets", "dataset list shop"),
        (ORDERS, "dataset show shop/orders"),
        (f"{V1}/users", "user list"),
        (f"{V1}/change-requests", "cr list"),
        (f"{ORDERS}/change-requests?open=true", "cr list shop/orders --open"),
        (f"{ORDERS}/change-requests/CR", "cr show shop/orders CR"),
        (f"{ORDERS}/change-requests/CR/checks", "cr checks shop/orders CR"),
        (f"{ORDERS}/change-requests/CR/conflicts", "cr conflicts shop/orders CR"),
        (f"{ORDERS}/change-requests/CR/diff", "cr diff shop/orders CR"),
        (
            f"{ORDERS}/change-requests/CR/diff?kind=updated,unchanged&limit=1&after=A1",
            "cr diff shop/orders CR --kind updated --kind unchanged --limit 1 --after A1",
        ),
        (
            f"{ORDERS}/change-requests/CR/diff?column=amount&where=amount=lt.0&all_columns=true",
            "cr diff shop/orders CR --column amount --where amount=lt.0 --all-columns",
        ),
        (f"{ORDERS}/change-requests/CR/diff?conflict=true", "cr diff shop/orders CR --conflict"),
        (f"{ORDERS}/change-requests/CR/standing", "cr standing shop/orders CR"),
        (f"{ORDERS}/change-requests/CR/comments", "cr comments shop/orders CR"),
        (f"{ORDERS}/rows", "query shop/orders"),
        (
            f"{ORDERS}/rows?select=order_id,amount&amount=gte.1&amount=lt.100&order=order_id.desc&limit=5",
            "query shop/orders --select order_id,amount --where amount=gte.1 --where amount=lt.100 "
            "--order order_id.desc --limit 5",
        ),
        (f"{ORDERS}/rows?version=0", "query shop/orders --version 0"),
        (f"{ORDERS}/history", "history shop/orders"),
        (f"{ORDERS}/history?limit=1", "history shop/orders --limit 1"),
        (f"{V1}/audit/log?limit=3", "audit log --limit 3"),
        (f"{ORDERS}/audit/log", "audit log shop/orders"),
        (f"{V1}/audit/verify", "audit verify"),
    ],
    ids=lambda value: value if " " in value else "",
)
def test_what_is_read_is_what_the_command_line_prints(shop: Oreo, api: Api, in_review, path: str, command: str):
    cr_id = in_review(warning=True)
    answer = api.get(path.replace("CR", cr_id))
    assert answer.status_code == 200, answer.text
    assert answer.json() == shop(*command.replace("CR", cr_id).split(), "--json").json


def test_projects_are_made_once(api: Api):
    answer = api.post(f"{V1}/projects", {"project": "depot"})
    assert (answer.status_code, answer.json()) == (201, {"project": "depot", "created": True})
    answer = api.post(f"{V1}/projects", {"project": "depot"})
    assert (answer.status_code, answer.json()) == (200, {"project": "depot", "created": False})


def test_users_are_added_told_their_token_once_and_revoked(api: Api):
    made = api.post(f"{V1}/users", {"name": "eve", "role": "contributor", "project": "shop"})
    assert made.status_code == 201
    assert made.headers["Cache-Control"] == "no-store"
    assert set(made.json()) == {"name", "role", "project", "token"}
    api.tokens = {**api.tokens, "eve": made.json()["token"]}
    assert api.get(f"{V1}/users/me", "eve").json() == {"name": "eve", "roles": {"shop": "contributor"}}
    again = api.post(f"{V1}/users", {"name": "eve", "role": "reviewer"})
    assert again.json()["token"] is None
    revoked = api("DELETE", f"{V1}/users/eve")
    assert revoked.json() == {"name": "eve", "revoked": True}
    assert api.get(f"{V1}/users/me", "eve").status_code == 401


@pytest.mark.parametrize("kind", ["json", "yaml"])
def test_a_dataset_is_applied_and_dagster_told(shop: Oreo, monkeypatch: pytest.MonkeyPatch, kind: str):
    import yaml

    asked: list[Any] = []

    class Dagster(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            body = json.dumps({"data": {"reloadRepositoryLocation": {"__typename": "WorkspaceLocationEntry"}}})
            self.send_response(200)
            self.end_headers()
            self.wfile.write(body.encode())

        def log_message(self, *args: object) -> None:
            pass

    dagster = HTTPServer(("127.0.0.1", 0), Dagster)
    threading.Thread(target=dagster.handle_request, daemon=True).start()
    shop.env["DAGSTER_PORT"] = str(dagster.server_port)
    write_platform_info(shop.settings)
    # Making a table is Spark's; what is tested here is the way there.
    monkeypatch.setattr(Workspace, "spark", lambda self: None)
    monkeypatch.setattr("oreo_assets.workflow.datasets.reconcile_main", _make_table)
    body = json.dumps(CUSTOMERS) if kind == "json" else yaml.safe_dump(CUSTOMERS)
    with TestClient(create_app(shop.settings)) as client:
        api = Api(client, shop.tokens)
        headers = {"Content-Type": f"application/{kind}"}
        made = api("POST", f"{V1}/projects/shop/datasets", content=body, headers=headers)
        assert (made.status_code, made.json()) == (
            201,
            {"project": "shop", "dataset": "customers", "created": True, "changed": True, "changes": ["made"]},
        )
        assert made.headers["Location"] == f"{V1}/projects/shop/datasets/customers"
        again = api("POST", f"{V1}/projects/shop/datasets", content=body, headers=headers)
        assert (again.status_code, again.json()["changed"]) == (200, False)
        assert api.get(made.headers["Location"]).json()["spec"]["key"] == ["customer_id"]
    dagster.server_close()
    assert len(asked) == 1


def test_a_change_request_is_approved_with_its_warning_acknowledged(api: Api, in_review):
    place = f"{ORDERS}/change-requests/{in_review(warning=True)}"
    refused = api.post(f"{place}/approve", None, "rev")
    assert (refused.status_code, refused.json()["error"]["code"]) == (409, "wrong_state")
    done = api.post(f"{place}/approve", {"acknowledged": {WARNING: "a refund"}}, "rev")
    assert (done.status_code, done.json()["state"]) == (200, "approved")
    assert done.json() == api.get(place).json()
    assert done.json()["approvals"][0]["acknowledged"] == {WARNING: "a refund"}


def test_a_change_request_is_rejected_withdrawn_or_tried_again(api: Api, in_review):
    def place() -> str:
        return f"{ORDERS}/change-requests/{in_review()}"

    rejected = api.post(f"{place()}/reject", {"reason": "wrong month"}, "rev")
    assert (rejected.status_code, rejected.json()["state"], rejected.json()["reason"]) == (
        200,
        "rejected",
        "wrong month",
    )
    assert api.post(f"{place()}/withdraw", None, "con").json()["state"] == "withdrawn"
    again = api.post(f"{place()}/retry", None, "con")
    assert (again.status_code, again.json()["state"]) == (202, "converted")


def test_rows_of_a_change_request_are_rejected(shop: Oreo, api: Api, in_review):
    cr_id = in_review()
    done = api.post(
        f"{ORDERS}/change-requests/{cr_id}/reject-rows", {"reason": "not ours", "where": ["amount=lt.0"]}, "rev"
    )
    assert (done.status_code, done.json()["rows_rejected"], done.json()["state"]) == (202, 1, "converted")
    follow_up = api.get(f"{ORDERS}/change-requests/{done.json()['follow_up']}").json()
    assert (follow_up["follows"], follow_up["author"]) == (cr_id, "con")


def test_conflicts_are_shown_and_resolved(shop: Oreo, api: Api, in_review):
    from oreo_assets.catalog.change_requests import get_change_request, transition
    from oreo_assets.model.states import CRState

    from ..cli.lake_without_spark import ORDERS as SPEC

    cr_id = in_review()
    ws = Workspace.open(shop.settings)
    write_deltalake(ws.layout(SPEC.ref).main, rows(("A1", "99.00"), ("A2", None)), mode="overwrite")
    for state in (CRState.APPROVED, CRState.MERGING, CRState.CONFLICTED):
        with ws.catalog.write() as tx:
            transition(tx, get_change_request(tx, SPEC.ref, cr_id), state, actor="system")
    place = f"{ORDERS}/change-requests/{cr_id}"
    found = api.get(f"{place}/conflicts").json()
    assert [(c["row_id"], c["column"], c["staged"], c["main"]) for c in found["conflicts"]] == [
        ("A1", "amount", -5, 99)
    ]
    unsettled = api.post(f"{place}/resolve", {}, "con")
    assert (unsettled.status_code, "A1:amount" in unsettled.json()["error"]["message"]) == (422, True)
    done = api.post(f"{place}/resolve", {"cells": [{"row_id": "A1", "column": "amount", "take": "ours"}]}, "con")
    assert (done.status_code, done.json()["state"]) == (202, "converted")


def test_restore_opens_a_change_request(api: Api):
    answer = api.post(f"{ORDERS}/restore", {"version": 0, "note": "as it began"}, "con")
    assert (answer.status_code, answer.json()["state"], answer.json()["rows_read"]) == (202, "converted", 0)
    card = api.get(answer.headers["Location"]).json()
    assert (card["mode"], card["note"]) == ("replace", "as it began")
    assert api.post(f"{ORDERS}/restore", {}, "con").status_code == 422
    assert api.post(f"{ORDERS}/restore", {"version": 9}, "con").status_code == 404


def test_chores_and_recovery_are_jobs_to_poll(api: Api):
    for path in (f"{V1}/maintenance/cleanup?dry_run=true", f"{ORDERS}/maintenance/checkpoint?dry_run=true"):
        started = api.post(path)
        assert started.status_code == 202
        done = api.wait_for(started.json())
        assert (done["state"], done["result"]["dry_run"], len(done["result"]["reports"])) == ("done", True, 1)
        assert started.headers["Location"] == f"{V1}/jobs/{done['job_id']}"
    assert api.wait_for(api.post(f"{ORDERS}/recover").json())["result"] == {"recovered": [], "driven": []}
    job = api.post(f"{V1}/recover", None, "con").json()
    assert api.get(f"{V1}/jobs/{job['job_id']}", "con").status_code == 200
    assert api.get(f"{V1}/jobs/{job['job_id']}", "vic").status_code == 404


def test_a_job_that_fails_says_why(api: Api, monkeypatch: pytest.MonkeyPatch):
    def broken(*args: object, **options: object) -> None:
        raise ZeroDivisionError("a secret cell")

    monkeypatch.setattr("oreo_assets.api.routes.maintenance.maintain_all", broken)
    done = api.wait_for(api.post(f"{V1}/maintenance/cleanup").json())
    assert (done["state"], done["error"]["code"]) == ("failed", "defect")
    assert "secret" not in json.dumps(done)


def test_the_entry_points_of_the_older_service(api: Api):
    sent = api.post("/delta/append", {"table": "shop/orders", "rows": [{"order_id": "B1", "amount": "1.50"}]}, "con")
    assert (sent.status_code, sent.json()["state"]) == (202, "converted")
    assert api.get(sent.headers["Location"]).json()["mode"] == "append"
    replaced = api.post("/delta/overwrite", {"table": "shop/orders", "rows": [{"order_id": "B1"}]}, "con")
    assert api.get(replaced.headers["Location"]).json()["mode"] == "replace"
    bad = api.post("/delta/append", {"table": "shop/orders", "rows": [{"order_id": "B1", "amount": "much"}]}, "con")
    assert (bad.status_code, bad.json()["error"]["details"]["rejects"][0]["value"]) == (422, "much")
    mixed = api.post("/delta/append", {"table": "shop/orders", "rows": [{"order_id": 2**70}, {"order_id": "x"}]}, "con")
    assert mixed.status_code == 422
    history = api.get(f"{ORDERS}/history").json()
    assert api.get("/delta/history?table=shop/orders").json() == history
    assert api.get("/api/datasets/shop.orders/history").json() == history
    found = api.get("/delta/query?table=shop/orders&where=amount=gte.1&limit=1").json()
    assert found == api.post("/delta/query", {"table": "shop/orders", "where": ["amount=gte.1"], "limit": 1}).json()
    assert [row["row_id"] for row in found["rows"]] == ["A1"]
    for answer in (
        api.post("/delta/restore", {"table": "shop/orders", "version": 0}, "con"),
        api.post("/api/datasets/shop.orders/restore", {"version": 0}, "con"),
    ):
        assert (answer.status_code, answer.json()["state"]) == (202, "converted")


def _make_table(spark: object, spec: object, uri: str) -> list[str]:
    write_deltalake(uri, rows())
    return ["made"]
