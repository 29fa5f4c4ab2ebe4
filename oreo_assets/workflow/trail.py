"""The audit trail, as people read it and have it proven."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from ..catalog import audit
from ..catalog.audit import ChainReport
from ..catalog.models import AuditEvent
from ..catalog.users import EVERYWHERE, Actor
from ..model.errors import RefusedError
from ..model.ids import DatasetRef
from ..model.states import Role
from .workspace import Workspace

_FIELDS = ("seq", "at", "actor", "action", "project", "dataset", "subject", "details", "hash", "prev_hash")


def read_trail(
    ws: Workspace, actor: Actor, ref: DatasetRef | None = None, *, limit: int = 100, before: int | None = None
) -> list[AuditEvent]:
    """The newest events first. Those of all datasets take a role in every project."""
    if ref:
        ws.spec(ref)
    actor.require(Role.VIEWER, ref.project if ref else EVERYWHERE)
    return audit.events(ws.catalog, ref, limit=limit, before=before)


def verify_trail(ws: Workspace) -> tuple[ChainReport, RefusedError | None]:
    """Walk the chain of all events: what was found, and what is wrong with it, if anything is."""
    report = audit.verify(ws.catalog)
    if report.intact:
        return report, None
    return report, RefusedError(
        f"The audit trail is broken at event {report.broken_at}: {report.problem}.",
        "Compare the catalog with a backup; everything before that event still holds.",
        **asdict(report),
    )


def event_json(event: AuditEvent) -> dict[str, Any]:
    return {name: getattr(event, name) for name in _FIELDS}
