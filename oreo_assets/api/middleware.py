"""Around every request: its id, its line in the log, the size of its body, and the net under it."""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Iterable
from contextvars import ContextVar
from urllib.parse import quote

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ..model.ids import new_id
from .errors import TooLargeError, defect_response, error_response

logger = logging.getLogger(__name__)

MAX_BODY_BYTES = 8 * 2**20
_FILES_OF_PAGES = "/_nicegui/"
_GIVEN_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}\Z")
_request_id: ContextVar[str] = ContextVar("request_id", default="-")


class RequestIds:
    """Gives each request an id (its sender's, if it has one), and answers what nobody foresaw."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        given = Headers(scope=scope).get("x-request-id", "")
        request_id = given if _GIVEN_ID.match(given) else new_id("req")
        scope.setdefault("state", {})["request_id"] = request_id
        _request_id.set(request_id)
        status, began = 0, time.monotonic()

        async def tell(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = MutableHeaders(scope=message)
                headers["X-Request-Id"] = request_id
                headers["X-Content-Type-Options"] = "nosniff"
            await send(message)

        try:
            await self.app(scope, receive, tell)
        except ClientDisconnect:
            logger.info("the sender went away")
        except Exception as error:
            if status:
                raise
            await defect_response(error, request_id)(scope, receive, tell)
        finally:
            # The path only: a query may hold values of somebody's rows.
            took = (time.monotonic() - began) * 1000
            # A page of the site fetches some thirty files; they would hide what people did.
            level = logging.DEBUG if status < 400 and scope["path"].startswith(_FILES_OF_PAGES) else logging.INFO
            logger.log(level, "%s %s %s %.0f ms", scope["method"], quote(scope["path"]), status or "-", took)


class BodyLimit:
    """Refuses a body that is larger than a document of ours can be. Files have their dataset's own limit."""

    def __init__(self, app: ASGIApp, unlimited: Iterable[str] = ()) -> None:
        self.app = app
        self.unlimited = [re.compile(pattern) for pattern in unlimited]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or any(pattern.fullmatch(scope["path"]) for pattern in self.unlimited):
            await self.app(scope, receive, send)
            return
        words = f"The body is larger than {MAX_BODY_BYTES // 2**20} MB"
        declared = Headers(scope=scope).get("content-length", "")
        if declared.isdigit() and int(declared) > MAX_BODY_BYTES:
            error = TooLargeError(f"{words}.", "Send less at once; send rows as a file.")
            await error_response(error, scope["state"]["request_id"])(scope, receive, send)
            return
        seen = 0

        async def take() -> Message:
            nonlocal seen
            message = await receive()
            seen += len(message.get("body", b""))
            if seen > MAX_BODY_BYTES:
                raise HTTPException(413, words)
            return message

        await self.app(scope, take, send)


class WithRequestId(logging.Filter):
    """Every line that is logged on behalf of a request names it."""

    def filter(self, record: logging.LogRecord) -> bool:
        record.request_id = _request_id.get()
        return True
