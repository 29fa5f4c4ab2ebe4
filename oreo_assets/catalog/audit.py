"""The audit trail: every event carries a hash of itself and of the event before it."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import Any

from sqlalchemy import select, text

from ..model.ids import DatasetRef
from .models import AuditEvent, now
from .store import Catalog, Transaction

GENESIS = "0" * 64
_POSTGRES_LOCK = 0x0E0_A0D1


def record(
    tx: Transaction,
    actor: str,
    action: str,
    ref: DatasetRef | None = None,
    subject: str | None = None,
    **details: Any,
) -> AuditEvent:
    """Append an event in the caller's transaction, so that it stands or falls with what it tells of."""
    if tx.get_bind().dialect.name == "postgresql":
        # Links are made one at a time; on SQLite the write transaction already sees to that.
        tx.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _POSTGRES_LOCK})
    last = tx.scalars(select(AuditEvent).order_by(AuditEvent.seq.desc()).limit(1)).first()
    event = AuditEvent(
        seq=last.seq + 1 if last else 1,
        at=now(),
        actor=actor,
        action=action,
        project=ref.project if ref else None,
        dataset=ref.dataset if ref else None,
        subject=subject,
        details=json.loads(json.dumps(details, default=str)),
        prev_hash=last.hash if last else GENESIS,
    )
    event.hash = _link(event)
    tx.add(event)
    tx.flush()
    return event


@dataclass(frozen=True)
class ChainReport:
    """What verifying the chain found. `broken_at` is the first event that does not fit."""

    events: int
    intact: bool
    broken_at: int | None = None
    problem: str | None = None
    head: str = GENESIS


def verify(catalog: Catalog) -> ChainReport:
    """Walk the whole chain; any event changed, removed or slipped in breaks it."""
    previous, count = GENESIS, 0
    with catalog.read() as tx:
        for event in tx.scalars(select(AuditEvent).order_by(AuditEvent.seq)).yield_per(1000):
            count += 1
            problem = None
            if event.seq != count:
                problem = f"event {count} is missing"
            elif event.prev_hash != previous:
                problem = "it does not follow the event before it"
            elif event.hash != _link(event):
                problem = "its content was changed"
            if problem:
                return ChainReport(count, False, event.seq, problem, previous)
            previous = event.hash
    return ChainReport(count, True, head=previous)


def events(
    catalog: Catalog, ref: DatasetRef | None = None, *, limit: int = 100, before: int | None = None
) -> list[AuditEvent]:
    """The newest events first, of one dataset or of all."""
    query = select(AuditEvent).order_by(AuditEvent.seq.desc()).limit(limit)
    if ref:
        query = query.where(AuditEvent.project == ref.project, AuditEvent.dataset == ref.dataset)
    if before is not None:
        query = query.where(AuditEvent.seq < before)
    with catalog.read() as tx:
        return list(tx.scalars(query))


def _link(event: AuditEvent) -> str:
    body = [
        event.seq,
        event.at.isoformat(timespec="microseconds"),
        event.actor,
        event.action,
        event.project,
        event.dataset,
        event.subject,
        event.details,
        event.prev_hash,
    ]
    return hashlib.sha256(json.dumps(body, sort_keys=True, ensure_ascii=False).encode()).hexdigest()
