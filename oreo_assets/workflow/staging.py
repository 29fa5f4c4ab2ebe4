"""Staging: a change request's rows in a Delta table of their own, written by Spark."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from ..catalog.change_requests import get_change_request, get_upload, transition, void_approvals
from ..catalog.models import ChangeRequest
from ..crash_points import reach
from ..lake import log
from ..lake.diff import ChangeSet, content_hash, count_changes
from ..lake.read import TableAt
from ..lake.rebase import Choice, Take, rebase
from ..lake.tables import write_staging
from ..model.commit import CommitMetadata
from ..model.errors import StateError
from ..model.ids import new_id
from ..model.states import CRState
from .live_session import end_session_of
from .workspace import Workspace

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

STAGEABLE = (CRState.CONVERTED, CRState.STAGED, CRState.IN_REVIEW, CRState.CONFLICTED)


def rows_to_stage(ws: Workspace, cr: ChangeRequest) -> DataFrame:
    """The converted upload, as Spark reads it; or, once a reviewer chose, what follows from the choices."""
    if cr.rebase and "choices" in cr.rebase:
        layout = ws.layout(cr.ref)
        change = ChangeSet.of(
            layout.main, cr.rebase["base_version"], layout.staging(cr.id), cr.rebase["staging_version"], cr.mode
        )
        choices = [Choice(row_id, column, Take(take)) for row_id, column, take in cr.rebase["choices"]]
        return rebase(ws.spark(), change, cr.rebase["main_version"], choices)
    assert cr.upload_id is not None
    return ws.spark().read.parquet(str(ws.layout(cr.ref).converted(cr.upload_id)))


def stage(ws: Workspace, cr: ChangeRequest, rows: DataFrame) -> ChangeRequest:
    """Write the rows to the change request's own table and pin what they are compared with.

    Staging again (after a crash, or because main moved) overwrites that table and voids approvals.
    """
    with ws.alone_with(cr.id):
        return _stage(ws, cr, rows)


def _stage(ws: Workspace, cr: ChangeRequest, rows: DataFrame) -> ChangeRequest:
    _require_stageable(ws, cr)
    layout = ws.layout(cr.ref)
    with ws.catalog.read() as tx:
        source = get_upload(tx, cr.upload_id).sha256 if cr.upload_id else None
    metadata = CommitMetadata(
        commit_id=new_id("co"), change_request_id=cr.id, author=cr.author, mode=cr.mode, source_sha256=source
    )
    # After a rebase, and for rows that were made from a version of main, they answer to the version that
    # was looked at, even if main moved on since.
    base_version = cr.rebase["main_version"] if cr.rebase else log.current_version(layout.main)
    staging_uri = layout.staging(cr.id)
    version = write_staging(rows, staging_uri, metadata)
    reach("stage.written")
    digest = content_hash(TableAt("staged", staging_uri, version))
    counts = count_changes(ChangeSet.of(layout.main, base_version, staging_uri, version, cr.mode))
    with ws.catalog.write() as tx:
        cr = get_change_request(tx, cr.ref, cr.id)
        void_approvals(tx, cr, "system", "staged anew")
        transition(
            tx,
            cr,
            CRState.STAGED,
            actor="system",
            details={"base_version": base_version, "staging_version": version, "content_hash": digest},
            base_version=base_version,
            staging_version=version,
            content_hash=digest,
            counts=counts.as_json(),
            checks=None,
            validation_run_id=None,
            suite_hash=None,
        )
    reach("stage.recorded")
    return cr


def _require_stageable(ws: Workspace, cr: ChangeRequest) -> None:
    with ws.catalog.read() as tx:
        now = get_change_request(tx, cr.ref, cr.id)
    if now.state not in STAGEABLE:
        raise StateError(
            f"Change request {cr.id} is {now.state}; it is not to be staged now.",
            f"See: oreo cr show {cr.ref} {cr.id}",
        )
    if (now.state, now.staging_version) != (cr.state, cr.staging_version):
        raise StateError(
            f"Change request {cr.id} was {cr.state} a moment ago; somebody else has staged it meanwhile.",
            f"See: oreo cr show {cr.ref} {cr.id}",
        )


def delete_staging(ws: Workspace, cr: ChangeRequest) -> None:
    """Remove a change request's table, and the live session it came from. Gone already is fine: a crash may have
    come in between."""
    folder = Path(ws.layout(cr.ref).staging(cr.id))
    # The log first: what is half gone must not pass for a table.
    shutil.rmtree(folder / "_delta_log", ignore_errors=True)
    reach("staging.half_deleted")
    if folder.exists():
        shutil.rmtree(folder)
    ws.forget_lock(cr.id)
    end_session_of(ws, cr)
