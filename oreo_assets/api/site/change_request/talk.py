"""The conversation: about the change request, a row, or a cell."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from nicegui import ui

from ....model.states import Role
from ....workflow import comments
from ....workflow.comments import CommentCard
from ..elements import Html, button, el, section
from ..notices import empty, telling
from ..words import moment
from .reviewing import Reviewing

Again = Callable[[], Awaitable[None]]
_ALL = "all"


async def draw(on: Reviewing) -> None:
    with section("Comments", anchor="comments"):
        place = el("div", "o-stack")
        said = el("div", "o-stack")

        async def again() -> None:
            found = await on.visit.ask(comments.list_comments, on.ref, on.cr_id)
            place.clear()
            with place:
                if not found:
                    empty("Nobody has said anything yet.")
                for comment in found:
                    _comment(on, comment, again)

        if on.visit.may(Role.CONTRIBUTOR):
            _form(on, said, again)
    on.read_comments = again


def _comment(on: Reviewing, comment: CommentCard, again: Again) -> None:
    with el("article", "o-said" if comment.is_open else "o-said resolved"):
        with el("div", "o-row soft small"):
            el("b", "", comment.author)
            moment(comment.created_at)
            if comment.wants_changes:
                el("span", "o-chip warn", "asks for changes")
            if comment.row_id is not None:
                el("span", "wrap", _about(comment.row_id, comment.column))
            if not comment.is_open:
                el("span", "", f"settled by {comment.resolved_by}")
        el("div", "pre", comment.text)
        if comment.is_open and on.visit.may(Role.CONTRIBUTOR):
            said = el("div", "o-stack")

            async def settle() -> None:
                async with telling(said):
                    await on.visit.ask(comments.resolve_comment, on.ref, on.cr_id, comment.comment_id)
                    if comment.wants_changes:
                        await on.read_again()
                    else:
                        await again()

            button("Take back" if comment.wants_changes else "Settle", settle, "small quiet")


def _form(on: Reviewing, said: Html, again: Again) -> None:
    places: dict[str, tuple[str | None, str | None]] = {_ALL: (None, None)}
    text = ui.textarea("Comment").props("outlined autogrow maxlength=10000").classes("o-wide")
    with el("div", "o-row"):
        about = ui.select({_ALL: "the whole change request"}, value=_ALL, label="About")
        about.props("outlined dense options-dense").classes("o-about")
        el("span", "soft small", "Choose a cell in the grid to comment on it, or on its row.")

    def talk_about(row_id: str, column: str | None) -> None:
        places.update(row=(row_id, None))
        options = {_ALL: "the whole change request", "row": _about(row_id, None)}
        if column:
            places.update(cell=(row_id, column))
            options["cell"] = _about(row_id, column)
        if not text.value:
            about.set_options(options, value="cell" if column else "row")
        else:
            about.set_options(options, value=about.value if about.value in options else _ALL)

    async def send() -> None:
        async with telling(said):
            row_id, column = places[about.value]
            await on.visit.ask(comments.comment, on.ref, on.cr_id, text.value or "", row_id=row_id, column=column)
            text.value = ""
            await again()

    button("Comment", send)
    on.talk_about = talk_about


def _about(row_id: str, column: str | None) -> str:
    return f"row {row_id}, column {column}" if column else f"row {row_id}"
