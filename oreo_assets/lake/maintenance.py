"""Compaction, vacuum and checkpoints of one table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..model.spec import DatasetSpec
from . import log
from .sql import delta_table, quote_spark

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_FILE_SIZES = ("spark.databricks.delta.optimize.minFileSize", "spark.databricks.delta.optimize.maxFileSize")


@dataclass(frozen=True)
class Optimized:
    files_added: int
    files_removed: int
    version: int


def optimize(spark: SparkSession, spec: DatasetSpec, uri: str) -> Optimized:
    """Compact main, ordered by what the spec says (clustered tables know their columns themselves)."""
    order = [c for c in spec.cluster_columns if c not in spec.partition_by]
    zorder = f" ZORDER BY ({', '.join(map(quote_spark, order))})" if spec.partition_by and order else ""
    # Open-source Delta has no table property for the target size, so it goes with the session.
    for name in _FILE_SIZES:
        spark.conf.set(name, str(spec.policies.target_file_mb * 2**20))
    metrics: Any = spark.sql(f"OPTIMIZE {delta_table(uri)}{zorder}").collect()[0]["metrics"]
    return Optimized(int(metrics["numFilesAdded"]), int(metrics["numFilesRemoved"]), log.current_version(uri))


def vacuum(spark: SparkSession, uri: str, *, dry_run: bool) -> list[str]:
    """Delete files that no version within the table's own retention needs; a dry run only names them.

    The retention is the property `delta.deletedFileRetentionDuration`, which follows the dataset's policy.
    There is no other: Delta ignores RETAIN … HOURS, and it forgets which older files belong to a version.
    """
    would_go = spark.sql(f"VACUUM {delta_table(uri)} DRY RUN").collect()
    if not dry_run:
        spark.sql(f"VACUUM {delta_table(uri)}").collect()
    # Delta also lists folders that it looked into; those of partitions may have a dot in their value.
    names = {row[0]: row[0].rsplit("/", 1)[-1] for row in would_go}
    return [path for path, name in names.items() if "." in name and "=" not in name]


def checkpoint(uri: str) -> int:
    """Write a checkpoint of the log, so that opening the table reads one file instead of many."""
    table = log.open_table(uri)
    table.create_checkpoint()
    return table.version()
