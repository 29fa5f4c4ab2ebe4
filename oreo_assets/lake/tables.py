"""Delta tables made and written by Spark: main from its spec, staging from a DataFrame, history from a log.

Everything is Spark SQL or the DataFrame API, so that it runs the same in-process, over Connect and on a
cluster.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ..model.commit import CommitMetadata
from ..model.errors import RefusedError
from ..model.spec import ROW_ID, Column, DatasetSpec
from . import log
from .sql import delta_table, quote_spark, quote_spark_literal

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_USER_METADATA = "spark.databricks.delta.commitInfo.userMetadata"
_TXN_APP = "spark.databricks.delta.write.txnAppId"
_TXN_VERSION = "spark.databricks.delta.write.txnVersion"
MAX_CLUSTER_COLUMNS = 4


def reconcile_main(spark: SparkSession, spec: DatasetSpec, uri: str) -> list[str]:
    """Make main what the spec says, and tell what was done. A second time does nothing."""
    if not log.table_exists(uri):
        spark.sql(_create_sql(spec, uri))
        return ["main created", *_reconcile_constraints(spark, spec, uri)]
    return [
        *_reconcile_columns(spark, spec, uri),
        *_reconcile_properties(spark, spec, uri),
        *_reconcile_constraints(spark, spec, uri),
    ]


def plan_columns(spec: DatasetSpec, uri: str) -> list[Column]:
    """The columns that main still lacks; what cannot be done in place is refused."""
    fields = {f["name"]: f for f in _schema_fields(uri)}
    added = []
    for column in spec.columns:
        field = fields.pop(column.name, None)
        if field is None:
            if not column.nullable and log.current_version(uri) > 0:
                raise RefusedError(
                    f"Column {column.name} cannot be added as not nullable: the rows in main have no value for it.",
                    "Declare it nullable.",
                )
            added.append(column)
        elif _spark_type(field["type"]) != column.type:
            raise RefusedError(
                f"Column {column.name} of {spec.ref} is {_spark_type(field['type'])} and cannot become {column.type}.",
                "Keep the type, or add a new column with the new one.",
            )
    fields.pop(ROW_ID, None)
    if fields:
        raise RefusedError(
            f"The file no longer declares {', '.join(fields)}, which main of {spec.ref} has.",
            "Dropping columns is not supported yet; declare them again.",
        )
    return added


def write_staging(frame: DataFrame, uri: str, metadata: CommitMetadata) -> int:
    """Overwrite a change request's own table; the version it has now."""
    (
        frame.write.format("delta")
        .mode("overwrite")
        .option("overwriteSchema", "true")
        .option("userMetadata", metadata.to_json())
        .save(uri)
    )
    return log.current_version(uri)


@contextmanager
def committing(spark: SparkSession, metadata: CommitMetadata, app_id: str, app_version: int) -> Iterator[None]:
    """Every commit in this block carries the metadata, and is left out if `app_id` got as far as `app_version`.

    The settings belong to the session and would leak into the next commit, so they are taken back.
    """
    settings = {_USER_METADATA: metadata.to_json(), _TXN_APP: app_id, _TXN_VERSION: str(app_version)}
    try:
        for name, value in settings.items():
            spark.conf.set(name, value)
        yield
    finally:
        for name in settings:
            spark.conf.unset(name)


def table_properties(spec: DatasetSpec) -> dict[str, str]:
    """Delta's own settings for main, from the dataset's policies."""
    policies, features = spec.policies, spec.policies.features
    days = f"interval {policies.time_travel_days} days"
    properties = {
        "delta.enableChangeDataFeed": _word(features.change_data_feed),
        "delta.enableDeletionVectors": _word(features.deletion_vectors),
        "delta.deletedFileRetentionDuration": days,
        "delta.logRetentionDuration": days,
    }
    if features.row_tracking:
        properties["delta.enableRowTracking"] = "true"
    if features.in_commit_timestamps:
        properties["delta.enableInCommitTimestamps"] = "true"
    if features.column_mapping:
        properties["delta.columnMapping.mode"] = "name"
    if policies.stats_columns:
        properties["delta.dataSkippingStatsColumns"] = ",".join([ROW_ID, *policies.stats_columns])
    return properties


