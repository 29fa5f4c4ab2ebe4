"""What the nursery imports before it forks, and how it knows that this is no longer what is on disk."""

from __future__ import annotations

import hashlib
import importlib
import logging
import os
import pkgutil
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[2]

LIBRARIES = (
    "dagster",
    "dagster._cli.api",
    # Dagster imports these only once a run is under way.
    "dagster._core.definitions.external_asset",
    "dagster._core.definitions.repository_definition.repository_data_builder",
    "dagster._core.execution.plan.active",
    "dagster._core.executor.in_process",
    "dagster._core.instance.factory",
    "dagster._core.storage.local_compute_log_manager",
    "dagster._core.storage.migration.utils",
    "dagster._core.storage.sqlite_storage",
    "dagster._core.workspace.autodiscovery",
    "fsspec.implementations.local",
    "upath.implementations.local",
    "watchdog.observers.polling",
    "dagster_deltalake",
    "dagster_postgres",
    "dagster_pyspark",
    "deltalake",
    "duckdb",
    "great_expectations",
    "great_expectations.datasource.fluent",
    "great_expectations.execution_engine.sparkdf_execution_engine",
    "great_expectations.expectations.core",
    "pandas",
    "psycopg2",
    "pyarrow.parquet",
    "pyspark.sql.connect.client",
    "pyspark.sql.connect.functions",
    "pyspark.sql.connect.session",
    "sqlalchemy.dialects.postgresql",
    "sqlalchemy.dialects.sqlite",
)
OWN = (
    "oreo_assets.catalog",
    "oreo_assets.defs",
    "oreo_assets.definitions",
    "oreo_assets.lake",
    "oreo_assets.model",
    "oreo_assets.quality",
    "oreo_assets.settings",
    "oreo_assets.workflow",
)
# Alembic runs these as scripts: importing one is doing its work.
_NOT_MODULES = ("migrations",)

_log = logging.getLogger("oreo.nursery")


def preload(modules: Sequence[str] = LIBRARIES + OWN) -> tuple[str, ...]:
    """Import the modules, ours with everything below them. Returns the names that could not be imported.

    One that fails is logged and left to the run, which then fails with the same error where people look.
    """
    failed = [name for name in modules if not _import(name)]
    for package in [name for name in modules if name in OWN and name not in failed]:
        failed += [name for name in _below(package) if not _import(name)]
    others = [thread.name for thread in threading.enumerate() if thread is not threading.main_thread()]
    if others:
        _log.error("An imported module started threads, which no forked run will have: %s", others)
    return tuple(failed)


def fingerprint(package: Path = PACKAGE) -> str:
    """Changes whenever a Python file of the package is edited, added or removed."""
    digest = hashlib.sha256()
    for folder, folders, files in os.walk(package):
        folders[:] = sorted(name for name in folders if name != "__pycache__")
        for name in sorted(files):
            if name.endswith(".py"):
                path = os.path.join(folder, name)
                facts = os.stat(path)
                digest.update(f"{path}:{facts.st_mtime_ns}:{facts.st_size}\n".encode())
    return digest.hexdigest()


def _import(name: str) -> bool:
    try:
        importlib.import_module(name)
    except Exception:
        _log.exception("Could not import %s before the fork; runs that need it import it themselves.", name)
        return False
    return True


def _below(package: str) -> Iterator[str]:
    """The modules of a package, a sub-package after it was imported."""
    for info in pkgutil.iter_modules(getattr(importlib.import_module(package), "__path__", ())):
        if info.name in _NOT_MODULES or info.name == "__main__":
            continue
        name = f"{package}.{info.name}"
        yield name
        if info.ispkg:
            yield from _below(name)
