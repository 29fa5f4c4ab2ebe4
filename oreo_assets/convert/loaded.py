"""What a source hands on once its cells are in the workspace."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from .header import Header
from .request import ConversionRequest


@dataclass(frozen=True)
class Loaded:
    """`records` counts all, the broken ones too. `native` names the columns kept in a type of their own."""

    header: Header
    records: int
    lenient: bool
    details: dict[str, Any]
    native: dict[int, str] = field(default_factory=dict)


def columns_to_keep(header: Header, request: ConversionRequest) -> list[int]:
    """All of them if bad rows are set aside as they came, else those that are read."""
    if request.set_aside:
        return list(range(len(header.names)))
    return sorted(column.position for column in header.read)
