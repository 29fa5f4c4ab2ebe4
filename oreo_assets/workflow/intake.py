"""From a file to a converted upload: the beginning of a change request."""

from __future__ import annotations

import os
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..catalog import Transaction, audit
from ..catalog.change_requests import get_change_request, get_upload, transition
from ..catalog.models import ChangeRequest, Upload
from ..catalog.users import Actor
from ..convert import Conversion, ConversionRequest, Reject, convert
from ..convert.request import RAW_ENDINGS
from ..crash_points import reach
from ..model.errors import BadFileError, OreoError, UnavailableError, UsageError
from ..model.ids import DatasetRef, new_id
from ..model.spec import DatasetSpec, RowIdRule
from ..model.states import CRState, Mode, Role
from .workspace import Workspace

_SENT = ".sent"
"""Beside a file that came through `upload`, from before its first byte: it is no file of another program."""


@dataclass(frozen=True)
class UploadOptions:
    """How a file is meant."""

    mode: Mode = Mode.UPSERT
    sheet: str | None = None
    note: str = ""
    file_name: str = ""
    """What the sender calls the file, where it came under another name. Only ever shown, never a path."""
    set_aside: bool = False
    keeps_row_id: bool = False
    """The file is a copy of our own rows and brings its row_id along (restore, follow-up)."""
    follows: str | None = None
    """The change request whose rejected rows these are."""


@dataclass(frozen=True)
class UploadResult:
    """What the sender of a file is told."""

    upload_id: str | None
    change_request_id: str | None
    state: CRState | None
    conversion: Conversion | None

    def as_json(self) -> dict[str, Any]:
        found = self.conversion
        return {
            "upload_id": self.upload_id,
            "change_request_id": self.change_request_id,
            "state": self.state,
            "rows_read": found.rows_read if found else None,
            "rows_rejected": found.rows_rejected if found else None,
            "rejects": [_reject_json(r) for r in found.rejects] if found else [],
            "rejects_total": found.rejects_total if found else 0,
            "columns": [name for name, _ in found.columns] if found else [],
            "new_columns": [{"name": n, "type": t} for n, t in found.new_columns] if found else [],
            "absent_columns": list(found.absent_columns) if found else [],
        }


def upload(ws: Workspace, actor: Actor, ref: DatasetRef, file: Path, options: UploadOptions) -> UploadResult:
    """Take a file in, open its change request and convert it. The file itself is only read.

    A file that cannot be taken leaves a `failed` change request behind that says why.
    """
    spec = _check_sender(ws, actor, ref, options)
    name = options.file_name or file.name
    extension = _extension(name)
    size = _check_readable(file, name, spec)
    upload_id, cr_id = new_id("up"), new_id("cr")
    _take_in(file, ws.layout(ref).raw(upload_id, extension))
    reach("upload.copied")
    with ws.catalog.write() as tx:
        row = Upload(
            id=upload_id,
            project=ref.project,
            dataset=ref.dataset,
            file_name=name,
            extension=extension,
            sheet=options.sheet,
            set_aside=options.set_aside,
            keeps_row_id=options.keeps_row_id,
            bytes=size,
        )
        cr = _open_change_request(tx, row, cr_id, actor.name, options)
    reach("upload.received")
    return convert_upload(ws, cr)


def dry_run(ws: Workspace, actor: Actor, ref: DatasetRef, file: Path, options: UploadOptions) -> UploadResult:
    """Only report what converting the file would find; nothing is kept."""
    spec = _check_sender(ws, actor, ref, options)
    name = options.file_name or file.name
    extension = _extension(name)
    _check_readable(file, name, spec)
    with tempfile.TemporaryDirectory(prefix="oreo-dry-run-") as folder:
        raw = Path(folder, f"raw.{extension}")
        shutil.copyfile(file, raw)
        request = _request(spec, raw, Path(folder, "converted.parquet"), "dry-run", options.mode, options)
        return UploadResult(None, None, None, convert(request))


def adopt(ws: Workspace, ref: DatasetRef, upload_id: str, raw: Path, author: str) -> ChangeRequest | None:
    """Open a change request for a file that another program put at `imports/<upload_id>/raw.<ext>`.

    None if the upload is known already: then somebody else was faster.
    """
    if (raw.parent / _SENT).exists():
        return None  # somebody is sending it just now, or died before the catalog knew: not ours to guess its mode
    with ws.catalog.write() as tx:
        if tx.get(Upload, upload_id):
            return None
        row = Upload(
            id=upload_id,
            project=ref.project,
            dataset=ref.dataset,
            file_name=raw.name,
            extension=raw.suffix.lstrip("."),
            bytes=raw.stat().st_size,
        )
        options = UploadOptions(note=f"Found at imports/{upload_id}/{raw.name}")
        return _open_change_request(tx, row, new_id("cr"), author, options)


def convert_upload(ws: Workspace, cr: ChangeRequest) -> UploadResult:
    """Convert a received upload. Again, for one that is converted already, tells what was found then."""
    with ws.alone_with(cr.id):
        return _convert_upload(ws, cr)


