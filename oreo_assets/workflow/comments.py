"""Talking about a change request: about all of it, one row or one cell; and sending it back to its author."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from ..catalog import Transaction, audit
from ..catalog.change_requests import get_change_request
from ..catalog.comments import CHANGES_REQUESTED, COMMENT, comments_of, get_comment
from ..catalog.models import ChangeRequest, Comment, now
from ..catalog.users import Actor
from ..lake import log
from ..lake.read import TableAt, has_row
from ..model.errors import NotFoundError, StateError, UsageError
from ..model.ids import DatasetRef, new_id
from ..model.spec import ROW_ID
from ..model.states import CRState, Role
from .workspace import Workspace

MAX_CHARACTERS = 10_000


@dataclass(frozen=True)
class CommentCard:
    """A comment as everybody sees it. No row: about the whole change request; no column: about the whole row."""

    comment_id: str
    change_request_id: str
    kind: str
    author: str
    text: str
    row_id: str | None
    column: str | None
    staging_version: int | None
    created_at: datetime
    resolved_at: datetime | None
    resolved_by: str | None

    @property
    def is_open(self) -> bool:
        return self.resolved_at is None

    @property
    def wants_changes(self) -> bool:
        return self.kind == CHANGES_REQUESTED

    def as_json(self) -> dict[str, Any]:
        return {
            "comment_id": self.comment_id,
            "change_request_id": self.change_request_id,
            "kind": self.kind,
            "author": self.author,
            "text": self.text,
            "row_id": self.row_id,
            "column": self.column,
            "staging_version": self.staging_version,
            "created_at": self.created_at.isoformat(),
            "resolved_at": self.resolved_at.isoformat() if self.resolved_at else None,
            "resolved_by": self.resolved_by,
        }


def comment(
    ws: Workspace,
    actor: Actor,
    ref: DatasetRef,
    cr_id: str,
    text: str,
    *,
    row_id: str | None = None,
    column: str | None = None,
) -> CommentCard:
    """Say something about a change request, a row of it, or a cell."""
    actor.require(Role.CONTRIBUTOR, ref.project)
    text = _checked(text)
    with ws.catalog.read() as tx:
        cr = get_change_request(tx, ref, cr_id)
    _check_place(ws, cr, row_id, column)
    with ws.catalog.write() as tx:
        cr = get_change_request(tx, ref, cr_id)
        return _add(tx, cr, actor, COMMENT, text, row_id, column)


def request_changes(ws: Workspace, actor: Actor, ref: DatasetRef, cr_id: str, reason: str) -> CommentCard:
    """Send a change request back to its author. It voids nothing, but nobody else can approve what is staged now
    until the reviewer takes the wish back, approves it after all, or it is staged anew."""
    actor.require(Role.REVIEWER, ref.project)
    reason = _checked(reason)
    with ws.catalog.write() as tx:
        cr = get_change_request(tx, ref, cr_id)
        if cr.state is not CRState.IN_REVIEW:
            raise StateError(
                f"Change request {cr_id} is {cr.state}; changes are requested while it is in review.",
                f"See: oreo cr show {ref} {cr_id}",
            )
        return _add(tx, cr, actor, CHANGES_REQUESTED, reason, None, None)


def list_comments(
    ws: Workspace, actor: Actor, ref: DatasetRef, cr_id: str, *, after: str | None = None, limit: int = 1000
) -> list[CommentCard]:
    """What was said so far, the oldest first."""
    actor.require(Role.VIEWER, ref.project)
    with ws.catalog.read() as tx:
        get_change_request(tx, ref, cr_id)
        return [card(c) for c in comments_of(tx, cr_id, after=after, limit=limit)]


def resolve_comment(ws: Workspace, actor: Actor, ref: DatasetRef, cr_id: str, comment_id: str) -> CommentCard:
    """Settle a comment. A wish for changes only by who had it, or an admin. Settled already is fine."""
    actor.require(Role.CONTRIBUTOR, ref.project)
    with ws.catalog.write() as tx:
        cr = get_change_request(tx, ref, cr_id)
        found = get_comment(tx, cr, comment_id)
        if found.kind == CHANGES_REQUESTED and found.author != actor.name:
            actor.require(Role.ADMIN, ref.project)
        if found.resolved_at is None:
            settle(tx, cr, found, actor)
        return card(found)


def settle(tx: Transaction, cr: ChangeRequest, found: Comment, actor: Actor) -> None:
    found.resolved_at, found.resolved_by = now(), actor.name
    tx.flush()
    audit.record(tx, actor.name, "comment.resolved", cr.ref, cr.id, comment=found.id, kind=found.kind)


def card(found: Comment) -> CommentCard:
    return CommentCard(
        comment_id=found.id,
        change_request_id=found.change_request_id,
        kind=found.kind,
        author=found.author,
        text=found.text,
        row_id=found.row_id,
        column=found.column,
        staging_version=found.staging_version,
        created_at=found.created_at,
        resolved_at=found.resolved_at,
        resolved_by=found.resolved_by,
    )


def _add(
    tx: Transaction, cr: ChangeRequest, actor: Actor, kind: str, text: str, row_id: str | None, column: str | None
) -> CommentCard:
    said = Comment(
        id=new_id("cm"),
        project=cr.project,
        dataset=cr.dataset,
        change_request_id=cr.id,
        kind=kind,
        row_id=row_id,
        column=column,
        author=actor.name,
        text=text,
        staging_version=cr.staging_version,
    )
    tx.add(said)
    tx.flush()
    action = "change_request.changes_requested" if kind == CHANGES_REQUESTED else "comment.added"
    audit.record(tx, actor.name, action, cr.ref, cr.id, comment=said.id, text=text[:1000], row_id=row_id, column=column)
    return card(said)


def _checked(text: str) -> str:
    text = text.strip()
    if not text:
        raise UsageError("There is nothing said.", "Write a sentence.")
    if len(text) > MAX_CHARACTERS:
        raise UsageError(
            f"{len(text):,} characters are too many; up to {MAX_CHARACTERS:,} are kept.", "Say it shorter."
        )
    return text


def _check_place(ws: Workspace, cr: ChangeRequest, row_id: str | None, column: str | None) -> None:
    """A comment hangs on something that is there: on either side of the change."""
    if column is not None:
        if row_id is None:
            raise UsageError(f"Which cell of {column}?", "Name its row as well.")
        known = {ROW_ID, *ws.spec(cr.ref).column_names, *(c["name"] for c in cr.new_columns or [])}
        if column not in known:
            raise UsageError(f"There is no column {column!r}.", f"The columns are {', '.join(sorted(known))}.")
    if row_id is not None and not any(has_row(table, row_id) for table in _tables(ws, cr)):
        raise NotFoundError(
            f"Neither main nor change request {cr.id} has a row {row_id!r}.", f"See: oreo cr diff {cr.ref} {cr.id}"
        )


def _tables(ws: Workspace, cr: ChangeRequest) -> list[TableAt]:
    layout = ws.layout(cr.ref)
    tables = []
    if cr.staging_version is not None and log.table_exists(layout.staging(cr.id)):
        tables.append(TableAt("staged", layout.staging(cr.id), cr.staging_version))
    if cr.merged_version is not None:
        tables += [TableAt("main", layout.main, v) for v in (cr.merged_version, cr.merged_version - 1)]
    elif cr.base_version is not None:
        tables.append(TableAt("main", layout.main, cr.base_version))
    return tables
