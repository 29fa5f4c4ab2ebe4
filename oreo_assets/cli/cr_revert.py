"""`oreo cr revert`: undoing a merged change request."""

from __future__ import annotations

from ..model.states import Mode
from .arguments import WAIT_SECONDS, ChangeRequestId, Dataset, Note, Timeout, Wait
from .command import command
from .cr_noun import app
from .face import Answer, Face, change_request_of


@command(
    app,
    "revert",
    """
    oreo cr revert shop/orders cr_01k3x8 --wait
    oreo cr revert shop/orders cr_01k3x8 --note "wrong month"
    """,
)
def revert(
    face: Face,
    dataset: Dataset,
    change_request: ChangeRequestId,
    note: Note = "",
    wait: Wait = False,
    timeout: Timeout = WAIT_SECONDS,
) -> Answer:
    """Open the change request that undoes a merged one.

    What it inserted is deleted, what it updated or deleted gets its old values back. It is checked and approved
    like any other; where somebody changed the same rows since, that is a conflict for a person to settle.
    """
    from ..workflow.intake import UploadOptions
    from ..workflow.revert import revert as undo
    from .upload_result import upload_answer

    ref, cr_id = change_request_of(dataset, change_request)
    with face.working(f"Reading what {cr_id} changed…"):
        result = undo(face.ws, face.actor, ref, cr_id, note)
    options = UploadOptions(mode=Mode.PATCH)
    return upload_answer(face, ref, result, options, name=f"Revert of {cr_id}", wait_seconds=timeout if wait else None)
