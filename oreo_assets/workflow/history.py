"""Going back: restoring main to an earlier version, by a change request like any other."""

from __future__ import annotations

import tempfile
from pathlib import Path

from ..catalog.users import Actor
from ..lake.read import TableAt, export_parquet
from ..model.ids import DatasetRef
from ..model.states import Mode, Role
from .intake import UploadOptions, UploadResult, upload
from .query import resolve_version
from .workspace import Workspace


def restore(
    ws: Workspace,
    actor: Actor,
    ref: DatasetRef,
    *,
    version: int | None = None,
    timestamp: str | None = None,
    note: str = "",
) -> UploadResult:
    """Open a change request that makes main what it was at a version or moment.

    Nothing goes into main unchecked and unapproved, and an old version is no exception: rules may have
    changed since. The old rows keep their row_id.
    """
    actor.require(Role.CONTRIBUTOR, ref.project)
    uri = ws.layout(ref).main
    at = resolve_version(uri, version, timestamp)
    with tempfile.TemporaryDirectory(prefix="oreo-restore-") as folder:
        file = Path(folder, f"version-{at}.parquet")
        export_parquet(TableAt("main", uri, at), file)
        options = UploadOptions(mode=Mode.REPLACE, note=note or f"Restore version {at}", keeps_row_id=True)
        return upload(ws, actor, ref, file, options)
