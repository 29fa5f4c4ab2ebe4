"""The audit trail."""

from __future__ import annotations

from dataclasses import asdict
from operator import itemgetter
from typing import Annotated

from fastapi import APIRouter, Query, Request

from ...workflow.trail import event_json, read_trail, verify_trail
from .. import told
from ..answers import Json, page
from ..asked import PageLimit
from ..auth import Who
from ..places import DatasetAt
from ..service import Here

router = APIRouter(tags=["audit"])

_Before = Annotated[int | None, Query(ge=0, le=2**53, description="Only events older than this one.")]


@router.get("/audit/log", response_model=list[told.AuditEvent], summary="Who did what, everywhere")
def log(request: Request, here: Here, who: Who, before: _Before = None, limit: PageLimit = 100) -> Json:
    """The newest first. Takes a role in every project."""
    found = read_trail(here.ws, who, limit=limit + 1, before=before)
    return page(request, [event_json(event) for event in found], limit, itemgetter("seq"), "before")


@router.get(
    "/projects/{project}/datasets/{dataset}/audit/log",
    response_model=list[told.AuditEvent],
    summary="Who did what with a dataset",
)
def log_of_dataset(
    request: Request, here: Here, who: Who, ref: DatasetAt, before: _Before = None, limit: PageLimit = 100
) -> Json:
    """The newest first."""
    found = read_trail(here.ws, who, ref, limit=limit + 1, before=before)
    return page(request, [event_json(event) for event in found], limit, itemgetter("seq"), "before")


@router.get(
    "/audit/verify", response_model=told.Chain, summary="Prove that no event was changed, removed or slipped in"
)
def verify(here: Here, who: Who) -> Json:  # noqa: ARG001 - whoever is signed in
    """Events of all datasets are links of one chain. A broken one is 422, and says where."""
    report, error = verify_trail(here.ws)
    if error:
        raise error
    return Json(asdict(report))
