"""The difference between what is staged and main: one implementation for page, API and CLI."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

from .change_set import KINDS, ChangeSet, CommittedChange, Counts, Sides, both_sides
from .diff_columns import BeforeAfter, ColumnChange, TopChange, column_changes
from .diff_compare import Comparison
from .diff_rows import Chosen, Wanted
from .read import TableAt, column_types, reading
from .sql import quote_identifier as q

__all__ = [
    "KINDS",
    "BeforeAfter",
    "ChangeSet",
    "ColumnChange",
    "CommittedChange",
    "Counts",
    "DiffPage",
    "TopChange",
    "Wanted",
    "changed_rows",
    "content_hash",
    "count_changes",
    "diff",
    "diff_sides",
]


@dataclass(frozen=True)
class DiffPage:
    """Counts and columns of the whole change set, and one page of the rows that were asked for.

    `matching` is how many rows were asked for. `sampled`: not everything could be looked at, and some figure
    of a column, or the choice of rows, stands for a part.
    """

    counts: Counts
    columns: tuple[ColumnChange, ...]
    rows: tuple[dict[str, Any], ...]
    next: str | None
    matching: int = 0
    sampled: bool = False

    def as_json(self) -> dict[str, Any]:
        return {
            "counts": self.counts.as_json(),
            "columns": [column.as_json() for column in self.columns],
            "rows": list(self.rows),
            "next": self.next,
            "matching": self.matching,
            "sampled": self.sampled,
        }


def diff(
    change: ChangeSet | CommittedChange,
    wanted: Wanted | None = None,
    *,
    all_columns: bool = False,
    limit: int = 100,
    after: str = "",
) -> DiffPage:
    """Counts, what becomes of each column, and the rows after `after`, in the order of `row_id`.

    A row carries its changed cells; with `all_columns` the others too.
    """
    with both_sides(change) as sides:
        return diff_sides(sides, wanted or Wanted(), all_columns=all_columns, limit=limit, after=after)


def diff_sides(
    sides: Sides, wanted: Wanted, *, all_columns: bool = False, limit: int = 100, after: str = ""
) -> DiffPage:
    """The same of two sides that are open already: a live session has no staged table yet."""
    compared = Comparison.of(sides)
    kept = compared.keep()
    # Unchanged rows are not kept: whoever asks for them has them joined once more.
    rows = f"({compared.joined})" if "unchanged" in wanted.kinds else kept.rows
    chosen = Chosen.of(compared, rows, wanted)
    page = chosen.page(limit + 1, after)
    shown = tuple(chosen.show(page[:limit], all_columns=all_columns))
    return DiffPage(
        kept.counts,
        column_changes(compared, kept),
        shown,
        shown[-1]["row_id"] if len(page) > limit and shown else None,
        chosen.count(kept.counts),
        sampled=kept.is_sample,
    )


def count_changes(change: ChangeSet | CommittedChange) -> Counts:
    with both_sides(change) as sides:
        return Comparison.of(sides).counts()


def changed_rows(change: ChangeSet | CommittedChange, wanted: Wanted, limit: int = 100_000) -> list[str]:
    """The ids of the rows that are asked for, in order."""
    with both_sides(change) as sides:
        compared = Comparison.of(sides)
        return Chosen.of(compared, f"({compared.joined})", wanted).row_ids(limit)


def content_hash(table: TableAt) -> str:
    """A hash of a table's rows that does not depend on their order or on the files they lie in."""
    with reading(table) as connection:
        types = column_types(connection, table.name)
        names = sorted(types)
        cells = " || ".join(
            f"coalesce(length(CAST({q(n)} AS VARCHAR)) || ':' || CAST({q(n)} AS VARCHAR), '-')" for n in names
        )
        total = connection.execute(
            f"SELECT count(*), bit_xor(h), sum(CAST(h % 1000000007 AS HUGEINT)) "
            f"FROM (SELECT md5_number({cells}) AS h FROM {q(table.name)})"
        ).fetchone()
    text = repr((sorted(types.items()), total))
    return hashlib.sha256(text.encode()).hexdigest()
