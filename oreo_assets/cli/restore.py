"""`oreo restore`."""

from __future__ import annotations

from typing import Annotated

import typer

from ..model.errors import BadFileError, UsageError
from ..model.states import Mode
from .arguments import WAIT_SECONDS, Dataset, Note, Timeout, Wait
from .command import command, verb
from .face import Answer, Face, dataset_of

app = verb()


@command(
    app,
    "restore",
    """
    oreo history shop/orders                                 which version was it?
    oreo restore shop/orders --version 12 --wait
    oreo restore shop/orders --timestamp 2026-01-31T12:00:00+00:00 --note "before the bad import"
    """,
)
def restore(
    face: Face,
    dataset: Dataset,
    version: Annotated[int | None, typer.Option("--version", metavar="N", min=0, help="As of this version.")] = None,
    timestamp: Annotated[
        str | None,
        typer.Option("--timestamp", metavar="T", help="As of this moment; UTC if it names no zone."),
    ] = None,
    note: Note = "",
    wait: Wait = False,
    timeout: Timeout = WAIT_SECONDS,
) -> Answer:
    """Open a change request that brings an earlier version back.

    Nothing enters main unchecked and unapproved, and an old version is no exception: the change request is
    checked by today's rules and shows what it would change.
    """
    from ..workflow import history
    from ..workflow.intake import UploadOptions
    from .upload_result import failed_upload, upload_answer

    ref = dataset_of(dataset)
    if (version is None) == (timestamp is None):
        raise UsageError("Which version?", "Give one of --version and --timestamp.")
    try:
        with face.working(f"Reading {ref}…"):
            result = history.restore(face.ws, face.actor, ref, version=version, timestamp=timestamp, note=note)
    except BadFileError as error:
        return failed_upload(error)
    name = f"Version {version}" if version is not None else f"As of {timestamp}"
    options = UploadOptions(mode=Mode.REPLACE)
    return upload_answer(face, ref, result, options, name=name, wait_seconds=timeout if wait else None)
