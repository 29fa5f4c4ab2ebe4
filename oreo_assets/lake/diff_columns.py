"""What a change set does to each column: cells, nulls, range, new values, and what most often becomes what."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .diff_compare import Comparison, KeptChanges
from .sql import quote_identifier as q

TOP = 5
CHECKED_VALUES = 1_000
"""Up to so many values that seem new are looked up in main; of more, how many are new is a guess from above."""


@dataclass(frozen=True)
class TopChange:
    """How often one value becomes another."""

    old: Any
    new: Any
    count: int


@dataclass(frozen=True)
class BeforeAfter:
    """One figure over the rows that change: as they are in main, and as they will be. None: there are no such rows."""

    before: Any = None
    after: Any = None

    def as_json(self) -> dict[str, Any]:
        return {"before": self.before, "after": self.after}


@dataclass(frozen=True)
class ColumnChange:
    """One column over all rows that change.

    `new_values` counts distinct values that main does not have in this column. `approximate`: they were too
    many to look up, so it may be fewer. `sampled`: `top_changes` and `new_values` are those of a sample.
    """

    name: str
    cells_changed: int
    null_rate: BeforeAfter = BeforeAfter()
    minimum: BeforeAfter = BeforeAfter()
    maximum: BeforeAfter = BeforeAfter()
    new_values: int = 0
    new_value_examples: tuple[Any, ...] = ()
    approximate: bool = False
    top_changes: tuple[TopChange, ...] = ()
    sampled: bool = False

    def as_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "cells_changed": self.cells_changed,
            "null_rate": self.null_rate.as_json(),
            "min": self.minimum.as_json(),
            "max": self.maximum.as_json(),
            "new_values": {
                "count": self.new_values,
                "approximate": self.approximate,
                "examples": list(self.new_value_examples),
            },
            "top_changes": [{"old": t.old, "new": t.new, "count": t.count} for t in self.top_changes],
            "sampled": self.sampled,
        }


def column_changes(compared: Comparison, kept: KeptChanges) -> tuple[ColumnChange, ...]:
    """Exact wherever one pass over the changed rows can tell; what takes more says so."""
    if not compared.columns:
        return ()
    figures = [
        f"count(*) FILTER (change = 'updated' AND {_differs(c)}), "
        f"count(*) FILTER (change <> 'inserted' AND {_old(c)} IS NULL), "
        f"count(*) FILTER (change <> 'deleted' AND {_new(c)} IS NULL), "
        f"min({_old(c)}), max({_old(c)}), min({_new(c)}), max({_new(c)})"
        for c in compared.columns
    ]
    row = compared.connection.execute(f"SELECT {', '.join(figures)} FROM {kept.rows}").fetchone()
    assert row is not None
    return tuple(_column(compared, kept, c, row[7 * i : 7 * i + 7]) for i, c in enumerate(compared.columns))


def _column(compared: Comparison, kept: KeptChanges, name: str, figures: Sequence[Any]) -> ColumnChange:
    changed, nulls_before, nulls_after, min_before, max_before, min_after, max_after = figures
    counts = kept.counts
    before, after = counts.updated + counts.deleted, counts.updated + counts.inserted
    brings_values = changed or counts.inserted
    new_values, examples, approximate = _new_values(compared, kept, name) if brings_values else (0, (), False)
    return ColumnChange(
        name=name,
        cells_changed=changed,
        null_rate=BeforeAfter(nulls_before / before if before else None, nulls_after / after if after else None),
        minimum=BeforeAfter(min_before, min_after),
        maximum=BeforeAfter(max_before, max_after),
        new_values=new_values,
        new_value_examples=examples,
        approximate=approximate,
        top_changes=_top_changes(compared, kept, name) if changed else (),
        sampled=kept.is_sample,
    )


def _top_changes(compared: Comparison, kept: KeptChanges, name: str) -> tuple[TopChange, ...]:
    found = compared.connection.execute(
        f"SELECT {_old(name)}, {_new(name)}, count(*) FROM {kept.at_hand} "
        f"WHERE change = 'updated' AND {_differs(name)} GROUP BY ALL ORDER BY 3 DESC, 1, 2 LIMIT {TOP}"
    )
    return tuple(TopChange(*row) for row in found.fetchall())


def _new_values(compared: Comparison, kept: KeptChanges, name: str) -> tuple[int, tuple[Any, ...], bool]:
    """First against the old values of the same rows, which are at hand; only what is left is looked up in main."""
    connection = compared.connection
    connection.execute(
        f"CREATE OR REPLACE TEMP TABLE candidates AS SELECT DISTINCT {_new(name)} AS value FROM {kept.at_hand} "
        f"WHERE {_new(name)} IS NOT NULL AND {_differs(name)} "
        f"AND {_new(name)} NOT IN (SELECT {_old(name)} FROM {kept.at_hand} WHERE {_old(name)} IS NOT NULL)"
    )
    (total,) = connection.execute("SELECT count(*) FROM candidates").fetchone() or (0,)
    if total > CHECKED_VALUES:
        return total, (), True  # any one of them may be in main, so none is shown as new
    if total and _in_whole(compared, name):
        connection.execute(
            f"DELETE FROM candidates WHERE value IN (SELECT DISTINCT w.{q(name)} FROM {q(compared.whole)} w "
            f"SEMI JOIN candidates c ON w.{q(name)} = c.value)"
        )
    values = [v for (v,) in connection.execute("SELECT value FROM candidates ORDER BY 1").fetchall()]
    return len(values), tuple(values[:TOP]), False


def _in_whole(compared: Comparison, name: str) -> bool:
    return name in {row[0] for row in compared.connection.execute(f"DESCRIBE {q(compared.whole)}").fetchall()}


def _differs(column: str) -> str:
    return f"{_old(column)} IS DISTINCT FROM {_new(column)}"


def _old(column: str) -> str:
    return q(f"old {column}")


def _new(column: str) -> str:
    return q(f"new {column}")
