"""Whether the platform of a root is running, and asking it to reload."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from oreo_assets.model.ids import DatasetRef
from oreo_assets.platform_info import (
    PlatformInfo,
    change_request_url,
    clear_platform_info,
    dagster_asset_url,
    platform_running,
    reload_definitions,
    report_url,
    write_platform_info,
)
from oreo_assets.settings import Settings


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings.from_env({"DELTA_DATA_ROOT": str(tmp_path / "lake"), "OREO_HOME": str(tmp_path / "home")})


def test_nothing_runs_where_nothing_was_started(settings: Settings):
    assert platform_running(settings) is None


def test_a_living_process_is_the_platform_until_it_says_otherwise(settings: Settings):
    info = write_platform_info(settings)
    assert platform_running(settings) == info
    clear_platform_info(settings)
    assert platform_running(settings) is None


def test_a_dead_process_or_another_with_its_number_is_not(settings: Settings):
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    info = write_platform_info(settings, child.pid)
    assert platform_running(settings) == info
    child.communicate(b"\n")
    assert platform_running(settings) is None
    write_platform_info(settings)
    file = settings.state_dir / "platform.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), "create_time": 12345.0}))
    assert platform_running(settings) is None
    file.write_text("{not json")
    assert platform_running(settings) is None


@pytest.mark.parametrize(
    ("result", "problem"),
    [
        (
            {
                "__typename": "WorkspaceLocationEntry",
                "locationOrLoadError": {"__typename": "RepositoryLocation"},
            },
            None,
        ),
        ({"__typename": "RepositoryLocationNotFound", "message": "no such location"}, "no such location"),
        (
            {
                "__typename": "WorkspaceLocationEntry",
                "locationOrLoadError": {"__typename": "PythonError", "message": "boom\nat line 1"},
            },
            "boom",
        ),
    ],
)
def test_reload_asks_dagster_and_tells_what_went_wrong(result: dict[str, Any], problem: str | None):
    asked: list[dict[str, Any]] = []

    class Dagster(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            body = json.dumps({"data": {"reloadRepositoryLocation": result}}).encode()
            self.send_response(200)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Dagster)
    threading.Thread(target=server.handle_request).start()
    assert reload_definitions(PlatformInfo(1, 0.0, 0, server.server_port, "")) == problem
    server.server_close()
    assert asked[0]["variables"] == {"location": "oreo_assets.definitions"}


def test_reload_of_a_silent_platform_is_a_problem_not_an_error():
    assert "refused" in (reload_definitions(PlatformInfo(1, 0.0, 0, 1, "")) or "")


def test_the_reload_is_one_that_dagster_understands():
    from dagster_graphql.schema import create_schema
    from graphql import parse, validate

    from oreo_assets.platform_info import _RELOAD

    assert validate(create_schema().graphql_schema, parse(_RELOAD)) == []


def test_dagster_and_the_review_site_are_linked_both_ways(settings: Settings):
    ref = DatasetRef("shop", "orders")
    assert (
        dagster_asset_url(settings, ref, "main") == f"http://127.0.0.1:{settings.dagster_port}/assets/shop/orders/main"
    )
    site = f"http://127.0.0.1:{settings.api_port}"
    assert report_url(settings, ref, "vr_1") == f"{site}/reports/shop/orders/vr_1"
    assert change_request_url(settings, ref, "cr_1") == f"{site}/p/shop/orders/cr/cr_1"
