"""Where a live session begins, or goes on."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from nicegui import ui
from nicegui.element import Element

from ....model.filters import Filter
from ....model.spec import ROW_ID, DatasetSpec
from ....model.states import Role
from ....workflow import datasets, live_edit
from ....workflow.live_types import SessionCard
from ..elements import button, el, link, section, table
from ..filters import Filters
from ..frame import page
from ..notices import empty, notice, telling
from ..visit import Visit
from ..words import moment


@page("/p/{project}/{dataset}/live", "Edit cells")
async def begin(visit: Visit) -> None:
    card = await visit.ask(datasets.show_dataset, visit.ref)
    sessions = await visit.ask(live_edit.list_sessions, visit.ref)
    spec = DatasetSpec.model_validate(card["spec"])
    with el("div", "o-head"), el("div", "o-stack"):
        el("h1", "", f"Edit cells of {visit.ref}")
        el("p", "soft", "Your edits stay your own until you submit them: then they become a change request.")
    with section("Begin", anchor="begin"):
        if not visit.may(Role.CONTRIBUTOR):
            notice("info", "To edit, you need the role contributor here.", "You may look at the sessions of others.")
        else:
            _begin(visit, spec)
    with section("Open sessions", anchor="sessions", flush=True):
        _list(visit, sessions)


def edit_button(visit: Visit, conditions: Callable[[], Sequence[Filter]], said: Element) -> None:
    """Opens a session on the rows that meet the conditions of the moment; for who may edit."""
    if not visit.may(Role.CONTRIBUTOR):
        return

    async def start() -> None:
        async with telling(said):
            made = await visit.ask(live_edit.open_session, visit.ref, where=list(conditions()))
            ui.navigate.to(f"{visit.home}/live/{made.session_id}")

    button("Edit these rows", start, "small", title="Opens a live session on the rows that the filters let through")


def _begin(visit: Visit, spec: DatasetSpec) -> None:
    async def nothing() -> None:
        """The conditions count when the session is opened."""

    filters = Filters(list(dict.fromkeys([*spec.column_names, ROW_ID])), nothing)
    said = el("div", "o-stack")

    async def start() -> None:
        async with telling(said):
            made = await visit.ask(live_edit.open_session, visit.ref, where=filters.conditions)
            ui.navigate.to(f"{visit.home}/live/{made.session_id}")

    with el("details", "o-fold"):
        el("summary", "", "Only some of the rows")
        filters.draw()
    with el("div", "o-row"):
        button("Begin a session", start, "main")
        el("span", "soft small", "On main as it is now. It ends by itself when its time is up.")


def _list(visit: Visit, sessions: Sequence[SessionCard]) -> None:
    if not sessions:
        empty("Nobody is editing.", "A session that you begin is listed here until it is submitted or discarded.")
        return
    with table("Session", "By", "Opened", "Ends", "", caption="Open sessions", cards=True):
        for session in sessions:
            mine = session.owner == visit.actor.name
            place = f"{visit.home}/live/{session.session_id}"
            with el("tr"):
                with el("td"):
                    link(session.session_id, place, "mono")
                el("td", "wrap", "you" if mine else session.owner, data_label="By")
                with el("td", data_label="Opened"):
                    moment(session.created_at)
                with el("td", data_label="Ends"):
                    moment(session.expires_at)
                with el("td"):
                    link("Go on" if mine else "Look", place, "o-button small")
