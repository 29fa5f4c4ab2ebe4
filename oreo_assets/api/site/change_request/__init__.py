"""One change request, top to bottom as a reviewer thinks."""

from __future__ import annotations

from nicegui import ui

from ....workflow import review
from ..elements import el
from ..frame import page
from ..visit import Visit
from ..words import title_of
from . import decide, diff_grid, figures, head, schema_plan, settle, talk, verdict
from .reviewing import Reviewing

_PARTS = (
    (head.draw, None),
    (verdict.draw, lambda on: on.staged_as),
    (figures.draw, lambda on: on.staged_as),
    (schema_plan.draw, lambda on: on.staged_as),
    (diff_grid.draw, lambda on: on.staged_as),
    (settle.draw, lambda on: on.state),
    (talk.draw, lambda on: on.cr_id),
    (decide.draw, None),
)


@page("/p/{project}/{dataset}/cr/{cr}", "Change request")
async def change_request(visit: Visit) -> None:
    card = await visit.ask(review.show, visit.ref, visit.cr_id)
    ui.page_title(f"{title_of(card)} – Oreo")
    on = Reviewing(visit, card)
    on.watch()
    for draw, by in _PARTS:
        on.add(el("div", "o-stack"), draw, by)
    await on.draw()
