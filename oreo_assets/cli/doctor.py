"""`oreo doctor`."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from ..model.errors import UnavailableError
from .command import command, verb
from .face import Answer, Face

if TYPE_CHECKING:
    from rich.console import Console

app = verb()


@command(
    app,
    "doctor",
    """
    oreo doctor
    oreo doctor --json | jq '.findings[] | select(.status != "ok")'
    """,
)
def doctor(face: Face) -> Answer:
    """Say what is installed, reachable and wrong, each with its remedy.

    Starts and changes nothing. Ends with exit 8 if something that is needed is wrong.
    """
    from .findings import Status, examine

    with face.working("Looking around…"):
        findings = examine(face.settings)
    wrong = [finding for finding in findings if finding.status is Status.WRONG]
    error = None
    if wrong:
        names = ", ".join(finding.name for finding in wrong)
        error = UnavailableError(f"Wrong: {names}.", "The remedies stand beside each.")

    def render(console: Console) -> None:
        from rich.markup import escape

        from .render import table

        made = table("", "what", "found", "remedy")
        for finding in findings:
            mark = {"ok": "[green]ok[/]", "warn": "[yellow]warn[/]", "wrong": "[bold red]wrong[/]"}[finding.status]
            made.add_row(mark, finding.name, escape(finding.detail), escape(finding.remedy))
        console.print(made)

    return Answer({"usable": not wrong, "findings": [asdict(finding) for finding in findings]}, render, error)
