"""Who asks: bearer tokens, and the cookie of somebody who signed in to the review site with theirs."""

from __future__ import annotations

from typing import Annotated
from urllib.parse import urlsplit

from fastapi import Depends, Request
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from starlette.requests import HTTPConnection

from ..catalog.users import Actor, sign_in
from ..model.errors import NotAllowedError, NotSignedInError
from .service import Here, Service
from .visits import COOKIE

_bearer = HTTPBearer(auto_error=False, scheme_name="token", description="The token that `oreo user add` printed.")
_SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})


def signed_in(request: Request) -> Actor:
    """The user whose token, or whose cookie of the review site, came with the request.

    A browser sends the cookie by itself, also when another site has it do so: with a cookie, what changes
    something must come from a page of ours.
    """
    service: Service = request.app.state.service
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer" and token.strip():
        return sign_in(service.ws.catalog, token.strip())
    if request.cookies.get(COOKIE) and request.method not in _SAFE_METHODS:
        require_same_origin(request)
    return service.visits.actor(request.cookies.get(COOKIE))


def require_same_origin(connection: HTTPConnection) -> None:
    """Browsers say which site's page made them ask. Only ours may, where a cookie is believed."""
    origin = connection.headers.get("origin", "")
    if not origin or urlsplit(origin).netloc != connection.headers.get("host"):
        raise NotAllowedError(
            "The request does not come from a page of this site.", "Open the review site itself and try again there."
        )


def _with_token(
    here: Here, request: Request, given: Annotated[HTTPAuthorizationCredentials | None, Depends(_bearer)]
) -> Actor:
    """The user whose token came with the request; for a page of the review site, the user on its visit."""
    if given is None or not given.credentials:
        if request.cookies.get(COOKIE):
            return signed_in(request)
        raise NotSignedInError(
            "The request has no token.",
            "Send it as `Authorization: Bearer TOKEN`. The first user of a new catalog is made on its machine: "
            "oreo user add NAME --role admin",
        )
    return sign_in(here.ws.catalog, given.credentials)


Who = Annotated[Actor, Depends(_with_token)]
WhoOnSite = Annotated[Actor, Depends(signed_in)]
