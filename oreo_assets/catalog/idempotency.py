"""Idempotency keys: the same request, sent again with the same key, is answered and not done again."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from sqlalchemy import delete, update
from sqlalchemy.exc import IntegrityError

from ..model.errors import StateError
from .models import IdempotencyKey, now
from .store import Catalog

KEPT = timedelta(hours=24)


class KeyReusedError(StateError):
    """The key belongs to another request."""

    code = "idempotency_key_reused"


class StillWorkingError(StateError):
    """The first request with this key has no answer yet."""

    code = "still_working"
    retryable = True


@dataclass(frozen=True)
class StoredAnswer:
    """What the first request was answered."""

    status: int
    answer: dict[str, Any]


def claim(catalog: Catalog, user: str, key: str, fingerprint: str) -> StoredAnswer | None:
    """Take the key for a request that is about to be done; or the answer, if it was done already.

    The row goes in before the work begins, so of two that come at once the database lets one through.
    """
    with catalog.write() as tx:
        tx.execute(delete(IdempotencyKey).where(IdempotencyKey.created_at < now() - KEPT))
        try:
            with tx.begin_nested():
                tx.add(IdempotencyKey(user=user, key=key, fingerprint=fingerprint))
            return None
        except IntegrityError:
            known = tx.get(IdempotencyKey, (user, key))
    if known is None:
        raise StillWorkingError("The key was let go a moment ago.", "Send the request again.")
    if known.fingerprint != fingerprint:
        raise KeyReusedError(
            f"The idempotency key {key!r} was used for another request.", "Choose a new key for each new request."
        )
    if known.status is None or known.answer is None:
        raise StillWorkingError(
            f"A request with the idempotency key {key!r} is being worked on since {known.created_at:%H:%M:%S} UTC.",
            "Ask again in a moment. If it was cut off, see what came of it, and choose a new key.",
        )
    return StoredAnswer(known.status, known.answer)


def keep(catalog: Catalog, user: str, key: str, status: int, answer: dict[str, Any]) -> None:
    """The request is done, and this is what its sender is told, now and whenever they ask again."""
    with catalog.write() as tx:
        tx.execute(
            update(IdempotencyKey)
            .where(IdempotencyKey.user == user, IdempotencyKey.key == key)
            .values(status=status, answer=answer)
        )


def let_go(catalog: Catalog, user: str, key: str) -> None:
    """Nothing was done: the same key may try again."""
    with catalog.write() as tx:
        tx.execute(delete(IdempotencyKey).where(IdempotencyKey.user == user, IdempotencyKey.key == key))
