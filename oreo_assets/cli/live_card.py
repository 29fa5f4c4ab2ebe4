"""How live sessions look to people."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.text import Text

from .render import CHANGE_STYLES, cell, changes, count, facts, moment, say, size, table

if TYPE_CHECKING:
    from rich.console import Console

    from ..workflow.live_types import EditResult, LivePage, Overlap, SessionCard

_SEVERITY_STYLES = {"fatal": "bold red", "warning": "yellow", "info": "dim"}
_SHOWN = 50


def show_card(console: Console, card: SessionCard) -> None:
    ref = f"{card.project}/{card.dataset}"
    behind = card.main_version is not None and card.main_version > card.base_version
    base = f"version {card.base_version}" + (f"; main is at {card.main_version} now" if behind else "")
    counts = card.counts
    console.print(
        facts(
            [
                ("session", Text(card.session_id, style="bold")),
                ("dataset", Text(ref)),
                ("owner", Text(card.owner)),
                ("state", Text(card.state)),
                ("edits", Text(base)),
                ("only rows with", Text(" and ".join(card.as_json()["where"])) if card.where else None),
                ("changes", changes(vars(counts)) if counts else None),
                ("failing checks", _failed(card) if counts else None),
                ("size", Text(f"{size(card.bytes)} of {size(card.max_bytes)}") if card.bytes is not None else None),
                ("until", Text(f"{moment(card.expires_at)} UTC")),
                ("became", Text(card.change_request_id) if card.change_request_id else None),
            ]
        )
    )
    if card.state == "open":
        say(console, f"Edit it: oreo live set {ref} {card.session_id} ROW:COL=VALUE…", "dim")


def show_list(console: Console, cards: Sequence[SessionCard]) -> None:
    if not cards:
        say(console, "No open sessions. Begin one: oreo live open P/D", "dim")
        return
    made = table("session", "dataset", "owner", "state", "base", "opened", "until")
    for card in cards:
        dataset, base = f"{card.project}/{card.dataset}", str(card.base_version)
        times = (moment(card.created_at), moment(card.expires_at))
        made.add_row(card.session_id, dataset, card.owner, str(card.state), base, *times)
    console.print(made)


def show_result(console: Console, result: EditResult) -> None:
    for edited in result.cells[:_SHOWN]:
        line = Text.assemble((f"{edited.row_id}:{edited.column}", "bold"), "  ")
        console.print(line + cell(edited.old) + Text(" → ") + cell(edited.new))
        for failed in edited.validation.failed:
            style = _SEVERITY_STYLES[failed.severity]
            console.print(Text(f"  {failed.severity}: {failed.expected} ({failed.check})", style=style))
    if len(result.cells) > _SHOWN:
        say(console, f"…and {count(len(result.cells) - _SHOWN)} more cells.", "dim")
    console.print(Text("The session changes ") + changes(vars(result.counts)))


def show_page(console: Console, page: LivePage) -> None:
    made = table("", "row_id", *page.columns)
    for row in page.rows:
        sign = {"inserted": "+", "updated": "~", "deleted": "-"}.get(row.change, "")
        style = CHANGE_STYLES[row.change] if row.change != "unchanged" else ""
        cells = [cell(row.values[name]) for name in page.columns]
        for name, shown in zip(page.columns, cells, strict=True):
            if row.change in ("inserted", "deleted") or name in row.old:
                shown.stylize(style)
        made.add_row(Text(sign, style=style), Text(row.row_id), *cells)
    console.print(made)
    more = f" There are more: --offset {page.next}" if page.next is not None else ""
    say(console, f"{count(len(page.rows))} rows over version {page.base_version}.{more}", "dim")


def show_overlaps(console: Console, found: Sequence[Overlap]) -> None:
    if not found:
        say(console, "Nobody else has these rows changed.")
        return
    made = table("row_id", "columns", "who", "session")
    for overlap in found[:_SHOWN]:
        made.add_row(overlap.row_id, ", ".join(overlap.columns) or "whole row", overlap.owner, overlap.session_id)
    console.print(made)
    if len(found) > _SHOWN:
        say(console, f"…and {count(len(found) - _SHOWN)} more; all of them with --json.", "dim")


def _failed(card: SessionCard) -> Text:
    assert card.counts is not None
    found = [(word, getattr(card.counts, f"failed_{word}")) for word in _SEVERITY_STYLES]
    return Text(", ").join(
        Text(f"{count(n)} {word}", style=_SEVERITY_STYLES[word] if n else "dim") for word, n in found
    )
