"""Every kind of error in the one shape, with the right status, and nothing told that should not be."""

from __future__ import annotations

import logging

import pytest

from oreo_assets.model import errors
from oreo_assets.model.errors import OreoError
from oreo_assets.settings import Settings

from ..cli.conftest import Oreo
from .conftest import ORDERS, V1, Api


def _shape(answer) -> dict:
    body = answer.json()["error"]
    assert set(body) - {"details"} == {"code", "message", "remedy", "retryable", "request_id"}
    assert body["request_id"] == answer.headers["X-Request-Id"]
    assert body["message"]
    return body


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "code"),
    [
        ("GET", "/nowhere", None, 404, "not_found"),
        ("GET", f"{V1}/nowhere", None, 404, "not_found"),
        ("GET", f"{V1}/projects/", None, 404, "not_found"),
        ("DELETE", f"{V1}/projects", None, 405, "method_not_allowed"),
        ("GET", f"{V1}/projects/shop/datasets/nothing", None, 404, "not_found"),
        ("GET", f"{ORDERS}/change-requests/cr_nothing", None, 404, "not_found"),
        ("GET", f"{V1}/projects/SHOP/datasets/orders", None, 422, "usage"),
        ("GET", f"{ORDERS}/rows?version=-1", None, 422, "usage"),
        ("GET", f"{ORDERS}/rows?version=77", None, 404, "not_found"),
        ("GET", f"{ORDERS}/rows?limit=100001", None, 422, "usage"),
        ("GET", f"{ORDERS}/rows?timestamp=yesterday", None, 422, "usage"),
        ("GET", f"{ORDERS}/rows?timestamp=0001-01-01T00:00:00%2B14:00", None, 422, "usage"),
        ("GET", f"{ORDERS}/rows?version=1&timestamp=2030-01-01", None, 422, "usage"),
        ("GET", f"{ORDERS}/rows?nothing=eq.1", None, 422, "usage"),
        ("GET", f"{ORDERS}/rows?amount=about.1", None, 422, "usage"),
        ("GET", f"{ORDERS}/rows?amount=eq.much", None, 422, "usage"),
        ("GET", f"{ORDERS}/rows?order_id=is.true", None, 422, "usage"),
        ("GET", f"{ORDERS}/rows?order=amount;drop", None, 422, "usage"),
        ("GET", f"{ORDERS}/rows?select=amount%22%20FROM", None, 422, "usage"),
        ("POST", f"{V1}/projects", {"project": "../etc"}, 422, "usage"),
        ("POST", f"{V1}/projects", {"projekt": "shop"}, 422, "usage"),
        ("POST", f"{V1}/projects", [], 422, "usage"),
        ("POST", f"{V1}/users", {"name": "a\u0000b", "role": "viewer"}, 422, "usage"),
        ("POST", f"{V1}/projects/shop/datasets", {"project": "shop"}, 422, "bad_dataset_file"),
        ("POST", f"{V1}/projects/other/datasets", {"project": "shop"}, 422, "bad_dataset_file"),
        ("POST", f"{V1}/maintenance/sweep", None, 422, "usage"),
        ("GET", f"{V1}/jobs/job_nothing", None, 404, "not_found"),
        ("DELETE", f"{V1}/users/nobody", None, 404, "not_found"),
        ("GET", "/delta/history?table=shop", None, 422, "usage"),
    ],
)
def test_mistakes_of_the_caller(api: Api, method: str, path: str, body, status: int, code: str):
    answer = api(method, path, json=body) if body is not None else api(method, path)
    assert (answer.status_code, _shape(answer)["code"]) == (status, code), answer.text


def _kinds(kind: type[OreoError] = OreoError) -> list[type[OreoError]]:
    return [kind, *(one for child in kind.__subclasses__() for one in _kinds(child))]


@pytest.mark.parametrize("kind", [k for k in _kinds() if k.__module__ == errors.__name__], ids=lambda k: k.__name__)
def test_every_error_of_ours_has_its_status_and_the_one_shape(
    api: Api, monkeypatch: pytest.MonkeyPatch, kind: type[OreoError]
):
    def fail(*args: object) -> None:
        raise kind("It is so.", "Do that.", trace="File secret", rows=3)

    monkeypatch.setattr("oreo_assets.api.routes.projects.projects", fail)
    answer = api.get(f"{V1}/projects")
    body = _shape(answer)
    assert answer.status_code == kind.http_status
    assert (body["code"], body["message"], body["remedy"], body["retryable"]) == (
        kind.code,
        "It is so.",
        "Do that.",
        kind.retryable,
    )
    assert ("details" in body) is (kind.http_status < 500 or kind.retryable)
    assert ("Retry-After" in answer.headers) is (kind.http_status == 503)


