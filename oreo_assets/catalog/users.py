"""Users, their tokens (hashed) and their roles."""

from __future__ import annotations

import hashlib
import re
import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import func, select

from ..model.errors import NotAllowedError, NotFoundError, NotSignedInError, UsageError
from ..model.states import Role
from . import audit
from .models import Grant, Project, User, now
from .store import Catalog, Transaction

EVERYWHERE = "*"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@+-]{0,63}\Z")


@dataclass(frozen=True)
class Actor:
    """Who acts, and what they may do where."""

    name: str
    grants: dict[str, Role] = field(default_factory=dict)

    def role_in(self, project: str) -> Role | None:
        """The strongest of the role in the project and the role everywhere."""
        held = [r for r in (self.grants.get(project), self.grants.get(EVERYWHERE)) if r]
        return max(held, key=list(Role).index) if held else None

    def require(self, role: Role, project: str) -> None:
        held = self.role_in(project)
        if held is None or not held.includes(role):
            has = f"is {held} there" if held else "has no role there"
            raise NotAllowedError(
                f"{self.name} may not do this in {project}: it takes the role {role}, and {self.name} {has}.",
                f"Ask an admin: oreo user add {self.name} --role {role} --project {project}",
            )


@dataclass(frozen=True)
class NewUser:
    """What came of adding a user. `token` is empty for somebody who already had one."""

    name: str
    role: Role
    project: str | None
    token: str

    def as_json(self) -> dict[str, Any]:
        return {"name": self.name, "role": self.role, "project": self.project, "token": self.token or None}


SYSTEM = Actor("system", {EVERYWHERE: Role.ADMIN})
"""The platform itself: sensors, schedules and recovery. Nobody can sign in as it."""


def add_user(catalog: Catalog, actor: Actor | None, name: str, role: Role, project: str | None) -> NewUser:
    """Give a role, and to a new user a token, which is returned once and never kept.

    The first user of a new catalog needs no one's leave and is its admin, whatever role was asked for.
    """
    if not _NAME.match(name) or name == SYSTEM.name:
        raise UsageError(f"{name!r} cannot name a user.", "Use letters, digits and . _ @ + -.")
    with catalog.write() as tx:
        first = not tx.scalar(select(func.count()).select_from(User))
        if first:
            role, project = Role.ADMIN, None
        else:
            if actor is None:
                raise _not_signed_in()
            actor.require(Role.ADMIN, project or EVERYWHERE)
        if project and not tx.get(Project, project):
            raise NotFoundError(f"There is no project {project}.", f"Make it: oreo project create {project}")
        user = tx.get(User, name)
        if user and not user.revoked_at:
            token = ""
        else:
            token = f"oreo_{secrets.token_urlsafe(32)}"
            user = user or User(name=name)
            user.token_hash, user.revoked_at = token_hash(token), None
            tx.add(user)
        tx.flush()
        tx.merge(Grant(user=name, project=project or EVERYWHERE, role=role))
        audit.record(
            tx,
            actor.name if actor else name,
            "user.add",
            subject=name,
            role=role,
            where=project or EVERYWHERE,
        )
    return NewUser(name, role, project, token)


def revoke_user(catalog: Catalog, actor: Actor, name: str) -> None:
    """The token stops working and the roles are gone; the name stays in the history."""
    actor.require(Role.ADMIN, EVERYWHERE)
    with catalog.write() as tx:
        user = tx.get(User, name)
        if user is None or user.revoked_at:
            raise NotFoundError(f"There is no user {name}.", "See: oreo user list")
        user.revoked_at = now()
        for grant in tx.scalars(select(Grant).where(Grant.user == name)):
            tx.delete(grant)
        audit.record(tx, actor.name, "user.revoke", subject=name)


def list_users(catalog: Catalog, actor: Actor) -> list[tuple[User, dict[str, Role]]]:
    if Role.ADMIN not in actor.grants.values():
        actor.require(Role.ADMIN, EVERYWHERE)
    with catalog.read() as tx:
        return [(user, _grants(tx, user.name)) for user in tx.scalars(select(User).order_by(User.name))]


def user_json(user: User, grants: dict[str, Role]) -> dict[str, Any]:
    return {"name": user.name, "roles": grants, "created_at": user.created_at, "revoked_at": user.revoked_at}


def sign_in(catalog: Catalog, token: str | None) -> Actor:
    """The user a token belongs to."""
    if not token:
        raise _not_signed_in()
    with catalog.read() as tx:
        user = tx.scalars(select(User).where(User.token_hash == token_hash(token), User.revoked_at.is_(None))).first()
        if user is None:
            raise NotSignedInError("The token is not one that Oreo knows, or it was revoked.", "Ask an admin for one.")
        return Actor(user.name, _grants(tx, user.name))


def sign_in_again(catalog: Catalog, name: str, is_theirs: Callable[[str], bool]) -> Actor:
    """A user who proved earlier who they are, with the roles of now. `is_theirs` is shown the hash of their token:
    one that was revoked or replaced meanwhile ends what was begun with it."""
    with catalog.read() as tx:
        user = tx.get(User, name)
        if user is None or user.revoked_at or not is_theirs(user.token_hash):
            raise NotSignedInError("The token you signed in with was revoked.", "Ask an admin for a new one.")
        return Actor(user.name, _grants(tx, user.name))


def token_hash(token: str) -> str:
    # Tokens are 256 bits of chance, so a plain hash is enough; there is nothing to guess.
    return hashlib.sha256(token.encode()).hexdigest()


def has_users(catalog: Catalog) -> bool:
    with catalog.read() as tx:
        return tx.scalar(select(User.name).limit(1)) is not None


def _grants(tx: Transaction, name: str) -> dict[str, Role]:
    return {g.project: g.role for g in tx.scalars(select(Grant).where(Grant.user == name))}


def _not_signed_in() -> NotSignedInError:
    return NotSignedInError(
        "Nobody is signed in.",
        "Set OREO_TOKEN or give --token. In a new catalog, make the first user: oreo user add NAME --role admin",
    )
