"""`oreo upload`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..model.errors import BadFileError
from ..model.states import Mode
from .arguments import WAIT_SECONDS, Dataset, Note, Timeout, Wait
from .command import command, verb
from .face import Answer, Face, dataset_of

app = verb()


@command(
    app,
    "upload",
    """
    oreo upload shop/orders orders.csv --note "October" --wait
    oreo upload shop/orders orders.xlsx --sheet Sheet2
    oreo upload shop/orders gone.csv --mode delete
    oreo upload shop/orders orders.csv --rename "Order no.=order_id" --rename remarks=
    oreo upload shop/orders orders.csv --dry-run            what is wrong with it, before sending it
    oreo upload shop/orders orders.csv --json | jq -r .change_request_id
    """,
)
def upload(
    face: Face,
    dataset: Dataset,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="CSV, TSV, Parquet or Excel.")],
    mode: Annotated[
        Mode,
        typer.Option(
            "--mode",
            help="What the rows do to those in main; replace: they are all there is; patch: see _change.",
        ),
    ] = Mode.UPSERT,
    sheet: Annotated[str | None, typer.Option("--sheet", metavar="NAME", help="The sheet of a workbook.")] = None,
    note: Note = "",
    set_aside: Annotated[bool, typer.Option("--set-aside", help="Go on without the bad rows, and keep them.")] = False,
    rename: Annotated[
        list[str],
        typer.Option(
            "--rename",
            metavar="HEADER=COLUMN",
            help="A header of the file that stands for a column; HEADER= leaves it out.",
        ),
    ] = [],  # noqa: B006 - Typer copies it
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only report; nothing is kept.")] = False,
    wait: Wait = False,
    timeout: Timeout = WAIT_SECONDS,
) -> Answer:
    """Send a file: opens a change request.

    The file is read at once, and every bad row is listed with its line, column, value and reason (exit 7).
    Good rows are staged and checked by the platform, or by this command if you --wait and none is running:
    it comes back when the change request is in review (exit 0) or refused (exit 3). Main is not touched
    until somebody else approves.
    """
    from ..workflow import intake
    from .upload_result import failed_upload, upload_answer

    ref = dataset_of(dataset)
    options = intake.UploadOptions(mode=mode, sheet=sheet, note=note, set_aside=set_aside, renames=_renames(rename))
    if wait and dry_run:
        raise typer.BadParameter("A dry run opens nothing that could be waited for; leave out --wait.")
    take = intake.dry_run if dry_run else intake.upload
    try:
        with face.working(f"Reading {file.name}…"):
            result = take(face.ws, face.actor, ref, file, options)
    except BadFileError as error:
        return failed_upload(error)
    return upload_answer(face, ref, result, options, name=file.name, wait_seconds=timeout if wait else None)


def _renames(given: list[str]) -> dict[str, str]:
    pairs = [text.rpartition("=") for text in given]
    if wrong := next((text for text, (_, sign, _) in zip(given, pairs, strict=True) if not sign), None):
        raise typer.BadParameter(f"{wrong!r} is not HEADER=COLUMN.")
    return {header.strip(): column.strip() for header, _, column in pairs}
