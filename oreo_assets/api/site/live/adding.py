"""New rows in a session: one by a form, or several pasted from a spreadsheet."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nicegui import ui
from nicegui.element import Element

from ....model.errors import RefusedError, UsageError
from ....model.spec import ROW_ID, RowIdRule
from ....workflow import live_edit
from ..elements import button, el
from ..notices import notice, tell
from ..words import count

if TYPE_CHECKING:
    from .editing import Editor

_SHOWN_FAULTS = 50


class AddRows:
    """The form. It stays open after a row was added: there may be another."""

    def __init__(self, editor: Editor, place: Element) -> None:
        self.editor = editor
        self.place = place
        takes_id = editor.spec.row_id_rule is RowIdRule.FILE
        self.columns = [*([ROW_ID] if takes_id else []), *(c.name for c in editor.spec.columns if c.name != ROW_ID)]
        self.fields: dict[str, Any] = {}

    def draw(self) -> None:
        self.place.clear()
        with self.place, el("section", "o-card", aria_label="Add rows"), el("div", "o-body"):
            with el("form", "o-stack") as form:
                with el("div", "o-live-fields"):
                    for name in self.columns:
                        field = ui.input(name).props("outlined dense maxlength=100000")
                        field.props["autocomplete"] = "off"
                        self.fields[name] = field
                with el("div", "o-row"):
                    el("button", "o-button main", "Add this row", type="submit")
                    button("Close", self.place.clear, "quiet")
            form.on("submit.prevent", self._one, args=[])
            with el("details", "o-fold"):
                el("summary", "", "Several rows from a spreadsheet")
                self.pasted = ui.textarea(f"Rows with the columns {', '.join(self.columns)}, in this order")
                self.pasted.props("outlined input-class=mono").classes("o-wide")
                button("Add these rows", self._several)
            self.said = el("div", "o-stack", aria_live="polite")

    async def _one(self) -> None:
        row = {name: _value(field.value) for name, field in self.fields.items()}
        if await self._add([row]):
            for field in self.fields.values():
                field.value = ""

    async def _several(self) -> None:
        lines = [line.rstrip("\r").split("\t") for line in (self.pasted.value or "").split("\n") if line.strip()]
        wrong = next((n for n, cells in enumerate(lines, 1) if len(cells) > len(self.columns)), None)
        if not lines or wrong:
            self.said.clear()
            what = f"Line {wrong} has more cells than there are columns." if wrong else "There are no rows."
            tell(self.said, UsageError(what, "Copy the cells in the order that is written above them."))
            return
        rows = [{name: _value(cell) for name, cell in zip(self.columns, cells, strict=False)} for cells in lines]
        if await self._add(rows):
            self.pasted.value = ""

    async def _add(self, rows: list[dict[str, str | None]]) -> bool:
        visit = self.editor.visit
        self.said.clear()
        try:
            result = await visit.ask(live_edit.add_rows, visit.ref, self.editor.session_id, rows)
        except RefusedError as error:
            with self.said:
                _refused(error)
            return False
        except Exception as error:
            tell(self.said, error)
            return False
        failed = sum(1 for cell in result.cells if cell.validation.failed)
        with self.said:
            what = f"{count(len(result.row_ids), 'row')} added."
            notice("warn" if failed else "good", what, f"{count(failed, 'value')} fail a check." if failed else "")
        await self.editor.reload_rows()
        return True


def _refused(error: RefusedError) -> None:
    """Every value that cannot be taken, with its reason."""
    cells: Any = error.details.get("cells", [])
    with notice("bad", f"Nothing was added: {count(len(cells), 'value')} cannot be taken."), el("ul", "small"):
        for cell in cells[:_SHOWN_FAULTS]:
            shown = "no value" if cell["value"] is None else f"“{cell['value'][:100]}”"
            el("li", "wrap", f"{cell['column']}: {shown} {cell['reason']}")


def _value(text: str | None) -> str | None:
    """As in a file: nothing at all is null, two quotes are an empty text."""
    return None if not text else "" if text == '""' else text
