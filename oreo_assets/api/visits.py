"""Visits to the review site: from signing in with a token until signing out.

The cookie says who signed in, when, and with which token (by a keyed hash of it), and is signed. Nothing is kept
here of a visit that goes on, so it outlives a restart; the catalog is asked each time whether the token still holds.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import secrets
import threading
import time
from collections.abc import Callable

from ..catalog.store import Catalog
from ..catalog.users import Actor, sign_in, sign_in_again, token_hash
from ..model.errors import NotSignedInError

COOKIE = "oreo_visit"
MAX_AGE_SECONDS = 7 * 24 * 3600


class Visits:
    """Makes cookies and believes them, or not."""

    def __init__(self, secret: Callable[[], bytes], catalog: Callable[[], Catalog]) -> None:
        self._secret = secret
        self._catalog = catalog
        self._lock = threading.Lock()
        self._ended: dict[str, float] = {}

    def begin(self, token: str) -> str:
        """The cookie of a visit that begins with this token."""
        actor = sign_in(self._catalog(), token)
        visit = [secrets.token_hex(8), actor.name, int(time.time()), self._fingerprint(token_hash(token))]
        body = base64.urlsafe_b64encode(json.dumps(visit).encode()).decode().rstrip("=")
        return f"{body}.{self._sign(body)}"

    def actor(self, cookie: str | None) -> Actor:
        """Who is on a visit, with the roles they have now."""
        visit, name, _, fingerprint = self._read(cookie)
        with self._lock:
            ended = visit in self._ended
        if ended:
            raise NotSignedInError("You signed out.", "Sign in again.")
        return sign_in_again(
            self._catalog(), name, lambda kept: hmac.compare_digest(self._fingerprint(kept), fingerprint)
        )

    def end(self, cookie: str | None) -> None:
        """No other tab goes on with it either."""
        try:
            visit, _, began, _ = self._read(cookie)
        except NotSignedInError:
            return
        with self._lock:
            self._ended = {v: until for v, until in self._ended.items() if until > time.time()}
            self._ended[visit] = began + MAX_AGE_SECONDS

    def _read(self, cookie: str | None) -> tuple[str, str, int, str]:
        body, _, signature = (cookie or "").partition(".")
        if not body:
            raise NotSignedInError("Nobody is signed in.", "Sign in with your token.")
        if not hmac.compare_digest(self._sign(body).encode(), signature.encode()):
            raise NotSignedInError("The cookie is not one that this site made.", "Sign in again.")
        visit, name, began, fingerprint = json.loads(base64.urlsafe_b64decode(body + "=" * (-len(body) % 4)))
        if began + MAX_AGE_SECONDS < time.time():
            raise NotSignedInError("You signed in a week ago.", "Sign in again.")
        return visit, name, began, fingerprint

    def _sign(self, body: str) -> str:
        return self._keyed("visit", body)

    def _fingerprint(self, hashed: str) -> str:
        return self._keyed("token", hashed)[:32]

    def _keyed(self, purpose: str, text: str) -> str:
        return hmac.new(self._secret(), f"{purpose}:{text}".encode(), hashlib.sha256).hexdigest()
