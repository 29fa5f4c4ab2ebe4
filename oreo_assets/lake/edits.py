"""`edits.delta`: the edits of one live session, appended by delta-rs. No row in it is ever changed or removed.

A step of the editor (one cell, a paste of thousands, an undo) is one commit. `edit_id` is the commit's version and the
place in it, so its order is the order in which things happened.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..model.errors import NotFoundError, UnavailableError

if TYPE_CHECKING:
    import pyarrow as pa

FIELDS = ("edit_id", "session_id", "row_id", "column", "old_value", "new_value", "user_id", "ts", "validation")
ROW_ADDED, ROW_DELETED, UNDONE, REDONE = "_add_row", "_delete_row", "_undo", "_redo"
"""Words in place of a column, for what is not about a cell. No column's name can begin with an underscore."""

_FILES_BEFORE_COMPACTION = 50
_SETTINGS = {"delta.logRetentionDuration": "interval 30 seconds"}
_COMMIT_BYTES = 8_192
"""More than a commit of one cell takes on disk, its log entry and the file's frame included."""


@dataclass(frozen=True)
class Draft:
    """An edit that is not written yet."""

    row_id: str | None
    column: str
    old_value: str | None = None
    new_value: str | None = None
    validation: str | None = None


@dataclass(frozen=True)
class Edit(Draft):
    """An edit as it was written."""

    edit_id: str = ""
    session_id: str = ""
    user_id: str = ""
    ts: datetime | None = None

    @property
    def step(self) -> str:
        """The commit it came with."""
        return self.edit_id.partition("-")[0]


class OutpacedError(UnavailableError):
    """Somebody else committed first: what was to be appended has to be looked at again."""


def create_edits(folder: Path) -> None:
    """An empty table for a session's edits."""
    from deltalake import DeltaTable

    DeltaTable.create(str(folder), schema=_schema(), configuration=_SETTINGS, mode="error")


class EditLog:
    """A handle on one session's edits that reads only what it has not read yet."""

    def __init__(self, folder: Path, session_id: str) -> None:
        self.folder = folder
        self.session_id = session_id
        self._table: Any = None
        self._seen: frozenset[str] = frozenset()
        self._last = ""

    def read_new(self) -> list[Edit]:
        """The edits since the last call, in the order in which they were made."""
        from deltalake.exceptions import DeltaError

        try:
            return self._read_new()
        except (FileNotFoundError, DeltaError):
            # Another process may just have put small files together: what they held is in a new one.
            self._table = None
        try:
            return self._read_new()
        except (FileNotFoundError, DeltaError) as error:
            raise self._gone() from error

    def append(self, drafts: Sequence[Draft], user_id: str) -> list[Edit]:
        """Write edits as one commit right after what was read, or raise OutpacedError and write nothing."""
        import pyarrow as pa
        from deltalake import CommitProperties, write_deltalake
        from deltalake.exceptions import CommitFailedError, DeltaError

        table = self._table
        if table is None:
            raise OutpacedError("Nothing has been read since the last failure.", "Try again.")
        at, step = datetime.now(UTC), f"{table.version() + 1:010d}"
        edits = [
            Edit(**vars(draft), edit_id=f"{step}-{i:06d}", session_id=self.session_id, user_id=user_id, ts=at)
            for i, draft in enumerate(drafts)
        ]
        columns = {name: [getattr(edit, name) for edit in edits] for name in FIELDS}
        try:
            write_deltalake(
                table,
                pa.table(columns, schema=_schema()),
                mode="append",
                commit_properties=CommitProperties(max_commit_retries=0),
            )
        except CommitFailedError as error:
            self._table = None
            raise OutpacedError("Somebody else edits this session at the same moment.", "Try again.") from error
        except (DeltaError, OSError) as error:
            self._table = None
            raise UnavailableError(
                f"The edits could not be written: {str(error).splitlines()[0]}.", "Check the disk, then try again."
            ) from error
        self._seen |= set(table.file_uris())
        self._last = edits[-1].edit_id
        return edits

    def tidy(self) -> bool:
        """Put many small files together, so that ten thousand single edits open as fast as one. Whether it did."""
        table = self._open()
        if len(table.file_uris()) < _FILES_BEFORE_COMPACTION:
            return False
        table.optimize.compact()
        table.create_checkpoint()
        table.vacuum(retention_hours=0, dry_run=False, enforce_retention_duration=False)
        table.cleanup_metadata()
        return True

    def _read_new(self) -> list[Edit]:
        import pyarrow.parquet as pq

        table = self._open()
        table.update_incremental()
        files = frozenset(table.file_uris())
        found: list[Edit] = []
        for file in files - self._seen:
            rows = pq.ParquetFile(file).read().to_pylist()
            found += [Edit(**row) for row in rows if row["edit_id"] > self._last]
        found.sort(key=lambda edit: edit.edit_id)
        self._seen = files
        if found:
            self._last = found[-1].edit_id
        return found

    def _open(self) -> Any:
        from deltalake import DeltaTable
        from deltalake.exceptions import TableNotFoundError

        if self._table is not None and not self._commit_file(self._table.version()).exists():
            # Others went on, and what led from our version to theirs was tidied away. A handle this old must not
            # take itself for the newest: its next commit would be lost behind theirs.
            self._table = None
        if self._table is None:
            try:
                self._table = DeltaTable(str(self.folder))
            except TableNotFoundError as error:
                raise self._gone() from error
        return self._table

    def _commit_file(self, version: int) -> Path:
        return self.folder / "_delta_log" / f"{version:020d}.json"

    def _gone(self) -> NotFoundError:
        return NotFoundError(f"The edits of session {self.session_id} are gone.", "Open a new session.")


def bytes_in(folder: Path) -> int:
    """What a folder takes on disk."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def bytes_of(drafts: Sequence[Draft]) -> int:
    """What these will take at most once they are written."""
    texts = sum(
        len((text or "").encode())
        for draft in drafts
        for text in (draft.row_id, draft.column, draft.old_value, draft.new_value, draft.validation)
    )
    return _COMMIT_BYTES + texts + 150 * len(drafts)


def _schema() -> pa.Schema:
    import pyarrow as pa

    required = {"edit_id", "session_id", "column", "user_id", "ts"}
    return pa.schema(
        [
            pa.field(name, pa.timestamp("us", "UTC") if name == "ts" else pa.string(), nullable=name not in required)
            for name in FIELDS
        ]
    )
