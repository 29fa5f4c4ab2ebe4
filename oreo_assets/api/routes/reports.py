"""Validation runs as pages to read. Dagster's checks and the review site link here."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path
from fastapi.responses import HTMLResponse

from ...platform_info import change_request_path
from ...workflow.reports import report
from ..auth import WhoOnSite
from ..places import ID, DatasetAt
from ..service import Here

router = APIRouter(tags=["reports"])

_RunId = Annotated[str, Path(pattern=ID, examples=["vr_01k3x8m2t4v6w8y"], description="The validation run's id.")]
_HEADERS = {
    "Cache-Control": "no-store",
    # The page has no script and loads nothing; whatever else a cell of somebody's file tries is not done.
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'",
    "X-Content-Type-Options": "nosniff",
}


@router.get(
    "/reports/{project}/{dataset}/{run_id}",
    response_class=HTMLResponse,
    summary="What the checks found, as a page",
)
def show(here: Here, who: WhoOnSite, ref: DatasetAt, run_id: _RunId) -> HTMLResponse:
    """With a token, or signed in to the review site."""
    page = report(here.ws, who, ref, run_id, link=lambda cr_id: change_request_path(ref, cr_id))
    return HTMLResponse(page, headers=_HEADERS)
