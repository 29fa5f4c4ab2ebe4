"""`Idempotency-Key`: a request that is sent again, because its answer got lost, is not done again."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import Depends, Header, Request
from fastapi.responses import Response

from ..catalog import Catalog, idempotency
from ..model.errors import OreoError
from ..model.plain import plain
from .answers import Answer
from .auth import Who
from .errors import coded_response
from .service import Here

_REPLAYED = {"Idempotency-Replayed": "true"}
_KEPT_ERROR = 422
"""A refusal of what was sent, which the same request would meet again; it may have left something behind, too.
Anything else that is no success left nothing, and may go another way the next time: its key is free again."""


@dataclass(frozen=True)
class OnceOnly:
    """Does a piece of work once for each key of each user; without a key, each time."""

    catalog: Catalog
    user: str
    key: str | None
    target: str
    request_id: str

    def __call__(self, work: Callable[[], Answer], *sent: Any) -> Response:
        """`sent` is what the request said besides its path: another one under the same key is refused."""
        if self.key is None:
            return work().response()
        fingerprint = hashlib.sha256(json.dumps([self.target, plain(sent)], sort_keys=True).encode()).hexdigest()
        if stored := idempotency.claim(self.catalog, self.user, self.key, fingerprint):
            return self._again(stored)
        try:
            answer = work()
        except OreoError as error:
            if error.http_status == _KEPT_ERROR:
                self._keep(error.http_status, {"error": error.as_json()["error"]})
            else:
                idempotency.let_go(self.catalog, self.user, self.key)
            raise
        except Exception:
            idempotency.let_go(self.catalog, self.user, self.key)
            raise
        self._keep(answer.status, {"document": answer.document, "location": answer.location})
        return answer.response()

    def _keep(self, status: int, answer: dict[str, Any]) -> None:
        assert self.key is not None
        idempotency.keep(self.catalog, self.user, self.key, status, plain(answer))

    def _again(self, stored: idempotency.StoredAnswer) -> Response:
        if "error" in stored.answer:
            return coded_response(stored.status, stored.answer["error"], self.request_id, _REPLAYED)
        answer = Answer(stored.answer["document"], stored.status, stored.answer["location"])
        return answer.response(**_REPLAYED)


def _once(
    request: Request,
    here: Here,
    who: Who,
    idempotency_key: Annotated[
        str | None,
        Header(
            pattern=r"^[!-~]{1,255}$",
            description="Any text of your choice. The same request with the same key within 24 hours is done once, "
            "and answered the same each time.",
            examples=["6f1c2f4e-upload-october"],
        ),
    ] = None,
) -> OnceOnly:
    target = f"{request.method} {request.url.path}?{request.url.query}"
    return OnceOnly(here.ws.catalog, who.name, idempotency_key, target, request.state.request_id)


Once = Annotated[OnceOnly, Depends(_once)]
