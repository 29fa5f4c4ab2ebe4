"""Files: sent, converted at once by a process of their own, and the beginning of a change request."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter
from fastapi.responses import Response

from ...model.errors import BadFileError
from ...model.ids import DatasetRef
from ...model.states import CRState
from ...workflow.intake import UploadOptions, UploadResult, dry_run, refusal_of, upload
from .. import told
from ..answers import Answer
from ..auth import Who
from ..once import Once
from ..places import DatasetAt, change_request_path
from ..receiving import Received, UploadForm
from ..service import Here

router = APIRouter(tags=["uploads"])

_FORM = UploadForm.model_json_schema(ref_template="#/components/schemas/{model}")
_FORM.pop("$defs", None)
_FORM["properties"] = {
    "file": {"type": "string", "format": "binary", "description": "CSV, TSV, Parquet or Excel, with its name."},
    **_FORM["properties"],
}
_FORM["required"] = ["file"]
_BODY: dict[str, Any] = {"requestBody": {"required": True, "content": {"multipart/form-data": {"schema": _FORM}}}}


@router.post(
    "/projects/{project}/datasets/{dataset}/uploads",
    status_code=201,
    response_model=told.Upload,
    responses={200: {"model": told.Upload, "description": "A dry run: nothing was kept."}},
    openapi_extra=_BODY,
    summary="Send a file: opens a change request",
)
def send(here: Here, who: Who, ref: DatasetAt, file: Received, once: Once) -> Response:
    """Every bad row is told, with its line, column, value and reason: 422, in the error's `details`.

    What is good is staged and checked by the platform; look at the change request. Main is not touched until
    somebody else approves.
    """
    form = file.form
    options = UploadOptions(
        mode=form.mode,
        sheet=form.sheet,
        note=form.note,
        file_name=file.name,
        set_aside=form.set_aside,
        renames=form.renames,
    )
    if form.dry_run:
        return upload_answer(ref, dry_run(here.ws, who, ref, file.path, options), form.set_aside).response()
    return once(
        lambda: upload_answer(ref, upload(here.ws, who, ref, file.path, options), form.set_aside, 201),
        [file.sha256, file.name, form.model_dump()],
    )


def upload_answer(ref: DatasetRef, result: UploadResult, set_aside: bool = False, status: int = 200) -> Answer:
    """What its sender is told of a file; a file that cannot go on is an error with the same document as details."""
    document = result.as_json()
    if result.change_request_id is None:
        document["dry_run"] = True
    refusal = refusal_of(result.conversion, set_aside) if result.conversion else None
    if refusal and result.state in (None, CRState.FAILED):
        raise BadFileError(refusal.message, refusal.remedy.replace("--set-aside", "set_aside=true"), **document)
    place = change_request_path(ref, result.change_request_id) if result.change_request_id else None
    return Answer(document, status, place)
