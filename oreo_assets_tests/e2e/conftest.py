"""The whole platform, started once by `oreo up`, and used as a person would."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from oreo_assets.lake.connect_server import free_port

START_SECONDS = 240
ORDERS = """\
project: shop
dataset: orders
description: Orders of the web shop
owners: [team:sales]
columns:
  - {name: order_id, type: string, nullable: false, description: The number on the invoice}
  - {name: amount, type: "decimal(12,2)"}
  - {name: status, type: string}
key: [order_id]
expectations:
  - {type: expect_column_values_to_not_be_null, column: amount, severity: fatal, name: amount_is_known}
  - {type: expect_column_values_to_be_between, column: amount, min_value: 0, severity: warning, name: not_negative}
"""


@dataclass
class Platform:
    """A running `oreo up`, and `oreo` on its root."""

    folder: Path
    env: dict[str, str]
    api_port: int
    dagster_port: int
    process: subprocess.Popen[bytes]
    tokens: dict[str, str] = field(default_factory=dict)

    def oreo(self, *args: str, by: str = "ann", code: int = 0) -> Any:
        """Run `oreo … --json` and return what it printed."""
        env = self.env | {"OREO_TOKEN": self.tokens.get(by, "")}
        done = subprocess.run(
            [sys.executable, "-m", "oreo_assets.cli", *args, "--json"],
            env=env,
            capture_output=True,
            text=True,
            timeout=300,
        )
        assert done.returncode == code, f"exit {done.returncode}: {done.stdout}\n{done.stderr}"
        return json.loads(done.stdout)

    def graphql(self, query: str, **variables: Any) -> Any:
        body = json.dumps({"query": query, "variables": variables}).encode()
        url = f"http://127.0.0.1:{self.dagster_port}/graphql"
        request = urllib.request.Request(url, body, {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=60) as reply:
            answer = json.load(reply)
        assert "errors" not in answer, answer["errors"]
        return answer["data"]

    def file(self, text: str, name: str = "orders.csv") -> str:
        path = self.folder / name
        path.write_text(text)
        return str(path)

    def wait(self, what: str, met: Callable[[], Any], seconds: float = 120) -> Any:
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            if found := met():
                return found
            time.sleep(0.3)
        raise AssertionError(f"waited {seconds} s in vain for {what}; logs in {self.folder}/lake.oreo/logs")


@pytest.fixture(scope="package")
def platform(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Platform]:
    folder = tmp_path_factory.mktemp("platform")
    api, dagster = free_port(), free_port()
    env = {k: v for k, v in os.environ.items() if not k.startswith(("OREO_", "DAGSTER_", "SPARK_"))} | {
        "DELTA_DATA_ROOT": str(folder / "lake"),
        "OREO_PORT": str(api),
        "DAGSTER_PORT": str(dagster),
        "COLUMNS": "120",
    }
    if home := os.environ.get("OREO_HOME"):
        env["OREO_HOME"] = home
    log = (folder / "up.log").open("wb")
    process = subprocess.Popen([sys.executable, "-m", "oreo_assets.cli", "up"], env=env, stdout=log, stderr=log)
    running = Platform(folder, env, api, dagster, process)
    try:
        running.wait("oreo up", lambda: b"Oreo is up" in (folder / "up.log").read_bytes(), START_SECONDS)
        running.tokens["ann"] = running.oreo("user", "add", "ann", "--role", "admin")["token"]
        running.tokens["bob"] = running.oreo("user", "add", "bob", "--role", "reviewer")["token"]
        running.oreo("project", "create", "shop")
        running.oreo("dataset", "apply", running.file(ORDERS, "orders.yaml"))
        yield running
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
            process.wait(60)
        log.close()


@pytest.fixture(scope="module")
def page(browser: Any) -> Iterator[Any]:
    """A page of a real browser."""
    opened = browser.new_page(viewport={"width": 1440, "height": 900})
    yield opened
    opened.close()
