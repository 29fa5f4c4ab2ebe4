"""The site on the API's app: its pages at every address that the API has not, behind a guard."""

from __future__ import annotations

import importlib
import logging
from typing import Any

from fastapi import FastAPI, Request
from fastapi.responses import RedirectResponse, Response
from nicegui import app as pages_app
from nicegui import core, ui
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import MutableHeaders
from starlette.requests import HTTPConnection
from starlette.routing import Match, Mount
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ...model.errors import NotSignedInError, OreoError
from ..auth import require_same_origin
from ..errors import log_defect
from ..service import Service
from ..visits import COOKIE
from . import signing_in, theme
from .frame import not_found
from .live import rows as live_rows
from .notices import sign_in_address
from .upload import drafts
from .visit import SERVICE

_PAGES = ("home", "change_requests", "dataset", "change_request", "live", "upload")
_OF_THE_API = ("/api", "/delta", "/healthz", "/metrics")
_SOCKET = "/_nicegui_ws/"
_POLICY = (
    "default-src 'self'; script-src 'self' 'unsafe-inline' 'unsafe-eval'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data:; font-src 'self' data:; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; "
    "form-action 'self'; object-src 'none'"
)
"""Nothing from elsewhere, and in nobody's frame. NiceGUI's own pages need inline scripts and eval."""


def mount_site(app: FastAPI, service: Service) -> None:
    """Put the site on the app. Pages belong to the process (NiceGUI has one app of them), the service to this app."""
    for name in _PAGES:
        importlib.import_module(f"{__package__}.{name}")
    logging.getLogger("nicegui").setLevel(logging.ERROR)
    app.include_router(signing_in.router)
    _lead_to_the_door(app)
    app.include_router(live_rows.router)
    app.include_router(drafts.router)
    if not core.app.config.has_run_config:
        pages_app.add_static_files(theme.ADDRESS, str(theme.STATIC), max_cache_age=365 * 24 * 3600)
        pages_app.exception_handler(404)(_no_such_page)
        # NiceGUI would log an error in its own words, and those may quote a cell of somebody's file.
        pages_app._exception_handlers[:] = [log_defect]
    ui.run_with(
        app,
        title="Oreo",
        dark=None,
        tailwind=False,
        reconnect_timeout=30,
        show_welcome_message=False,
        favicon=theme.STATIC / "favicon.svg",
        binding_refresh_interval=None,
    )
    app.router.routes[-1] = _Site(core.app, service)


def _lead_to_the_door(app: FastAPI) -> None:
    """Somebody who opens a page of the API (a report, from Dagster) without being signed in is asked to; programs
    are answered as ever."""
    otherwise = app.exception_handlers[OreoError]

    async def answer(request: Request, error: Exception) -> Response:
        if request.method == "GET" and "text/html" in request.headers.get("accept", ""):
            return RedirectResponse(sign_in_address(request.url.path), 303)
        return await otherwise(request, error)  # type: ignore[misc]

    app.add_exception_handler(NotSignedInError, answer)


async def _no_such_page(request: Request, _error: Exception) -> Response:
    return await not_found(request)


class _Site(Mount):
    """Takes every address but the API's: there, an unknown one keeps its answer in the API's own shape."""

    def __init__(self, pages: ASGIApp, service: Service) -> None:
        super().__init__("/", _Guard(pages, service), name="site")

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        path = scope.get("path", "")
        if any(path == part or path.startswith(f"{part}/") for part in _OF_THE_API):
            return Match.NONE, {}
        return super().matches(scope)


class _Guard:
    """Lets a socket in only from a page of ours and with a cookie that holds; adds what browsers are to enforce."""

    def __init__(self, pages: ASGIApp, service: Service) -> None:
        self.pages = pages
        self.service = service

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        scope[SERVICE] = self.service
        if scope["path"].startswith(_SOCKET) and not await self._lets_in(scope):
            await _refuse(scope, receive, send)
            return

        async def tell(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers["Content-Security-Policy"] = _POLICY
                headers["Referrer-Policy"] = "same-origin"
            await send(message)

        await self.pages(scope, receive, tell)

    async def _lets_in(self, scope: Scope) -> bool:
        connection = HTTPConnection(scope)
        try:
            # A browser leaves the origin out of a GET that it makes for a page of the same site.
            polls = scope["type"] == "http" and scope["method"] == "GET" and "origin" not in connection.headers
            if not polls or connection.headers.get("sec-fetch-site", "same-origin") != "same-origin":
                require_same_origin(connection)
            await run_in_threadpool(self.service.visits.actor, connection.cookies.get(COOKIE))
        except OreoError:
            return False
        return True


async def _refuse(scope: Scope, receive: Receive, send: Send) -> None:
    if scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.close", "code": 1008})
        return
    answer: Any = Response("Not signed in.", 403)
    await answer(scope, receive, send)
