"""What `oreo doctor` looks at. Each examination starts nothing and answers in a line."""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path

from ..model.errors import OreoError
from ..settings import Settings

SUPPORTED_PYTHON = ((3, 11), (3, 13))
_LOW_DISK = 2 * 10**9
_NO_DISK = 10**8


class Status(StrEnum):
    OK = "ok"
    WARN = "warn"
    WRONG = "wrong"


@dataclass(frozen=True)
class Finding:
    name: str
    status: Status
    detail: str
    remedy: str = ""


def examine(settings: Settings) -> list[Finding]:
    """Everything, in the order in which one thing rests on another."""
    return [_careful(name, look, settings) for name, look in _EXAMINATIONS.items()]


def _careful(name: str, look: Callable[[Settings], Finding], settings: Settings) -> Finding:
    """An error of ours is the finding; anything else is one too, as a doctor must not fall ill himself."""
    try:
        return look(settings)
    except OreoError as error:
        return Finding(name, Status.WRONG, error.message, error.remedy)
    except Exception as error:
        return Finding(
            name, Status.WRONG, f"{type(error).__name__}: {error}", "Run make setup; if it stays, report it."
        )


def _python(_settings: Settings) -> Finding:
    here = sys.version_info[:2]
    good = SUPPORTED_PYTHON[0] <= here <= SUPPORTED_PYTHON[1]
    remedy = "" if good else "Use Python 3.11, 3.12 or 3.13, then run make setup."
    return Finding("Python", Status.OK if good else Status.WRONG, f"{sys.version.split()[0]}, {sys.executable}", remedy)


def _packages(_settings: Settings) -> Finding:
    """The packages that are pinned to one version, as installed."""
    pins = [re.match(r"([\w.-]+)(?:\[[^]]*\])?==([\w.]+)", text) for text in requires("oreo-assets") or ()]
    pinned = {match[1]: match[2] for match in pins if match}
    wrong = []
    for name, wanted in pinned.items():
        try:
            found = version(name)
        except PackageNotFoundError:
            found = "missing"
        if found != wanted:
            wrong.append(f"{name} {found} instead of {wanted}")
    if wrong:
        return Finding("Packages", Status.WRONG, "; ".join(wrong), "Run: make setup")
    return Finding("Packages", Status.OK, f"{len(pinned)} pinned ones as they should be")


def _java(settings: Settings) -> Finding:
    from ..lake.java import find_java

    try:
        java = find_java()
    except OreoError as error:
        # With a Spark elsewhere, this machine does without.
        status = Status.WARN if settings.spark_remote else Status.WRONG
        return Finding("Java", status, error.message, error.remedy)
    return Finding("Java", Status.OK, f"{java.version}, {java.command}")


def _jars(settings: Settings) -> Finding:
    from ..lake.jars import VERSION, installed_jars

    found = installed_jars(settings)
    if found:
        return Finding("Delta jars", Status.OK, f"{VERSION}, {len(found)} files")
    return Finding("Delta jars", Status.WARN, "not fetched yet; the first use of Spark does it", "Run: make setup")


def _archive(settings: Settings) -> Finding:
    from ..lake.class_archive import installed_archive

    try:
        found = installed_archive(settings)
    except OreoError:
        found = None  # no Java, which has a line of its own
    if found:
        return Finding("Class archive", Status.OK, found.name)
    return Finding("Class archive", Status.WARN, "none: Spark starts some seconds slower", "Run: make setup")


def _engine(settings: Settings) -> Finding:
    from ..lake.engine import EngineKind, describe

    report = describe(settings)
    detail = f"{report.kind} at {report.address}: {report.detail}"
    if report.kind is EngineKind.REMOTE and not report.is_up:
        return Finding("Spark", Status.WRONG, detail, "Start it, or unset SPARK_REMOTE to use the local engine.")
    return Finding("Spark", Status.OK, detail)


def _duckdb(_settings: Settings) -> Finding:
    import duckdb

    from ..lake.read import reading

    with reading() as connection:
        connection.execute("SELECT 1")
    return Finding("DuckDB", Status.OK, f"{duckdb.__version__}, its delta extension loads")


def _root(settings: Settings) -> Finding:
    if not settings.is_local:
        return Finding("Root", Status.OK, f"{settings.root}, an object store")
    root = Path(settings.root)
    nearest = next(path for path in (root, *root.parents) if path.exists())
    if not nearest.is_dir() or not os.access(nearest, os.W_OK):
        return Finding("Root", Status.WRONG, f"{root} cannot be written", "Set DELTA_DATA_ROOT to a folder of yours.")
    free = shutil.disk_usage(nearest).free
    detail = f"{root}, {free / 10**9:,.1f} GB free{'' if root.exists() else ', not made yet'}"
    if free < _LOW_DISK:
        return Finding("Root", Status.WRONG if free < _NO_DISK else Status.WARN, detail, "Make room on the disk.")
    return Finding("Root", Status.OK, detail)


def _catalog(settings: Settings) -> Finding:
    from ..catalog.migrations import SCHEMA_VERSION
    from .face import Asked, Face

    if not _catalog_exists(settings):
        return Finding("Catalog", Status.OK, "none yet; the first command makes it")
    found = Face(Asked(), settings).ws.catalog.schema_version()
    kind = settings.catalog_url.partition(":")[0].partition("+")[0]
    good = found == SCHEMA_VERSION
    remedy = "" if good else "This Oreo is older than the catalog: install the newer one."
    return Finding("Catalog", Status.OK if good else Status.WRONG, f"{kind}, schema {found}", remedy)


def _platform(settings: Settings) -> Finding:
    from ..platform_info import platform_running

    info = platform_running(settings)
    if info is None:
        return Finding("Platform", Status.OK, "not running; start it with oreo up")
    where = f"review site on port {info.api_port}, Dagster on {info.dagster_port}"
    return Finding("Platform", Status.OK, f"process {info.pid}, {where}")


def _user(settings: Settings) -> Finding:
    from ..catalog.users import has_users, sign_in
    from .face import Asked, Face

    first = "Make the first user: oreo user add NAME --role admin"
    if not _catalog_exists(settings):
        return Finding("User", Status.WARN, "a new catalog has nobody in it", first)
    catalog = Face(Asked(), settings).ws.catalog
    if not has_users(catalog):
        return Finding("User", Status.WARN, "the catalog has nobody in it", first)
    if not settings.token:
        return Finding("User", Status.WARN, "nobody is signed in", "Set OREO_TOKEN or give --token.")
    actor = sign_in(catalog, settings.token)
    roles = ", ".join(f"{role} in {'all projects' if where == '*' else where}" for where, role in actor.grants.items())
    return Finding("User", Status.OK, f"{actor.name}: {roles or 'no role'}")


def _catalog_exists(settings: Settings) -> bool:
    prefix = "sqlite:///"
    return not settings.catalog_url.startswith(prefix) or Path(settings.catalog_url.removeprefix(prefix)).exists()


_EXAMINATIONS: dict[str, Callable[[Settings], Finding]] = {
    "Python": _python,
    "Packages": _packages,
    "Java": _java,
    "Delta jars": _jars,
    "Class archive": _archive,
    "Spark": _engine,
    "DuckDB": _duckdb,
    "Root": _root,
    "Catalog": _catalog,
    "Platform": _platform,
    "User": _user,
}
