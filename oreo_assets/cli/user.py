"""`oreo user`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from ..model.states import Role
from .command import command, noun
from .face import Answer, Face

if TYPE_CHECKING:
    from rich.console import Console

    from ..catalog.users import NewUser

app = noun("user", "People, their roles and their tokens.")


@command(
    app,
    "add",
    """
    oreo user add ada --role admin                    the first user of a new catalog: no token needed
    oreo user add ben --role contributor --project shop
    export OREO_TOKEN=$(oreo user add eve --role reviewer --json | jq -r .token)
    """,
)
def add(
    face: Face,
    name: Annotated[str, typer.Argument(metavar="NAME", help="A short name or an e-mail address.")],
    role: Annotated[Role, typer.Option("--role", help="Each role includes those before it.")],
    project: Annotated[
        str | None, typer.Option("--project", metavar="P", help="Only there; everywhere if left out.")
    ] = None,
) -> Answer:
    """Add somebody, or give them one more role.

    A new user gets a token, printed once: only its hash is kept. The first user of a catalog is its admin.
    """
    from ..catalog.users import add_user, has_users
    from ..model.ids import check_id

    if project is not None:
        check_id(project, "project id")
    # A token from another root may still be in the environment; a new catalog has nobody it could name.
    actor = face.actor if has_users(face.ws.catalog) else None
    made = add_user(face.ws.catalog, actor, name, role, project)

    def render(console: Console) -> None:
        _show_new(console, made, asked=role)

    return Answer(made.as_json(), render)


@command(app, "list", "oreo user list")
def list_(face: Face) -> Answer:
    """List everybody, with their roles. Takes the role admin."""
    from ..catalog.users import list_users, user_json

    found = list_users(face.ws.catalog, face.actor)

    def render(console: Console) -> None:
        from .render import moment, table

        made = table("name", "roles", "since (UTC)", "revoked (UTC)")
        for user, grants in found:
            roles = ", ".join(f"{role} in {where}" if where != "*" else f"{role}" for where, role in grants.items())
            made.add_row(user.name, roles or "-", moment(user.created_at), moment(user.revoked_at))
        console.print(made)

    return Answer([user_json(user, grants) for user, grants in found], render)


@command(app, "revoke", "oreo user revoke ben")
def revoke(face: Face, name: Annotated[str, typer.Argument(metavar="NAME")]) -> Answer:
    """Take somebody's token and roles away.

    At once, everywhere. What they did stays in the history under their name.
    """
    from ..catalog.users import revoke_user

    revoke_user(face.ws.catalog, face.actor, name)

    def render(console: Console) -> None:
        from .render import say

        say(console, f"{name} is revoked: the token no longer works, the roles are gone.")

    return Answer({"name": name, "revoked": True}, render)


def _show_new(console: Console, made: NewUser, asked: Role) -> None:
    from .render import say

    say(console, f"{made.name} is {made.role} {'in ' + made.project if made.project else 'everywhere'}.")
    if made.role is not asked:
        say(console, "The first user of a new catalog is its admin.", "dim")
    if not made.token:
        say(console, "The token they have goes on working.", "dim")
        return
    say(console, "\nTheir token, shown this once:\n", "bold")
    say(console, f"  {made.token}\n")
    say(console, "To act as them in this shell:\n", "dim")
    say(console, f"  export OREO_TOKEN={made.token}")
