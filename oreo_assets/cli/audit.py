"""`oreo audit`."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from .arguments import MaybeDataset
from .command import command, noun
from .face import Answer, Face, dataset_of

if TYPE_CHECKING:
    from rich.console import Console

app = noun("audit", "The audit trail: who did what, in a chain that shows if it was tampered with.")


@command(
    app,
    "log",
    """
    oreo audit log
    oreo audit log shop/orders --limit 20
    oreo audit log --before 1200          the page before event 1200
    """,
)
def log(
    face: Face,
    dataset: MaybeDataset = None,
    limit: Annotated[int, typer.Option("--limit", metavar="N", min=1, help="At most so many.")] = 100,
    before: Annotated[int | None, typer.Option("--before", metavar="SEQ", help="Only older ones.")] = None,
) -> Answer:
    """Read the audit trail, the newest event first. All of it takes a role in every project."""
    from ..workflow.trail import event_json, read_trail

    ref = dataset_of(dataset) if dataset is not None else None
    events = read_trail(face.ws, face.actor, ref, limit=limit, before=before)

    def render(console: Console) -> None:
        from rich.markup import escape

        from .render import moment, say, table

        made = table("event", "at (UTC)", "actor", "action", "dataset", "subject", "details", right=("event",))
        for event in events:
            where = f"{event.project}/{event.dataset}" if event.dataset else event.project or "-"
            told = ", ".join(f"{name}={value}" for name, value in event.details.items() if value not in (None, [], {}))
            told = told if len(told) <= 120 else f"{told[:119]}…"
            made.add_row(
                f"{event.seq:,}",
                moment(event.at),
                event.actor,
                event.action,
                where,
                event.subject or "-",
                escape(told),
            )
        console.print(made)
        if len(events) == limit:
            say(console, f"Older ones: --before {events[-1].seq}", "dim")

    return Answer([event_json(event) for event in events], render)


@command(
    app,
    "verify",
    """
    oreo audit verify
    oreo audit verify --json | jq -r .head       keep it elsewhere: it pins everything up to now
    """,
)
def verify(face: Face, dataset: MaybeDataset = None) -> Answer:
    """Prove that no event was changed, removed or slipped in.

    Events of all datasets are links of one chain, so all of it is walked. A broken chain ends with exit 3.
    """
    from ..workflow.trail import verify_trail

    if dataset is not None:
        face.ws.spec(dataset_of(dataset))
    face.require_signed_in()
    report, error = verify_trail(face.ws)

    def render(console: Console) -> None:
        if report.intact:
            console.print(f"[green]Intact:[/] {report.events:,} events. Head: {report.head}")

    return Answer(asdict(report), render, error)
