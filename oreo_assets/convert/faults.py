"""Everything that is wrong with the rows, found in one go and kept in the table `faults`."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ..lake.sql import quote_literal
from ..model.types import ColumnType
from .cells import CellRule
from .request import MAX_LISTED_REJECTS, MAX_SHOWN_CHARACTERS, Reject
from .workspace import Workspace

_LISTED_LINES = 10
_BATCH = 40


@dataclass(frozen=True)
class Cell:
    """One column on its way out: its place in the file, its name and type, and the rule for its cells.

    `tidy` is a faster rule, good if it finds nothing to object to.
    """

    place: int
    name: str
    type: ColumnType
    rule: CellRule
    tidy: CellRule | None = None

    @property
    def raw(self) -> str:
        return f"c{self.place}"


@dataclass(frozen=True)
class Counts:
    rows_rejected: int
    total: int


def check_cells(space: Workspace, cells: list[Cell]) -> list[Cell]:
    """Every cell against its rule. Gives the columns back, each with the one rule that holds for it.

    Clean columns, and most are, cost one pass over the table for all of them together.
    """
    quick = [cell.tidy or cell.rule for cell in cells]
    clean = [count == 0 for count in _count(space, quick)]
    settled = [replace(c, rule=q if ok else c.rule) for c, q, ok in zip(cells, quick, clean, strict=True)]
    suspects = [cell for cell, ok in zip(settled, clean, strict=True) if not ok]
    for cell, bad in zip(suspects, _count(space, [c.rule for c in suspects]), strict=True):
        if bad:
            space.run(
                f"""INSERT INTO faults
                    SELECT _line, _rec, {cell.place}, {quote_literal(cell.name)},
                        CAST({cell.raw} AS VARCHAR), reason
                    FROM (SELECT *, {cell.rule.reason} AS reason FROM raw) WHERE reason IS NOT NULL"""
            )
    return settled


def check_unique(space: Workspace, key: list[Cell], texts: list[str]) -> None:
    """Each row whose key another row has too. Rows whose key is bad in itself are not compared."""
    names = ", ".join(quote_literal(cell.name) for cell in key)
    values = ", ".join(f"{cell.rule.value} AS k{i}" for i, cell in enumerate(key))
    columns = ", ".join(f"k{i}" for i in range(len(key)))
    keyed = f"""SELECT _line, _rec, {values} FROM raw
        WHERE _rec NOT IN (SELECT _rec FROM faults WHERE col IN ({names}))"""
    space.run(
        f"""CREATE TEMP TABLE repeated AS
            SELECT {columns} FROM ({keyed}) GROUP BY {columns} HAVING count(*) > 1"""
    )
    if space.row("SELECT count(*) FROM repeated")[0]:
        label = " || ', ' || ".join(
            f"{quote_literal(cell.name + '=')} || '''' || {_shown(text)} || ''''"
            for cell, text in zip(key, texts, strict=True)
        )
        # The lines are listed once per key, and only the first few: a key may be there a million times.
        space.run(
            f"""INSERT INTO faults
                WITH hits AS (SELECT * FROM ({keyed}) JOIN repeated USING ({columns})),
                places AS (
                    SELECT {columns}, count(*) AS times, min(_line, {_LISTED_LINES}) AS listed
                    FROM hits GROUP BY {columns})
                SELECT _line, _rec, {key[0].place}, {quote_literal(", ".join(cell.name for cell in key))},
                    {" || '|' || ".join(texts)},
                    'key ' || {label} || ' appears ' || times || ' times (lines '
                    || array_to_string(listed, ', ')
                    || CASE WHEN times > {_LISTED_LINES} THEN ', …' ELSE '' END || ')'
                FROM hits JOIN places USING ({columns})"""
        )
    space.run("DROP TABLE repeated")


def count_faults(space: Workspace) -> Counts:
    rows, total = space.row("SELECT count(DISTINCT _rec), count(*) FROM faults")
    return Counts(rows, total)


def list_rejects(space: Workspace) -> tuple[Reject, ...]:
    """The first faults in the order of the file."""
    found = space.rows(
        f"""SELECT _line, col, {_shown("value")}, reason FROM faults
            ORDER BY _line, _rec, place, reason LIMIT {MAX_LISTED_REJECTS}"""
    )
    return tuple(Reject(*row) for row in found)


def _count(space: Workspace, rules: list[CellRule]) -> list[int]:
    """How many cells each rule objects to. DuckDB plans long lists of expressions slowly, so in batches."""
    judged = [f"count({rule.reason})" for rule in rules if rule.reason != "NULL"]
    counts: list[int] = []
    for at in range(0, len(judged), _BATCH):
        counts += space.row(f"SELECT {', '.join(judged[at : at + _BATCH])} FROM raw")
    each = iter(counts)
    return [0 if rule.reason == "NULL" else next(each) for rule in rules]


def _shown(text: str) -> str:
    limit = MAX_SHOWN_CHARACTERS
    return f"CASE WHEN length({text}) > {limit} THEN left({text}, {limit}) || '…' ELSE {text} END"
