"""The review site as it is shipped: its own process, over a root that a team has worked with, in a real browser."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import httpx
import pytest

from oreo_assets.lake.connect_server import free_port

from . import plausible
from .plausible import Row, Team


@dataclass
class Site:
    """A running server and the root that it serves."""

    url: str
    team: Team
    numbers: Iterator[int] = field(default_factory=lambda: iter(range(1, 10_000)))

    def order(self, **changes: Any) -> Row:
        """A new order that no other test has."""
        number = 500_000 + next(self.numbers)
        return {**plausible.order(random.Random(number), number), **changes}

    def in_review(self, *rows: Row, note: str = "From a test", unusual: bool = False, author: str = "ben") -> str:
        """A change request with these rows (or one); `unusual`: with a failed warning about the first."""
        sent = list(rows) or [self.order()]
        outcomes = plausible.outcomes_of(sent[:1] if unusual else [], None)
        return plausible.stage(self.team, sent, note, author, outcomes=outcomes)

    def address(self, cr_id: str) -> str:
        return f"/p/shop/orders/cr/{cr_id}"


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    folder = tmp_path_factory.mktemp("site")
    with serving(plausible.make(folder), folder / "server.log") as running:
        yield running


@pytest.fixture
def visit(site: Site, browser: Any) -> Iterator[Callable[..., Any]]:
    """Opens a page as somebody (nobody, if None), in a browser of their own."""
    contexts = []

    def open_page(name: str | None, path: str | None = "/", width: int = 1280, **options: Any) -> Any:
        context = browser.new_context(
            base_url=site.url, viewport={"width": width, "height": 900}, **{"locale": "en-GB", **options}
        )
        context.set_default_timeout(20_000)
        contexts.append(context)
        if name:
            sign_in(context, site, name)
        page = context.new_page()
        if path is not None:
            page.goto(path)
        return page

    yield open_page
    for context in contexts:
        context.close()


def sign_in(context: Any, site: Site, name: str) -> None:
    """As the form does it; the tests of signing in use the form itself."""
    answer = context.request.post(
        f"{site.url}/sign-in", form={"token": site.team.tokens[name]}, headers={"Origin": site.url}
    )
    assert answer.ok and answer.url == f"{site.url}/"


class serving:
    """Runs `python -m oreo_assets.api` for a root."""

    def __init__(self, team: Team, log: Any, port: int | None = None) -> None:
        self.team = team
        self.log = log
        self.port = port or free_port()

    def __enter__(self) -> Site:
        kept = {n: v for n, v in os.environ.items() if not n.startswith(("OREO_", "SPARK_", "DAGSTER_", "PYTEST_"))}
        env = {**kept, **self.team.ws.settings.as_env(), "OREO_PORT": str(self.port)}
        with open(self.log, "wb") as file:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "oreo_assets.api"], env=env, stdout=file, stderr=file
            )
        url = f"http://127.0.0.1:{self.port}"
        deadline = time.monotonic() + 60
        while True:
            try:
                httpx.get(f"{url}/healthz", timeout=10, trust_env=False).raise_for_status()
                return Site(url, self.team)
            except httpx.HTTPError:
                assert self.process.poll() is None and time.monotonic() < deadline, self.log.read_text()
                time.sleep(0.1)

    def __exit__(self, *_: object) -> None:
        self.process.terminate()
        self.process.wait(30)
