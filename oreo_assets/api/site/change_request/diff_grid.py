"""The rows that change: old and new in one cell, only what changes unless asked for more, page by page."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from nicegui import ui
from nicegui.elements.aggrid import AgGrid
from nicegui.events import GenericEventArguments

from ....lake.diff import DiffPage
from ....model.states import CRState, Role
from ....workflow import review
from ..elements import Html, button, el, section
from ..filters import Filters
from ..grid import add_rows, change, changes_grid
from ..loading import later
from ..notices import empty, loading, telling
from ..words import count, grouped
from .reviewing import ROWS_AT_ONCE, Reviewing

_KINDS = ("inserted", "updated", "deleted", "unchanged")


async def draw(on: Reviewing) -> None:
    with section("Changed rows", anchor="rows", flush=True):
        if not on.is_staged:
            empty("Nothing is staged yet.", "The rows are shown once they are.")
            return
        later(on.diff, lambda first: _Grid(on, first).draw())


@dataclass
class _Grid:
    """The grid, its filters, and the page that it has come to."""

    on: Reviewing
    first: DiffPage
    kinds: set[str] = field(default_factory=lambda: set(_KINDS[:3]))
    column: str | None = None
    check: str | None = None
    in_conflict: bool = False
    all_columns: bool = False
    grid: AgGrid | None = None
    columns: list[str] = field(default_factory=list)
    kind_buttons: dict[str, Html] = field(default_factory=dict)

    def draw(self) -> None:
        self.filters = Filters([c.name for c in self.first.columns], self.reload)
        with el("div", "o-stack o-controls"):
            with el("div", "o-row"):
                for kind in _KINDS:
                    self._kind_button(kind)
                self._all_columns_button()
                column = ui.select(
                    {"": "any column", **{c.name: c.name for c in self.first.columns if c.cells_changed}},
                    value="",
                    label="Changed in",
                ).props("outlined dense options-dense")
                column.classes("o-filter")
                column.on_value_change(self._column_chosen)
            with el("details", "o-fold"):
                el("summary", "", "Filter by value")
                self.filters.draw()
            self.chosen = el("div", "o-row")
            self.said = el("div", "o-stack")
        self.place = el("div", "o-stack")
        self.foot = el("div", "o-row o-controls")
        self.on.show_failing = self._show_failing
        self.on.show_conflicting = self._show_conflicting
        self.on.selected_rows = self._selected
        if self.on.failing_wanted:
            wanted, self.on.failing_wanted = self.on.failing_wanted, None
            ui.timer(0, lambda: self._show_failing(wanted), once=True)
        else:
            self._show(self.first)

    async def reload(self) -> None:
        """Ask again, by what is chosen now, and show the first page."""
        self.place.clear()
        with self.place:
            loading()
        page = await self._ask("")
        self._show(page)

    async def _ask(self, after: str) -> DiffPage:
        return await self.on.visit.ask(
            review.review_diff,
            self.on.ref,
            self.on.cr_id,
            kinds=[k for k in _KINDS if k in self.kinds],
            columns=[self.column] if self.column else [],
            check=self.check,
            in_conflict=self.in_conflict,
            where=self.filters.conditions,
            all_columns=self.all_columns,
            limit=ROWS_AT_ONCE,
            after=after,
        )

    def _show(self, page: DiffPage) -> None:
        whole = self.all_columns or any(r["change"] in ("inserted", "deleted") for r in page.rows)
        by_change = sorted(page.columns, key=lambda c: not c.cells_changed)
        names = dict.fromkeys(c.name for c in by_change if whole or c.cells_changed)
        if self.all_columns:
            names |= dict.fromkeys(name for row in page.rows for name in row["cells"])
        self.columns = list(names)
        self._draw_chosen()
        self.place.clear()
        with self.place:
            if not page.rows:
                self.grid = None
                empty("No row is as you ask.", "Take a filter away to see more.")
            else:
                self.grid = changes_grid(
                    self.columns, page.rows, label="Changed rows, old and new", selectable=self._may_select
                )
                self.grid.on("cellFocused", self._focused, args=["rowIndex", "colId", "data"])
                self.grid.on("cellClicked", self._focused, args=["rowIndex", "colId", "data"])
        self._draw_foot(page, len(page.rows))

    def _draw_foot(self, page: DiffPage, shown: int) -> None:
        self.foot.clear()
        with self.foot:
            el("span", "soft small num", f"{grouped(shown)} of {count(page.matching, 'row')}")
            if page.sampled:
                el("span", "o-chip warn", "sampled", title="Not everything could be looked at.")
            if page.next:

                async def more() -> None:
                    async with telling(self.said):
                        following = await self._ask(page.next or "")
                        assert self.grid is not None
                        add_rows(self.grid, [change(self.columns, row) for row in following.rows])
                        self._draw_foot(following, shown + len(following.rows))

                button("More rows", more, "small")

    def _draw_chosen(self) -> None:
        self.chosen.clear()
        with self.chosen:
            if self.check:
                self._chip(f"fails {self.check}", "check", None)
            if self.in_conflict:
                self._chip("main changed it too", "in_conflict", False)

    def _chip(self, words: str, name: str, without: Any) -> None:
        async def remove() -> None:
            setattr(self, name, without)
            await self._again()

        button(f"{words}  ×", remove, "small", aria_label=f"Remove the filter: {words}", aria_pressed="true")

    def _kind_button(self, kind: str) -> None:
        made = button(kind, None, "small", aria_pressed=str(kind in self.kinds).lower())

        async def toggle() -> None:
            self.kinds ^= {kind}
            made.props["aria-pressed"] = str(kind in self.kinds).lower()
            await self._again()

        made.on("click", toggle, args=[])
        self.kind_buttons[kind] = made

    def _all_columns_button(self) -> None:
        made = button("all columns", None, "small", aria_pressed="false")

        async def toggle() -> None:
            self.all_columns = not self.all_columns
            made.props["aria-pressed"] = str(self.all_columns).lower()
            await self._again()

        made.on("click", toggle, args=[])

    async def _column_chosen(self, event: Any) -> None:
        self.column = event.value or None
        await self._again()

    async def _again(self) -> None:
        async with telling(self.said):
            await self.reload()

    async def _show_failing(self, check: str) -> None:
        self.check = check
        self.kinds = set(_KINDS)  # a check of the whole table may fail for rows that stay as they are
        for button_of in self.kind_buttons.values():
            button_of.props["aria-pressed"] = "true"
        await self._again()
        _scroll_to_rows()

    async def _show_conflicting(self) -> None:
        self.in_conflict = True
        await self._again()
        _scroll_to_rows()

    @property
    def _may_select(self) -> bool:
        return self.on.state is CRState.IN_REVIEW and self.on.visit.may(Role.REVIEWER)

    async def _selected(self) -> list[str]:
        if self.grid is None or not self._may_select:
            return []
        return [row["row_id"] for row in await self.grid.get_selected_rows()]

    def _focused(self, event: GenericEventArguments) -> None:
        place = str(event.args.get("colId") or "")
        row = event.args.get("data") or {}
        if self.on.talk_about and row.get("row_id"):
            column = self.columns[int(place[1:])] if place[:1] == "c" and place[1:].isdigit() else None
            self.on.talk_about(str(row["row_id"]), column)


def _scroll_to_rows() -> None:
    ui.run_javascript("document.getElementById('rows').scrollIntoView({block: 'start'})")
