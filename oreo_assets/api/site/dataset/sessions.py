"""Who is editing cells at the moment."""

from __future__ import annotations

from typing import Any

from ....workflow import live_edit
from ..elements import el, link, section, table
from ..frame import page_exists
from ..notices import empty
from ..visit import Visit
from ..words import moment


async def draw(visit: Visit, _card: dict[str, Any]) -> None:
    sessions = await visit.ask(live_edit.list_sessions, visit.ref)
    linked = page_exists("/p/{project}/{dataset}/live/{session}")
    with section("Open sessions", anchor="sessions", flush=True):
        if not sessions:
            empty("Nobody is editing.", "A session holds one person's edits until they are sent for review.")
            return
        with table("Session", "By", "State", "Opened", "Ends", caption="Open sessions"):
            for session in sessions:
                with el("tr"):
                    with el("td"):
                        if linked:
                            link(session.session_id, f"{visit.home}/live/{session.session_id}", "mono")
                        else:
                            el("code", "", session.session_id)
                    el("td", "wrap", session.owner)
                    el("td", "", str(session.state))
                    with el("td"):
                        moment(session.created_at)
                    with el("td"):
                        moment(session.expires_at)
