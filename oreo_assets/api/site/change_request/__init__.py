"""One change request, top to bottom as a reviewer thinks."""

from __future__ import annotations

from ....workflow import review
from ..elements import el
from ..frame import page
from ..visit import Visit
from . import decide, diff_grid, figures, head, schema_plan, settle, talk, verdict
from .reviewing import Reviewing

_PARTS = (head, verdict, figures, schema_plan, diff_grid, settle, talk, decide)


@page("/p/{project}/{dataset}/cr/{cr}", "Change request")
async def change_request(visit: Visit) -> None:
    card = await visit.ask(review.show, visit.ref, visit.cr_id)
    on = Reviewing(visit, card)
    on.watch()
    for part in _PARTS:
        on.add(el("div", "o-stack"), part.draw)
    await on.draw()
