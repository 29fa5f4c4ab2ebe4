"""What takes long at the beginning, done side by side: Spark starts while Python imports."""

from __future__ import annotations

import importlib
import logging
import os
import threading
import warnings
from collections.abc import Callable

from ..lake import local_engine
from ..model.errors import OreoError
from ..settings import Settings

_LIBRARIES = (
    ("Dagster", "oreo_assets.defs.embedded"),
    ("PySpark", "pyspark.sql.connect.session"),
    ("Great Expectations", "great_expectations"),
    ("Great Expectations", "great_expectations.execution_engine.sparkdf_execution_engine"),
)
_NOISY = ("py4j", "grpc", "dagster", "great_expectations", "pyspark", "alembic", "oreo_assets")


def be_quiet() -> None:
    """Notices of libraries are for engineers at work, not for somebody who watches a demo."""
    os.environ.setdefault("GRPC_VERBOSITY", "NONE")
    warnings.simplefilter("ignore")
    for name in _NOISY:
        logging.getLogger(name).setLevel(logging.CRITICAL)


def warm_up(settings: Settings, tell: Callable[[str], None]) -> None:
    """Start the local engine (another process) and meanwhile import what the pipeline needs."""
    engine = threading.Thread(target=_start_engine, args=(settings,), daemon=True)
    engine.start()
    for name, module in _LIBRARIES:
        tell(f"importing {name} while Spark starts")
        importlib.import_module(module)
    tell("waiting for Spark")
    engine.join()
    from ..lake.engine import open_session

    open_session(settings)


def _start_engine(settings: Settings) -> None:
    if settings.spark_remote or settings.spark_master:
        return
    try:
        local_engine.ensure(settings)
    except OreoError:
        # Opening the session meets the same trouble, and decides there what to do about it.
        return
