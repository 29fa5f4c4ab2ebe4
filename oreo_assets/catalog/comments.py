"""Comments on change requests, and the wishes for changes among them."""

from __future__ import annotations

from sqlalchemy import select

from ..model.errors import NotFoundError
from .models import ChangeRequest, Comment
from .store import Transaction

COMMENT = "comment"
CHANGES_REQUESTED = "changes_requested"


def comments_of(tx: Transaction, cr_id: str, *, after: str | None = None, limit: int | None = None) -> list[Comment]:
    """The oldest first, as people talk. `after` is the last one of the page before."""
    query = select(Comment).where(Comment.change_request_id == cr_id).order_by(Comment.id).limit(limit)
    if after is not None:
        query = query.where(Comment.id > after)
    return list(tx.scalars(query))


def get_comment(tx: Transaction, cr: ChangeRequest, comment_id: str) -> Comment:
    comment = tx.get(Comment, comment_id)
    if comment is None or comment.change_request_id != cr.id:
        raise NotFoundError(
            f"Change request {cr.id} has no comment {comment_id}.", f"See: oreo cr comments {cr.ref} {cr.id}"
        )
    return comment


def changes_wanted(tx: Transaction, cr: ChangeRequest) -> list[Comment]:
    """Wishes for changes to exactly what is staged now that nobody has taken back."""
    query = select(Comment).where(
        Comment.change_request_id == cr.id,
        Comment.kind == CHANGES_REQUESTED,
        Comment.resolved_at.is_(None),
        Comment.staging_version == cr.staging_version,
    )
    return list(tx.scalars(query.order_by(Comment.id)))
