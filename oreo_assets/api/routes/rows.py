"""Rows of a dataset, now or as of any version."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response

from ...model.filters import Filter, Order
from ...model.spec import ROW_ID
from ...workflow.query import MAX_ROWS, pinned_version, query
from .. import told
from ..answers import entity_tag, has_it_already, next_link, not_modified, tagged
from ..asked import Name, Note, RowId, Version
from ..auth import Who
from ..places import DatasetAt
from ..service import Here

router = APIRouter(tags=["rows"])

_OURS = frozenset({"select", "where", "order", "limit", "offset", "after", "version", "timestamp"})
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
    after: Annotated[RowId | None, Query(description="Begin after this row, in the order of row_id.")] = None,
    version: Annotated[Version | None, Query(description="As of this version.")] = None,
    timestamp: Annotated[Name | None, Query(description="As of this moment; UTC if it names no zone.")] = None,
) -> Response:
    """Only approved data is ever in here. The `ETag` stands for the version that was read.

    Read in pages by `after`, which `Link` has ready and pins to the version of the first page; `offset` is for jumps.
    """
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
        after=after,
        version=at,
    )
    answer = tagged(found.as_json(), tag)
    if found.next is not None and not order and found.rows and ROW_ID in found.rows[-1]:
        answer.headers["Link"] = next_link(request, {"after": found.rows[-1][ROW_ID], "version": at}, "offset")
    return answer


def _names(given: str) -> list[str]:
    return [name.strip() for name in given.split(",") if name.strip()]
