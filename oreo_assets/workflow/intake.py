"""From a file to a converted upload: the beginning of a change request."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..catalog import Transaction, audit
from ..catalog.change_requests import get_change_request, get_upload, transition
from ..catalog.models import ChangeRequest, Upload
from ..catalog.users import Actor
from ..convert import Conversion, ConversionRequest, Reject, convert
from ..convert.request import PlainColumn
from ..crash_points import reach
from ..model.errors import BadFileError, OreoError, UsageError
from ..model.ids import DatasetRef, new_id
from ..model.spec import DatasetSpec, RowIdRule
from ..model.states import CHANGE, CRState, Mode, Role
from .sent_file import SENT, open_sent
from .workspace import Workspace


@dataclass(frozen=True)
class UploadOptions:
    """How a file is meant."""

    mode: Mode = Mode.UPSERT
    sheet: str | None = None
    note: str = ""
    file_name: str = ""
    """What the sender calls the file, where it came under another name. Only ever shown, never a path."""
    set_aside: bool = False
    renames: Mapping[str, str] = field(default_factory=dict)
    """Which column a header stands for, where the file spells it otherwise; empty for one to leave out."""
    keeps_row_id: bool = False
    """The file is a copy of our own rows and brings its row_id along (restore, follow-up)."""
    follows: str | None = None
    """The change request that this one comes from: whose rejected rows these are, or which it reverts."""
    base_version: int | None = None
    """The version of main that the sender worked on; else it is main as it is when the rows are staged."""


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


def upload(
    ws: Workspace,
    actor: Actor,
    ref: DatasetRef,
    file: Path,
    options: UploadOptions,
    opened: Callable[[Transaction, ChangeRequest], None] | None = None,
) -> UploadResult:
    """Take a file in, open its change request and convert it. The file itself is only read.

    A file that cannot be taken leaves a `failed` change request behind that says why. `opened` is called in the
    transaction that opens the change request, for what must be true as soon as it is there.
    """
    spec = _check_sender(ws, actor, ref, options)
    upload_id, cr_id = new_id("up"), new_id("cr")
    with open_sent(file, options.file_name, spec) as sent:
        sent.take_in(ws.layout(ref).raw(upload_id, sent.extension))
    reach("upload.copied")
    with ws.catalog.write() as tx:
        row = Upload(
            id=upload_id,
            project=ref.project,
            dataset=ref.dataset,
            file_name=sent.name,
            extension=sent.extension,
            sheet=options.sheet,
            set_aside=options.set_aside,
            renames=dict(options.renames) or None,
            keeps_row_id=options.keeps_row_id,
            bytes=sent.size,
        )
        cr = _open_change_request(tx, row, cr_id, actor.name, options)
        if opened:
            opened(tx, cr)
    reach("upload.received")
    return convert_upload(ws, cr)


def dry_run(ws: Workspace, actor: Actor, ref: DatasetRef, file: Path, options: UploadOptions) -> UploadResult:
    """Only report what converting the file would find; nothing is kept."""
    with tempfile.TemporaryDirectory(prefix="oreo-dry-run-") as folder:
        return UploadResult(None, None, None, convert_into(ws, actor, ref, file, options, Path(folder)))


def convert_into(
    ws: Workspace, actor: Actor, ref: DatasetRef, file: Path, options: UploadOptions, folder: Path
) -> Conversion:
    """Convert a file into a folder of the caller's, as an upload would; the catalog hears nothing of it."""
    spec = _check_sender(ws, actor, ref, options)
    with open_sent(file, options.file_name, spec) as sent:
        raw = folder / f"raw.{sent.extension}"
        sent.copy_to(raw)
    return convert(_request(spec, raw, folder / "converted.parquet", "dry-run", options.mode, options))


def adopt(ws: Workspace, ref: DatasetRef, upload_id: str, raw: Path, author: str) -> ChangeRequest | None:
    """Open a change request for a file that another program put at `imports/<upload_id>/raw.<ext>`.

    None if the upload is known already: then somebody else was faster.
    """
    if (raw.parent / SENT).exists():
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
        mode=cr.mode,
        sheet=up.sheet,
        note=cr.note,
        set_aside=up.set_aside,
        renames=up.renames or {},
        keeps_row_id=up.keeps_row_id,
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
    by_key = options.mode in (Mode.UPSERT, Mode.DELETE, Mode.PATCH) and not options.keeps_row_id
    if spec.is_append_only and by_key:
        raise UsageError(f"{ref} has no key, so a file cannot {options.mode} its rows.", "Send it with --mode append.")
    return spec


def _request(
    spec: DatasetSpec, raw: Path, out: Path, prefix: str, mode: Mode, options: UploadOptions
) -> ConversionRequest:
    return ConversionRequest(
        raw=raw,
        out=out,
        columns=(*spec.columns, *([PlainColumn(CHANGE, "string", False)] if mode is Mode.PATCH else [])),
        key=tuple(spec.key),
        row_id_rule=RowIdRule.FILE if options.keeps_row_id else spec.row_id_rule,
        row_id_prefix=prefix,
        mode=mode,
        sheet=options.sheet,
        set_aside=options.set_aside,
        new_columns=spec.policies.new_columns,
        limits=spec.policies.limits,
        renames=options.renames,
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
        base_version=options.base_version,
        rebase=None if options.base_version is None else {"main_version": options.base_version},
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


def _reject_json(reject: Reject) -> dict[str, Any]:
    return {"line": reject.line, "column": reject.column, "value": reject.value, "reason": reject.reason}
