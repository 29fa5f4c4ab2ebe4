"""A root with one dataset, made without Spark, and `oreo` run on it."""

from __future__ import annotations

import io
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from oreo_assets.catalog.users import Actor, add_user
from oreo_assets.cli.running import run
from oreo_assets.model.states import Role
from oreo_assets.settings import Settings
from oreo_assets.workflow.workspace import Workspace

from .lake_without_spark import ORDERS, put_in_review, register

ADMIN = Actor("ada", {"*": Role.ADMIN})


@dataclass(frozen=True)
class Ran:
    """How a run of `oreo` ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


@dataclass
class Oreo:
    """Runs `oreo` in this environment, and nothing of the tester's own."""

    env: dict[str, str]
    tokens: dict[str, str] = field(default_factory=dict)

    def __call__(self, *args: str, user: str | None = "ada", env: Mapping[str, str] | None = None) -> Ran:
        """In this process: some hundred runs would each import everything anew."""
        out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) for _ in range(2))
        with (
            mock.patch.dict(os.environ, self.environment(user, env), clear=True),
            mock.patch.object(sys, "stdout", out),
            mock.patch.object(sys, "stderr", err),
        ):
            code = run(args)
        return Ran(code, *(stream.buffer.getvalue().decode() for stream in (out, err)))  # type: ignore[attr-defined]

    def process(self, code: str, *args: str, user: str | None = "ada", **options: Any) -> Ran:
        """As a process of its own, from this Python code."""
        done = subprocess.run(
            [sys.executable, "-c", code, *args],
            env=self.environment(user),
            stderr=subprocess.PIPE,
            text=True,
            timeout=120,
            check=False,
            **{"stdout": subprocess.PIPE, **options},
        )
        return Ran(done.returncode, done.stdout or "", done.stderr)

    def environment(self, user: str | None, env: Mapping[str, str] | None = None) -> dict[str, str]:
        token = {"OREO_TOKEN": self.tokens[user]} if user in self.tokens else {}
        return {**self.env, **token, **(env or {})}

    @property
    def settings(self) -> Settings:
        return Settings.from_env(self.env)


@pytest.fixture
def oreo(tmp_path: Path) -> Oreo:
    """`oreo` on a root that nobody has used yet."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("OREO_", "SPARK_", "DAGSTER_"))}
    env = {**kept, "DELTA_DATA_ROOT": str(tmp_path / "lake"), "OREO_HOME": str(tmp_path / "home")}
    return Oreo(env)


@pytest.fixture(scope="session")
def _shop_template(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str]]:
    base = tmp_path_factory.mktemp("shop")
    settings = Settings.from_env({"DELTA_DATA_ROOT": str(base / "lake"), "OREO_HOME": str(base / "home")})
    ws = Workspace.open(settings)
    tokens = {"ada": add_user(ws.catalog, None, "ada", Role.ADMIN, None).token}
    for name, role in (("vic", Role.VIEWER), ("con", Role.CONTRIBUTOR), ("rev", Role.REVIEWER)):
        tokens[name] = add_user(ws.catalog, ADMIN, name, role, None).token
    register(ws, ORDERS)
    ws.catalog.close()
    return base, tokens


@pytest.fixture
def shop(oreo: Oreo, tmp_path: Path, _shop_template: tuple[Path, dict[str, str]]) -> Oreo:
    """`oreo` on a root with the dataset shop/orders (three rows) and a user of each role."""
    base, tokens = _shop_template
    for name in ("lake", "lake.oreo"):
        shutil.copytree(base / name, tmp_path / name)
    oreo.tokens = tokens
    return oreo


@pytest.fixture
def in_review(shop: Oreo) -> Callable[..., str]:
    """Puts a change request of con's into review; its id."""

    def make(**options: Any) -> str:
        return put_in_review(Workspace.open(shop.settings), ORDERS, **options)

    return make
