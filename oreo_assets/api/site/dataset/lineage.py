"""Where the rows come from and go to, with the way to each asset in Dagster."""

from __future__ import annotations

from typing import Any

from ..elements import el, link, section
from ..visit import Visit

_LAYERS = {
    "imports": "The files as they came, converted to typed rows.",
    "staging": "One table for each change request, checked before anybody decides.",
    "main": "Approved rows only; everything that reads this dataset reads here.",
    "audit": "The history of main, kept as a table.",
}


async def draw(visit: Visit, card: dict[str, Any]) -> None:
    with section("Lineage", anchor="lineage"):
        with el("ol", "o-lineage"):
            for layer, words in _LAYERS.items():
                with el("li", "o-layer"):
                    address = f"{visit.dagster}/assets/{visit.ref.project}/{visit.ref.dataset}/{layer}"
                    link(layer, address, target="_blank", rel="noopener")
                    el("div", "soft small", words)
        with el("div", "o-row"):
            main = f"{visit.dagster}/assets/{visit.ref.project}/{visit.ref.dataset}/main"
            link("Open the lineage in Dagster", f"{main}?view=lineage", "o-button", target="_blank", rel="noopener")
            el("span", "soft small wrap", f"Main lies at {card['location']}")
