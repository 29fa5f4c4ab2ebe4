"""Talking about a change request, and sending it back to its author."""

from __future__ import annotations

from operator import itemgetter
from typing import Annotated

from fastapi import APIRouter, Path, Query, Request
from fastapi.responses import Response

from ...workflow import comments
from .. import told
from ..answers import Answer, Json, page
from ..asked import NewComment, PageLimit, WithReason
from ..auth import Who
from ..once import Once
from ..places import ID, ChangeRequestAt
from ..service import Here

router = APIRouter(
    prefix="/projects/{project}/datasets/{dataset}/change-requests/{change_request}", tags=["change requests"]
)

_CommentId = Annotated[str, Path(pattern=ID, examples=["cm_01k3x8m2t4v6w8y"], description="The comment's id.")]
_After = Annotated[str | None, Query(pattern=ID, description="The last comment of the page before.")]


@router.get("/comments", response_model=list[told.Comment], summary="What was said about a change request")
def list_comments(
    request: Request, here: Here, who: Who, at: ChangeRequestAt, after: _After = None, limit: PageLimit = 1000
) -> Json:
    """The oldest first."""
    found = comments.list_comments(here.ws, who, at.ref, at.cr_id, after=after, limit=limit + 1)
    return page(request, [c.as_json() for c in found], limit, itemgetter("comment_id"))


@router.post("/comments", status_code=201, response_model=told.Comment, summary="Say something about it")
def comment(here: Here, who: Who, at: ChangeRequestAt, given: NewComment, once: Once) -> Response:
    """About all of it, one row, or one cell. Takes the role contributor."""

    def do() -> Answer:
        said = comments.comment(here.ws, who, at.ref, at.cr_id, given.text, row_id=given.row_id, column=given.column)
        return Answer(said.as_json(), 201, f"{at.path}/comments")

    return once(do, given.model_dump())


@router.post("/comments/{comment}/resolve", response_model=told.Comment, summary="Settle a comment")
def resolve(here: Here, who: Who, at: ChangeRequestAt, comment: _CommentId, once: Once) -> Response:
    """A wish for changes only by who had it, or an admin."""
    return once(lambda: Answer(comments.resolve_comment(here.ws, who, at.ref, at.cr_id, comment).as_json()))


@router.post("/request-changes", response_model=told.Comment, summary="Send it back to its author")
def request_changes(here: Here, who: Who, at: ChangeRequestAt, given: WithReason, once: Once) -> Response:
    """Nobody else can approve what is staged now until it is taken back, or staged anew. Takes the role reviewer."""
    return once(
        lambda: Answer(comments.request_changes(here.ws, who, at.ref, at.cr_id, given.reason).as_json()),
        given.model_dump(),
    )
