"""Validation runs as pages to read. Dagster's checks and the review site link here."""

from __future__ import annotations

from typing import Annotated
from urllib.parse import quote

from fastapi import APIRouter, Depends, HTTPException, Path, Request
from fastapi.responses import HTMLResponse

from ...catalog.users import Actor
from ...model.errors import NotSignedInError
from ...platform_info import change_request_path
from ...workflow.reports import report
from ..auth import signed_in
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


def _reader(request: Request) -> Actor:
    """With a token, or signed in to the review site; a browser is sent to sign in and comes back."""
    try:
        return signed_in(request)
    except NotSignedInError:
        if "text/html" not in request.headers.get("accept", ""):
            raise
        raise HTTPException(303, headers={"Location": f"/sign-in?next={quote(request.url.path, safe='')}"}) from None


@router.get("/reports/{project}/{dataset}/{run_id}", response_class=HTMLResponse, include_in_schema=False)
def show(here: Here, who: Annotated[Actor, Depends(_reader)], ref: DatasetAt, run_id: _RunId) -> HTMLResponse:
    """What the checks found, as a page."""
    page = report(here.ws, who, ref, run_id, link=lambda cr_id: change_request_path(ref, cr_id))
    return HTMLResponse(page, headers=_HEADERS)
