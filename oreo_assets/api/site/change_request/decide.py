"""The decision: approve, ask for changes, reject some rows or all; or why it cannot be made."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from nicegui import ui

from ....model.errors import UsageError
from ....model.states import CRState, Role
from ....workflow import comments, conflicts, review
from ....workflow.standing import WARNINGS_OPEN, Standing
from ..elements import Html, button, el, section, set_disabled
from ..loading import later
from ..notices import remedy_words, telling
from ..words import grouped, moment, sign
from .merged import draw_merged
from .reviewing import Reviewing

_AGAIN = (CRState.FAILED, CRState.CONFLICTED)


async def draw(on: Reviewing) -> None:
    if on.card["merged_version"] is not None:
        draw_merged(on)
        return
    with section("Decide", anchor="decide"):
        _approvals(on)
        said = el("div", "o-stack", id="said")
        later(on.standing, lambda found: _Deciding(on, found, said).draw())


def _approvals(on: Reviewing) -> None:
    given = on.card["approvals"]
    valid = [a for a in given if a["valid"]]
    with el("div", "o-row"):
        el("span", "", f"{grouped(len(valid))} of {grouped(on.card['approvals_needed'])} approvals")
    for approval in given:
        with el("div", "o-row small"):
            sign("passed" if approval["valid"] else "unchanged")
            el("b", "", approval["approver"])
            moment(approval["at"])
            if not approval["valid"]:
                el("span", "soft", f"void: {approval['void_reason']}")
            for check, reason in approval["acknowledged"].items():
                el("span", "soft wrap", f"{check}: {reason}")


class _Deciding:
    """The form of one person."""

    def __init__(self, on: Reviewing, standing: Standing, said: Html) -> None:
        self.on = on
        self.standing = standing
        self.said = said
        self.acks: dict[str, Any] = {}

    def draw(self) -> None:
        reviewer = self.on.visit.may(Role.REVIEWER)
        in_review = self.on.state is CRState.IN_REVIEW
        against = [r for r in self.standing.reasons if r.code != WARNINGS_OPEN]
        if against and in_review:
            self._why_not([(r.message, r.remedy) for r in against])
        elif not in_review:
            self._why_not([(r.message, r.remedy) for r in self.standing.reasons[:1]])
        elif self.standing.warnings:
            el("p", "", "To approve, say for each failed warning why it is acceptable.")
        if in_review and not against:
            for name in self.standing.warnings:
                field = ui.textarea(f"Why {name} is acceptable").props("outlined autogrow dense maxlength=10000")
                field.classes("o-wide")
                field.on_value_change(self._acknowledged)
                self.acks[name] = field
        with el("div", "o-row"):
            if in_review:
                self.approve = button("Approve", self._approve, "main", aria_describedby="why-not" if against else None)
                set_disabled(self.approve, bool(against) or bool(self.acks))
            if in_review and reviewer:
                button("Request changes", lambda: self._ask_for(*self._forms["changes"]))
                button("Reject the ticked rows", lambda: self._ask_for(*self._forms["rows"]))
            if reviewer and self.on.state in (CRState.IN_REVIEW, CRState.APPROVED, CRState.CONFLICTED):
                button("Reject", lambda: self._ask_for(*self._forms["all"]), "danger")
            if self._may_withdraw:
                button("Withdraw", self._withdraw, "quiet")
            if self.on.state in _AGAIN and self.on.visit.may(Role.CONTRIBUTOR):
                button("Try again", self._retry)
        self.form = el("div", "o-stack")

    def _why_not(self, reasons: list[tuple[str, str]]) -> None:
        if not reasons:
            return
        with el("div", "o-notice info", id="why-not"), el("div"):
            el("b", "", "It cannot be approved:" if self.on.state is CRState.IN_REVIEW else "Nothing to approve:")
            with el("ul"):
                for message, remedy in reasons:
                    with el("li"):
                        el("span", "", message)
                        if told := remedy_words(remedy):
                            el("span", "soft", f" {told}")

    @property
    def _may_withdraw(self) -> bool:
        own = self.on.card["author"] == self.on.visit.actor.name
        may = self.on.visit.may(Role.CONTRIBUTOR if own else Role.ADMIN)
        return may and self.on.state.is_open and self.on.state is not CRState.MERGING

    @property
    def _forms(self) -> dict[str, tuple[str, str, Callable[[str], Awaitable[None]]]]:
        return {
            "changes": ("What should be changed?", "Send to the author", self._request_changes),
            "rows": ("Why are these rows rejected? Their author reads it.", "Reject these rows", self._reject_rows),
            "all": ("Why is it rejected? Its author reads it.", "Reject it", self._reject),
        }

    def _acknowledged(self) -> None:
        set_disabled(self.approve, any(not (field.value or "").strip() for field in self.acks.values()))

    def _ask_for(self, label: str, words: str, send: Callable[[str], Awaitable[None]]) -> None:
        """A line for the reason, before it is done."""
        self.said.clear()
        self.form.clear()
        with self.form:
            reason = ui.textarea(label).props("outlined autogrow maxlength=10000 autofocus").classes("o-wide")
            with el("div", "o-row"):
                button(words, lambda: self._do(lambda: send(reason.value or "")), "main")
                button("Never mind", self.form.clear, "quiet")

    async def _do(self, act: Callable[[], Awaitable[object]]) -> None:
        """Do it, and show what came of it. An error is told here, beside the page as it is after it."""
        done = False
        async with telling(self.said):
            await act()
            done = True
        if done:
            await self.on.read_again()

    async def _approve(self) -> None:
        acks = {name: (field.value or "").strip() for name, field in self.acks.items()}
        seen = self.on.card["content_hash"]
        await self._do(lambda: self.on.visit.ask(review.approve, self.on.ref, self.on.cr_id, acks, seen))

    async def _request_changes(self, reason: str) -> None:
        await self.on.visit.ask(comments.request_changes, self.on.ref, self.on.cr_id, reason)

    async def _reject(self, reason: str) -> None:
        await self.on.visit.ask(review.reject, self.on.ref, self.on.cr_id, reason)

    async def _reject_rows(self, reason: str) -> None:
        rows = await self.on.selected_rows() if self.on.selected_rows else []
        if not rows:
            raise UsageError("No row is ticked.", "Tick the rows to reject in the grid above.")
        if not reason.strip():
            raise UsageError("A rejection needs a reason.", "Its author reads it.")
        await self.on.visit.ask(conflicts.reject_rows, self.on.ref, self.on.cr_id, reason, row_ids=rows)

    async def _withdraw(self) -> None:
        await self._do(lambda: self.on.visit.ask(review.withdraw, self.on.ref, self.on.cr_id))

    async def _retry(self) -> None:
        await self._do(lambda: self.on.visit.ask(review.retry, self.on.ref, self.on.cr_id))
