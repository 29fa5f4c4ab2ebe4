"""Filters as people set them: a column, a comparison, a value. They become the structured ones that queries take."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field

from nicegui import ui
from nicegui.element import Element

from ...model.errors import UsageError
from ...model.filters import Filter, Op
from .elements import button, el
from .notices import telling

_COMPARISONS = {
    "is": Op.EQ,
    "is not": Op.NEQ,
    "contains": Op.LIKE,
    "less than": Op.LT,
    "at most": Op.LTE,
    "more than": Op.GT,
    "at least": Op.GTE,
    "is null": Op.IS,
    "is not null": Op.IS,
}
_NO_VALUE = {"is null": "null", "is not null": "notnull"}


@dataclass
class Filters:
    """The conditions that hold now, and the place where they are set."""

    columns: Sequence[str]
    changed: Callable[[], Awaitable[None]]
    where: list[tuple[str, str, str]] = field(default_factory=list)
    _chips: Element | None = None

    @property
    def conditions(self) -> list[Filter]:
        return [_filter(*condition) for condition in self.where]

    def draw(self) -> None:
        """The form, and below it a chip for each condition that takes it away again."""
        with el("form", "o-row", aria_label="Filter") as form:
            column = ui.select(list(self.columns), label="Column").props("outlined dense options-dense")
            comparison = ui.select(list(_COMPARISONS), value="is", label="Comparison").props(
                "outlined dense options-dense"
            )
            value = ui.input("Value").props("outlined dense maxlength=1000")
            value.bind_visibility_from(comparison, "value", lambda word: word not in _NO_VALUE)
            el("button", "o-button", "Add filter", type="submit")
        for field_ in (column, comparison, value):
            field_.classes("o-filter")
        said = el("div", "o-stack")
        self._chips = el("div", "o-row")

        async def add() -> None:
            async with telling(said):
                if not column.value:
                    raise UsageError("Choose a column first.")
                self.where.append((column.value, comparison.value, value.value or ""))
                try:
                    await self.changed()
                except Exception:
                    self.where.pop()
                    raise
                value.value = ""
            self._draw_chips()

        form.on("submit.prevent", add, args=[])
        self._draw_chips()

    def _draw_chips(self) -> None:
        assert self._chips is not None
        self._chips.clear()
        with self._chips:
            for condition in list(self.where):
                self._chip(condition)

    def _chip(self, condition: tuple[str, str, str]) -> None:
        async def remove() -> None:
            self.where.remove(condition)
            self._draw_chips()
            await self.changed()

        words = " ".join(part for part in condition if part)
        button(f"{words}  ×", remove, "small", aria_label=f"Remove the filter {words}", aria_pressed="true")


def _filter(column: str, word: str, value: str) -> Filter:
    op = _COMPARISONS[word]
    if word in _NO_VALUE:
        return Filter(column, op, (_NO_VALUE[word],))
    if op is Op.LIKE:
        return Filter(column, op, (f"%{value}%",))
    return Filter(column, op, (value,))
