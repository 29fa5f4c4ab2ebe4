"""`oreo up`, sensors and Dagster's UI: what a data team meets. The tests of this folder share one platform."""

from __future__ import annotations

import json
import urllib.request
from typing import Any

import pytest

from .conftest import ORDERS, Platform

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

REF = "shop/orders"
LOCATION = {"repositoryLocationName": "oreo_assets.definitions", "repositoryName": "__repository__"}
ASSETS = """
query { assetNodes {
  assetKey { path } groupName kinds description isPartitioned
  owners { ... on TeamAssetOwner { team } ... on UserAssetOwner { email } }
  dependencyKeys { path }
  partitionKeys
  assetMaterializations(limit: 1) { metadataEntries { label ... on IntMetadataEntry { intValue } } }
} }
"""
LAUNCH = """
mutation Launch($params: ExecutionParams!) {
  launchRun(executionParams: $params) {
    __typename ... on LaunchRunSuccess { run { runId } } ... on PythonError { message }
  }
}
"""
RUN = """
query Run($id: ID!) { runOrError(runId: $id) { ... on Run {
  status
  eventConnection { events { __typename ... on ExecutionStepFailureEvent { failureMetadata { description } } } }
} } }
"""


def test_the_api_says_that_all_is_well(platform: Platform):
    with urllib.request.urlopen(f"http://127.0.0.1:{platform.api_port}/healthz", timeout=10) as reply:
        health = json.load(reply)
    assert health["status"] == "ok"
    assert health["spark"]["up"]


def test_a_dataset_applied_while_it_runs_appears_with_its_graph(platform: Platform):
    nodes = _assets(platform)
    assert set(nodes) == {"imports", "staging", "main", "audit"}
    assert nodes["main"]["kinds"] == ["deltalake", "spark"]
    assert nodes["main"]["owners"] == [{"team": "sales"}]
    assert nodes["main"]["dependencyKeys"] == [{"path": ["shop", "orders", "staging"]}]


def test_an_upload_is_staged_and_checked_by_a_sensor_and_merged_after_its_approval(platform: Platform):
    sent = platform.oreo("upload", REF, platform.file("order_id,amount,status\nA1,1.50,open\nA2,2,open\n"), "--wait")
    assert sent["state"] == "in_review"
    cr_id = sent["change_request_id"]
    shown = platform.oreo("cr", "show", REF, cr_id)
    assert shown["counts"] == {"inserted": 2, "updated": 0, "deleted": 0, "unchanged": 0}
    merged = platform.oreo("cr", "approve", REF, cr_id, "--wait", by="bob")
    assert merged["state"] in ("merged", "closed")
    rows = platform.oreo("query", REF, "--select", "order_id,amount")["rows"]
    assert rows == [{"order_id": "A1", "amount": 1.5}, {"order_id": "A2", "amount": 2.0}]
    # The audit asset comes after main in the same run.
    platform.wait("the facts in Dagster", lambda: _facts(platform, "audit").get("commits_added"))
    assert cr_id in _assets(platform)["main"]["partitionKeys"]
    facts = _facts(platform, "main")
    assert facts["dagster/row_count"] == 2
    assert facts["delta_version"] == platform.oreo("dataset", "show", REF)["delta_version"]


def test_a_refused_file_ends_with_its_reasons(platform: Platform):
    before = platform.oreo("dataset", "show", REF)
    refused = platform.oreo("upload", REF, platform.file("order_id,amount\nA1,9\nB1,\n"), "--wait", code=3)
    assert refused["state"] == "refused"
    checks = platform.oreo("cr", "checks", REF, refused["change_request_id"])["checks"]
    failed = [c for c in checks if c["status"] == "failed"]
    assert [(c["name"], [r["row_id"] for r in c["failing"]]) for c in failed] == [("amount_is_known", ["B1"])]
    assert platform.oreo("dataset", "show", REF)["delta_version"] == before["delta_version"]


def test_a_file_that_another_program_drops_is_found(platform: Platform):
    folder = platform.folder / "lake" / "projects" / "shop" / "datasets" / "orders" / "imports" / "up_dropped"
    folder.mkdir()
    (folder / "raw.csv").write_text("order_id,amount\nD1,4\n")

    def found() -> Any:
        return [
            c for c in platform.oreo("cr", "list", REF) if c["upload_id"] == "up_dropped" and c["state"] == "in_review"
        ]

    (cr,) = platform.wait("the dropped file in review", found)
    assert cr["author"] == "file-drop"


def test_materializing_main_from_the_ui_without_an_approval_fails_and_says_what_to_do(platform: Platform):
    sent = platform.oreo("upload", REF, platform.file("order_id,amount\nC1,3\n"), "--wait")
    cr_id = sent["change_request_id"]
    params = {
        "selector": {**LOCATION, "pipelineName": "shop__orders__merge"},
        "mode": "default",
        "executionMetadata": {"tags": [{"key": "dagster/partition", "value": cr_id}]},
    }
    launched = platform.graphql(LAUNCH, params=params)["launchRun"]
    assert launched["__typename"] == "LaunchRunSuccess", launched
    run_id = launched["run"]["runId"]
    run = platform.wait("the run's end", lambda: _ended(platform, run_id))
    assert run["status"] == "FAILURE"
    said = " ".join(
        e["failureMetadata"]["description"] for e in run["eventConnection"]["events"] if e.get("failureMetadata")
    )
    assert "not approved; main was not touched" in said
    assert f"oreo cr approve {REF} {cr_id}" in said


@pytest.mark.browser
def test_the_ui_shows_the_lineage_and_the_failed_check(platform: Platform, page: Any):
    base = f"http://127.0.0.1:{platform.dagster_port}"
    page.goto(f"{base}/asset-groups/")
    for layer in ("imports", "staging", "main", "audit"):
        page.get_by_text(layer, exact=True).first.wait_for(timeout=60_000)
    page.goto(f"{base}/assets/shop/orders/staging?view=checks&checkDetail=amount_is_known")
    page.get_by_text("amount is never null", exact=False).first.wait_for(timeout=60_000)
    page.goto(f"{base}/assets/shop/orders/main")
    page.get_by_text("Approved data only", exact=False).first.wait_for(timeout=60_000)
    page.get_by_text("The number on the invoice").first.wait_for(timeout=60_000)


def test_a_second_dataset_is_seen_by_the_sensors_too(platform: Platform):
    platform.oreo("dataset", "apply", platform.file(ORDERS.replace("dataset: orders", "dataset: returns"), "r.yaml"))
    sent = platform.oreo("upload", "shop/returns", platform.file("order_id,amount\nR1,4\n"), "--wait")
    assert sent["state"] == "in_review"


def _assets(platform: Platform) -> dict[str, Any]:
    nodes = platform.graphql(ASSETS)["assetNodes"]
    return {n["assetKey"]["path"][-1]: n for n in nodes if n["assetKey"]["path"][:2] == ["shop", "orders"]}


def _facts(platform: Platform, layer: str) -> dict[str, int]:
    materializations = _assets(platform)[layer]["assetMaterializations"]
    entries = materializations[0]["metadataEntries"] if materializations else []
    return {e["label"]: e["intValue"] for e in entries if e.get("intValue") is not None}


def _ended(platform: Platform, run_id: str) -> Any:
    run = platform.graphql(RUN, id=run_id)["runOrError"]
    return run if run["status"] in ("SUCCESS", "FAILURE", "CANCELED") else None
