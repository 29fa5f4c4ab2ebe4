"""Change requests: finding them, and the one function that moves them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from sqlalchemy import select, update

from ..model.errors import NotFoundError, StateError
from ..model.ids import DatasetRef
from ..model.states import NEXT, CRState
from . import audit
from .models import Approval, ChangeRequest, Editor, Upload, ValidationRun, now
from .store import Catalog, Transaction, affected


def transition(
    tx: Transaction,
    cr: ChangeRequest,
    to: CRState,
    *,
    actor: str,
    action: str | None = None,
    details: dict[str, Any] | None = None,
    **changes: Any,
) -> None:
    """Move a change request, by compare-and-swap, and tell the audit trail in the same transaction.

    `cr` carries the state it is believed to be in. If somebody else moved it meanwhile, nothing is
    changed and a StateError says so.
    """
    seen = cr.state
    if to not in NEXT[seen]:
        raise StateError(
            f"Change request {cr.id} is {seen}; from there it cannot become {to}.",
            f"See: oreo cr show {cr.ref} {cr.id}",
        )
    moved = tx.execute(
        update(ChangeRequest)
        .where(ChangeRequest.id == cr.id, ChangeRequest.state == seen)
        .values(state=to, updated_at=now(), **changes)
        .execution_options(synchronize_session=False)
    )
    if affected(moved) != 1:
        raise StateError(
            f"Change request {cr.id} was {seen} a moment ago, but somebody else moved it on.",
            f"Look again: oreo cr show {cr.ref} {cr.id}",
        )
    audit.record(tx, actor, action or f"change_request.{to}", cr.ref, cr.id, previous=seen, state=to, **(details or {}))
    tx.refresh(cr) if cr in tx else _carry_over(cr, to, changes)


def get_change_request(tx: Transaction, ref: DatasetRef, cr_id: str) -> ChangeRequest:
    cr = tx.get(ChangeRequest, cr_id)
    if cr is None or cr.ref != ref:
        raise NotFoundError(f"{ref} has no change request {cr_id}.", f"See: oreo cr list {ref}")
    return cr


def find_change_request(tx: Transaction, cr_id: str) -> ChangeRequest | None:
    return tx.get(ChangeRequest, cr_id)


def list_change_requests(
    catalog: Catalog,
    ref: DatasetRef | None = None,
    states: Iterable[CRState] | None = None,
    *,
    projects: Iterable[str] | None = None,
    after: str | None = None,
    limit: int | None = None,
) -> list[ChangeRequest]:
    """The newest first; all of them unless told otherwise, as recovery and vacuum must not miss one.

    `after` is the last one of the page before.
    """
    query = select(ChangeRequest).order_by(ChangeRequest.id.desc()).limit(limit)
    if ref:
        query = query.where(ChangeRequest.project == ref.project, ChangeRequest.dataset == ref.dataset)
    if states is not None:
        query = query.where(ChangeRequest.state.in_(list(states)))
    if projects is not None:
        query = query.where(ChangeRequest.project.in_(list(projects)))
    if after is not None:
        query = query.where(ChangeRequest.id < after)
    with catalog.read() as tx:
        return list(tx.scalars(query))


def valid_approvals(tx: Transaction, cr_id: str) -> list[Approval]:
    query = select(Approval).where(Approval.change_request_id == cr_id, Approval.voided_at.is_(None))
    return list(tx.scalars(query.order_by(Approval.created_at)))


def all_approvals(tx: Transaction, cr_id: str) -> list[Approval]:
    query = select(Approval).where(Approval.change_request_id == cr_id)
    return list(tx.scalars(query.order_by(Approval.created_at)))


def void_approvals(tx: Transaction, cr: ChangeRequest, actor: str, reason: str) -> None:
    """What was approved is no longer what is there."""
    voided = valid_approvals(tx, cr.id)
    for approval in voided:
        approval.voided_at, approval.void_reason = now(), reason
    if voided:
        audit.record(
            tx,
            actor,
            "approvals.voided",
            cr.ref,
            cr.id,
            reason=reason,
            approvers=[a.approver for a in voided],
        )


def add_editor(tx: Transaction, cr: ChangeRequest, name: str) -> None:
    """Note that somebody had a hand in it, and so may not approve it."""
    tx.merge(Editor(change_request_id=cr.id, editor=name))
    tx.flush()


def editors_of(tx: Transaction, cr_id: str) -> list[str]:
    return list(tx.scalars(select(Editor.editor).where(Editor.change_request_id == cr_id)))


def get_upload(tx: Transaction, upload_id: str) -> Upload:
    upload = tx.get(Upload, upload_id)
    if upload is None:
        raise NotFoundError(f"There is no upload {upload_id}.", "See: oreo cr list")
    return upload


def validation_run_of(tx: Transaction, cr: ChangeRequest) -> ValidationRun | None:
    return tx.get(ValidationRun, cr.validation_run_id) if cr.validation_run_id else None


def _carry_over(cr: ChangeRequest, to: CRState, changes: dict[str, Any]) -> None:
    """A detached row learns what was written, so that the caller can go on with it."""
    cr.state = to
    for name, value in changes.items():
        setattr(cr, name, value)
