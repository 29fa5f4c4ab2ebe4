"""The frame of every page: who is here, where they are, and what to show if the page cannot be made."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from fastapi import Request
from fastapi.responses import RedirectResponse, Response
from nicegui import ui

from ...catalog.users import EVERYWHERE
from ...model.errors import NotFoundError, NotSignedInError, OreoError
from . import theme
from .elements import Html, button, el, link
from .notices import as_told, remedy_here, sign_in_address
from .visit import Visit

Build = Callable[[Visit], Awaitable[None]]
_paths: set[str] = set()


def page(path: str, title: str) -> Callable[[Build], Build]:
    """Make a function a page of the site. Who is not signed in is sent to the door first."""

    def decorate(build: Build) -> Build:
        _paths.add(path)

        @ui.page(path, response_timeout=30)
        async def shown(request: Request) -> Response | None:
            visit = Visit(request)
            try:
                await visit.arrive()
            except NotSignedInError:
                asked = request.url.path + (f"?{request.url.query}" if request.url.query else "")
                return RedirectResponse(sign_in_address(asked), 303)
            ui.add_head_html(theme.head())
            ui.page_title(f"{title} – Oreo")
            await _fill(visit, title, build)
            return None

        return build

    return decorate


def page_exists(path: str) -> bool:
    """Whether there is a page of this path, so that a link leads nowhere that is not there."""
    return path in _paths


async def not_found(request: Request) -> Response:
    """The page for an address that names nothing."""
    from nicegui.client import Client

    visit = Visit(request)
    try:
        await visit.arrive()
    except NotSignedInError:
        return RedirectResponse(sign_in_address(request.url.path), 303)

    async def nothing(_visit: Visit) -> None:
        raise NotFoundError("There is no such page.", "Check the address, or begin at the list of datasets.")

    with Client(ui.page(""), request=request) as client:
        ui.add_head_html(theme.head())
        ui.page_title("Not found – Oreo")
        await _fill(visit, "Not found", nothing)
    return client.build_response(request, client.status_code)


async def _fill(visit: Visit, title: str, build: Build) -> None:
    # Quasar makes its page a <main>: what is on every page stands before that.
    with ui.context.client.layout:
        _bar(visit, title).move(target_index=0)
        link("Skip to the content", "#main", "o-skip").move(target_index=0)
    with el("div", "o-main", id="main", tabindex="-1") as main:
        try:
            await build(visit)
        except NotSignedInError:
            raise
        except Exception as error:
            told = as_told(error)
            main.clear()
            ui.context.client.status_code = told.http_status
            ui.page_title(f"{_what(told)} – Oreo")
            _instead(visit, told)


def _bar(visit: Visit, title: str) -> Html:
    with el("header", "o-bar") as bar:
        with link(None, "/", "o-brand", aria_label="Oreo, all datasets"):
            el("span", "o-mark", aria_hidden="true")
            el("span", "word", "Oreo")
        with el("nav", "o-crumbs", aria_label="Where you are"), el("ol", "o-crumbs"):
            _crumbs(visit, title)
        with el("div", "o-me"):
            with el("div", "o-who"):
                el("b", "", visit.actor.name)
                el("span", "", _role_words(visit))
            theme_button = button("", None, "quiet", aria_label="Light or dark", title="Light or dark")
            theme_button.on("click", js_handler="() => window.oreo.toggleTheme()")
            with theme_button:
                el("span", "", "◐", aria_hidden="true")
            with el("form", method="post", action="/sign-out"):
                el("button", "o-button quiet", "Sign out", type="submit")
    return bar


def _crumbs(visit: Visit, title: str) -> None:
    try:
        ref = visit.ref
    except OreoError:
        with el("li"):
            el("span", "", title)
        return
    with el("li"):
        link(f"{ref}", visit.home)
    cr = visit.request.path_params.get("cr")
    if cr:
        with el("li"):
            link("change requests", f"{visit.home}/crs")
    if visit.request.url.path != visit.home:
        with el("li"):
            el("span", "soft", cr or title.lower(), aria_current="page")


def _role_words(visit: Visit) -> str:
    if visit.project:
        return f"{visit.role} in {visit.project}" if visit.role else f"no role in {visit.project}"
    if everywhere := visit.actor.grants.get(EVERYWHERE):
        return f"{everywhere} everywhere"
    held = [f"{role} in {project}" for project, role in sorted(visit.actor.grants.items())]
    return ", ".join(held[:2]) + (" …" if len(held) > 2 else "") or "no role yet"


def _what(error: OreoError) -> str:
    return {403: "Not allowed", 404: "Not found", 503: "Not available"}.get(error.http_status, "It did not work")


def _instead(visit: Visit, error: OreoError) -> None:
    with el("section", "o-card"), el("div", "o-body"):
        el("h1", "", _what(error))
        el("p", "", error.message)
        if remedy := remedy_here(error):
            el("p", "soft", remedy)
        with el("div", "o-row"):
            link("All datasets", "/", "o-button main")
            if error.retryable:
                link("Try again", visit.request.url.path, "o-button")