def test_what_nobody_foresaw_is_logged_and_not_told(
    api: Api, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    def fail(*args: object) -> None:
        raise ZeroDivisionError("cell A1: " + "".join(reversed("terces")))

    monkeypatch.setattr("oreo_assets.api.routes.projects.projects", fail)
    with caplog.at_level(logging.INFO, "oreo_assets"):
        answer = api.get(f"{V1}/projects", headers={"X-Request-Id": "mine-1"})
    assert answer.status_code == 500
    assert _shape(answer)["code"] == "defect"
    assert "secret" not in answer.text
    assert "ZeroDivisionError" not in answer.text
    assert "ZeroDivisionError" in caplog.text
    assert "projects.py" in caplog.text
    assert "secret" not in caplog.text


@pytest.mark.parametrize("headers", [{}, {"Authorization": "Bearer oreo_nobody"}, {"Authorization": "Basic YTpi"}])
def test_without_a_token_that_is_known_nothing_is_told(api: Api, headers: dict[str, str]):
    for path in (f"{V1}/users/me", f"{ORDERS}/rows", f"{ORDERS}/change-requests", "/delta/history?table=shop/orders"):
        answer = api.get(path, None, headers=headers)
        assert (answer.status_code, _shape(answer)["code"]) == (401, "not_signed_in")
        assert answer.headers["WWW-Authenticate"].startswith("Bearer")
    assert api("POST", f"{ORDERS}/uploads", None, content=b"x" * 100, headers=headers).status_code == 401


def test_a_new_catalog_has_no_way_in_but_its_machine(oreo: Oreo):
    from fastapi.testclient import TestClient

    from oreo_assets.api.app import create_app

    with TestClient(create_app(oreo.settings)) as client:
        answer = client.post(f"{V1}/users", json={"name": "eve", "role": "admin"})
    assert answer.status_code == 401
    assert "oreo user add" in answer.json()["error"]["remedy"]


def test_request_ids_are_kept_if_harmless_and_made_if_not(api: Api, caplog: pytest.LogCaptureFixture):
    from oreo_assets.api.middleware import WithRequestId

    caplog.handler.addFilter(WithRequestId())
    with caplog.at_level(logging.INFO, "oreo_assets"):
        given = api.get(f"{V1}/users/me?token=hidden", headers={"X-Request-Id": "Trace-7.a"})
    assert given.headers["X-Request-Id"] == "Trace-7.a"
    assert [record.request_id for record in caplog.records if "users/me" in record.getMessage()] == ["Trace-7.a"]
    assert "hidden" not in caplog.text
    assert api.tokens["ada"] not in caplog.text
    for bad in ("a b", "x" * 65, '"', "-x", "ü"):
        assert (
            api.get(f"{V1}/users/me", headers={"X-Request-Id": bad.encode()}).headers["X-Request-Id"].startswith("req_")
        )


def test_a_body_that_is_too_large_is_refused_whether_it_says_so_or_not(api: Api):
    big = b"[" + b"1," * (5 * 2**20) + b"1]"
    for content in (big, (big[i : i + 2**20] for i in range(0, len(big), 2**20))):
        answer = api("POST", f"{V1}/projects", content=content, headers={"Content-Type": "application/json"})
        assert (answer.status_code, _shape(answer)["code"]) == (413, "too_large")


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("json", "{not json"),
        ("json", '{"project": "shop", "project": "shop"}'),
        ("json", "[" * 100_000),
        ("yaml", "[" * 20_000),
        ("yaml", "a: &x [1]\nb: [*x, *x]\nproject: shop"),
        ("yaml", "project: shop\n\tdataset: x"),
        ("yaml", "\ufeff"),
    ],
    ids=["broken", "twice", "deep json", "deep yaml", "aliases", "tab", "empty"],
)
def test_declarations_that_are_none(api: Api, kind: str, text: str):
    answer = api("POST", f"{V1}/projects/shop/datasets", content=text, headers={"Content-Type": f"application/{kind}"})
    assert (answer.status_code, _shape(answer)["code"]) == (422, "bad_dataset_file")


def test_a_catalog_that_is_away_is_503_and_back_when_it_is(oreo: Oreo, tmp_path):
    from fastapi.testclient import TestClient

    from oreo_assets.api.app import create_app

    blocked = tmp_path / "blocked"
    blocked.write_text("a file where a folder should be")
    settings = Settings.from_env({**oreo.env, "OREO_CATALOG_URL": f"sqlite:///{blocked}/catalog.db"})
    with TestClient(create_app(settings)) as client:
        health = client.get("/healthz")
        assert (health.status_code, health.json()["status"]) == (503, "unavailable")
        answer = client.get(f"{V1}/users/me", headers={"Authorization": "Bearer x"})
        assert (answer.status_code, _shape(answer)["retryable"]) == (503, True)
        blocked.unlink()
        assert client.get("/healthz").json()["status"] == "ok"


def test_the_documented_shape_is_declared_for_every_route(api: Api):
    document = api.get("/api/openapi.json").json()
    for path, methods in document["paths"].items():
        for method, route in methods.items():
            assert route["tags"] and route["summary"], path
            errors_told = {
                status: r for status, r in route["responses"].items() if status not in ("200", "201", "202", "304")
            }
            assert errors_told, f"{method} {path}"
            for told in errors_told.values():
                assert told["content"]["application/json"]["schema"] == {"$ref": "#/components/schemas/ErrorDocument"}
    assert "HTTPValidationError" not in document["components"]["schemas"]
    assert api.get("/api/docs").status_code == 200
