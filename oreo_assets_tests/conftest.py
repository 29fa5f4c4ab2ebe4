"""What all tests share."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> SparkSession:
    """The one Spark session of this pytest process, on the engine that the product itself would use."""
    from oreo_assets.lake.engine import open_session
    from oreo_assets.settings import Settings

    return open_session(Settings.from_env(root=str(tmp_path_factory.mktemp("root"))))