def _convert_upload(ws: Workspace, cr: ChangeRequest) -> UploadResult:
    with ws.catalog.read() as tx:
        cr = get_change_request(tx, cr.ref, cr.id)
        assert cr.upload_id is not None
        up = get_upload(tx, cr.upload_id)
    spec, layout = ws.spec(cr.ref), ws.layout(cr.ref)
    if cr.state is not CRState.RECEIVED and up.conversion:
        return UploadResult(up.id, cr.id, cr.state, Conversion.from_json(up.conversion))
    options = UploadOptions(
        mode=cr.mode, sheet=up.sheet, note=cr.note, set_aside=up.set_aside, keeps_row_id=up.keeps_row_id
    )
    raw, out = layout.raw(up.id, up.extension), layout.converted(up.id)
    try:
        found = convert(_request(spec, raw, out, cr.id, cr.mode, options))
    except BadFileError as error:
        _fail(ws, cr, error)
        error.details.setdefault("upload_id", up.id)
        error.details.setdefault("change_request_id", cr.id)
        raise
    reach("upload.converted")
    # Main may have been empty at the version that is restored.
    refusal = refusal_of(found, up.set_aside, may_be_empty=up.keeps_row_id)
    with ws.catalog.write() as tx:
        up = get_upload(tx, up.id)
        up.sha256, up.bytes = found.source_sha256, found.source_bytes
        up.rows_read, up.rows_rejected = found.rows_read, found.rows_rejected
        up.conversion = found.as_json()
        if refusal:
            transition(tx, cr, CRState.FAILED, actor=cr.author, reason=refusal.message, error=refusal.as_json())
        else:
            transition(
                tx,
                cr,
                CRState.CONVERTED,
                actor=cr.author,
                details={"rows_read": found.rows_read, "rows_set_aside": found.rows_rejected},
                new_columns=[{"name": n, "type": t} for n, t in found.new_columns],
            )
    return UploadResult(up.id, cr.id, cr.state, found)


def refusal_of(found: Conversion, set_aside: bool, *, may_be_empty: bool = False) -> BadFileError | None:
    """Why a converted file cannot go on, if it cannot."""
    if found.rows_rejected and not set_aside:
        return BadFileError(
            f"{found.rows_rejected:,} of {found.rows_read:,} rows cannot be taken.",
            "Mend the rows listed, or send the file with --set-aside to go on without them.",
        )
    if found.rows_good == 0 and not may_be_empty:
        return BadFileError("The file has no rows that can be taken.", "Send a file with rows below its header.")
    return None


def _check_sender(ws: Workspace, actor: Actor, ref: DatasetRef, options: UploadOptions) -> DatasetSpec:
    spec = ws.spec(ref)
    actor.require(Role.CONTRIBUTOR, ref.project)
    if spec.is_append_only and options.mode in (Mode.UPSERT, Mode.DELETE):
        raise UsageError(f"{ref} has no key, so a file cannot {options.mode} its rows.", "Send it with --mode append.")
    return spec


def _request(
    spec: DatasetSpec, raw: Path, out: Path, prefix: str, mode: Mode, options: UploadOptions
) -> ConversionRequest:
    return ConversionRequest(
        raw=raw,
        out=out,
        columns=tuple(spec.columns),
        key=tuple(spec.key),
        row_id_rule=RowIdRule.FILE if options.keeps_row_id else spec.row_id_rule,
        row_id_prefix=prefix,
        mode=mode,
        sheet=options.sheet,
        set_aside=options.set_aside,
        new_columns=spec.policies.new_columns,
        limits=spec.policies.limits,
    )


def _open_change_request(
    tx: Transaction, row: Upload, cr_id: str, author: str, options: UploadOptions
) -> ChangeRequest:
    tx.add(row)
    tx.flush()
    cr = ChangeRequest(
        id=cr_id,
        project=row.project,
        dataset=row.dataset,
        state=CRState.RECEIVED,
        mode=options.mode,
        author=author,
        note=options.note,
        upload_id=row.id,
        follows=options.follows,
    )
    tx.add(cr)
    tx.flush()
    audit.record(
        tx,
        author,
        "change_request.received",
        cr.ref,
        cr_id,
        upload=row.id,
        file=row.file_name,
        mode=options.mode,
    )
    return cr


def _fail(ws: Workspace, cr: ChangeRequest, error: OreoError) -> None:
    with ws.catalog.write() as tx:
        transition(tx, cr, CRState.FAILED, actor=cr.author, reason=error.message, error=error.as_json())


def _extension(name: str) -> str:
    extension = Path(name).suffix.lstrip(".").lower()
    if extension not in RAW_ENDINGS:
        raise BadFileError(
            f"{name!r} is not a kind of file that can be taken.",
            f"Send one that ends in {', '.join('.' + e for e in RAW_ENDINGS)}.",
        )
    return extension


def _check_readable(file: Path, name: str, spec: DatasetSpec) -> int:
    if not file.is_file():
        raise BadFileError(f"There is no file {file}.", "Check the path.")
    size = file.stat().st_size
    limit = spec.policies.limits.max_file_mb
    if size > limit * 2**20:
        raise BadFileError(
            f"{name} has {size / 2**20:,.0f} MB; {spec.ref} takes files of up to {limit:,} MB.",
            "Split the file, or raise policies.limits.max_file_mb of the dataset.",
        )
    if size == 0:
        raise BadFileError(f"{name} is empty.", "Send a file with a header and rows.")
    return size


def _take_in(source: Path, target: Path) -> None:
    """Copy the file to its place, whole or not at all."""
    target.parent.mkdir(parents=True, exist_ok=True)
    (target.parent / _SENT).touch()
    part = target.with_name(f".{target.name}.part")
    try:
        with source.open("rb") as read, part.open("xb") as write:
            shutil.copyfileobj(read, write, 1 << 20)
            write.flush()
            os.fsync(write.fileno())
        part.rename(target)
    except OSError as error:
        shutil.rmtree(target.parent, ignore_errors=True)
        raise UnavailableError(
            f"{source.name} could not be copied into the lake: {error.strerror}.",
            "Check the disk, then send it again; nothing was kept of it.",
        ) from error


def _reject_json(reject: Reject) -> dict[str, Any]:
    return {"line": reject.line, "column": reject.column, "value": reject.value, "reason": reject.reason}