def _create_sql(spec: DatasetSpec, uri: str) -> str:
    row_id = Column(name=ROW_ID, type="string", nullable=False, description="The merge key.")
    columns = [row_id, *(c for c in spec.columns if c.name != ROW_ID)]
    layout = ""
    if spec.partition_by:
        layout = f"PARTITIONED BY ({_names(spec.partition_by)})"
    elif spec.cluster_columns:
        layout = f"CLUSTER BY ({_names(spec.cluster_columns[:MAX_CLUSTER_COLUMNS])})"
    properties = ", ".join(
        f"{quote_spark_literal(k)} = {quote_spark_literal(v)}" for k, v in table_properties(spec).items()
    )
    return (
        f"CREATE TABLE IF NOT EXISTS {delta_table(uri)} ({', '.join(_ddl(c) for c in columns)}) USING DELTA "
        f"COMMENT {quote_spark_literal(spec.description)} {layout} TBLPROPERTIES ({properties})"
    )


def _ddl(column: Column) -> str:
    parts = [quote_spark(column.name), column.type]
    if not column.nullable:
        parts.append("NOT NULL")
    if column.description:
        parts.append(f"COMMENT {quote_spark_literal(column.description)}")
    return " ".join(parts)


def _reconcile_columns(spark: SparkSession, spec: DatasetSpec, uri: str) -> list[str]:
    added = plan_columns(spec, uri)
    if added:
        spark.sql(f"ALTER TABLE {delta_table(uri)} ADD COLUMNS ({', '.join(_ddl(c) for c in added)})")
    return [f"column {c.name} added" for c in added]


def _reconcile_properties(spark: SparkSession, spec: DatasetSpec, uri: str) -> list[str]:
    have = log.open_table(uri).metadata().configuration
    changed = {k: v for k, v in table_properties(spec).items() if have.get(k) != v}
    if changed:
        pairs = ", ".join(f"{quote_spark_literal(k)} = {quote_spark_literal(v)}" for k, v in changed.items())
        spark.sql(f"ALTER TABLE {delta_table(uri)} SET TBLPROPERTIES ({pairs})")
    return [f"{k} set to {v}" for k, v in changed.items()]


def _reconcile_constraints(spark: SparkSession, spec: DatasetSpec, uri: str) -> list[str]:
    prefix = "delta.constraints."
    configuration = log.open_table(uri).metadata().configuration
    have = {k.removeprefix(prefix): v for k, v in configuration.items() if k.startswith(prefix)}
    want = {name.lower(): expression for name, expression in spec.constraints.items()}
    done = []
    for name in [n for n in have if have[n] != want.get(n)]:
        spark.sql(f"ALTER TABLE {delta_table(uri)} DROP CONSTRAINT {quote_spark(name)}")
        done.append(f"constraint {name} dropped")
    for name, expression in want.items():
        if have.get(name) != expression:
            spark.sql(f"ALTER TABLE {delta_table(uri)} ADD CONSTRAINT {quote_spark(name)} CHECK ({expression})")
            done.append(f"constraint {name} added")
    return done


def _schema_fields(uri: str) -> list[dict[str, Any]]:
    return list(json.loads(log.open_table(uri).schema().to_json())["fields"])


def _spark_type(delta_type: object) -> str:
    names = {"integer": "int", "long": "bigint", "short": "smallint"}
    return names.get(str(delta_type), str(delta_type))


def _names(columns: list[str]) -> str:
    return ", ".join(quote_spark(c) for c in columns)


def _word(value: bool) -> str:
    return "true" if value else "false"
