"""The Spark session. Which engine is behind it is decided here, and nothing else in the product can tell.

A Connect endpoint (SPARK_REMOTE), else Spark inside this process (SPARK_MASTER), else the local engine.
"""

from __future__ import annotations

import contextlib
import logging
import os
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from ..model.errors import OreoError, UnavailableError
from ..settings import Settings
from . import connect_session, local_engine
from .connect_server import answers
from .spark_config import driver_memory, spark_config

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["EngineKind", "EngineReport", "describe", "isolated_session", "open_session", "spark_config"]

logger = logging.getLogger(__name__)

_lock = threading.RLock()


class EngineKind(StrEnum):
    """Where Spark runs."""

    REMOTE = "remote"
    LOCAL = "local engine"
    IN_PROCESS = "in-process"


@dataclass(frozen=True)
class EngineReport:
    """Which engine would be used and whether it is up; for `oreo doctor` and `oreo engine status`."""

    kind: EngineKind
    address: str
    is_up: bool
    detail: str


def open_session(settings: Settings) -> SparkSession:
    """The session of this process, opened now if there is none or if its engine has gone since."""
    with _lock:
        if settings.spark_remote:
            return connect_session.shared(settings.spark_remote)
        if settings.spark_master:
            return _in_process(settings, settings.spark_master)
        try:
            return connect_session.shared(local_engine.ensure(settings).url)
        except OreoError as error:
            if connect_session.is_connect_process():
                raise  # PySpark cannot go back from Connect to an engine of its own in one process.
            logger.warning("%s Spark runs inside this process instead, which starts slower.", error.message)
            return _in_process(settings, "local[*]")


@contextlib.contextmanager
def isolated_session(settings: Settings) -> Iterator[SparkSession]:
    """A session whose settings and temporary views nobody else sees, for the length of a `with` block.

    Delta takes a commit's idempotency marker and metadata from the session's settings: in a shared session
    they would leak into the commits of other threads.
    """
    shared = open_session(settings)
    if not connect_session.is_connect_process():
        yield shared.newSession()
        return
    own = connect_session.another(shared)
    try:
        yield own
    except Exception as error:
        if connect_session.is_gone():
            raise UnavailableError(
                "The Spark engine ended in the middle of its work.",
                "Try again: another one will be started. What was half done is put right by: oreo recover",
            ) from error
        raise
    finally:
        if not connect_session.is_gone():
            own.stop()


def describe(settings: Settings) -> EngineReport:
    """Which engine `open_session` would use; nothing is started."""
    if settings.spark_remote:
        host, port = connect_session.host_and_port(settings.spark_remote)
        up = answers(port, host)
        return EngineReport(EngineKind.REMOTE, f"{host}:{port}", up, "answers" if up else "does not answer")
    if settings.spark_master:
        return EngineReport(EngineKind.IN_PROCESS, settings.spark_master, True, "starts with each process")
    running = local_engine.status(settings)
    if running is None:
        return EngineReport(EngineKind.LOCAL, str(settings.home), False, "starts when it is first needed")
    return EngineReport(EngineKind.LOCAL, f"127.0.0.1:{running.port}", True, f"process {running.pid}")


def _in_process(settings: Settings, master: str) -> SparkSession:
    if connect_session.is_connect_process():
        raise UnavailableError(
            "This process already uses Spark over Connect and cannot start a Spark of its own.",
            "Set SPARK_MASTER before the process starts, not while it runs.",
        )
    from dagster_pyspark import LazyPySparkResource
    from pyspark.sql import SparkSession

    active = SparkSession.getActiveSession()
    if active is not None:
        return active

    # Inherited from a parent that used Connect, these would make PySpark look for a server.
    for name in (
        "SPARK_REMOTE",
        "SPARK_CONNECT_MODE_ENABLED",
        "SPARK_LOCAL_REMOTE",
        "SPARK_API_MODE",
        "MASTER",
    ):
        os.environ.pop(name, None)
    os.environ.setdefault("SPARK_DRIVER_MEMORY", driver_memory())
    if master.startswith("local"):
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    resource = LazyPySparkResource(spark_config=spark_config(settings, master=master))
    session: SparkSession = resource.spark_session
    return session
