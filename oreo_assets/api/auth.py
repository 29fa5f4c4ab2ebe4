"""Who asks: bearer tokens."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

from ..catalog.users import Actor, sign_in
from ..model.errors import NotSignedInError
from .service import Here

_bearer = HTTPBearer(auto_error=False, scheme_name="token", description="The token that `oreo user add` printed.")


def _signed_in(here: Here, given: Annotated[HTTPAuthorizationCredentials | None, Depends(_bearer)]) -> Actor:
    """The user whose token came with the request."""
    if given is None or not given.credentials:
        raise NotSignedInError(
            "The request has no token.",
            "Send it as `Authorization: Bearer TOKEN`. The first user of a new catalog is made on its machine: "
            "oreo user add NAME --role admin",
        )
    return sign_in(here.ws.catalog, given.credentials)


Who = Annotated[Actor, Depends(_signed_in)]
