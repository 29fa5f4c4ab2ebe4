"""The materialized history of main: its commits as rows of a Delta table."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from . import log

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_SCHEMA = (
    "version BIGINT, timestamp TIMESTAMP, operation STRING, commit_id STRING, change_request_id STRING, "
    "author STRING, approvers ARRAY<STRING>, note STRING, mode STRING, validation_run_id STRING, metrics STRING"
)
_APP = "oreo/history"


def new_commits(spark: SparkSession, main_uri: str, history_uri: str) -> DataFrame:
    """The commits of main that the history table does not have yet."""
    known = _newest_known(history_uri)
    rows = []
    for commit in reversed(log.commits(main_uri)):
        if commit.version > known:
            meta = commit.metadata
            rows.append(
                (
                    commit.version,
                    commit.timestamp,
                    commit.operation,
                    meta.commit_id if meta else None,
                    meta.change_request_id if meta else None,
                    meta.author if meta else None,
                    list(meta.approvers) if meta else [],
                    meta.note if meta else None,
                    meta.mode if meta else None,
                    meta.validation_run_id if meta else None,
                    json.dumps(commit.metrics, sort_keys=True),
                )
            )
    return spark.createDataFrame(rows, _SCHEMA)


def append_commits(frame: DataFrame, history_uri: str) -> int:
    """Append them, once: the newest version is the idempotency marker. The rows that were added."""
    newest = frame.agg({"version": "max"}).collect()[0][0]
    if newest is None:
        return 0
    (
        frame.coalesce(1)
        .write.format("delta")
        .mode("append")
        .option("txnAppId", _APP)
        .option("txnVersion", int(newest))
        .save(history_uri)
    )
    return frame.count()


def _newest_known(history_uri: str) -> int:
    if not log.table_exists(history_uri):
        return -1
    marker = log.open_table(history_uri).transaction_version(_APP)
    return -1 if marker is None else marker
