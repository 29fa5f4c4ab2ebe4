"""Schemathesis: what the schema allows, and some that it does not, is answered as the schema says, never with 5xx."""

from __future__ import annotations

import pytest
import schemathesis
from fastapi.testclient import TestClient
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from oreo_assets.api.app import create_app
from oreo_assets.settings import Settings
from oreo_assets.workflow.maintenance import MaintenanceReport

from ..cli.conftest import Oreo

CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]
EXAMPLES = 12
KNOWN = {"project": "shop", "dataset": "orders", "dataset_id": "shop.orders"}
# Applying a dataset takes Spark; without it, what is well-formed would end with 503.
NEEDS_SPARK = ("POST", "/api/v1/projects/{project}/datasets")


def _operations() -> list[str]:
    schema = create_app(Settings.from_env({"DELTA_DATA_ROOT": "/nowhere", "OREO_HOME": "/nowhere"})).openapi()
    named = [(m.upper(), path) for path, methods in schema["paths"].items() for m in methods]
    return [f"{method} {path}" for method, path in named if (method, path) != NEEDS_SPARK]


@pytest.mark.parametrize("operation", _operations())
def test_answers_are_as_declared(shop: Oreo, in_review, monkeypatch: pytest.MonkeyPatch, operation: str):
    # A job goes on after its answer, and chores take Spark.
    monkeypatch.setattr("oreo_assets.api.routes.maintenance.maintain_all", lambda *_, **__: MaintenanceReport(True, ()))
    method, path = operation.split()
    app = create_app(shop.settings)
    known = {**KNOWN, "change_request": in_review()}
    headers = {"Authorization": f"Bearer {shop.tokens['ada']}"}
    with TestClient(app) as client:
        made = client.post("/api/v1/projects/shop/datasets/orders/live-sessions", headers=headers)
        known["session"] = made.json()["session_id"]
        schema = schemathesis.openapi.from_asgi("/api/openapi.json", app)
        one = schema[path][method]

        @given(case=one.as_strategy())
        @settings(
            max_examples=EXAMPLES,
            deadline=None,
            database=None,
            derandomize=True,
            phases=[Phase.explicit, Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        def ask(case: schemathesis.Case) -> None:
            # Random ids are all unknown: half of the questions are about something that is there.
            if len(str(case.query)) % 2 == 0:
                case.path_parameters = {n: known.get(n, v) for n, v in (case.path_parameters or {}).items()}
            case.validate_response(case.call(session=client, headers=headers), checks=CHECKS, headers=headers)

        ask()
