"""`row_id`, the merge key: from the key's values, from the file, or from the record's place in the file."""

from __future__ import annotations

from ..lake.sql import quote_literal
from ..model.types import ColumnType


def canonical_text(value: str, type_: ColumnType) -> str:
    """One spelling per value, as SQL: equal values give equal text, whatever the file looked like."""
    if type_.name == "string":
        return value
    if type_.name in ("timestamp", "timestamp_ntz"):
        zone = "'Z'" if type_.name == "timestamp" else "''"
        fraction = rf"regexp_replace(strftime({value}, '.%f'), '^\.000000$', '')"
        return f"strftime({value}, '%Y-%m-%dT%H:%M:%S') || {fraction} || {zone}"
    return f"CAST({value} AS VARCHAR)"


def key_row_id(texts: list[str]) -> str:
    """One key column stands for itself; several are joined by | with \\ and | escaped, and none collide."""
    if len(texts) == 1:
        return texts[0]
    escaped = [f"replace(replace({text}, '\\', '\\\\'), '|', '\\|')" for text in texts]
    return " || '|' || ".join(escaped)


def generated_row_id(prefix: str, record: str) -> str:
    return f"{quote_literal(prefix)} || '-' || printf('%010d', {record})"
