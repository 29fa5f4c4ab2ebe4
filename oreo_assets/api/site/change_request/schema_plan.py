"""What becomes of the columns when it is merged."""

from __future__ import annotations

from ....model.spec import ROW_ID
from ....workflow import datasets
from ..elements import el, section
from ..words import sign
from .reviewing import Reviewing


async def draw(on: Reviewing) -> None:
    if not on.is_staged:
        return
    with section("Schema plan", anchor="schema"):
        known = await on.visit.ask(datasets.show_dataset, on.ref)
        new = on.card["new_columns"]
        if not new:
            with el("div", "o-row"):
                sign("passed")
                el("span", "", f"No column is added or changed; {len(known['spec']['columns'])} stay as they are.")
            return
        for column in new:
            with el("div", "o-row"):
                sign("inserted")
                el("span", "", "Adds the column")
                el("code", "", column["name"])
                el("span", "soft", f"{column['type']}, null in every row that is not part of this change request")
        names = {c["name"].lower() for c in known["spec"]["columns"]} | {ROW_ID}
        if on.state.is_open and any(c["name"].lower() in names for c in new):
            el("p", "soft", "Some of them were added by somebody else meanwhile.")
