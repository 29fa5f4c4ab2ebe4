"""What a route answers with: the same JSON as the command line, a link to the next page, and entity tags."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from fastapi import Request
from fastapi.responses import JSONResponse, Response

from .. import __version__
from ..model.plain import json_bytes

_REVALIDATE = "private, no-cache"


class Json(JSONResponse):
    """A document as `oreo --json` prints it."""

    def __init__(self, document: Any, status: int = 200, headers: dict[str, str] | None = None) -> None:
        # Answers hold people's data: a cache on the way must not keep them.
        super().__init__(document, status, {"Cache-Control": "no-store", **(headers or {})})

    def render(self, content: Any) -> bytes:
        return json_bytes(content)


@dataclass(frozen=True)
class Answer:
    """A document that may have to be told again, word for word."""

    document: Any
    status: int = 200
    location: str | None = None

    def response(self, **headers: str) -> Json:
        place = {"Location": self.location} if self.location else {}
        return Json(self.document, self.status, {**place, **headers})


def page(
    request: Request, found: list[Any], limit: int | None, key: Callable[[Any], object], parameter: str = "after"
) -> Json:
    """At most `limit` of what was found; if that was more, with a link to the page that follows."""
    if limit is None or len(found) <= limit:
        return Json(found)
    shown = found[:limit]
    return Json(shown, headers={"Link": next_link(request, {parameter: key(shown[-1])})})


def next_link(request: Request, following: Mapping[str, object], *without: str) -> str:
    """The same request with these parameters instead, as a `Link`."""
    left_out = {*following, *without}
    asked = [(name, value) for name, value in request.query_params.multi_items() if name not in left_out]
    changed = [(name, str(value)) for name, value in following.items()]
    return f'<{request.url.path}?{urlencode([*asked, *changed])}>; rel="next"'


def entity_tag(request: Request, *pinned: object) -> str:
    """What a read of something that never changes goes by: what was asked, of which version, told by which Oreo."""
    asked = [request.url.path, sorted(request.query_params.multi_items()), [str(part) for part in pinned], __version__]
    return f'"{hashlib.sha256(json.dumps(asked).encode()).hexdigest()[:32]}"'


def has_it_already(request: Request, tag: str) -> bool:
    given = [part.strip().removeprefix("W/") for part in request.headers.get("If-None-Match", "").split(",")]
    return tag in given or "*" in given


def not_modified(tag: str) -> Response:
    return Response(status_code=304, headers={"ETag": tag, "Cache-Control": _REVALIDATE})


def tagged(document: Any, tag: str) -> Json:
    return Json(document, headers={"ETag": tag, "Cache-Control": _REVALIDATE})
