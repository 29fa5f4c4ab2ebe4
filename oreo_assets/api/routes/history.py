"""The history of a dataset, and going back in it."""

from __future__ import annotations

from operator import itemgetter
from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response

from ...model.errors import UsageError
from ...workflow import history as going_back
from ...workflow import query as reading
from .. import told
from ..answers import Json, page
from ..asked import Limit, Restore, Version
from ..auth import Who
from ..once import Once
from ..places import DatasetAt
from ..service import Here
from .uploads import upload_answer

router = APIRouter(prefix="/projects/{project}/datasets/{dataset}", tags=["history"])


@router.get("/history", response_model=list[told.Commit], summary="Who changed it, when, why, and who approved it")
def history(
    request: Request,
    here: Here,
    who: Who,
    ref: DatasetAt,
    after: Annotated[Version | None, Query(description="The last version of the page before.")] = None,
    limit: Limit = None,
) -> Json:
    """The newest first."""
    # Versions are counted from the newest, so a page further down takes the log from there to its end.
    wanted = limit + 1 if limit is not None and after is None else None
    commits = [commit.as_json() for commit in reading.history(here.ws, who, ref, wanted)]
    return page(request, [c for c in commits if after is None or c["version"] < after], limit, itemgetter("version"))


@router.post(
    "/restore",
    status_code=202,
    response_model=told.Upload,
    summary="Open a change request that brings an earlier version back",
)
def restore(here: Here, who: Who, ref: DatasetAt, given: Restore, once: Once) -> Response:
    """Nothing enters main unchecked and unapproved, and an old version is no exception."""
    if (given.version is None) == (given.timestamp is None):
        raise UsageError("Which version?", "Give one of version and timestamp.")
    return once(
        lambda: upload_answer(
            ref,
            going_back.restore(here.ws, who, ref, version=given.version, timestamp=given.timestamp, note=given.note),
            status=202,
        ),
        given.model_dump(),
    )
