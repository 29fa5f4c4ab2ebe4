"""The door: a form for the token, and the way out. Plain pages, so that they need no connection to stay open."""

from __future__ import annotations

from html import escape
from urllib.parse import urlsplit

from fastapi import APIRouter, Form, Request
from fastapi.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.concurrency import run_in_threadpool

from ...model.errors import NotAllowedError, OreoError
from ..auth import require_same_origin
from ..service import Here
from ..visits import COOKIE, MAX_AGE_SECONDS
from . import theme

router = APIRouter(include_in_schema=False, default_response_class=HTMLResponse)

_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Sign in – Oreo</title>
{head}
</head>
<body>
<main class="o-gate">
<form class="o-card" method="post" action="/sign-in">
<div class="o-brand"><span class="o-mark" aria-hidden="true"></span>Oreo</div>
<h1>Sign in</h1>
{said}
<div class="o-field">
<label for="token">Token</label>
<input class="o-input mono" id="token" name="token" type="password" autocomplete="current-password" required autofocus
 spellcheck="false" maxlength="500" aria-describedby="token-help"{invalid}>
<span id="token-help" class="soft small">The one that <code>oreo user add</code> printed.
An admin can give you one.</span>
</div>
<input type="hidden" name="next" value="{next}">
<button class="o-button main" type="submit">Sign in</button>
</form>
</main>
<script>
// A link from elsewhere comes without the cookie. Asked from this page, it comes along.
fetch("/visit", {{cache: "no-store"}}).then((answer) => {{
  if (answer.status === 200) location.replace(document.querySelector("[name=next]").value);
}});
</script>
</body>
</html>"""
_ERROR = '<div class="o-notice bad" role="alert"><div><b>{what}</b><div class="soft">{remedy}</div></div></div>'


@router.get("/sign-in")
async def door(next: str = "/") -> HTMLResponse:
    return _door(next)


@router.post("/sign-in")
async def enter(request: Request, here: Here, token: str = Form("", max_length=500), next: str = Form("/")) -> Response:
    """Change the token for a cookie that scripts cannot read and other sites cannot use."""
    try:
        require_same_origin(request)
        cookie = await run_in_threadpool(here.visits.begin, token.strip())
    except OreoError as error:
        status = error.http_status if isinstance(error, NotAllowedError) else 503
        return _door(next, error, status)
    answer = RedirectResponse(_own(next), 303)
    answer.set_cookie(
        COOKIE,
        cookie,
        max_age=MAX_AGE_SECONDS,
        httponly=True,
        samesite="strict",
        secure=request.url.scheme == "https",
        path="/",
    )
    return answer


@router.post("/sign-out")
async def leave(request: Request, here: Here) -> Response:
    require_same_origin(request)
    here.visits.end(request.cookies.get(COOKIE))
    answer = RedirectResponse("/sign-in", 303)
    answer.delete_cookie(COOKIE, httponly=True, samesite="strict", path="/")
    return answer


@router.get("/visit")
async def who(request: Request, here: Here) -> Response:
    """Whether this browser is signed in: the door asks, before it asks for a token."""
    try:
        await run_in_threadpool(here.visits.actor, request.cookies.get(COOKIE))
    except OreoError:
        return Response(status_code=204, headers={"Cache-Control": "no-store"})
    return JSONResponse({"signed_in": True}, headers={"Cache-Control": "no-store"})


def _door(wanted: str, error: OreoError | None = None, status: int = 200) -> HTMLResponse:
    said = _ERROR.format(what=escape(error.message), remedy=escape(error.remedy)) if error else ""
    body = _PAGE.format(
        head=theme.head(), said=said, next=escape(_own(wanted)), invalid=' aria-invalid="true"' if error else ""
    )
    return HTMLResponse(body, status, {"Cache-Control": "no-store"})


def _own(wanted: str) -> str:
    """A page of this site, whatever the link said."""
    parts = urlsplit(wanted)
    fits = wanted.startswith("/") and not wanted.startswith(("//", "/\\", "/sign-")) and not parts.netloc
    return wanted if fits and wanted.isprintable() and "\\" not in wanted else "/"
