"""Arguments and options that several commands share, so that they read the same everywhere."""

from __future__ import annotations

from typing import Annotated

import typer

Dataset = Annotated[str, typer.Argument(metavar="P/D", help="The dataset, as project/dataset.")]
MaybeDataset = Annotated[str | None, typer.Argument(metavar="P/D", help="One dataset; all if left out.")]
ChangeRequestId = Annotated[str, typer.Argument(metavar="CR", help="The change request, such as cr_01k….")]
Wait = Annotated[bool, typer.Option("--wait", help="Come back when it is decided; the exit code says how.")]
Timeout = Annotated[int, typer.Option("--timeout", metavar="SECONDS", min=0, help="How long --wait waits.")]
Note = Annotated[str, typer.Option("--note", metavar="TEXT", help="Why; reviewers and the history show it.")]

WAIT_SECONDS = 600
