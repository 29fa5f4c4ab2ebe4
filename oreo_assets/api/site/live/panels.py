"""Beside the grid: what the session amounts to, which checks fail, who else is at the same rows; and the diff."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nicegui.element import Element

from ....lake.diff import DiffPage
from ....model.errors import NotSignedInError, OreoError
from ....quality.cell_checks import FailedCheck
from ....workflow import live_edit
from ....workflow.live_types import Overlap, SessionCounts
from ..elements import button, el, link, section
from ..grid import changes_grid
from ..notices import empty, loading, tell, telling
from ..words import count, grouped, sign

if TYPE_CHECKING:
    from .editing import Editor

_CHANGED_ROWS = 2_000
_SHOWN = 50
_DIFF_ROWS = 100
_BY_SEVERITY = {"fatal": 0, "warning": 1, "info": 2}

Failing = list[tuple[str, str, FailedCheck]]


class Panels:
    """What is known of the session besides its rows. Brought up to date after each edit, and now and then."""

    diff_place: Element
    failing_place: Element

    def __init__(self, editor: Editor) -> None:
        self.editor = editor
        self.seen: tuple[object, ...] = ()
        self.diff_is_open = False

    def draw(self) -> None:
        with section("This session", anchor="session-counts"):
            self.counts_place = el("div", "o-stack")
            self.failing_place = el("div", "o-stack")
            el("div", "o-stack", id="live-refused", aria_live="polite")
        with section("Who else is here", anchor="others"):
            self.others_place = el("div", "o-stack")
        self._counts(self.editor.card.counts or SessionCounts())
        with self.others_place:
            el("p", "soft small", "Nobody else changes the same rows.")

    def draw_diff(self) -> None:
        with section("What changes", anchor="diff", flush=True):
            with el("div", "o-row o-controls"):
                button("Show the changes", self._open_diff, "small")
                el("span", "soft small", "Old and new, as the reviewer will see them.")
            self.diff_place = el("div", "o-stack")

    async def refresh(self) -> None:
        """What changed since the last look is drawn anew; the rest stays as it is."""
        visit, session_id = self.editor.visit, self.editor.session_id
        try:
            card = await visit.ask(live_edit.show_session, visit.ref, session_id)
            counts = card.counts or SessionCounts()
            others = await visit.ask(live_edit.who_else, visit.ref, session_id) if card.counts else []
            failing = await self._failing(counts)
        except NotSignedInError as error:
            tell(self.editor.said, error)
            return
        except OreoError as error:
            self.editor.said.clear()
            tell(self.editor.said, error)
            return
        if card.state is not self.editor.card.state:
            self.editor.said.clear()
            tell(self.editor.said, _ended(str(card.state)))
        self.editor.card = card
        self.editor.room.text = self.editor.room_words(card)
        seen = (counts, tuple(others), tuple(failing))
        if seen == self.seen:
            return
        self.seen = seen
        self._counts(counts)
        self._show_failing(counts, failing)
        self._others(others)
        if self.diff_is_open:
            await self._show_diff()

    async def _failing(self, counts: SessionCounts) -> Failing:
        if not counts.failed_fatal + counts.failed_warning + counts.failed_info:
            return []
        visit = self.editor.visit
        page = await visit.ask(
            live_edit.preview, visit.ref, self.editor.session_id, changed_only=True, limit=_CHANGED_ROWS
        )
        found = [(r.row_id, column, f) for r in page.rows for column, failed in r.failed.items() for f in failed]
        return sorted(found, key=lambda item: _BY_SEVERITY.get(str(item[2].severity), 3))

    def _counts(self, counts: SessionCounts) -> None:
        self.counts_place.clear()
        with self.counts_place:
            if not counts.rows:
                el("p", "soft small", "Nothing is changed yet.")
                return
            with el("div", "o-row num"):
                for kind in ("inserted", "updated", "deleted"):
                    if number := getattr(counts, kind):
                        with el("span", "o-row", title=f"rows {kind}"):
                            sign(kind)
                            el("span", "", f"{grouped(number)} {kind}")
            el("p", "soft small", f"{count(counts.cells, 'cell')} changed")

    def _show_failing(self, counts: SessionCounts, failing: Failing) -> None:
        self.failing_place.clear()
        total = counts.failed_fatal + counts.failed_warning + counts.failed_info
        if not total:
            return
        with self.failing_place:
            el("h3", "", f"{count(total, 'value')} {'fails' if total == 1 else 'fail'} a check")
            with el("ul", "o-stack small"):
                for row_id, column, failed in failing[:_SHOWN]:
                    with el("li", "o-live-fault"):
                        sign(str(failed.severity))
                        with el("div", "wrap"):
                            el("b", "", f"{row_id} · {column}")
                            el("div", "soft", failed.expected)
            if total > _SHOWN:
                el("p", "soft small", f"and {grouped(total - _SHOWN)} more: see “Changed rows only”.")
            if counts.failed_fatal:
                el("p", "small", "A fatal one will refuse the change request.")

    def _others(self, others: list[Overlap]) -> None:
        self.others_place.clear()
        by_session: dict[tuple[str, str], list[Overlap]] = {}
        for overlap in others:
            by_session.setdefault((overlap.owner, overlap.session_id), []).append(overlap)
        with self.others_place:
            if not by_session:
                el("p", "soft small", "Nobody else changes the same rows.")
            for (owner, session_id), theirs in list(by_session.items())[:_SHOWN]:
                with el("div", "wrap"):
                    if owner == self.editor.visit.actor.name:
                        link("You, in another session,", f"{self.editor.visit.home}/live/{session_id}")
                        el("span", "", " change ")
                    else:
                        el("b", "", owner)
                        el("span", "", " changes ")
                    el("span", "", f"{count(len(theirs), 'row')} that this session changes too")
                    named = ", ".join(o.row_id for o in theirs[:5]) + (" …" if len(theirs) > 5 else "")
                    el("div", "soft small", named)

    async def _open_diff(self) -> None:
        self.diff_is_open = True
        self.diff_place.clear()
        with self.diff_place:
            loading()
        await self._show_diff()

    async def _show_diff(self) -> None:
        visit = self.editor.visit
        async with telling(self.diff_place):
            found = await visit.ask(live_edit.session_diff, visit.ref, self.editor.session_id, limit=_DIFF_ROWS)
            self.diff_place.clear()
            with self.diff_place:
                self._diff(found)

    def _diff(self, found: DiffPage) -> None:
        document = found.as_json()
        rows = document["rows"]
        if not rows:
            empty("The session changes nothing.", "A value that is set back to what it was is no change.")
            return
        counts = document["counts"]
        with el("div", "o-row o-controls num"):
            for kind in ("inserted", "updated", "deleted"):
                with el("span", "o-row"):
                    sign(kind)
                    el("span", "", f"{grouped(counts[kind])} {kind}")
        named = {name for row in rows for name in row["cells"]}
        columns = [c.name for c in self.editor.spec.columns if c.name in named] or sorted(named)
        changes_grid(columns or ["row_id"], rows, label="What the session changes", selectable=False)
        if document.get("next"):
            el("p", "soft small o-controls", f"The first {grouped(len(rows))} changed rows are shown.")


def _ended(state: str) -> OreoError:
    from ....model.errors import StateError

    return StateError(f"The session is {state} by now: it takes no more edits.", "Load the page again.")
