"""Who looks at a page, what its address names, and use cases called on their behalf."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any, Concatenate, ParamSpec, TypeVar, cast

from fastapi import Request
from nicegui import run

from ...catalog.users import Actor
from ...model.errors import NotFoundError, UsageError
from ...model.ids import DatasetRef, check_id
from ...model.states import Role
from ...workflow.workspace import Workspace
from ..service import Service
from ..visits import COOKIE

P = ParamSpec("P")
T = TypeVar("T")
SERVICE = "oreo.service"
"""Where the ASGI scope has the service: the pages belong to another app than the routes do."""


class Visit:
    """One page that one person has open."""

    def __init__(self, request: Request) -> None:
        self.request = request
        self.service: Service = request.scope[SERVICE]
        self._cookie = request.cookies.get(COOKIE)
        self.actor: Actor = Actor("", {})

    async def arrive(self) -> None:
        """Who it is, or an error that says that nobody is signed in."""
        self.actor = cast(Actor, await run.io_bound(self.service.visits.actor, self._cookie))

    async def ask(
        self, use_case: Callable[Concatenate[Workspace, Actor, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Call a use case in a thread, as who is signed in at this moment, with the roles of this moment."""

        def call() -> T:
            self.actor = self.service.visits.actor(self._cookie)
            return use_case(self.service.ws, self.actor, *args, **kwargs)

        return cast(T, await run.io_bound(call))

    @cached_property
    def ref(self) -> DatasetRef:
        """The dataset that the address names."""
        try:
            return DatasetRef(self._named("project"), self._named("dataset"))
        except UsageError as error:
            raise NotFoundError("There is no such dataset.", "See the list of datasets.") from error

    @cached_property
    def cr_id(self) -> str:
        try:
            return check_id(self._named("cr"))
        except UsageError as error:
            raise NotFoundError("There is no such change request.", "See the dataset's list.") from error

    @property
    def project(self) -> str | None:
        return self.request.path_params.get("project")

    @property
    def role(self) -> Role | None:
        """Here; on pages of no project, everywhere."""
        return self.actor.role_in(self.project or "*")

    def may(self, role: Role) -> bool:
        return bool(self.role and self.role.includes(role))

    def query(self, name: str, default: str = "") -> str:
        return self.request.query_params.get(name, default)

    def query_number(self, name: str) -> int | None:
        text = self.query(name)
        return int(text) if text.isascii() and text.isdigit() and len(text) < 16 else None

    @property
    def home(self) -> str:
        """The address of the dataset's page."""
        return f"/p/{self.ref.project}/{self.ref.dataset}"

    @property
    def dagster(self) -> str:
        """The web server of Dagster, by the host that this page was asked from."""
        host = self.request.url.hostname or "127.0.0.1"
        return f"http://{f'[{host}]' if ':' in host else host}:{self.service.settings.dagster_port}"

    def _named(self, part: str) -> Any:
        return self.request.path_params.get(part, "")
