"""Rows of a dataset, now or as of any version."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response

from ...model.filters import Filter, Order
from ...workflow.query import MAX_ROWS, pinned_version, query
from .. import told
from ..answers import entity_tag, has_it_already, not_modified, tagged
from ..asked import Name, Note, Version
from ..auth import Who
from ..places import DatasetAt
from ..service import Here

router = APIRouter(tags=["rows"])

_OURS = frozenset({"select", "where", "order", "limit", "offset", "version", "timestamp"})
_FILTERS: dict[str, Any] = {
    "parameters": [
        {
            "name": "filters",
            "in": "query",
            "style": "form",
            "explode": True,
            "description": "Every other parameter is a filter, `column=op.value`; all must hold. "
            "Ops: eq neq lt lte gt gte in like is.",
            "schema": {"type": "object", "additionalProperties": {"type": "string"}},
            "example": {"amount": "gte.100", "status": 'in.open,"on hold"', "shipped_on": "is.null"},
        }
    ]
}


@router.get(
    "/projects/{project}/datasets/{dataset}/rows",
    response_model=told.Rows,
    responses={304: {"description": "You have it already."}},
    openapi_extra=_FILTERS,
    summary="Read rows",
)
def rows(
    request: Request,
    here: Here,
    who: Who,
    ref: DatasetAt,
    select: Annotated[Note, Query(description="These columns only, by comma.", examples=["order_id,amount"])] = "",
    where: Annotated[
        list[Note], Query(description="`column=op.value`, for a column that is named like a parameter.")
    ] = [],  # noqa: B006 - FastAPI copies it
    order: Annotated[Note, Query(description="By row_id if left out.", examples=["amount.desc"])] = "",
    limit: Annotated[int, Query(ge=0, le=MAX_ROWS)] = 100,
    offset: Annotated[int, Query(ge=0, le=2**53)] = 0,
    version: Annotated[Version | None, Query(description="As of this version.")] = None,
    timestamp: Annotated[Name | None, Query(description="As of this moment; UTC if it names no zone.")] = None,
) -> Response:
    """Only approved data is ever in here. The `ETag` stands for the version that was read."""
    others = [f"{name}={value}" for name, value in request.query_params.multi_items() if name not in _OURS]
    filters = [Filter.parse(text) for text in [*where, *others]]
    at = pinned_version(here.ws, who, ref, version, timestamp)
    tag = entity_tag(request, at)
    if has_it_already(request, tag):
        return not_modified(tag)
    found = query(
        here.ws,
        who,
        ref,
        select=_names(select),
        where=filters,
        order=[Order.parse(text) for text in _names(order)],
        limit=limit,
        offset=offset,
        version=at,
    )
    return tagged(found.as_json(), tag)


def _names(given: str) -> list[str]:
    return [name.strip() for name in given.split(",") if name.strip()]
