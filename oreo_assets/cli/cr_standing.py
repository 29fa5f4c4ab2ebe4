"""Where a change request stands, on one screen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .render import count, say

if TYPE_CHECKING:
    from rich.console import Console

    from ..workflow.standing import Standing


def show_standing(console: Console, found: Standing) -> None:
    say(console, _moved(found))
    say(console, f"{count(found.approvals)} of {count(found.approvals_needed)} approvals.")
    for wish in found.changes_requested:
        say(console, f"{wish.author} asked for changes: {wish.text}", "yellow")
    console.print()
    if found.can_approve:
        say(console, "You can approve it.", "green")
        return
    say(console, "You cannot approve it:", "yellow")
    for reason in found.reasons:
        say(console, f"- {reason.message}")
        if reason.remedy:
            say(console, f"  {reason.remedy}", "dim")


def _moved(found: Standing) -> str:
    if found.base_version is None:
        return "Nothing is staged yet."
    if not found.commits:
        return f"Main has not moved since version {found.base_version}."
    more = "at least " if found.capped else ""
    commits = f"{count(found.commits)} commit{'s' * (found.commits != 1)}"
    overlap = f"{more}{count(found.rows_overlapping)} row{'s' * (found.rows_overlapping != 1)} overlap"
    settle = f"; {more}{count(found.conflicts)} to settle" if found.conflicts else ""
    return f"Main moved {commits} since version {found.base_version}; {overlap}{settle}."
