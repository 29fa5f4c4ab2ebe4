"""Reverting a merged change request: its inverse, opened as a change request like any other."""

from __future__ import annotations

import tempfile
from pathlib import Path

from sqlalchemy import select

from ..catalog.change_requests import get_change_request
from ..catalog.models import ChangeRequest, Upload
from ..catalog.users import Actor
from ..lake.diff import CommittedChange
from ..lake.inverse import export_inverse
from ..model.errors import StateError
from ..model.ids import DatasetRef
from ..model.states import Mode, Role
from .intake import UploadOptions, UploadResult, upload
from .workspace import Workspace


def revert(ws: Workspace, actor: Actor, ref: DatasetRef, cr_id: str, note: str = "") -> UploadResult:
    """Open the change request that undoes a merged one: what it inserted is deleted, what it updated or deleted
    gets its old values back.

    It is checked and approved like any other. Its base is the version that the merge made, so where somebody
    changed the same rows since, that is a conflict for a person to settle, and nothing is overwritten silently.
    """
    actor.require(Role.CONTRIBUTOR, ref.project)
    name = f"revert-of-{cr_id}.parquet"
    with ws.catalog.read() as tx:
        cr = get_change_request(tx, ref, cr_id)
        open_one = next((c for c in tx.scalars(_reverts(cr, name)) if c.state.is_open), None)
    if cr.merged_version is None:
        raise StateError(
            f"Change request {cr_id} is {cr.state}; only one that was merged can be reverted.",
            f"See: oreo cr show {ref} {cr_id}",
        )
    if open_one:
        raise StateError(
            f"Change request {open_one.id} reverts {cr_id} already, and is {open_one.state}.",
            f"Look at it, or withdraw it first: oreo cr show {ref} {open_one.id}",
        )
    with tempfile.TemporaryDirectory(prefix="oreo-revert-") as folder:
        file = Path(folder, name)
        if not export_inverse(CommittedChange(ws.layout(ref).main, cr.merged_version), file):
            raise StateError(f"Change request {cr_id} changed no row.", "There is nothing to revert.")
        options = UploadOptions(
            mode=Mode.PATCH,
            note=note or f"Revert of {cr_id}{f': {cr.note}' if cr.note else ''}",
            keeps_row_id=True,
            follows=cr_id,
            base_version=cr.merged_version,
        )
        return upload(ws, actor, ref, file, options)


def _reverts(cr: ChangeRequest, file_name: str):  # type: ignore[no-untyped-def]  # SQLAlchemy's own
    return (
        select(ChangeRequest)
        .join(Upload, Upload.id == ChangeRequest.upload_id)
        .where(ChangeRequest.follows == cr.id, Upload.file_name == file_name)
    )
