"""Users, their roles and their tokens."""

from __future__ import annotations

from operator import itemgetter
from typing import Annotated

from fastapi import APIRouter, Path, Request

from ...catalog.users import add_user, list_users, revoke_user, user_json
from .. import told
from ..answers import Json, page
from ..asked import AddUser, After, Limit, following
from ..auth import Who
from ..service import Here

router = APIRouter(prefix="/users", tags=["users"])


@router.get("", response_model=list[told.User], summary="List everybody, with their roles")
def list_(request: Request, here: Here, who: Who, after: After = None, limit: Limit = None) -> Json:
    """Takes the role admin somewhere."""
    found = [user_json(user, grants) for user, grants in list_users(here.ws.catalog, who)]
    return page(request, following(found, itemgetter("name"), after), limit, itemgetter("name"))


@router.get("/me", response_model=told.Me, summary="Who you are, and what you may do where")
def me(who: Who) -> Json:
    """`*` is every project."""
    return Json({"name": who.name, "roles": who.grants})


@router.post("", status_code=201, response_model=told.UserAdded, summary="Add somebody, or give them one more role")
def add(here: Here, who: Who, given: AddUser) -> Json:
    """A new user's token is told this once; only its hash is kept. So there is no `Idempotency-Key` here."""
    return Json(add_user(here.ws.catalog, who, given.name, given.role, given.project).as_json(), 201)


@router.delete("/{name}", response_model=told.UserRevoked, summary="Take somebody's token and roles away")
def revoke(
    here: Here, who: Who, name: Annotated[str, Path(pattern=r"^[A-Za-z0-9][A-Za-z0-9._@+-]{0,63}$", examples=["ben"])]
) -> Json:
    """At once, everywhere. What they did stays in the history under their name."""
    revoke_user(here.ws.catalog, who, name)
    return Json({"name": name, "revoked": True})
