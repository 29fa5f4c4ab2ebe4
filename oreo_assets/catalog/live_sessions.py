"""Live edit sessions: finding them, and the one function that moves them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from sqlalchemy import select, update

from ..model.errors import NotFoundError, StateError
from ..model.ids import DatasetRef
from . import audit
from .models import LiveSession, now
from .store import Catalog, Transaction, affected

OPEN = "open"
SUBMITTED = "submitted"


def get_live_session(tx: Transaction, ref: DatasetRef, session_id: str) -> LiveSession:
    session = tx.get(LiveSession, session_id)
    if session is None or session.ref != ref:
        raise NotFoundError(f"{ref} has no live session {session_id}.", f"See: oreo live list {ref}")
    return session


def session_of_change_request(tx: Transaction, cr_id: str) -> LiveSession | None:
    return tx.scalars(select(LiveSession).where(LiveSession.change_request_id == cr_id)).first()


def list_live_sessions(
    catalog: Catalog,
    ref: DatasetRef | None = None,
    *,
    owner: str | None = None,
    states: Iterable[str] | None = None,
    projects: Iterable[str] | None = None,
) -> list[LiveSession]:
    """The newest first."""
    query = select(LiveSession).order_by(LiveSession.id.desc())
    if ref:
        query = query.where(LiveSession.project == ref.project, LiveSession.dataset == ref.dataset)
    if owner is not None:
        query = query.where(LiveSession.owner == owner)
    if states is not None:
        query = query.where(LiveSession.state.in_(list(states)))
    if projects is not None:
        query = query.where(LiveSession.project.in_(list(projects)))
    with catalog.read() as tx:
        return list(tx.scalars(query))


def move_session(
    tx: Transaction, session: LiveSession, to: str, *, actor: str, details: dict[str, Any] | None = None, **changes: Any
) -> None:
    """Move a session, by compare-and-swap, and tell the audit trail in the same transaction."""
    seen = session.state
    ended = {} if to in (OPEN, SUBMITTED) else {"ended_at": now()}
    moved = tx.execute(
        update(LiveSession)
        .where(LiveSession.id == session.id, LiveSession.state == seen)
        .values(state=to, **ended, **changes)
        .execution_options(synchronize_session=False)
    )
    if affected(moved) != 1:
        raise StateError(
            f"Session {session.id} was {seen} a moment ago, but somebody else moved it on.",
            f"Look again: oreo live show {session.ref} {session.id}",
        )
    audit.record(tx, actor, f"live_session.{to}", session.ref, session.id, previous=seen, **(details or {}))
    for name, value in {"state": to, **ended, **changes}.items():
        setattr(session, name, value)
