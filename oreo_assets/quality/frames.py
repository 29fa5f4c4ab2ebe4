"""DataFrames under check: kept at hand while several checks read them, and their failing rows by key."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ..model.spec import ROW_ID, DatasetSpec
from .outcomes import FailingRow, as_text, json_safe

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

FAILING_ROWS_KEPT = 1000

logger = logging.getLogger(__name__)


@contextmanager
def computed_once(frame: DataFrame) -> Iterator[DataFrame]:
    """The rows of the frame, computed now and kept for the length of a `with` block.

    A suite reads its rows many times. Caching the plan would not do: over Connect each read sends it anew, and
    a plan over versions of Delta tables costs more to resolve than its few rows cost to read.
    """
    kept = frame.localCheckpoint()
    try:
        yield kept
    finally:
        _forget(kept)


def _forget(kept: DataFrame) -> None:
    """Let the server forget the rows now, and not when Python's garbage collector comes to it.

    PySpark calls the server from the collector, in whichever thread that happens to run. If the thread is
    inside gRPC at that moment it waits for itself, for ever, with a heartbeat that keeps its lease.
    """
    relation = getattr(kept, "_plan", None)
    session = getattr(relation, "_spark_session", None)
    if relation is None or session is None:
        return  # Spark inside this process: nothing is called from the collector
    relation._spark_session = None
    from pyspark.errors import PySparkException
    from pyspark.sql.connect.plan import RemoveRemoteCachedRelation

    try:
        session.client.execute_command(RemoveRemoteCachedRelation(relation).command(session.client))
    except PySparkException as error:
        # They go with the session at the latest, and how the checks ended matters more.
        logger.warning("Spark did not forget the rows of a check: %s", error)


def key_columns(spec: DatasetSpec, frame: DataFrame) -> list[str]:
    """What tells rows apart, as far as the frame has it: `row_id`, then the business key."""
    have = set(frame.columns)
    return [c for c in dict.fromkeys([ROW_ID, *spec.key]) if c in have]


def failing_row(spec: DatasetSpec, cells: dict[str, Any], looked_at: list[str]) -> FailingRow:
    return FailingRow(
        row_id=as_text(cells.get(ROW_ID)) or "",
        key={c: json_safe(cells[c]) for c in spec.key if c in cells},
        values={c: as_text(cells[c]) for c in looked_at if c in cells},
    )
