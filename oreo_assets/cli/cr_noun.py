"""The noun `cr` and what its verbs share: the card of a change request, and waiting for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..model.states import CRState
from .command import noun
from .face import Answer, Face

if TYPE_CHECKING:
    from rich.console import Console

    from ..model.ids import DatasetRef

app = noun("cr", "Change requests: what people want to change, and the decision on it.")


def card(face: Face, ref: DatasetRef, cr_id: str, found: dict[str, Any] | None = None) -> Answer:
    from ..workflow.review import show as look

    cr = found or look(face.ws, face.actor, ref, cr_id)

    def render(console: Console) -> None:
        from .cr_card import show_card

        show_card(console, cr)

    return Answer(cr, render)


def wait_for_review(face: Face, ref: DatasetRef, cr_id: str, timeout: float) -> Answer:
    from .waiting import verdict, wait

    cr = wait(face, ref, cr_id, timeout)
    return _with_error(card(face, ref, cr_id, cr), verdict(cr))


def wait_for_merge(face: Face, ref: DatasetRef, cr_id: str, timeout: float) -> Answer:
    from ..model.errors import StaleApprovalError
    from .waiting import verdict, wait

    cr = wait(face, ref, cr_id, timeout)
    error = verdict(cr)
    if cr["state"] == CRState.IN_REVIEW:
        error = StaleApprovalError(
            f"{cr_id} was not merged; it is in review again: {cr['reason'] or 'its approval is stale'}.",
            f"Check it again and have it approved anew: oreo cr retry {ref} {cr_id}",
        )
    return _with_error(card(face, ref, cr_id, cr), error)


def _with_error(answer: Answer, error: Any) -> Answer:
    # `cr show` has an `error` too, why it failed; here it is what the command ended with, in the same shape.
    return Answer(answer.document, answer.render, error)
