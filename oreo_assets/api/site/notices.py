"""What a person is told where they look: errors, successes, empty and loading places."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from urllib.parse import quote

from nicegui import ui
from nicegui.element import Element

from ...model.errors import DefectError, NotSignedInError, OreoError, StateError
from ...model.ids import new_id
from ..errors import log_defect
from .elements import Html, el

logger = logging.getLogger(__name__)

_LIVE = {"bad": "alert", "warn": "alert"}


def notice(kind: str, what: str, remedy: str = "") -> Html:
    """A message that stays until something changes. `kind` is bad, warn, good, odd or info."""
    with el("div", f"o-notice {kind}", role=_LIVE.get(kind, "status")) as made, el("div"):
        el("b", "pre", what)
        if remedy:
            el("div", "soft", remedy)
    return made


def empty(what: str, remedy: str = "") -> None:
    """A place with nothing in it, and what would put something there."""
    with el("div", "o-empty"):
        el("b", "", what)
        if remedy:
            el("span", "", remedy)


def loading() -> None:
    with el("div", "o-wait", role="status", aria_label="Loading"):
        for _ in range(3):
            el("i")


@asynccontextmanager
async def telling(place: Element) -> AsyncIterator[None]:
    """What goes wrong inside is told in `place`; what was told there before is gone."""
    place.clear()
    try:
        yield
    except Exception as error:
        tell(place, error)


def tell(place: Element, error: Exception) -> None:
    """An error where it belongs. Who is signed in no longer is led to the door instead."""
    with place:
        if isinstance(error, NotSignedInError):
            go_sign_in()
            return
        told = as_told(error)
        notice("bad", told.message, remedy_here(told))


def as_told(error: Exception) -> OreoError:
    """The error as a person may read it. One that nobody foresaw goes to the log; here stands its number."""
    if isinstance(error, OreoError) and (error.http_status < 500 or error.retryable):
        return error
    event = new_id("ev")
    logger.error("%s, on a page of the site:", event)
    log_defect(error)
    return DefectError("Something went wrong inside Oreo.", f"Tell its operator: {event}, in the API's log.")


def remedy_here(error: OreoError) -> str:
    """What to do next, on a page. Where the words name a command, the page itself has it."""
    told = remedy_words(error.remedy)
    if not told and isinstance(error, StateError):
        return "Load the page again to see it as it is now."
    return told


def remedy_words(remedy: str) -> str:
    """The part of a remedy that helps here: a command of `oreo` does only where no page has the same."""
    return remedy if "oreo " not in remedy or "oreo user" in remedy else ""


def go_sign_in() -> None:
    ui.run_javascript("location.assign('/sign-in?next=' + encodeURIComponent(location.pathname + location.search))")


def sign_in_address(path: str) -> str:
    return f"/sign-in?next={quote(path, safe='')}"
