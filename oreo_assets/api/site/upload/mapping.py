"""Which header of the file stands for which column."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nicegui import ui
from nicegui.element import Element

from ....model.spec import ROW_ID
from ....workflow.header_maps import LEFT_OUT, Meaning, Origin
from ..elements import Html, el, section, table
from ..words import count

if TYPE_CHECKING:
    from .page import Sending

_NEW = "\u0000new"
_WORDS = {
    Origin.SAME: ("same name", ""),
    Origin.REMEMBERED: ("as last time", "good"),
    Origin.CHOSEN: ("your choice", "good"),
    Origin.ALIKE: ("guessed", "warn"),
    Origin.NEW: ("new column", "odd"),
}


class Mapping:
    """A table with a choice for each header. A choice leads to another look."""

    place: Element

    def __init__(self, sending: Sending) -> None:
        self.sending = sending

    def draw(self) -> None:
        self.place.clear()
        meanings = self.sending.meanings
        if not meanings:
            return
        plain = all(m.origin is Origin.SAME for m in meanings)
        with self.place, section("Columns", anchor="columns", flush=True, note=count(len(meanings), "header")):
            if plain:
                with el("details"):
                    el("summary", "", "Every header is the name of a column.")
                    self._table(meanings)
            else:
                self._table(meanings)

    def _table(self, meanings: list[Meaning]) -> None:
        with table("In the file", "Stands for", "", caption="What the headers stand for", cards=True):
            for place, meaning in enumerate(meanings):
                with el("tr"):
                    el("td", "wrap", meaning.header)
                    choice = el("td")
                    with el("td"):
                        chip = el("span")
                    _tell(chip, meaning)
                    with choice:
                        self._choice(place, meaning, chip)

    def _choice(self, place: int, meaning: Meaning, chip: Html) -> None:
        spec = self.sending.spec
        names = [c.name for c in spec.columns if c.name != ROW_ID]
        is_column = meaning.column in (*names, ROW_ID) or meaning.column.lower() in {n.lower() for n in names}
        options = {name: name for name in names}
        if meaning.header.lower() not in {n.lower() for n in names}:
            options[_NEW] = f"a new column {meaning.header[:40]}"
        if meaning.column == ROW_ID or meaning.header.lower() == ROW_ID:
            options[ROW_ID] = ROW_ID
        options[LEFT_OUT] = "– leave it out –"
        value = meaning.column if is_column or meaning.column == LEFT_OUT else _NEW
        value = next((name for name in options if name.lower() == value.lower()), value)

        async def chosen(event: Any) -> None:
            column = meaning.header if event.value == _NEW else event.value
            origin = Origin.NEW if event.value == _NEW else Origin.CHOSEN
            if column.lower() == meaning.header.lower() and event.value != _NEW:
                origin = Origin.SAME
            self.sending.meanings[place] = Meaning(meaning.header, column, origin)
            _tell(chip, self.sending.meanings[place])
            await self.sending.look_over()

        select = ui.select(options, value=value, on_change=chosen).props("outlined dense options-dense")
        select.classes("o-upload-choice")
        select.props["aria-label"] = f"What {meaning.header} stands for"


def _tell(chip: Html, meaning: Meaning) -> None:
    words, kind = ("left out", "") if meaning.column == LEFT_OUT else _WORDS[meaning.origin]
    chip.text = words
    chip.classes(replace=f"o-chip {kind}".strip())
