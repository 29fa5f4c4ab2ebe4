"""The rows of a session for the grid in the browser: every value as text, spelt as an edit would spell it."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query

from ....model.filters import Filter, Op, Order
from ....model.spec import ROW_ID
from ....workflow import live_edit
from ....workflow.live_types import LiveRow
from ...answers import Json
from ...asked import Note, RowId
from ...auth import WhoOnSite
from ...places import ID, DatasetAt
from ...service import Here
from ..words import cell_text

router = APIRouter(include_in_schema=False)
_MAX_NAMED = 200


@router.get("/p/{project}/{dataset}/live/{session}/rows")
def rows(
    here: Here,
    who: WhoOnSite,
    ref: DatasetAt,
    session: Annotated[str, Path(pattern=ID)],
    where: Annotated[list[Note], Query(max_length=100)] = [],  # noqa: B006 - FastAPI copies it
    order: Note = "",
    changed: bool = False,
    row: Annotated[list[RowId], Query(max_length=_MAX_NAMED)] = [],  # noqa: B006 - FastAPI copies it
    limit: Annotated[int, Query(ge=0, le=live_edit.MAX_ROWS)] = 200,
    offset: Annotated[int, Query(ge=0, le=2**53)] = 0,
) -> Json:
    """A page of them, or those named."""
    conditions = [Filter.parse(text) for text in where]
    if row:
        conditions = [Filter(ROW_ID, Op.IN, tuple(row))]
    found = live_edit.preview(
        here.ws,
        who,
        ref,
        session,
        where=conditions,
        order=[Order.parse(order)] if order else [],
        changed_only=changed,
        limit=limit,
        offset=offset,
    )
    return Json({"rows": [_told(r) for r in found.rows], "next": found.next})


def _told(row: LiveRow) -> dict[str, Any]:
    return {
        "id": row.row_id,
        "change": row.change,
        "cells": {name: spelt(value) for name, value in row.values.items()},
        "old": {name: spelt(value) for name, value in row.old.items()},
        "failed": {name: [{**vars(f)} for f in failed] for name, failed in row.failed.items()},
        "others": list(row.others),
    }


def spelt(value: Any) -> str | None:
    """In the one canonical spelling that edits have, so that a cell looks the same before and after a reload."""
    if isinstance(value, Decimal):
        return f"{value:f}"
    if isinstance(value, datetime):
        return (
            value.isoformat() if value.tzinfo is None else f"{value.astimezone(UTC).replace(tzinfo=None).isoformat()}Z"
        )
    if isinstance(value, float):
        return repr(value)
    return cell_text(value)
