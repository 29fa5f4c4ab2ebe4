"""What a command has at hand, and what it gives back."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ..model.errors import OreoError
from ..model.ids import DatasetRef, check_id
from ..settings import Settings

if TYPE_CHECKING:
    from rich.console import Console

    from ..catalog.users import Actor
    from ..workflow.workspace import Workspace


@dataclass(frozen=True)
class Asked:
    """The options that every command takes."""

    root: str | None = None
    token: str | None = None
    as_json: bool = False
    debug: bool = False


@dataclass(frozen=True)
class Answer:
    """What a command found: one document for scripts, the same drawn for people.

    An `error` beside it means that there is something to show *and* that it did not go well, such as a file
    with bad rows.
    """

    document: Any
    render: Callable[[Console], None]
    error: OreoError | None = None
    exit_status: int = 0

    @property
    def exit_code(self) -> int:
        return int(self.error.exit_code) if self.error else self.exit_status

    def as_json(self) -> Any:
        return {**self.document, **self.error.as_json()} if self.error else self.document


@dataclass
class Face:
    """The settings, and what follows from them when a command first needs it."""

    asked: Asked
    settings: Settings

    @classmethod
    def open(cls, asked: Asked) -> Face:
        return cls(asked, Settings.from_env(root=asked.root, token=asked.token))

    @cached_property
    def ws(self) -> Workspace:
        from ..workflow.workspace import Workspace

        return Workspace.open(self.settings)

    @cached_property
    def actor(self) -> Actor:
        from ..catalog.users import sign_in

        return sign_in(self.ws.catalog, self.settings.token)

    def require_signed_in(self) -> None:
        """For what anybody may do, as long as Oreo knows them."""
        _ = self.actor

    @cached_property
    def out(self) -> Console:
        from .output import console

        return console()

    @cached_property
    def err(self) -> Console:
        from .output import console

        return console(stderr=True)

    @contextmanager
    def working(self, text: str) -> Iterator[Callable[[str], None]]:
        """A spinner on a terminal, for as long as the block runs; the text can be changed meanwhile."""
        if not self.err.is_terminal:
            yield lambda _text: None
            return
        with self.err.status(text) as status:
            yield status.update

    def note(self, text: str) -> None:
        """Something worth knowing that is not the answer."""
        self.err.print(text, style="dim", markup=False, highlight=False, soft_wrap=True)


def dataset_of(text: str) -> DatasetRef:
    return DatasetRef.parse(text)


def change_request_of(dataset: str, change_request: str) -> tuple[DatasetRef, str]:
    """`P/D CR`, checked here at the edge."""
    return DatasetRef.parse(dataset), check_id(change_request, "change request id")
