"""Reading a dataset: rows as of any version, and its history."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from ..catalog.users import Actor
from ..lake import log
from ..lake.log import Commit
from ..lake.read import TableAt, query_rows
from ..model.errors import UsageError
from ..model.filters import Filter, Op, Order
from ..model.ids import DatasetRef
from ..model.spec import ROW_ID
from ..model.states import Role
from .workspace import Workspace

MAX_ROWS = 100_000
_MAX_OFFSET = 2**53


@dataclass(frozen=True)
class Page:
    """Some rows, the version they are of, and the offset at which the next ones begin."""

    rows: list[dict[str, Any]]
    version: int
    next: int | None

    def as_json(self) -> dict[str, Any]:
        return {"rows": self.rows, "version": self.version, "next": self.next}


def query(
    ws: Workspace,
    actor: Actor,
    ref: DatasetRef,
    *,
    select: Sequence[str] = (),
    where: Sequence[Filter] = (),
    order: Sequence[Order] = (),
    limit: int = 100,
    offset: int = 0,
    after: str | None = None,
    version: int | None = None,
    timestamp: str | None = None,
) -> Page:
    """Rows of main, now or as of a version or moment. Without an order, in the order of `row_id`.

    `after` goes on after a row, and costs the same on the thousandth page as on the second.
    """
    ws.spec(ref)
    actor.require(Role.VIEWER, ref.project)
    if not 0 <= limit <= MAX_ROWS or not 0 <= offset <= _MAX_OFFSET:
        raise UsageError(f"The limit is 0 to {MAX_ROWS:,}, the offset 0 to 2^53.", "Read in pages.")
    if after is not None and (order or offset):
        raise UsageError("`after` follows the order of row_id.", "Leave out the order and the offset.")
    following = [] if after is None else [Filter(ROW_ID, Op.GT, (after,))]
    uri = ws.layout(ref).main
    at = resolve_version(uri, version, timestamp)
    by = [*order, *([] if any(o.column == ROW_ID for o in order) else [Order(ROW_ID)])]
    rows = query_rows(
        TableAt("main", uri, at), select=select, where=[*where, *following], order=by, limit=limit + 1, offset=offset
    )
    return Page(rows[:limit], at, offset + limit if len(rows) > limit else None)


def pinned_version(
    ws: Workspace, actor: Actor, ref: DatasetRef, version: int | None = None, timestamp: str | None = None
) -> int:
    """The version that a read would be of: a reader who has seen it need not be sent it again."""
    ws.spec(ref)
    actor.require(Role.VIEWER, ref.project)
    return resolve_version(ws.layout(ref).main, version, timestamp)


def history(ws: Workspace, actor: Actor, ref: DatasetRef, limit: int | None = None) -> list[Commit]:
    """The commits of main, the newest first."""
    ws.spec(ref)
    actor.require(Role.VIEWER, ref.project)
    return log.commits(ws.layout(ref).main, limit)


def resolve_version(uri: str, version: int | None, timestamp: str | None) -> int:
    """The version that is meant: a number, a moment, or (neither) the newest."""
    if version is not None and timestamp is not None:
        raise UsageError("A version and a timestamp at once.", "Give one of the two.")
    if version is not None:
        return log.open_table(uri, version).version()
    if timestamp is None:
        return log.current_version(uri)
    try:
        moment = datetime.fromisoformat(timestamp)
        moment = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise UsageError(
            f"{timestamp!r} is not a moment in time.",
            "Write it like 2026-01-31T12:00:00+00:00 (UTC if no zone).",
        ) from error
    return log.version_at(uri, moment)
