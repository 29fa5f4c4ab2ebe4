"""Parts of a page that come after it: a place that waits, then shows what was found, or what went wrong."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from nicegui import ui

from .elements import button, el
from .notices import loading, tell

T = TypeVar("T")


def later(load: Callable[[], Awaitable[T]], show: Callable[[T], Any]) -> None:
    """Show what `load` finds, once the page is there. If it goes wrong, that is told, with a button to try again."""
    place = el("div", "o-stack o-later")

    async def run() -> None:
        place.clear()
        with place:
            loading()
        try:
            found = await load()
            place.clear()
            with place:
                show(found)
        except Exception as error:
            place.clear()
            tell(place, error)
            with place:
                button("Try again", run, "small")

    with place:
        loading()
    # Beside the place, not in it: a timer that is cleared away stops what it began.
    ui.timer(0, run, once=True)
