"""Who may do what in a live session, and how one begins and ends."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from ..catalog.change_requests import list_change_requests
from ..catalog.datasets import get_dataset, spec_of
from ..catalog.live_sessions import get_live_session, list_live_sessions, move_session, session_of_change_request
from ..catalog.models import ChangeRequest, LiveSession
from ..catalog.users import SYSTEM, Actor
from ..crash_points import reach
from ..lake import log
from ..model.errors import NotFoundError, StateError
from ..model.ids import DatasetRef
from ..model.spec import DatasetSpec
from ..model.states import CRState, Role
from .live_book import MAX_BYTES, Book, close_book, filters_of, open_book
from .live_overlay import Part
from .live_types import SessionCard, SessionState
from .workspace import Workspace


@dataclass(frozen=True)
class Desk:
    """A session with everything at hand that an edit or a look at it needs."""

    session: LiveSession
    spec: DatasetSpec
    book: Book
    part: Part


@contextmanager
def editing(ws: Workspace, actor: Actor, ref: DatasetRef, session_id: str) -> Iterator[Desk]:
    """The session for its owner (or an admin), and for nobody else until the block ends."""
    actor.require(Role.CONTRIBUTOR, ref.project)
    load(ws, ref, session_id)
    with ws.alone_with(session_id):
        session, spec = load(ws, ref, session_id)
        require_owner(actor, session)
        require_open(session)
        with at_hand(ws, session, spec) as desk:
            yield desk


@contextmanager
def looking(ws: Workspace, actor: Actor, ref: DatasetRef, session_id: str) -> Iterator[Desk]:
    """The session for whoever may view the dataset."""
    actor.require(Role.VIEWER, ref.project)
    with at_hand(ws, *load(ws, ref, session_id)) as desk:
        yield desk


def load(ws: Workspace, ref: DatasetRef, session_id: str) -> tuple[LiveSession, DatasetSpec]:
    with ws.catalog.read() as tx:
        spec = spec_of(get_dataset(tx, ref))
        return get_live_session(tx, ref, session_id), spec


def require_owner(actor: Actor, session: LiveSession) -> None:
    if session.owner != actor.name:
        actor.require(Role.ADMIN, session.project)


def require_open(session: LiveSession) -> None:
    state = state_of(session)
    if state is SessionState.OPEN:
        return
    why = {
        SessionState.EXPIRED: f"its time ended at {session.expires_at:%Y-%m-%d %H:%M} UTC",
        SessionState.SUBMITTED: f"it became {session.change_request_id}",
        SessionState.CLOSED: f"it became {session.change_request_id}, which has ended",
    }.get(state, "it was discarded")
    raise StateError(
        f"Session {session.id} is {state}: {why}. It takes no more edits.",
        f"Open a new one: oreo live open {session.ref}",
    )


def state_of(session: LiveSession) -> SessionState:
    """An open session past its time is expired, whether or not the cleanup came by already."""
    state = SessionState(session.state)
    return SessionState.EXPIRED if state is SessionState.OPEN and session.expires_at <= datetime.now(UTC) else state


def card(session: LiveSession) -> SessionCard:
    """What the catalog knows of a session."""
    return SessionCard(
        session_id=session.id,
        project=session.project,
        dataset=session.dataset,
        owner=session.owner,
        state=state_of(session),
        base_version=session.base_version,
        main_version=None,
        where=filters_of(session),
        created_at=session.created_at,
        expires_at=session.expires_at,
        change_request_id=session.change_request_id,
    )


def full_card(ws: Workspace, session: LiveSession, spec: DatasetSpec) -> SessionCard:
    """The same with what its edits amount to, if they are still there."""
    known = replace(card(session), main_version=log.current_version(ws.layout(session.ref).main))
    try:
        with at_hand(ws, session, spec) as desk:
            state = desk.book.state
            return replace(
                known,
                counts=state.counts(),
                edits=state.edits,
                bytes=desk.book.bytes,
                max_bytes=MAX_BYTES,
                can_undo=state.last_done is not None,
                can_redo=state.last_undone is not None,
            )
    except NotFoundError:
        return known


def end_session(ws: Workspace, session: LiveSession, to: SessionState, actor: Actor, reason: str) -> None:
    """Say in the catalog that it ended, then delete its edits: a crash between leaves only a folder to clean up."""
    with ws.catalog.write() as tx:
        move_session(tx, session, to, actor=actor.name, details={"reason": reason})
    reach("live.ended")
    delete_folder(ws, session.ref, session.id)


def end_session_of(ws: Workspace, cr: ChangeRequest) -> None:
    """A change request has ended, and with it the session that it came from, if it came from one."""
    with ws.catalog.read() as tx:
        session = session_of_change_request(tx, cr.id)
    if session is None:
        return
    if session.state == SessionState.SUBMITTED:
        end_session(ws, session, SessionState.CLOSED, SYSTEM, f"{cr.id} has ended")
    else:
        delete_folder(ws, session.ref, session.id)


def delete_folder(ws: Workspace, ref: DatasetRef, session_id: str) -> None:
    folder = ws.layout(ref).live_edit(session_id)
    close_book(folder)
    # The log first: what is half gone must not pass for a table.
    shutil.rmtree(folder / "edits.delta" / "_delta_log", ignore_errors=True)
    if folder.exists():
        shutil.rmtree(folder)
    ws.forget_lock(session_id)


def outlived(ws: Workspace, spec: DatasetSpec, now: datetime) -> tuple[list[LiveSession], list[Path]]:
    """Sessions whose time is up or whose change request has ended, and folders that belong to no session."""
    sessions = list_live_sessions(ws.catalog, spec.ref)
    ended = {cr.id for cr in list_change_requests(ws.catalog, spec.ref, _ENDED)}
    over = [
        s
        for s in sessions
        if (s.state == SessionState.OPEN and s.expires_at <= now)
        or (s.state == SessionState.SUBMITTED and s.change_request_id in ended)
    ]
    in_use = {s.id for s in sessions if s.state in (SessionState.OPEN, SessionState.SUBMITTED)}
    known = {s.id for s in sessions}
    young = now - timedelta(hours=spec.policies.live_edit_ttl_hours)
    parent = Path(ws.layout(spec.ref).base, "live_edit")
    leftovers = [
        folder
        for folder in (sorted(parent.iterdir()) if parent.is_dir() else [])
        # One that the catalog does not know may be about to be opened.
        if folder.name not in in_use
        and (folder.name in known or datetime.fromtimestamp(folder.stat().st_mtime, UTC) < young)
    ]
    return over, leftovers


_ENDED = [s for s in CRState if s.is_final and s is not CRState.REFUSED]
"""A refused change request keeps its session until its own time is up, as it keeps its rows."""


@contextmanager
def at_hand(ws: Workspace, session: LiveSession, spec: DatasetSpec) -> Iterator[Desk]:
    layout = ws.layout(session.ref)
    book = open_book(layout, session)
    with book.lock:
        book.refresh()
        yield Desk(session, spec, book, book.part(spec, layout, session))
