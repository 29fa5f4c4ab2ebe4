from __future__ import annotations

import pytest
from sqlalchemy import text

from oreo_assets.catalog import Catalog
from oreo_assets.catalog.models import Project
from oreo_assets.catalog.users import Actor, add_user, list_users, revoke_user, sign_in
from oreo_assets.model.errors import NotAllowedError, NotFoundError, NotSignedInError, UsageError
from oreo_assets.model.states import Role


@pytest.fixture
def admin(catalog: Catalog) -> Actor:
    return sign_in(catalog, add_user(catalog, None, "ann", Role.ADMIN, None).token)


def test_the_first_user_is_the_admin_whatever_was_asked(catalog: Catalog):
    made = add_user(catalog, None, "ann", Role.VIEWER, None)
    assert made.role is Role.ADMIN
    assert sign_in(catalog, made.token).role_in("anything") is Role.ADMIN


def test_the_second_user_needs_an_admin(catalog: Catalog, admin: Actor):
    with pytest.raises(NotSignedInError):
        add_user(catalog, None, "eve", Role.ADMIN, None)
    bob = sign_in(catalog, add_user(catalog, admin, "bob", Role.REVIEWER, None).token)
    with pytest.raises(NotAllowedError):
        add_user(catalog, bob, "eve", Role.ADMIN, None)


def test_a_role_in_one_project_says_nothing_about_another(catalog: Catalog, admin: Actor):
    with catalog.write() as tx:
        tx.add(Project(id="p", created_by="ann"))
    bob = sign_in(catalog, add_user(catalog, admin, "bob", Role.REVIEWER, "p").token)
    bob.require(Role.CONTRIBUTOR, "p")
    with pytest.raises(NotAllowedError, match="has no role there"):
        bob.require(Role.VIEWER, "q")
    with pytest.raises(NotFoundError):
        add_user(catalog, admin, "bob", Role.VIEWER, "q")


def test_only_a_hash_of_the_token_is_kept(catalog: Catalog):
    token = add_user(catalog, None, "ann", Role.ADMIN, None).token
    with catalog.engine.connect() as connection:
        kept = connection.execute(text("SELECT token_hash FROM users")).scalar_one()
        told = connection.execute(text("SELECT details FROM audit_events")).scalars().all()
    assert token not in kept
    assert all(token not in str(d) for d in told)


@pytest.mark.parametrize("token", [None, "", "oreo_wrong", "' OR 1=1 --"])
def test_no_or_a_wrong_token_signs_nobody_in(catalog: Catalog, admin: Actor, token: str | None):
    with pytest.raises(NotSignedInError):
        sign_in(catalog, token)


def test_a_revoked_token_stops_working_and_may_be_replaced(catalog: Catalog, admin: Actor):
    old = add_user(catalog, admin, "bob", Role.VIEWER, None).token
    revoke_user(catalog, admin, "bob")
    with pytest.raises(NotSignedInError):
        sign_in(catalog, old)
    new = add_user(catalog, admin, "bob", Role.VIEWER, None).token
    assert sign_in(catalog, new).name == "bob"
    with pytest.raises(NotSignedInError):
        sign_in(catalog, old)


@pytest.mark.parametrize("name", ["", "system", "a b", "../x", "a" * 65, "a\n"])
def test_odd_names_are_refused(catalog: Catalog, admin: Actor, name: str):
    with pytest.raises(UsageError):
        add_user(catalog, admin, name, Role.VIEWER, None)


def test_users_are_listed_with_their_roles(catalog: Catalog, admin: Actor):
    add_user(catalog, admin, "bob", Role.VIEWER, None)
    assert [(u.name, r) for u, r in list_users(catalog, admin)] == [
        ("ann", {"*": Role.ADMIN}),
        ("bob", {"*": Role.VIEWER}),
    ]
