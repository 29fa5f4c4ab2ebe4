"""The Spark settings that decide correctness everywhere, and speed on one machine."""

from __future__ import annotations

import os
from pathlib import Path

import psutil

from ..settings import Settings
from . import class_archive
from .jars import ensure_jars


def session_config() -> dict[str, str]:
    """What every session is given, on whatever engine: with these a value means the same thing anywhere."""
    return {
        "spark.sql.session.timeZone": "UTC",
        # A value that does not fit is an error, never a silent null.
        "spark.sql.ansi.enabled": "true",
        # An old version may still be what a change request stands on; vacuum keeps it then, so it can be read.
        "spark.databricks.delta.vacuum.enforceTimeTravelWithinDeletedFileRetentionDuration": "false",
    }


def spark_config(settings: Settings, *, master: str = "local[*]") -> dict[str, str]:
    """Settings of an engine that we start ourselves: the local engine, or Spark inside this process."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 2
    config = session_config() | {
        "spark.app.name": "oreo",
        "spark.master": master,
        "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
        "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
        "spark.sql.warehouse.dir": str(settings.home / "warehouse"),
        "spark.sql.adaptive.enabled": "true",
        "spark.log.level": "WARN",
        # Progress bars and a web page nobody asked for.
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }
    return config | (_on_one_machine(settings, cores) if master.startswith("local") else _on_a_cluster(settings))


def driver_memory() -> str:
    """A quarter of the machine, between 1 and 4 GB; the JVM takes it only as it needs it.

    Handed over as the environment variable SPARK_DRIVER_MEMORY, so that a user's own value wins.
    """
    gigabytes = psutil.virtual_memory().total // 2**30 // 4
    return f"{min(4, max(1, gigabytes))}g"


def _on_one_machine(settings: Settings, cores: int) -> dict[str, str]:
    return {
        # By default the first touch of a table runs 50 tasks, a listing of files 10,000 and a shuffle 200.
        "spark.databricks.delta.snapshotPartitions": "2",
        "spark.sql.sources.parallelPartitionDiscovery.parallelism": "8",
        "spark.sql.shuffle.partitions": str(max(2, cores)),
        # No surprises from the machine's host name, and nothing to reach from outside.
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        # On the class path rather than in spark.jars: only so can the class archive hold Delta's classes.
        "spark.driver.extraClassPath": os.pathsep.join(str(jar) for jar in ensure_jars(settings)),
        "spark.driver.extraJavaOptions": java_options(class_archive.installed_archive(settings)),
    }


def _on_a_cluster(settings: Settings) -> dict[str, str]:
    return {"spark.jars": ",".join(str(jar) for jar in ensure_jars(settings))}


def java_options(archive: Path | None, *extra: str) -> str:
    """`-Xshare:auto` is what makes an unusable archive a slower start and never a failed one."""
    shared = ["-Xshare:auto", "-Xlog:disable", "-Xlog:all=error:stderr"]
    if archive is not None:
        shared.append(f'"-XX:SharedArchiveFile={archive}"')
    return " ".join([*shared, *extra])
