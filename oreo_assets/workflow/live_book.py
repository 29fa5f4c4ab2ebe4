"""A session as this process knows it: what its edits amount to, kept and brought up to date instead of read anew."""

from __future__ import annotations

import json
import threading
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from ..catalog.models import LiveSession
from ..crash_points import reach
from ..lake import log
from ..lake.edits import Draft, Edit, EditLog, bytes_in, bytes_of, create_edits
from ..lake.layout import DatasetLayout
from ..lake.read import TableAt
from ..model.errors import StateError
from ..model.filters import Filter, Op
from ..model.ids import DatasetRef
from ..model.spec import ROW_ID, DatasetSpec
from .live_overlay import Part, base_rows
from .live_state import LiveState

MAX_BYTES = 100_000_000
_KEPT_BOOKS = 64
_KEPT_ROWS = 20_000
_books: OrderedDict[str, Book] = OrderedDict()
_books_lock = threading.Lock()


class Book:
    """One session's edits and the rows of the base that were looked at. Use it under its `lock`."""

    def __init__(self, folder: Path, session: LiveSession) -> None:
        self.folder = folder
        self.lock = threading.RLock()
        self.state = LiveState()
        self._log = EditLog(folder / "edits.delta", session.id)
        self._rows: dict[str, dict[str, str | None] | None] = {}
        self._bytes: int | None = None
        self._columns: frozenset[str] | None = None

    def refresh(self) -> None:
        """Take in what others appended since."""
        found = self._log.read_new()
        if found:
            self.state.take(found)
            self._bytes = None

    def append(self, drafts: Sequence[Draft], user_id: str) -> list[Edit]:
        """One step, one commit. What would make the session too large is refused before it is written."""
        size = bytes_of(drafts)
        if self.bytes + size > MAX_BYTES:
            self._bytes = None
            if self.bytes + size > MAX_BYTES:
                raise StateError(
                    f"The session has {self.bytes / 1e6:,.0f} MB of edits; with these it would be over "
                    f"{MAX_BYTES / 1e6:,.0f} MB.",
                    "Submit it and go on in a new one, or send a file instead.",
                )
        edits = self._log.append(drafts, user_id)
        reach("live.appended")
        self.state.take(edits)
        self._bytes = None if self._log.tidy() else self.bytes + size
        return edits

    @property
    def bytes(self) -> int:
        """What the folder takes on disk; between two looks, what was written since is rounded up."""
        if self._bytes is None:
            self._bytes = bytes_in(self.folder)
        return self._bytes

    def part(self, spec: DatasetSpec, layout: DatasetLayout, session: LiveSession) -> Part:
        """What the session is about. Columns that came to main after the base are not part of it."""
        if self._columns is None:
            schema = json.loads(log.open_table(layout.main, session.base_version).schema().to_json())
            self._columns = frozenset(field["name"] for field in schema["fields"])
        columns = tuple(c for c in spec.columns if c.name in self._columns and c.name != ROW_ID)
        return Part(TableAt("main", layout.main, session.base_version), columns, filters_of(session))

    def base(self, part: Part, row_ids: Iterable[str]) -> dict[str, dict[str, str | None] | None]:
        """The rows as the base has them, None for those it has not; looked up only if they were not before."""
        wanted = list(dict.fromkeys(row_ids))
        rows = {row_id: self._rows[row_id] for row_id in wanted if self._knows(row_id, part)}
        unknown = [row_id for row_id in wanted if row_id not in rows]
        if unknown:
            found = base_rows(part, unknown)
            looked_up = {row_id: found.get(row_id) for row_id in unknown}
            self.remember(looked_up)
            rows |= looked_up
        return rows

    def remember(self, rows: dict[str, dict[str, str | None] | None]) -> None:
        """Rows that somebody looks at are the ones they edit next."""
        if len(self._rows) + len(rows) > _KEPT_ROWS:
            self._rows.clear()
        if len(rows) <= _KEPT_ROWS:
            self._rows.update(rows)

    def _knows(self, row_id: str, part: Part) -> bool:
        row = self._rows.get(row_id)
        return row_id in self._rows and (row is None or all(c.name in row for c in part.columns))


def open_book(layout: DatasetLayout, session: LiveSession) -> Book:
    """The book of a session, the same for everybody in this process."""
    folder = layout.live_edit(session.id)
    with _books_lock:
        book = _books.get(str(folder)) or Book(folder, session)
        _books[str(folder)] = book
        _books.move_to_end(str(folder))
        while len(_books) > _KEPT_BOOKS:
            _books.popitem(last=False)
    return book


def close_book(folder: Path) -> None:
    """The session has ended."""
    with _books_lock:
        _books.pop(str(folder), None)


def begin_folder(folder: Path, metadata: dict[str, Any]) -> None:
    """The folder of a new session. `metadata.json` comes last, whole or not at all."""
    folder.mkdir(parents=True)
    create_edits(folder / "edits.delta")
    part = folder / ".metadata.json.part"
    part.write_text(json.dumps(metadata, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    part.rename(folder / "metadata.json")


def filters_of(session: LiveSession) -> tuple[Filter, ...]:
    return tuple(Filter(column, Op(op), tuple(values)) for column, op, values in session.filters or ())


def filters_json(where: Sequence[Filter]) -> list[list[Any]]:
    return [[f.column, str(f.op), list(f.values)] for f in where]


def metadata_of(session: LiveSession, ref: DatasetRef) -> dict[str, Any]:
    return {
        "session_id": session.id,
        "project": ref.project,
        "dataset": ref.dataset,
        "owner": session.owner,
        "base_version": session.base_version,
        "filters": session.filters,
        "created_at": session.created_at.isoformat(),
        "expires_at": session.expires_at.isoformat(),
    }
