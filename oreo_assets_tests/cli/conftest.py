"""A root with one dataset, made without Spark, and `oreo` run on it as a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from oreo_assets.catalog.users import Actor
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
        token = {"OREO_TOKEN": self.tokens[user]} if user in self.tokens else {}
        done = subprocess.run(
            [sys.executable, "-m", "oreo_assets.cli", *args],
            env={**self.env, **token, **(env or {})},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        return Ran(done.returncode, done.stdout, done.stderr)

    @property
    def settings(self) -> Settings:
        return Settings.from_env(self.env)


@pytest.fixture
def oreo(tmp_path: Path) -> Oreo:
    """`oreo` on a root that nobody has used yet."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("OREO_", "SPARK_", "DAGSTER_"))
    }
    env = {**kept, "DELTA_DATA_ROOT": str(tmp_path / "lake"), "OREO_HOME": str(tmp_path / "home")}
    return Oreo(env)


@pytest.fixture(scope="session")
def _shop_template(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str]]:
    from oreo_assets.catalog.users import add_user

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
    import shutil

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
