"""Deciding on a change request."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter
from fastapi.responses import Response

from ...model.filters import Filter
from ...workflow import conflicts, review
from ...workflow.revert import revert as undo
from .. import told
from ..answers import Answer
from ..asked import Approve, RejectRows, Resolve, Revert, WithReason
from ..auth import Who
from ..once import Once
from ..places import ChangeRequestAt
from ..service import Here
from .uploads import upload_answer

router = APIRouter(
    prefix="/projects/{project}/datasets/{dataset}/change-requests/{change_request}", tags=["change requests"]
)


@router.post("/approve", response_model=told.ChangeRequestCard, summary="Say yes to exactly what is staged now")
def approve(here: Here, who: Who, at: ChangeRequestAt, once: Once, given: Approve | None = None) -> Response:
    """With enough approvals the platform merges it. Its author and its editors cannot approve. Takes the role reviewer.

    Each failed warning is acknowledged with a reason. Any later change to what is staged voids the approval.
    """
    asked = given or Approve()

    def do() -> Answer:
        review.approve(here.ws, who, at.ref, at.cr_id, asked.acknowledged)
        return _card(here, who, at)

    return once(do, asked.model_dump())


@router.post("/reject", response_model=told.ChangeRequestCard, summary="Say no")
def reject(here: Here, who: Who, at: ChangeRequestAt, given: WithReason, once: Once) -> Response:
    """The staged rows are deleted; main stays as it is. Takes the role reviewer."""

    def do() -> Answer:
        review.reject(here.ws, who, at.ref, at.cr_id, given.reason)
        return _card(here, who, at)

    return once(do, given.model_dump())


@router.post("/withdraw", response_model=told.ChangeRequestCard, summary="Take your own change request back")
def withdraw(here: Here, who: Who, at: ChangeRequestAt, once: Once) -> Response:
    """An admin: anybody's."""

    def do() -> Answer:
        review.withdraw(here.ws, who, at.ref, at.cr_id)
        return _card(here, who, at)

    return once(do)


@router.post(
    "/retry",
    status_code=202,
    response_model=told.ChangeRequestCard,
    summary="Send it through the pipeline once more",
)
def retry(here: Here, who: Who, at: ChangeRequestAt, once: Once) -> Response:
    """For one that failed, went stale, or met a conflict. Approvals it had are void."""

    def do() -> Answer:
        review.retry(here.ws, who, at.ref, at.cr_id)
        return _card(here, who, at, 202)

    return once(do)


@router.post(
    "/resolve", status_code=202, response_model=told.ChangeRequestCard, summary="Settle conflicts, per cell or in bulk"
)
def resolve(here: Here, who: Who, at: ChangeRequestAt, given: Resolve, once: Once) -> Response:
    """`ours` is what the change request holds, `theirs` what main has now. The result is checked again.

    Approvals it had are void, and who resolves it cannot approve it.
    """

    def do() -> Answer:
        cells = {(cell.row_id, cell.column): cell.take for cell in given.cells}
        conflicts.resolve(here.ws, who, at.ref, at.cr_id, given.take, cells)
        return _card(here, who, at, 202)

    return once(do, given.model_dump())


@router.post(
    "/reject-rows", status_code=202, response_model=told.PartRejected, summary="Reject some rows, let the rest go on"
)
def reject_rows(here: Here, who: Who, at: ChangeRequestAt, given: RejectRows, once: Once) -> Response:
    """The rejected rows become a change request of their own, in their author's name and with the reason."""

    def do() -> Answer:
        where = [Filter.parse(text) for text in given.where]
        part = conflicts.reject_rows(here.ws, who, at.ref, at.cr_id, given.reason, row_ids=given.row_ids, where=where)
        more = {"rows_rejected": part.rows, "follow_up": part.follow_up.change_request_id}
        return _card(here, who, at, 202, more)

    return once(do, given.model_dump())


@router.post(
    "/revert", status_code=202, response_model=told.Upload, summary="Open the change request that undoes a merged one"
)
def revert(here: Here, who: Who, at: ChangeRequestAt, once: Once, given: Revert | None = None) -> Response:
    """It is checked and approved like any other. Where somebody changed the same rows since, that is a conflict."""
    asked = given or Revert()
    return once(
        lambda: upload_answer(at.ref, undo(here.ws, who, at.ref, at.cr_id, asked.note), status=202), asked.model_dump()
    )


def _card(here: Here, who: Who, at: ChangeRequestAt, status: int = 200, more: dict[str, Any] | None = None) -> Answer:
    return Answer({**review.show(here.ws, who, at.ref, at.cr_id), **(more or {})}, status, at.path)
