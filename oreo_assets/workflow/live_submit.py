"""How a live session ends: as a change request, or discarded."""

from __future__ import annotations

import tempfile
from pathlib import Path

from ..catalog import Transaction
from ..catalog.change_requests import add_editor, get_change_request
from ..catalog.live_sessions import get_live_session, move_session
from ..catalog.models import ChangeRequest
from ..catalog.users import Actor
from ..model.errors import BadFileError, StateError
from ..model.ids import DatasetRef
from ..model.states import CRState, Mode, Role
from .intake import UploadOptions, UploadResult, upload
from .live_overlay import as_patch, write_patch
from .live_session import Desk, card, editing, end_session, load, require_owner
from .live_types import SessionCard, SessionState, Submitted
from .workspace import Workspace


def submit(ws: Workspace, actor: Actor, ref: DatasetRef, session_id: str, note: str = "") -> Submitted:
    """Make the session a change request. Everybody who edited in it is its editor and cannot approve it.

    Its base is the session's: what others merged since meets the dataset's rule for conflicts. Submitting again
    gives the same change request.
    """
    actor.require(Role.CONTRIBUTOR, ref.project)
    if submitted := _submitted(ws, actor, ref, session_id):
        return submitted
    try:
        with editing(ws, actor, ref, session_id) as desk:
            sent = _send(ws, actor, desk, note or f"Live edit {session_id}")
    except StateError:
        # Another tab may have been faster; then this is the second time.
        if submitted := _submitted(ws, actor, ref, session_id):
            return submitted
        raise
    assert sent.change_request_id is not None
    return Submitted(session_id, sent.change_request_id, str(sent.state))


def discard(ws: Workspace, actor: Actor, ref: DatasetRef, session_id: str) -> SessionCard:
    """End an open session and delete its edits. Of one that ended already, nothing is changed."""
    actor.require(Role.CONTRIBUTOR, ref.project)
    session, _ = load(ws, ref, session_id)
    require_owner(actor, session)
    with ws.alone_with(session_id):
        session, _ = load(ws, ref, session_id)
        if session.state == SessionState.SUBMITTED:
            raise StateError(
                f"Session {session_id} became {session.change_request_id}.",
                f"Take that back: oreo cr withdraw {ref} {session.change_request_id}",
            )
        if session.state == SessionState.OPEN:
            end_session(ws, session, SessionState.DISCARDED, actor, f"discarded by {actor.name}")
    return card(load(ws, ref, session_id)[0])


def _submitted(ws: Workspace, actor: Actor, ref: DatasetRef, session_id: str) -> Submitted | None:
    with ws.catalog.read() as tx:
        session = get_live_session(tx, ref, session_id)
        require_owner(actor, session)
        if session.change_request_id is None:
            return None
        cr = get_change_request(tx, ref, session.change_request_id)
    return Submitted(session_id, cr.id, str(cr.state))


def _send(ws: Workspace, actor: Actor, desk: Desk, note: str) -> UploadResult:
    session, state = desk.session, desk.book.state
    net = state.net()
    if not net.kinds:
        raise StateError(
            f"Session {session.id} changes nothing.",
            f"Edit something first, or: oreo live discard {session.ref} {session.id}",
        )

    def opened(tx: Transaction, cr: ChangeRequest) -> None:
        """In the transaction that opens the change request: both are there, or neither."""
        for editor in sorted({session.owner, *state.editors}):
            add_editor(tx, cr, editor)
        fresh = get_live_session(tx, session.ref, session.id)
        move_session(
            tx,
            fresh,
            SessionState.SUBMITTED,
            actor=actor.name,
            details={"change_request_id": cr.id, "edits": state.edits},
            change_request_id=cr.id,
        )

    options = UploadOptions(mode=Mode.PATCH, note=note, keeps_row_id=True, base_version=session.base_version)
    with tempfile.TemporaryDirectory(prefix="oreo-live-") as folder:
        file = Path(folder, f"live-edit-{session.id}.parquet")
        with as_patch(desk.part, net, desk.spec.key) as sides:
            write_patch(sides, file)
        try:
            sent = upload(ws, actor, session.ref, file, options, opened)
        except BadFileError:
            _reopen(ws, actor, desk)
            raise
    if sent.state is CRState.FAILED:
        _reopen(ws, actor, desk)
        raise BadFileError(
            f"The edits do not form a change request: see {sent.change_request_id}.",
            "Mend the rows that are listed and submit the session again.",
            **sent.as_json(),
        )
    return sent


def _reopen(ws: Workspace, actor: Actor, desk: Desk) -> None:
    """Its rows were not taken, for example because a column became mandatory since: the editor can go on."""
    with ws.catalog.write() as tx:
        fresh = get_live_session(tx, desk.session.ref, desk.session.id)
        move_session(tx, fresh, SessionState.OPEN, actor=actor.name, change_request_id=None)
