"""`oreo recover`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..model.errors import OreoError
from ..model.ids import DatasetRef
from .arguments import MaybeDataset
from .command import command, verb
from .face import Answer, Face, dataset_of

if TYPE_CHECKING:
    from rich.console import Console

app = verb()


@command(
    app,
    "recover",
    """
    oreo recover
    oreo recover shop/orders
    oreo recover --no-drive       put things right, but leave waiting change requests waiting
    """,
)
def recover(
    face: Face,
    dataset: MaybeDataset = None,
    no_drive: Annotated[bool, typer.Option("--no-drive", help="Do not stage, check or merge what waits.")] = False,
) -> Answer:
    """Finish or undo what a crash left half done, by what the tables' logs say.

    Then, if no platform is running, bring waiting change requests on: stage and check those that were sent,
    merge those that were approved. Safe at any time; a second run finds nothing to do.
    """
    from ..platform_info import platform_running
    from ..workflow.recovery import recover as put_right

    face.require_signed_in()  # enough: nothing is done here that the platform would not do by itself
    ref = dataset_of(dataset) if dataset is not None else None
    if ref:
        face.ws.spec(ref)
    with face.working("Recovering…") as tell:
        done = put_right(face.ws, ref)
        idle = no_drive or platform_running(face.settings) is not None
        driven = [] if idle else _drive(face, ref, tell)

    def render(console: Console) -> None:
        from .render import say

        for line in [*done, *driven]:
            say(console, str(line))
        if not done and not driven:
            console.print("Nothing to do.")

    document = {
        "recovered": [item.as_json() for item in done],
        "driven": [item.as_json() for item in driven],
    }
    return Answer(document, render, next((item.error for item in driven if item.error), None))


@dataclass(frozen=True)
class _Driven:
    """A change request that was brought on, and how far."""

    ref: DatasetRef
    change_request_id: str
    step: str
    state: str
    error: OreoError | None

    def __str__(self) -> str:
        became = self.error.message if self.error else f"is now {self.state}"
        return f"{self.ref} {self.change_request_id}: {became}"

    def as_json(self) -> dict[str, Any]:
        body = {
            "dataset": str(self.ref),
            "change_request_id": self.change_request_id,
            "step": self.step,
            "state": self.state,
        }
        return {**body, **(self.error.as_json() if self.error else {})}


def _drive(face: Face, ref: DatasetRef | None, tell: Any) -> list[_Driven]:
    """Each waiting change request by one step, and again as long as that opens another (`approvals: 0`)."""
    from ..workflow.recovery import pending
    from ..workflow.review import show
    from .waiting import drive

    driven: dict[tuple[str, str], _Driven] = {}
    while waiting := [
        (cr, step) for cr, step in pending(face.ws) if ref in (None, cr.ref) and (cr.id, step) not in driven
    ]:
        cr, step = waiting[0]
        tell(f"{step} {cr.id}…")
        error = None
        try:
            drive(face, cr.ref, cr.id, step)
        except OreoError as problem:
            error = problem
        state = show(face.ws, _system(), cr.ref, cr.id)["state"]
        driven[cr.id, step] = _Driven(cr.ref, cr.id, step, state, error)
    return list(driven.values())


def _system() -> Any:
    from ..catalog.users import SYSTEM

    return SYSTEM
