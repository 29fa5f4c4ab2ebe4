"""What the fault tests share: a lake with its oracle, an engine that may be killed, and the table at the end."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from oreo_assets.crash_points import Fault
from oreo_assets.lake import local_engine
from oreo_assets.lake.jars import ensure_jars
from oreo_assets.settings import Settings
from oreo_assets_tests.house import House, open_house

from . import table
from .oracle import LEDGER, Oracle, Row, file_of
from .points import ALL
from .processes import Child
from .workers import Job


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """`make test` takes the points that differ; Spark is idle at the others, and `make faults` takes those too."""
    if ALL:
        return
    later = [item for item in items if item.get_closest_marker("at_length")]
    config.hook.pytest_deselected(items=later)
    items[:] = [item for item in items if item not in later]


def pytest_terminal_summary(terminalreporter: Any) -> None:
    if table.LINES:
        terminalreporter.section("what was killed, and how it ended")
        for line in table.render():
            terminalreporter.write_line(line)


@dataclass
class Lake:
    """A house whose main is known row by row. Tests of a module share it, and so each also tests the last."""

    house: House
    oracle: Oracle
    made: int = field(default=0)

    def new_rows(self) -> list[Row]:
        """Two rows that nobody has, and one that everybody changes."""
        self.made += 1
        n = self.made
        return [(f"n{n}a", f"{n}.00", "new"), (f"n{n}b", f"{n}.50", None), ("shared", f"{n}.25", f"by {n}")]

    def file(self, rows: list[Row]) -> Path:
        path = self.house.folder / f"file-{self.made}.csv"
        path.write_text(file_of(rows))
        return path

    def start(
        self,
        *steps: str,
        rows: list[Row] | None = None,
        cr_id: str | None = None,
        at: str | None = None,
        fault: Fault = Fault.PYTHON,
        engine: Settings | None = None,
        jvm: int | None = None,
        lock_patience: int = 30,
    ) -> Child:
        """A process that takes the steps, and meets the fault at the point."""
        file = self.file(rows) if rows is not None else None
        job = Job(self.house.ref, steps, file, cr_id=cr_id, lock_patience=lock_patience)
        return Child(engine or self.house.ws.settings, job, at, fault, jvm)

    def approved(self, rows: list[Row]) -> str:
        cr_id = self.house.review(file_of(rows), name=f"file-{self.made}.csv")
        self.house.approve(cr_id)
        return cr_id


@pytest.fixture(scope="session")
def make_lake(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Lake]:
    return lambda *spec: Lake(open_house(tmp_path_factory.mktemp("faults"), *(spec or (LEDGER,))), Oracle())


@pytest.fixture(scope="module")
def lake(make_lake: Callable[..., Lake]) -> Lake:
    return make_lake()


@pytest.fixture(scope="session")
def mortal_engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Settings]:
    """A home of its own, so that its engine can be killed without anybody else noticing."""
    shared = Settings.from_env()
    ensure_jars(shared)
    home = tmp_path_factory.mktemp("home")
    for name in ("jars", "cds"):
        if (shared.home / name).exists():
            (home / name).symlink_to(shared.home / name)
    made = Settings.from_env({"OREO_HOME": str(home), "DELTA_DATA_ROOT": str(home / "root")})
    yield made
    local_engine.stop(made)


@pytest.fixture
def mortal(lake: Lake, mortal_engine: Settings) -> tuple[Settings, int]:
    """The lake as seen by the engine that may be killed, and that engine's process."""
    seen = replace(lake.house.ws.settings, home=mortal_engine.home)
    jvm = local_engine.ensure(seen).pid
    shared = local_engine.status(lake.house.ws.settings)
    assert shared is None or shared.pid != jvm, "the engine of everybody on this machine must not be killed"
    return seen, jvm
