"""The storage adapter: a small, familiar surface for code that used to write tables directly."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..catalog.users import Actor, sign_in
from ..model.errors import UsageError
from ..model.filters import Filter
from ..model.ids import DatasetRef
from ..model.states import Mode
from ..settings import Settings
from . import history as going_back
from . import query as reading
from .intake import UploadOptions, UploadResult, upload
from .pipeline import run_pipeline
from .workspace import Workspace

if TYPE_CHECKING:
    import pyarrow as pa


class StorageAdapter:
    """Append, overwrite, look back and query, over the same use cases as everything else.

    Writes open change requests and return what became of them. Where the dataset says `approvals: 0` they are
    staged, checked and merged before the call returns; its `state` is `closed` then, and `refused`, `conflicted`
    or `failed` where something stands against it. Everywhere else they wait for a reviewer.

    >>> adapter = StorageAdapter.open(DatasetRef.parse("pr_1001/ds_3201"))  # doctest: +SKIP
    >>> adapter.append_rows([{"order_id": "A1", "amount": "12.50"}])        # doctest: +SKIP
    """

    def __init__(self, ws: Workspace, actor: Actor, ref: DatasetRef) -> None:
        self.ws = ws
        self.actor = actor
        self.ref = ref

    @classmethod
    def open(cls, ref: DatasetRef, settings: Settings | None = None) -> StorageAdapter:
        settings = settings or Settings.from_env()
        ws = Workspace.open(settings)
        return cls(ws, sign_in(ws.catalog, settings.token), ref)

    def append_rows(self, rows: Sequence[dict[str, Any]], note: str = "") -> UploadResult:
        """Open a change request that adds rows."""
        return self._send(rows, Mode.APPEND, note)

    def overwrite(self, rows: Sequence[dict[str, Any]], note: str = "") -> UploadResult:
        """Open a change request after which the dataset has these rows and no others."""
        return self._send(rows, Mode.REPLACE, note)

    def history(self, limit: int | None = None) -> list[dict[str, Any]]:
        return [commit.as_json() for commit in reading.history(self.ws, self.actor, self.ref, limit)]

    def restore(self, version: int) -> UploadResult:
        """Open a change request that makes the dataset what it was at a version."""
        return self._go_on(going_back.restore(self.ws, self.actor, self.ref, version=version))

    def query(self, where: Sequence[str] = (), limit: int = 100, offset: int = 0) -> list[dict[str, Any]]:
        """Rows that meet every `col=op.value` filter."""
        filters = [Filter.parse(text) for text in where]
        page = reading.query(self.ws, self.actor, self.ref, where=filters, limit=limit, offset=offset)
        return page.rows

    def _send(self, rows: Sequence[dict[str, Any]], mode: Mode, note: str) -> UploadResult:
        import pyarrow as pa
        import pyarrow.parquet as pq

        if not rows:
            raise UsageError("There are no rows to send.", "Give at least one.")
        with tempfile.TemporaryDirectory(prefix="oreo-rows-") as folder:
            file = Path(folder, "rows.parquet")
            try:
                pq.write_table(_table(rows), file)
            except (pa.ArrowException, OverflowError, UnicodeEncodeError) as error:
                raise UsageError(
                    f"The rows do not form a table: {error}.", "Give each column values of one type."
                ) from error
            return self._go_on(upload(self.ws, self.actor, self.ref, file, UploadOptions(mode=mode, note=note)))

    def _go_on(self, sent: UploadResult) -> UploadResult:
        if sent.change_request_id is None or self.ws.spec(self.ref).approvals:
            return sent
        return replace(sent, state=run_pipeline(self.ws, self.ref, sent.change_request_id).state)


def _table(rows: Sequence[dict[str, Any]]) -> pa.Table:
    """All columns that any row has: Arrow by itself would look at the first row only, and drop the others'."""
    import pyarrow as pa

    names = list(dict.fromkeys(name for row in rows for name in row))
    return pa.table({name: [row.get(name) for row in rows] for name in names})
