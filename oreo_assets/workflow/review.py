"""Review: looking at a change request, and deciding about it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy.exc import IntegrityError

from ..catalog import Transaction, audit
from ..catalog.change_requests import (
    all_approvals,
    get_change_request,
    get_upload,
    list_change_requests,
    transition,
    valid_approvals,
    void_approvals,
)
from ..catalog.comments import changes_wanted
from ..catalog.datasets import get_dataset, spec_of
from ..catalog.models import Approval, ChangeRequest
from ..catalog.users import EVERYWHERE, Actor
from ..crash_points import reach
from ..lake.diff import KINDS
from ..model.errors import NotAllowedError, NotFoundError, StaleApprovalError, StateError, UsageError
from ..model.ids import DatasetRef, new_id
from ..model.states import CRState, Role
from ..quality.documents import RunDocuments
from .changes import kinds_of, pinned_change, review_diff
from .comments import settle
from .staging import delete_staging
from .standing import failed_warnings, objections
from .validation import load_run
from .workspace import Workspace

__all__ = [
    "approve",
    "checks",
    "kinds_of",
    "list_requests",
    "pinned_change",
    "reject",
    "retry",
    "review_diff",
    "show",
    "summarize",
    "withdraw",
]


def approve(
    ws: Workspace,
    actor: Actor,
    ref: DatasetRef,
    cr_id: str,
    acknowledged: Mapping[str, str] | None = None,
    seen: str | None = None,
) -> ChangeRequest:
    """Say yes to exactly what is staged now. With enough of them the change request may be merged.

    Approving twice counts once. Each failed warning must be acknowledged with a reason. `seen` is the content
    hash of what the approver looked at: what was staged anew meanwhile is not approved by an old page.
    """
    actor.require(Role.REVIEWER, ref.project)
    acks = dict(acknowledged or {})
    with ws.catalog.write() as tx:
        cr = get_change_request(tx, ref, cr_id)
        spec = spec_of(get_dataset(tx, ref))
        if any(a.approver == actor.name for a in valid_approvals(tx, cr_id)):
            return cr
        if against := objections(ws, tx, actor, cr, spec, acks):
            raise against[0]
        if seen is not None and seen != cr.content_hash:
            raise StaleApprovalError(
                f"What is staged for {cr_id} changed after you looked at it.", "Look at it again, then decide."
            )
        _refuse_unknown(cr, acks, failed_warnings(tx, cr))
        for wish in changes_wanted(tx, cr):
            settle(tx, cr, wish, actor)  # only one's own is left: who approves after all takes it back
        _pin(tx, cr, actor, acks)
        audit.record(
            tx,
            actor.name,
            "change_request.approve",
            ref,
            cr_id,
            staging_version=cr.staging_version,
            content_hash=cr.content_hash,
            base_version=cr.base_version,
            suite_hash=cr.suite_hash,
            acknowledged=acks,
        )
        # Counted after the event is recorded: events are recorded one at a time, so of two people who approve
        # at the same moment the second sees the first. On Postgres neither would see the other before that.
        approvers = [a.approver for a in valid_approvals(tx, cr_id)]
        if len(approvers) >= spec.approvals:
            transition(tx, cr, CRState.APPROVED, actor=actor.name, details={"approvers": approvers})
        reach("approve.recording")
    reach("approve.recorded")
    return cr


def reject(ws: Workspace, actor: Actor, ref: DatasetRef, cr_id: str, reason: str) -> ChangeRequest:
    """Say no. The staged rows are deleted; the file stays until its time is up."""
    actor.require(Role.REVIEWER, ref.project)
    if not reason.strip():
        raise UsageError("A rejection needs a reason.", "Give one with --reason.")
    return _end(ws, actor, ref, cr_id, CRState.REJECTED, reason)


def withdraw(ws: Workspace, actor: Actor, ref: DatasetRef, cr_id: str) -> ChangeRequest:
    """Take one's own change request back (or, as admin, anybody's)."""
    actor.require(Role.CONTRIBUTOR, ref.project)
    with ws.catalog.read() as tx:
        author = get_change_request(tx, ref, cr_id).author
    if author != actor.name:
        actor.require(Role.ADMIN, ref.project)
    return _end(ws, actor, ref, cr_id, CRState.WITHDRAWN, f"withdrawn by {actor.name}")


def retry(ws: Workspace, actor: Actor, ref: DatasetRef, cr_id: str) -> ChangeRequest:
    """Send a change request that failed, went stale or met a conflict through the pipeline once more."""
    actor.require(Role.CONTRIBUTOR, ref.project)
    with ws.catalog.write() as tx:
        cr = get_change_request(tx, ref, cr_id)
        if cr.state is CRState.FAILED:
            transition(tx, cr, CRState.RECEIVED, actor=actor.name, reason=None, error=None, attempts=cr.attempts + 1)
        elif cr.state in (CRState.IN_REVIEW, CRState.CONFLICTED, CRState.STAGED):
            void_approvals(tx, cr, actor.name, "staged anew on request")
            transition(tx, cr, CRState.CONVERTED, actor=actor.name, reason=None, attempts=cr.attempts + 1)
        else:
            raise StateError(
                f"Change request {cr_id} is {cr.state}; there is nothing to try again.",
                f"See: oreo cr show {ref} {cr_id}",
            )
    return cr


def show(ws: Workspace, actor: Actor, ref: DatasetRef, cr_id: str) -> dict[str, Any]:
    """A change request with its approvals and where it stands."""
    actor.require(Role.VIEWER, ref.project)
    with ws.catalog.read() as tx:
        cr = get_change_request(tx, ref, cr_id)
        approvals = all_approvals(tx, cr_id)
        up = get_upload(tx, cr.upload_id) if cr.upload_id else None
        needed = spec_of(get_dataset(tx, ref)).approvals
    body = summarize(cr)
    body["approvals"] = [_approval_json(a) for a in approvals]
    body["approvals_needed"] = needed
    body["upload"] = up and {
        "upload_id": up.id,
        "file_name": up.file_name,
        "sha256": up.sha256,
        "bytes": up.bytes,
        "rows_read": up.rows_read,
        "rows_rejected": up.rows_rejected,
    }
    return body


def list_requests(
    ws: Workspace,
    actor: Actor,
    ref: DatasetRef | None,
    *,
    open_only: bool = False,
    after: str | None = None,
    limit: int = 100,
) -> list[dict[str, Any]]:
    """The newest first, of one dataset or of all in which the actor has a role."""
    if ref:
        ws.spec(ref)
        actor.require(Role.VIEWER, ref.project)
    states = [s for s in CRState if s.is_open] if open_only else None
    mine = None if EVERYWHERE in actor.grants else list(actor.grants)
    found = list_change_requests(ws.catalog, ref, states, projects=mine, after=after, limit=limit)
    return [summarize(cr) for cr in found]


def checks(ws: Workspace, actor: Actor, ref: DatasetRef, cr_id: str) -> RunDocuments:
    """The validation run that the change request stands on."""
    actor.require(Role.VIEWER, ref.project)
    with ws.catalog.read() as tx:
        cr = get_change_request(tx, ref, cr_id)
    run = load_run(ws, cr)
    if run is None:
        raise NotFoundError(
            f"Change request {cr_id} is {cr.state} and has not been checked.",
            f"See: oreo cr show {ref} {cr_id}",
        )
    return run


def summarize(cr: ChangeRequest) -> dict[str, Any]:
    """A change request in the words that scripts rely on."""
    counts = cr.counts or dict.fromkeys(KINDS)
    found = cr.checks or dict.fromkeys(("passed", "failed_fatal", "failed_warning"))
    return {
        "change_request_id": cr.id,
        "project": cr.project,
        "dataset": cr.dataset,
        "state": cr.state,
        "mode": cr.mode,
        "author": cr.author,
        "note": cr.note,
        "upload_id": cr.upload_id,
        "base_version": cr.base_version,
        "staging_version": cr.staging_version,
        "content_hash": cr.content_hash,
        "suite_hash": cr.suite_hash,
        "validation_run_id": cr.validation_run_id,
        "counts": counts,
        "checks": found,
        "new_columns": cr.new_columns or [],
        "follows": cr.follows,
        "merged_version": cr.merged_version,
        "commit_id": cr.commit_id,
        "reason": cr.reason,
        "error": (cr.error or {}).get("error"),
        "created_at": cr.created_at.isoformat(),
        "updated_at": cr.updated_at.isoformat(),
    }


def _refuse_unknown(cr: ChangeRequest, acks: Mapping[str, str], warnings: Sequence[str]) -> None:
    if unknown := sorted(set(acks) - set(warnings)):
        raise UsageError(
            f"{', '.join(unknown)}: no failed warning goes by that name.",
            f"See: oreo cr checks {cr.ref} {cr.id}",
        )


def _pin(tx: Transaction, cr: ChangeRequest, actor: Actor, acks: Mapping[str, str]) -> None:
    tx.add(
        Approval(
            id=new_id("ap"),
            change_request_id=cr.id,
            author=cr.author,
            approver=actor.name,
            staging_version=cr.staging_version,
            content_hash=cr.content_hash,
            base_version=cr.base_version,
            suite_hash=cr.suite_hash,
            acknowledged=dict(acks),
        )
    )
    try:
        tx.flush()
    except IntegrityError as error:
        raise NotAllowedError(
            f"{actor.name} cannot approve {cr.id}: its author and its approvers are different people.",
            "Ask a second person to review it.",
        ) from error


def _end(ws: Workspace, actor: Actor, ref: DatasetRef, cr_id: str, state: CRState, reason: str) -> ChangeRequest:
    with ws.catalog.write() as tx:
        cr = get_change_request(tx, ref, cr_id)
        void_approvals(tx, cr, actor.name, str(state))
        transition(tx, cr, state, actor=actor.name, details={"reason": reason}, reason=reason)
    delete_staging(ws, cr)
    return cr


def _approval_json(approval: Approval) -> dict[str, Any]:
    return {
        "approver": approval.approver,
        "at": approval.created_at.isoformat(),
        "staging_version": approval.staging_version,
        "content_hash": approval.content_hash,
        "base_version": approval.base_version,
        "suite_hash": approval.suite_hash,
        "acknowledged": approval.acknowledged,
        "valid": approval.voided_at is None,
        "void_reason": approval.void_reason,
    }
