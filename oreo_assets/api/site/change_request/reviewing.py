"""What the parts of the page share: the change request as it was last read, and the ways to read it anew."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from nicegui import ui
from nicegui.element import Element

from ....lake.diff import DiffPage
from ....model.errors import NotSignedInError, OreoError
from ....model.ids import DatasetRef
from ....model.states import CRState
from ....workflow import review
from ....workflow.standing import Standing, standing
from ..elements import button, el
from ..notices import go_sign_in
from ..visit import Visit
from ..words import state_words

_MOVES_BY_ITSELF = frozenset(
    {CRState.RECEIVED, CRState.CONVERTED, CRState.STAGED, CRState.CHECKED, CRState.APPROVED, CRState.MERGING}
)
_SOON, _LATER = 1.5, 5.0
ROWS_AT_ONCE = 100
Draw = Callable[["Reviewing"], Awaitable[None]]


@dataclass
class _Part:
    """One part of the page, and what it was last drawn from."""

    place: Element
    draw: Draw
    by: Callable[[Reviewing], object] | None
    drawn_from: object = None


@dataclass
class Reviewing:
    """One person at work on one change request."""

    visit: Visit
    card: dict[str, Any]
    parts: list[_Part] = field(default_factory=list)
    read_comments: Callable[[], Awaitable[None]] | None = None
    """Set by the comments: reads them anew, and leaves alone what somebody is writing."""
    show_failing: Callable[[str], Awaitable[None]] | None = None
    """Set by the grid: shows only the rows that fail a check."""
    failing_wanted: str | None = None
    """The check whose rows were asked for before the grid was there."""
    show_conflicting: Callable[[], Awaitable[None]] | None = None
    """Set by the grid: shows only the rows that main changed too."""
    selected_rows: Callable[[], Awaitable[list[str]]] | None = None
    """Set by the grid: the rows that are ticked."""
    talk_about: Callable[[str, str | None], None] | None = None
    """Set by the comments: the row and column that the next one is about."""
    _standing: asyncio.Task[Standing] | None = None
    _diff: asyncio.Task[DiffPage] | None = None
    _news: Element | None = None
    _timer: ui.timer | None = None

    @property
    def ref(self) -> DatasetRef:
        return self.visit.ref

    @property
    def cr_id(self) -> str:
        return self.visit.cr_id

    @property
    def state(self) -> CRState:
        return CRState(self.card["state"])

    @property
    def is_staged(self) -> bool:
        return self.card["staging_version"] is not None

    @property
    def staged_as(self) -> object:
        """What the rows and their checks are those of."""
        names = ("staging_version", "content_hash", "validation_run_id", "merged_version")
        return (*(self.card[name] for name in names), self.state is CRState.IN_REVIEW)

    @property
    def moves_by_itself(self) -> bool:
        return self.state in _MOVES_BY_ITSELF

    async def standing(self) -> Standing:
        """How main moved and whether it may be approved: asked once, however many parts show it."""
        if self._standing is None or _went_wrong(self._standing):
            self._standing = asyncio.create_task(self.visit.ask(standing, self.ref, self.cr_id))
        return await asyncio.shield(self._standing)

    async def diff(self) -> DiffPage:
        """All counts and columns, and the first rows."""
        if self._diff is None or _went_wrong(self._diff):
            self._diff = asyncio.create_task(
                self.visit.ask(review.review_diff, self.ref, self.cr_id, limit=ROWS_AT_ONCE)
            )
        return await asyncio.shield(self._diff)

    def add(self, place: Element, draw: Draw, by: Callable[[Reviewing], object] | None = None) -> None:
        """A part of the page, drawn anew when what `by` says of the change request is another; without it, always."""
        self.parts.append(_Part(place, draw, by))

    async def draw(self) -> None:
        self._standing = self._diff = None
        for part in self.parts:
            source = (part.by(self),) if part.by else None
            if source is None or source != part.drawn_from:
                part.place.clear()
                with part.place:
                    await part.draw(self)
                part.drawn_from = source
        if self.read_comments:
            await self.read_comments()

    async def read_again(self) -> None:
        """Bring the whole page up to date."""
        self.card = await self.visit.ask(review.show, self.ref, self.cr_id)
        if self._news is not None:
            self._news.clear()
        await self.draw()

    def watch(self) -> None:
        """Look for news for as long as there can be any. What a person may be typing into is never drawn over."""
        self._news = el("div", "o-stack", role="status")
        if self.state.is_final:
            return
        self._timer = ui.timer(_SOON if self.moves_by_itself else _LATER, self._look, immediate=False)

    async def _look(self) -> None:
        assert self._timer is not None and self._news is not None
        if self.state.is_final:
            self._timer.cancel()
            return
        try:
            fresh = await self.visit.ask(review.show, self.ref, self.cr_id)
        except NotSignedInError:
            self._timer.cancel()
            go_sign_in()
            return
        except OreoError:
            return  # away for a moment; the next look tells
        if _same(fresh, self.card):
            return
        if self.moves_by_itself:
            self.card = fresh
            await self.draw()
        else:
            self._tell_news(fresh)
        self._timer.interval = _SOON if CRState(fresh["state"]) in _MOVES_BY_ITSELF else _LATER

    def _tell_news(self, fresh: dict[str, Any]) -> None:
        assert self._news is not None
        said = f"Meanwhile: {state_words(fresh['state'])}"
        approvers = [a["approver"] for a in fresh["approvals"] if a["valid"]]
        if approvers:
            said += f", approved by {', '.join(approvers)}"
        self._news.clear()
        with self._news, el("div", "o-notice info"):
            el("div", "o-grow", f"{said}. What you see below is from before.")
            button("Show it as it is now", self.read_again, "small")


def _went_wrong(task: asyncio.Task[Any]) -> bool:
    return task.done() and (task.cancelled() or task.exception() is not None)


def _same(one: dict[str, Any], other: dict[str, Any]) -> bool:
    return (one["state"], one["updated_at"], one["approvals"]) == (
        other["state"],
        other["updated_at"],
        other["approvals"],
    )
