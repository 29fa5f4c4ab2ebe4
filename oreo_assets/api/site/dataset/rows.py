"""Rows of main: sorted, filtered, as of any version."""

from __future__ import annotations

from typing import Any

from nicegui.elements.aggrid import AgGrid
from nicegui.events import GenericEventArguments

from ....lake.log import Commit
from ....model.filters import Order
from ....model.spec import ROW_ID, DatasetSpec
from ....workflow import query
from ....workflow.query import Page
from ..elements import button, el, link, section
from ..filters import Filters
from ..grid import add_rows, cells, rows_grid
from ..live.begin import edit_button
from ..loading import later
from ..notices import empty, loading, telling
from ..visit import Visit
from ..words import grouped, moment

_AT_ONCE = 100
_NUMBERS = ("int", "bigint", "smallint", "float", "double", "decimal")


async def draw(visit: Visit, card: dict[str, Any]) -> None:
    spec = DatasetSpec.model_validate(card["spec"])
    commits = await visit.ask(query.history, visit.ref)
    newest = commits[0].version if commits else 0
    asked = visit.query_number("version")
    shown = _Rows(visit, spec, commits, newest if asked is None else min(asked, newest))
    with section("Rows", anchor="rows", flush=True):
        shown.draw()


class _Rows:
    """What is shown: a version, conditions, an order, and how far."""

    def __init__(self, visit: Visit, spec: DatasetSpec, commits: list[Commit], version: int) -> None:
        self.visit = visit
        self.spec = spec
        self.by_version = {c.version: c for c in commits}
        self.version = version
        self.order: list[Order] = []
        self.columns = list(dict.fromkeys([*spec.column_names, ROW_ID]))
        self.filters = Filters(self.columns, self.reload)
        self.grid: AgGrid | None = None

    def draw(self) -> None:
        with el("div", "o-stack o-controls"):
            self._draw_versions()
            with el("details", "o-fold"):
                el("summary", "", "Filter")
                self.filters.draw()
            self.said = el("div", "o-stack")
            edit_button(self.visit, lambda: self.filters.conditions, self.said)
        self.place = el("div", "o-stack")
        self.foot = el("div", "o-row o-controls")
        with self.place:
            later(lambda: self._ask(0), self._show)

    def _draw_versions(self) -> None:
        versions = sorted(self.by_version)
        if len(versions) < 2:
            return
        with el("div", "o-row"):
            el("label", "o-label", "As of version", for_="version")
            slider = el(
                "input",
                "o-grow o-slider",
                id="version",
                type="range",
                min=versions[0],
                max=versions[-1],
                value=self.version,
            )
            self.told = el("span", "o-row small")
        self._tell_version()

        async def moved(event: GenericEventArguments) -> None:
            self.version = max(0, min(int(event.args or 0), max(self.by_version)))
            self._tell_version()
            async with telling(self.said):
                await self.reload()

        slider.on("change", moved, js_handler="(event) => emit(event.target.value)")

    def _tell_version(self) -> None:
        self.told.clear()
        commit = self.by_version.get(self.version)
        with self.told:
            el("b", "num", str(self.version))
            if self.version == max(self.by_version):
                el("span", "o-chip good", "newest")
            if commit:
                moment(commit.timestamp)
                if commit.metadata:
                    el("span", "soft", f"by {commit.metadata.author}")

    async def reload(self) -> None:
        self.place.clear()
        with self.place:
            loading()
        try:
            page = await self._ask(0)
        finally:
            self.place.clear()
        self._show(page)

    async def _ask(self, offset: int) -> Page:
        return await self.visit.ask(
            query.query,
            self.visit.ref,
            where=self.filters.conditions,
            order=self.order,
            limit=_AT_ONCE,
            offset=offset,
            version=self.version,
        )

    def _show(self, page: Page) -> None:
        # A version from before a column was added has it not: the rows say what there was.
        if page.rows:
            self.columns = [c for c in self.columns if c in page.rows[0]]
            self.columns += [c for c in page.rows[0] if c not in self.columns]
        with self.place:
            if not page.rows:
                empty(
                    "No row is as you ask." if self.filters.where else f"Version {page.version} has no rows.",
                    "Take a filter away to see more." if self.filters.where else "",
                )
            else:
                right = {c.name for c in self.spec.columns if c.type.startswith(_NUMBERS)}
                self.grid = rows_grid(self.columns, page.rows, label=f"Rows of {self.visit.ref}", right=right)
                self._mark_order()
                self.grid.on("sortChanged", self._sorted, args=[])
        self._draw_foot(page, len(page.rows))

    def _mark_order(self) -> None:
        assert self.grid is not None
        for order in self.order:
            if order.column in self.columns:
                definition = self.grid.options["columnDefs"][self.columns.index(order.column)]
                definition["initialSort"] = "desc" if order.descending else "asc"

    async def _sorted(self) -> None:
        assert self.grid is not None
        state = await self.grid.run_grid_method("getColumnState") or []
        sorted_by = sorted((s for s in state if s.get("sort")), key=lambda s: s.get("sortIndex") or 0)
        order = [Order(self.columns[int(s["colId"][1:])], s["sort"] == "desc") for s in sorted_by]
        if order != self.order:
            self.order = order
            async with telling(self.said):
                await self.reload()

    def _draw_foot(self, page: Page, shown: int) -> None:
        self.foot.clear()
        with self.foot:
            el("span", "soft small num", f"{grouped(shown)} rows shown, of version {page.version}")
            if page.next is not None:

                async def more() -> None:
                    async with telling(self.said):
                        following = await self._ask(page.next or 0)
                        assert self.grid is not None
                        add_rows(self.grid, [cells(self.columns, row) for row in following.rows])
                        self._draw_foot(following, shown + len(following.rows))

                button("More rows", more, "small")
            link("This version in the history", f"{self.visit.home}?tab=history#v{page.version}", "small")
