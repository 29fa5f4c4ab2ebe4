"""Conflicts: what both this change request and main changed, side by side, to be settled cell by cell."""

from __future__ import annotations

from itertools import groupby

from nicegui.element import Element

from ....lake.conflicts import Conflict
from ....lake.rebase import Take
from ....model.states import CRState, Role
from ....workflow import conflicts
from ....workflow.conflicts import ConflictReport
from ..elements import button, el, section
from ..loading import later
from ..notices import telling
from ..words import cell_text, count, grouped, sign
from .reviewing import Reviewing

_SHOWN = 200
_TAKES = {Take.THEIRS: "main as it is now", Take.OURS: "this change request"}


async def draw(on: Reviewing) -> None:
    if on.state is CRState.CONFLICTED:
        with section("Conflicts", anchor="conflicts"):
            later(
                lambda: on.visit.ask(conflicts.conflicts, on.ref, on.cr_id), lambda found: _Settling(on, found).draw()
            )


class _Settling:
    """The choices made so far."""

    def __init__(self, on: Reviewing, report: ConflictReport) -> None:
        self.on = on
        self.report = report
        self.cells: dict[tuple[str, str | None], Take] = {}
        self.rest: Take | None = None

    def draw(self) -> None:
        found = self.report.conflicts
        rows = len({c.row_id for c in found})
        el(
            "p",
            "",
            f"Main went from version {self.report.base_version} to {self.report.main_version}, and both sides "
            f"changed {count(len(found), 'place')} in {count(rows, 'row')}. "
            "Choose what stays; then it is checked again.",
        )
        may = self.on.visit.may(Role.CONTRIBUTOR)
        if may:
            with el("div", "o-row"):
                button("Take all from main", lambda: self._all(Take.THEIRS), "small")
                button("Take all from this change request", lambda: self._all(Take.OURS), "small")
        self.places: dict[tuple[str, str | None], Element] = {}
        for row_id, of_row in groupby(found[:_SHOWN], key=lambda c: c.row_id):
            with el("fieldset", "o-stack o-conflict"):
                with el("legend", "o-row"):
                    sign("conflict")
                    el("b", "wrap", row_id)
                for conflict in of_row:
                    self._conflict(conflict, may)
        if len(found) > _SHOWN:
            el("p", "soft", f"{grouped(len(found) - _SHOWN)} more are not shown; the choice for all covers them too.")
        if may:
            self.said = el("div", "o-stack")
            with el("div", "o-row"):
                button("Settle and check again", self._settle, "main")
                self.state = el("span", "soft", self._words())

    def _conflict(self, conflict: Conflict, may: bool) -> None:
        el("span", "o-label", conflict.column or "the whole row")
        place = el("div", "o-choice")
        self.places[conflict.row_id, conflict.column] = place
        self._draw_choice(place, conflict, may)

    def _draw_choice(self, place: Element, conflict: Conflict, may: bool) -> None:
        key = (conflict.row_id, conflict.column)
        place.clear()
        with place:
            with el("div", "o-base"):
                el("div", "soft small", f"before, version {self.report.base_version}")
                _value(conflict.base if conflict.column else "as it was")
            for take, words in _TAKES.items():
                with el("label"):
                    with el("div", "o-row soft small"):
                        radio = el(
                            "input",
                            type="radio",
                            name=f"take-{list(self.places).index(key)}",
                            disabled=not may,
                            checked=self.cells.get(key) is take,
                        )
                        radio.on("change", lambda _, k=key, t=take: self._choose(k, t), args=[])
                        el("span", "", words)
                    _value(conflict.theirs if take is Take.THEIRS else conflict.ours)

    def _choose(self, key: tuple[str, str | None], take: Take) -> None:
        self.cells[key] = take
        self.state.text = self._words()

    def _all(self, take: Take) -> None:
        self.rest = take
        for conflict in self.report.conflicts:
            self.cells[conflict.row_id, conflict.column] = take
        for conflict in self.report.conflicts[:_SHOWN]:
            self._draw_choice(self.places[conflict.row_id, conflict.column], conflict, True)
        self.state.text = self._words()

    def _words(self) -> str:
        return f"{grouped(len(self.cells))} of {grouped(len(self.report.conflicts))} chosen"

    async def _settle(self) -> None:
        async with telling(self.said):
            await self.on.visit.ask(conflicts.resolve, self.on.ref, self.on.cr_id, self.rest, dict(self.cells))
            await self.on.read_again()


def _value(value: object) -> None:
    text = cell_text(value)
    el("div", "o-null soft" if text is None else "wrap", "null" if text is None else text)
