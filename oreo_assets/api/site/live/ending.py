"""How a session ends on its page: submitted for review, or discarded."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nicegui import ui
from nicegui.element import Element

from ....model.errors import StateError
from ....workflow import live_edit
from ..elements import button, el
from ..notices import telling
from ..words import count

if TYPE_CHECKING:
    from .editing import Editor


class Ending:
    """Two buttons; each asks once more before it acts."""

    place: Element

    def __init__(self, editor: Editor) -> None:
        self.editor = editor

    def draw_buttons(self) -> None:
        button("Submit for review", self._ask_note, "main")
        button("Discard", self._ask_sure, "danger")

    def _ask_note(self) -> None:
        self.place.clear()
        with self.place, el("section", "o-card", aria_label="Submit for review"), el("div", "o-body"):
            note = ui.textarea("Why? Reviewers and the history show it.")
            note.props("outlined autogrow maxlength=10000 autofocus").classes("o-wide")
            with el("div", "o-row"):
                button("Submit", lambda: self._submit(note.value or ""), "main")
                button("Go on editing", self.place.clear, "quiet")
            self.said = el("div", "o-stack")

    def _ask_sure(self) -> None:
        counts = self.editor.card.counts
        changed = count(counts.rows, "changed row") if counts else "nothing"
        self.place.clear()
        with self.place, el("section", "o-card", aria_label="Discard"), el("div", "o-body"):
            el("p", "", f"Discard this session and all its edits ({changed})? It cannot be undone.")
            with el("div", "o-row"):
                button("Discard all edits", self._discard, "danger")
                button("Keep them", self.place.clear, "quiet")
            self.said = el("div", "o-stack")

    async def _submit(self, note: str) -> None:
        visit = self.editor.visit
        async with telling(self.said):
            if unsent := await self.editor.unsent():
                raise StateError(
                    f"{count(unsent, 'edit')} of yours is not saved yet."
                    if unsent == 1
                    else f"{count(unsent, 'edit')} of yours are not saved yet.",
                    "Wait until the page says that everything is saved, then submit.",
                )
            sent = await visit.ask(live_edit.submit, visit.ref, self.editor.session_id, note)
            ui.navigate.to(f"{visit.home}/cr/{sent.change_request_id}")

    async def _discard(self) -> None:
        visit = self.editor.visit
        async with telling(self.said):
            await visit.ask(live_edit.discard, visit.ref, self.editor.session_id)
            ui.run_javascript("window.oreoLive.forget()")
            ui.navigate.to(f"{visit.home}/live")
