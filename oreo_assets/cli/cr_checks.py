"""What the checks found, with the rows that failed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.markup import escape
from rich.text import Text

from ..quality.outcomes import CheckOutcome, CheckStatus, Verdict
from .render import cell, count, cut, say, table

if TYPE_CHECKING:
    from rich.console import Console

_STATUS = {
    CheckStatus.PASSED: ("ok", "green"),
    CheckStatus.FAILED: ("failed", "red"),
    CheckStatus.ERROR: ("erred", "bold red"),
}


def show_checks(console: Console, outcomes: Sequence[CheckOutcome], *, rows: int, only_failed: bool = False) -> None:
    """One line per check, then the first failing rows of each."""
    shown = [o for o in outcomes if not only_failed or o.status is not CheckStatus.PASSED]
    made = table("check", "severity", "result", "expected", "observed", "failing rows", right=("failing rows",))
    for outcome in shown:
        word, style = _STATUS[outcome.status]
        if outcome.status is CheckStatus.FAILED and not outcome.blocks:
            style = "yellow"
        made.add_row(
            outcome.name,
            outcome.severity,
            Text(word, style=style),
            escape(outcome.expected),
            escape(_observed(outcome)),
            count(outcome.failing_total) if outcome.failing_total else "-",
        )
    console.print(made)
    for outcome in shown:
        if outcome.failing and rows:
            _show_rows(console, outcome, rows)


def show_verdict(console: Console, verdict: Verdict) -> None:
    console.print()
    if verdict.missing:
        say(console, f"No result came from: {', '.join(verdict.missing)}.", "red")
    if verdict.blocks:
        say(console, "This blocks the change request.", "bold red")
    elif verdict.failed_warning:
        say(
            console,
            "Nothing blocks it; the reviewer acknowledges the warnings with --ack CHECK=REASON.",
            "yellow",
        )
    else:
        say(console, "Nothing stands against it.", "green")


def _observed(outcome: CheckOutcome) -> str:
    said = outcome.error or outcome.observed
    before = outcome.observed_before
    return said if before is None or before in said else f"{said}\nmain now: {before}"


def _show_rows(console: Console, outcome: CheckOutcome, rows: int) -> None:
    first = outcome.failing[:rows]
    keys = list(dict.fromkeys(name for row in first for name in row.key)) or ["row_id"]
    values = list(dict.fromkeys(name for row in first for name in row.values if name not in keys))
    console.print()
    say(console, outcome.name, "bold")
    made = table(*keys, *values)
    for row in first:
        known = row.key or {"row_id": row.row_id}
        made.add_row(*(cell(known.get(name)) for name in keys), *(cell(row.values.get(name)) for name in values))
    console.print(made)
    kept = f" (the first {count(len(outcome.failing))} were kept)" if outcome.capped else ""
    cut(console, len(first), outcome.failing_total, "rows", f"See them: --rows N{kept}")
