"""The API over the same root as the command line's tests: made without Spark, with a user of each role."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import httpx
import pytest
import uvicorn
from fastapi.testclient import TestClient

from oreo_assets.api.app import create_app
from oreo_assets.settings import Settings

from ..cli.conftest import Oreo, _shop_template, in_review, oreo, shop  # noqa: F401 - fixtures

V1 = "/api/v1"
ORDERS = f"{V1}/projects/shop/datasets/orders"


@dataclass
class Api:
    """Asks the API as one of the users; nobody, if `user` is None."""

    client: TestClient | httpx.Client
    tokens: dict[str, str]

    def __call__(self, method: str, path: str, user: str | None = "ada", **options: Any) -> httpx.Response:
        headers = {**self.headers(user), **options.pop("headers", {})}
        return self.client.request(method, path, headers=headers, **options)

    def headers(self, user: str | None) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.tokens[user]}"} if user else {}

    def get(self, path: str, user: str | None = "ada", **options: Any) -> httpx.Response:
        return self("GET", path, user, **options)

    def post(self, path: str, body: Any = None, user: str | None = "ada", **options: Any) -> httpx.Response:
        if body is not None:
            options["json"] = body
        return self("POST", path, user, **options)

    def upload(
        self, text: str | bytes, user: str = "con", name: str = "orders.csv", headers: Any = None, **form: str
    ) -> httpx.Response:
        content = text.encode() if isinstance(text, str) else text
        files = {"file": (name, content)}
        return self("POST", f"{ORDERS}/uploads", user, files=files, data=form, headers=headers or {})

    def wait_for(self, job: dict[str, Any], user: str = "ada") -> dict[str, Any]:
        deadline = time.monotonic() + 60
        while (found := self.get(f"{V1}/jobs/{job['job_id']}", user).json())["state"] in ("waiting", "running"):
            assert time.monotonic() < deadline
            time.sleep(0.02)
        return found


@pytest.fixture
def api(shop: Oreo) -> Iterator[Api]:  # noqa: F811
    with TestClient(create_app(shop.settings)) as client:
        yield Api(client, shop.tokens)


@pytest.fixture
def serve() -> Iterator[Callable[[Settings], str]]:
    """Runs the API for settings on a port of its own; its address."""
    running: list[tuple[uvicorn.Server, threading.Thread]] = []

    def start(settings: Settings) -> str:
        probe = socket.socket()
        probe.bind(("127.0.0.1", 0))
        config = uvicorn.Config(create_app(settings), log_level="warning")
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [probe]}, daemon=True)
        thread.start()
        running.append((server, thread))
        deadline = time.monotonic() + 30
        while not server.started:
            assert time.monotonic() < deadline
            time.sleep(0.02)
        return f"http://127.0.0.1:{probe.getsockname()[1]}"

    yield start
    for server, thread in running:
        server.should_exit = True
        thread.join(20)


@pytest.fixture
def live(shop: Oreo, serve: Callable[[Settings], str]) -> Iterator[Api]:  # noqa: F811
    """The same behind a real socket."""
    with httpx.Client(base_url=serve(shop.settings), timeout=60, trust_env=False) as client:
        yield Api(client, shop.tokens)
