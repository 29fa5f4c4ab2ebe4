"""Change requests: listed and looked at."""

from __future__ import annotations

from operator import itemgetter
from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response

from ...model.filters import Filter
from ...workflow import conflicts as conflicting
from ...workflow import review
from ...workflow.standing import standing as where_it_stands
from .. import told
from ..answers import Json, entity_tag, has_it_already, not_modified, page, tagged
from ..asked import Name, Note, PageLimit, RowId
from ..auth import Who
from ..places import ID, ChangeRequestAt, DatasetAt
from ..service import Here

router = APIRouter(tags=["change requests"])

_OF_DATASET = "/projects/{project}/datasets/{dataset}/change-requests"
_ONE = _OF_DATASET + "/{change_request}"
_After = Annotated[str | None, Query(pattern=ID, description="The last change request of the page before.")]
_Open = Annotated[bool, Query(alias="open", description="Only those that are not ended.")]


@router.get(
    "/change-requests", response_model=list[told.ChangeRequest], summary="List the change requests of all your projects"
)
def list_all(
    request: Request, here: Here, who: Who, open_only: _Open = False, after: _After = None, limit: PageLimit = 100
) -> Json:
    """The newest first. If there are more, the header `Link` has the next page."""
    found = review.list_requests(here.ws, who, None, open_only=open_only, after=after, limit=limit + 1)
    return page(request, found, limit, itemgetter("change_request_id"))


@router.get(_OF_DATASET, response_model=list[told.ChangeRequest], summary="List the change requests of a dataset")
def list_of_dataset(
    request: Request,
    here: Here,
    who: Who,
    ref: DatasetAt,
    open_only: _Open = False,
    after: _After = None,
    limit: PageLimit = 100,
) -> Json:
    """The newest first. If there are more, the header `Link` has the next page."""
    found = review.list_requests(here.ws, who, ref, open_only=open_only, after=after, limit=limit + 1)
    return page(request, found, limit, itemgetter("change_request_id"))


@router.get(_ONE, response_model=told.ChangeRequestCard, summary="Show where a change request stands")
def show(here: Here, who: Who, at: ChangeRequestAt) -> Json:
    return Json(review.show(here.ws, who, at.ref, at.cr_id))


@router.get(_ONE + "/checks", response_model=told.ValidationRun, summary="What the checks found, with failing rows")
def checks(here: Here, who: Who, at: ChangeRequestAt) -> Json:
    return Json(review.checks(here.ws, who, at.ref, at.cr_id).as_json())


@router.get(
    _ONE + "/diff",
    response_model=told.Diff,
    responses={304: {"description": "You have it already."}},
    summary="What a change request changes, cell by cell",
)
def diff(
    request: Request,
    here: Here,
    who: Who,
    at: ChangeRequestAt,
    kind: Annotated[
        list[str],
        Query(description="inserted, updated, deleted, unchanged; several by comma. The first three if left out."),
    ] = [],  # noqa: B006 - FastAPI copies it
    column: Annotated[list[Name], Query(description="Rows in which one of these changes.")] = [],  # noqa: B006
    check: Annotated[Name | None, Query(description="Rows that failed this check.")] = None,
    conflict: Annotated[bool, Query(description="Rows that main changed too.")] = False,
    where: Annotated[list[Note], Query(description="`column=op.value` on the new values.")] = [],  # noqa: B006
    all_columns: Annotated[bool, Query(description="All cells of a row, not only those that change.")] = False,
    after: Annotated[RowId, Query(description="Begin after this row: `next` of the page before.")] = "",
    limit: PageLimit = 100,
) -> Response:
    """In the order of `row_id`. What is compared is pinned by version, so there is an `ETag`."""
    kinds, filters = review.kinds_of(kind), [Filter.parse(text) for text in where]
    change = review.pinned_change(here.ws, who, at.ref, at.cr_id)
    tag = entity_tag(request, change)
    # Which rows are in conflict depends on main as it is now.
    if not conflict and has_it_already(request, tag):
        return not_modified(tag)
    found = review.review_diff(
        here.ws,
        who,
        at.ref,
        at.cr_id,
        kinds=kinds,
        columns=column,
        check=check,
        in_conflict=conflict,
        where=filters,
        all_columns=all_columns,
        after=after,
        limit=limit,
    )
    return Json(found.as_json()) if conflict else tagged(found.as_json(), tag)


@router.get(
    _ONE + "/standing",
    response_model=told.Standing,
    summary="How main moved under it, and whether you can approve it",
)
def standing(here: Here, who: Who, at: ChangeRequestAt) -> Json:
    """If you cannot, all the reasons; an approval is refused for the first of them."""
    return Json(where_it_stands(here.ws, who, at.ref, at.cr_id).as_json())


@router.get(
    _ONE + "/conflicts", response_model=told.Conflicts, summary="The cells that both it and main changed since its base"
)
def conflicts(here: Here, who: Who, at: ChangeRequestAt) -> Json:
    return Json(conflicting.conflicts(here.ws, who, at.ref, at.cr_id).as_json())
