"""DataFrames under check: kept at hand while several checks read them, and their failing rows by key."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..model.spec import ROW_ID, DatasetSpec
from .outcomes import FailingRow, as_text, json_safe

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

FAILING_ROWS_KEPT = 1000


def computed_once(frame: DataFrame) -> DataFrame:
    """The rows of the frame, computed now and kept for as long as the frame is.

    A suite reads its rows many times. Caching the plan would not do: over Connect each read sends it anew, and
    a plan over versions of Delta tables costs more to resolve than its few rows cost to read.
    """
    return frame.localCheckpoint()


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
