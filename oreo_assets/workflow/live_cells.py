"""The values that people type: read by the rules of a file's cells, and judged by the column's expectations."""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import TYPE_CHECKING, Any

from ..convert.cells import text_rule
from ..convert.row_ids import canonical_text, key_row_id
from ..model.errors import RefusedError
from ..model.spec import Column, DatasetSpec
from ..quality.cell_checks import CellVerdict, expectations_of, judge

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

UNSTORABLE = "has a character that cannot be stored"
_LISTED = 1_000
_SHOWN = 100
_local = threading.local()


@dataclass(frozen=True)
class Read:
    """A text as its column reads it: in one canonical spelling, and as Python has it; or why it cannot be."""

    text: str | None
    value: Any
    reason: str | None


@dataclass(frozen=True)
class Fault:
    """A value that cannot be taken."""

    row_id: str | None
    column: str
    value: str | None
    reason: str

    def as_json(self) -> dict[str, Any]:
        return {"row_id": self.row_id, "column": self.column, "value": self.value, "reason": self.reason}


def read_texts(spec: DatasetSpec, column: Column, texts: Sequence[str | None]) -> list[Read]:
    """What a file with these cells would hold; empty cells of other types than text are null."""
    cells = [(text, text is None or storable(text)) for text in texts]
    type_ = column.parsed
    rule = text_rule("cell", type_, not column.nullable or column.name in spec.key, False)
    is_moment = type_.name.startswith("timestamp")
    found = _connection().execute(
        f"""SELECT {rule.reason} AS reason, {canonical_text(f"({rule.value})", type_)} AS text,
                {"NULL" if is_moment else rule.value} AS value
            FROM (SELECT unnest(?::VARCHAR[]) AS cell, unnest(range(?)) AS place) ORDER BY place""",
        [[cell if ok else None for cell, ok in cells], len(cells)],
    )
    return [
        _read(reason, text, value, is_moment) if ok else Read(None, None, UNSTORABLE)
        for (reason, text, value), (_, ok) in zip(found.fetchall(), cells, strict=True)
    ]


def key_texts(spec: DatasetSpec, keys: Sequence[Sequence[str]]) -> list[str]:
    """The row_id that follows from each key's canonical texts, by the rule of files."""
    places = [f"key[{i + 1}]" for i in range(len(spec.key))]
    found = _connection().execute(
        f"SELECT {key_row_id(places)} FROM (SELECT unnest(?::VARCHAR[][]) AS key, unnest(range(?)) AS place) "
        "ORDER BY place",
        [[list(key) for key in keys], len(keys)],
    )
    return [row[0] for row in found.fetchall()]


class Judge:
    """The verdicts of a dataset's expectations, worked out once for each distinct value."""

    def __init__(self, spec: DatasetSpec) -> None:
        self._expectations = {c.name: expectations_of(spec, c.name) for c in spec.columns}
        self._known: dict[tuple[str, str | None], CellVerdict] = {}

    def verdict(self, column: str, read: Read) -> CellVerdict:
        place = (column, read.text)
        if place not in self._known:
            self._known[place] = judge(self._expectations[column], read.value)
        return self._known[place]


def validation_json(verdict: CellVerdict) -> str | None:
    """As it is written beside the value; nothing where there is nothing to tell."""
    told = verdict.failed or verdict.not_judged
    return json.dumps(verdict.as_json(), ensure_ascii=False) if told else None


def storable(text: str) -> bool:
    """Whether every engine can hold it: no half characters, no NUL."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return "\x00" not in text


def refuse(faults: Sequence[Fault], total: int) -> None:
    """Raise if there are any: one message, and all of them (up to a thousand) in its details."""
    if not faults:
        return
    first = faults[0]
    place = f"{first.row_id}:{first.column}" if first.row_id else first.column
    shown = None if first.value is None else first.value[:_SHOWN]
    more = f", and {len(faults) - 1:,} more" if len(faults) > 1 else ""
    raise RefusedError(
        f"{len(faults):,} of {total:,} values cannot be taken: {place} = {shown!r}: {first.reason}{more}.",
        "Mend them and send all of them again; nothing was changed.",
        cells=[fault.as_json() for fault in faults[:_LISTED]],
    )


def _read(reason: str | None, text: str | None, value: Any, is_moment: bool) -> Read:
    if reason:
        return Read(None, None, reason)
    if is_moment and text is not None:
        value = datetime.fromisoformat(text)
    return Read(text, value, None)


def _connection() -> DuckDBPyConnection:
    """One per thread, kept: to open one takes longer than to read a cell."""
    if not hasattr(_local, "cursor"):
        _local.cursor = _database().cursor()
        _local.cursor.execute("SET TimeZone = 'UTC'")
    return _local.cursor


@cache
def _database() -> DuckDBPyConnection:
    import duckdb

    database = duckdb.connect(":memory:", config={"threads": 1, "memory_limit": "256MB"})
    database.execute("SET enable_external_access = false")
    return database
