"""One live session: the grid, what stands around it, and how it ends."""

from __future__ import annotations

import json
from functools import cached_property

from nicegui import ui

from ....model.errors import NotFoundError, UsageError
from ....model.ids import check_id
from ....model.spec import ROW_ID, DatasetSpec, RowIdRule
from ....model.states import Role
from ....workflow import datasets, live_edit
from ....workflow.live_types import SessionCard, SessionState
from .. import theme
from ..elements import button, el, link, section
from ..filters import Filters
from ..frame import page
from ..notices import empty, notice
from ..visit import Visit
from ..words import count, moment, size
from .adding import AddRows
from .ending import Ending
from .live_grid import live_grid
from .panels import Panels

_SECONDS_BETWEEN_LOOKS = 10
_STYLES = ("live.css", "live.js")


@page("/p/{project}/{dataset}/live/{session}", "Live session")
async def session(visit: Visit) -> None:
    editor = Editor(visit)
    dataset = await visit.ask(datasets.show_dataset, visit.ref)
    editor.spec = DatasetSpec.model_validate(dataset["spec"])
    editor.card = await visit.ask(live_edit.show_session, visit.ref, editor.session_id)
    ui.add_head_html(theme.also(*_STYLES))
    editor.draw()


class Editor:
    """A session that somebody has open: as its owner, or only looking."""

    spec: DatasetSpec
    card: SessionCard

    def __init__(self, visit: Visit) -> None:
        self.visit = visit
        self.where: Filters | None = None
        self.changed_only = False

    @cached_property
    def session_id(self) -> str:
        try:
            return check_id(str(self.visit.request.path_params.get("session", "")))
        except UsageError as error:
            raise NotFoundError("There is no such session.", "See the dataset's open sessions.") from error

    @property
    def may_edit(self) -> bool:
        mine = self.card.owner == self.visit.actor.name
        return self.card.state is SessionState.OPEN and self.visit.may(Role.CONTRIBUTOR if mine else Role.ADMIN)

    def draw(self) -> None:
        self.ending = Ending(self)
        self._head()
        self.said = el("div", "o-stack")
        self._standing()
        if self.card.counts is None:
            empty("The edits of this session are gone.", "They are kept only until it has ended.")
            return
        self.root = el(
            "div",
            "o-live",
            id="live",
            data_api=f"/api/v1/projects/{self.visit.ref.project}/datasets/{self.visit.ref.dataset}"
            f"/live-sessions/{self.session_id}",
            data_rows=f"{self.visit.home}/live/{self.session_id}/rows",
            data_session=self.session_id,
            data_me=self.visit.actor.name,
            data_columns=json.dumps(self._columns()),
            data_edit="yes" if self.may_edit else None,
        )
        with self.root:
            self._draw_grid()
            with el("aside", "o-stack o-live-side", aria_label="About this session"):
                self.panels = Panels(self)
                self.panels.draw()
        self.panels.draw_diff()
        self.root.on("edited", self.panels.refresh, args=[])
        ui.timer(0, self.panels.refresh, once=True)
        ui.timer(_SECONDS_BETWEEN_LOOKS, self.panels.refresh, immediate=False)

    def _columns(self) -> list[dict[str, object]]:
        by_key = self.spec.row_id_rule is RowIdRule.KEY
        return [
            {"name": c.name, "type": c.type, "fixed": by_key and c.name in self.spec.key}
            for c in self.spec.columns
            if c.name != ROW_ID
        ]

    def _head(self) -> None:
        card = self.card
        with el("div", "o-head"):
            with el("div", "o-stack"):
                el("h1", "", f"Editing {self.visit.ref}" if self.may_edit else f"Session {self.session_id}")
                with el("div", "o-row soft small"):
                    el("span", "wrap", "yours" if card.owner == self.visit.actor.name else f"by {card.owner}")
                    el("span", "", f"based on version {card.base_version}")
                    if card.main_version is not None and card.main_version > card.base_version:
                        behind = count(card.main_version - card.base_version, "version")
                        el("span", "o-chip warn", f"main is {behind} ahead")
                    for f in card.where:
                        el("span", "o-chip", f"{f.column} {f.op} {', '.join(f.values)}")
                    with el("span"):
                        el("span", "", "ends " if card.state is SessionState.OPEN else "ended ")
                        moment(card.expires_at)
                    self.room = el("span", "num", self.room_words(card))
            with el("div", "o-row"):
                if self.may_edit:
                    self.ending.draw_buttons()
        self.ending.place = el("div", "o-stack")

    @staticmethod
    def room_words(card: SessionCard) -> str:
        return f"{size(card.bytes)} of {size(card.max_bytes)} used" if card.bytes is not None else ""

    def _standing(self) -> None:
        card = self.card
        if card.change_request_id:
            with notice("good", f"It was submitted as {card.change_request_id}.", "It takes no more edits."):
                link("Go to the change request", f"{self.visit.home}/cr/{card.change_request_id}", "o-button small")
        elif card.state is not SessionState.OPEN:
            notice("info", f"This session is {card.state}. It takes no more edits.")
        elif not self.may_edit:
            notice("info", f"You look at the session of {card.owner}.", "Only its owner edits in it.")

    def _draw_grid(self) -> None:
        with section("Rows", anchor="rows", flush=True):
            with el("div", "o-stack o-controls"):
                with el("div", "o-row", role="toolbar", aria_label="Edit"):
                    if self.may_edit:
                        _tool("Undo", "undo", "Ctrl+Z")
                        _tool("Redo", "redo", "Ctrl+Shift+Z")
                        button("Add rows", self._add, "small")
                        _tool("Delete rows", "delete", "The ticked rows, or the one you are in")
                    self._changed_box()
                with el("details", "o-fold"):
                    el("summary", "", "Filter")
                    names = list(dict.fromkeys([*(str(c["name"]) for c in self._columns()), ROW_ID]))
                    self.where = Filters(names, self._ask_rows)
                    self.where.draw()
                self.adding = el("div", "o-stack")
                # What the browser alone knows is told here by the script.
                el("div", "o-stack", id="live-said", aria_live="polite")
            live_grid(self._columns(), label=f"Rows of {self.visit.ref} in this session", may_edit=self.may_edit)
            with el("div", "o-row o-controls"):
                el("span", "soft small num", "", id="live-shown")
                el("button", "o-button small", "More rows", type="button", id="live-more", hidden=True)
            if self.may_edit:
                el(
                    "p",
                    "soft small o-controls",
                    "Enter or F2 edits a cell, Delete empties it (null), two double quotes make an empty text. "
                    "Paste cells from a spreadsheet onto the cell you are in: they are one step.",
                )

    def _changed_box(self) -> None:
        async def switch() -> None:
            self.changed_only = not self.changed_only
            box.props["aria-pressed"] = "true" if self.changed_only else "false"
            await self._ask_rows()

        box = button("Changed rows only", switch, "small", aria_pressed="false")

    async def _ask_rows(self) -> None:
        """The script sees the attribute change, and asks for other rows."""
        conditions = self.where.conditions if self.where else []
        where = [f"{f.column}={f.op}.{','.join(f.values)}" for f in conditions]
        self.root.props["data-asked"] = json.dumps({"where": where, "changed": self.changed_only})

    def _add(self) -> None:
        AddRows(self, self.adding).draw()

    async def unsent(self) -> int:
        """How many edits the browser still has to send."""
        return int(await ui.run_javascript("window.oreoLive.unsent()", timeout=5))

    async def reload_rows(self) -> None:
        """What the page itself changed is not known to the script yet."""
        ui.run_javascript("window.oreoLive.renew()")
        await self.panels.refresh()


def _tool(words: str, name: str, title: str) -> None:
    el("button", "o-button small", words, type="button", id=f"live-{name}", title=title, disabled=name != "delete")
