"""What live edit sessions are asked and what they answer: plain values, the same for page, API and CLI."""

from __future__ import annotations

import csv
import io
from dataclasses import asdict, dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from ..model.filters import Filter, Op
from ..quality.cell_checks import CellVerdict, FailedCheck


class SessionState(StrEnum):
    """Where a session is in its life. Only an open one takes edits."""

    OPEN = "open"
    SUBMITTED = "submitted"
    """It became a change request, which is not closed yet."""
    CLOSED = "closed"
    """Its change request has ended."""
    DISCARDED = "discarded"
    EXPIRED = "expired"


@dataclass(frozen=True)
class CellEdit:
    """One cell and the value it should get, as text, spelt as in a file; None for null."""

    row_id: str
    column: str
    value: str | None


@dataclass(frozen=True)
class EditedCell:
    """A cell as it stands after an edit. `old` is what the base has, both are text in one canonical spelling."""

    row_id: str
    column: str
    old: str | None
    new: str | None
    validation: CellVerdict

    def as_json(self) -> dict[str, Any]:
        return {**asdict(self), "validation": self.validation.as_json()}


@dataclass(frozen=True)
class SessionCounts:
    """What the session changes now: rows by what happens to them, cells, and failed checks by severity."""

    inserted: int = 0
    updated: int = 0
    deleted: int = 0
    cells: int = 0
    failed_fatal: int = 0
    failed_warning: int = 0
    failed_info: int = 0

    @property
    def rows(self) -> int:
        return self.inserted + self.updated + self.deleted


@dataclass(frozen=True)
class EditResult:
    """What came of an edit, an undo or a redo. `row_ids` are the rows it touched; `cells` are set for an edit."""

    session_id: str
    row_ids: tuple[str, ...]
    cells: tuple[EditedCell, ...]
    counts: SessionCounts
    can_undo: bool
    can_redo: bool

    def as_json(self) -> dict[str, Any]:
        return {**asdict(self), "cells": [cell.as_json() for cell in self.cells]}


@dataclass(frozen=True)
class SessionCard:
    """A session and where it stands. `counts`, `edits` and `bytes` are None where its folder is gone."""

    session_id: str
    project: str
    dataset: str
    owner: str
    state: SessionState
    base_version: int
    main_version: int | None
    """Main as it is now; more than the base if others merged something since."""
    where: tuple[Filter, ...]
    created_at: datetime
    expires_at: datetime
    change_request_id: str | None
    counts: SessionCounts | None = None
    edits: int | None = None
    bytes: int | None = None
    max_bytes: int | None = None
    can_undo: bool = False
    can_redo: bool = False

    def as_json(self) -> dict[str, Any]:
        body = asdict(self)
        body["where"] = [_filter_text(f) for f in self.where]
        return body


@dataclass(frozen=True)
class LiveRow:
    """A row as the session has it. `change` is unchanged, updated, inserted or deleted (then with its old values).

    `old` has the base's values of the changed cells, `failed` the failed checks of edited cells, both by column;
    `others` names who else has this row changed in an open session.
    """

    row_id: str
    change: str
    values: dict[str, Any]
    old: dict[str, Any] = field(default_factory=dict)
    failed: dict[str, tuple[FailedCheck, ...]] = field(default_factory=dict)
    others: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True)
class LivePage:
    """Some rows with the session laid over main at `base_version`; `next` is the offset of the following ones."""

    rows: tuple[LiveRow, ...]
    columns: tuple[str, ...]
    base_version: int
    next: int | None

    def as_json(self) -> dict[str, Any]:
        return {
            "rows": [row.as_json() for row in self.rows],
            "columns": list(self.columns),
            "version": self.base_version,
            "next": self.next,
        }


@dataclass(frozen=True)
class Overlap:
    """A row that another open session changes too. No columns: it is deleted or added there."""

    row_id: str
    columns: tuple[str, ...]
    owner: str
    session_id: str

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True)
class Submitted:
    """The change request that a session became. Submitting again gives the same."""

    session_id: str
    change_request_id: str
    state: str

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def _filter_text(item: Filter) -> str:
    """As it was typed: `Filter.parse` of it gives the same filter."""
    if item.op is not Op.IN:
        return f"{item.column}={item.op}.{item.values[0]}"
    listed = io.StringIO()
    csv.writer(listed, lineterminator="").writerow(item.values)
    return f"{item.column}={item.op}.{listed.getvalue()}"
