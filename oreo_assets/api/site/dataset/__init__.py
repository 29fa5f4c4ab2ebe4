"""One dataset: its rows at any version, its history, schema, checks, statistics, open sessions and lineage."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from nicegui import ui

from ....workflow import datasets
from ..elements import el, link
from ..frame import page, page_exists
from ..visit import Visit
from ..words import compact, moment, size
from . import checks, history, lineage, rows, schema, sessions, statistics

Card = dict[str, Any]
_TABS: dict[str, tuple[str, Callable[[Visit, Card], Awaitable[None]]]] = {
    "rows": ("Rows", rows.draw),
    "history": ("History", history.draw),
    "schema": ("Schema", schema.draw),
    "checks": ("Checks", checks.draw),
    "statistics": ("Statistics", statistics.draw),
    "sessions": ("Open sessions", sessions.draw),
    "lineage": ("Lineage", lineage.draw),
}
_ACTIONS = (("upload", "Upload a file"), ("live", "Edit cells"))


@page("/p/{project}/{dataset}", "Dataset")
async def dataset(visit: Visit) -> None:
    card = await visit.ask(datasets.show_dataset, visit.ref)
    ui.page_title(f"{visit.ref} – Oreo")
    chosen = visit.query("tab", "rows")
    chosen = chosen if chosen in _TABS else "rows"
    _head(visit, card)
    with el("nav", "o-tabs", aria_label="Parts of the dataset"):
        for name, (words, _) in _TABS.items():
            link(words, f"{visit.home}?tab={name}", aria_current="page" if name == chosen else None)
    await _TABS[chosen][1](visit, card)


def _head(visit: Visit, card: Card) -> None:
    with el("div", "o-head"):
        with el("div", "o-stack"):
            el("h1", "", str(visit.ref))
            if card["description"]:
                el("p", "soft wrap", card["description"])
            with el("div", "o-row soft small"):
                if card["row_count"] is not None:
                    with el("span"):
                        compact(card["row_count"])
                        el("span", "", " rows")
                    el("span", "", size(card["bytes"]))
                    el("span", "", f"version {card['delta_version']}")
                with el("span"):
                    el("span", "", "declared ")
                    moment(card["updated_at"])
                for owner in card["owners"]:
                    el("span", "o-chip", owner)
        with el("div", "o-row"):
            open_ones = len(card["open_change_requests"])
            link(f"Change requests ({open_ones} open)", f"{visit.home}/crs", "o-button")
            for name, words in _ACTIONS:
                if page_exists(f"/p/{{project}}/{{dataset}}/{name}"):
                    link(words, f"{visit.home}/{name}", "o-button main" if name == "upload" else "o-button")
