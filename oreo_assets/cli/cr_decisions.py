"""`oreo cr approve|reject|withdraw|retry`: deciding on a change request."""

from __future__ import annotations

from typing import Annotated

import typer

from ..model.errors import UsageError
from ..model.states import CRState
from .arguments import WAIT_SECONDS, ChangeRequestId, Dataset, Timeout, Wait
from .command import command
from .cr_noun import app, card, wait_for_merge, wait_for_review
from .face import Answer, Face, change_request_of


@command(
    app,
    "approve",
    """
    oreo cr approve shop/orders cr_01k3x8 --wait
    oreo cr approve shop/orders cr_01k3x8 --ack values_to_be_between__amount="a refund"
    """,
)
def approve(
    face: Face,
    dataset: Dataset,
    change_request: ChangeRequestId,
    ack: Annotated[
        list[str] | None,
        typer.Option(
            "--ack",
            metavar="CHECK=REASON",
            help="Acknowledge a failed warning, with a reason. Repeat for each.",
        ),
    ] = None,
    wait: Annotated[bool, typer.Option("--wait", help="Come back when it is merged.")] = False,
    timeout: Timeout = WAIT_SECONDS,
) -> Answer:
    """Say yes to exactly what is staged now.

    With enough approvals it is merged: by the platform, or by this command if you --wait and none is running.
    The author cannot approve; any later change to what is staged voids the approval.
    """
    from ..workflow.review import approve as say_yes

    ref, cr_id = change_request_of(dataset, change_request)
    cr = say_yes(face.ws, face.actor, ref, cr_id, _acknowledged(ack))
    if wait and cr.state is not CRState.IN_REVIEW:
        return wait_for_merge(face, ref, cr_id, timeout)
    return card(face, ref, cr_id)


@command(app, "reject", 'oreo cr reject shop/orders cr_01k3x8 --reason "wrong month"')
def reject(
    face: Face,
    dataset: Dataset,
    change_request: ChangeRequestId,
    reason: Annotated[str, typer.Option("--reason", metavar="TEXT", help="Why; its author reads it.")],
) -> Answer:
    """Say no. The staged rows are deleted; main stays as it is."""
    from ..workflow.review import reject as say_no

    ref, cr_id = change_request_of(dataset, change_request)
    say_no(face.ws, face.actor, ref, cr_id, reason)
    return card(face, ref, cr_id)


@command(app, "withdraw", "oreo cr withdraw shop/orders cr_01k3x8")
def withdraw(face: Face, dataset: Dataset, change_request: ChangeRequestId) -> Answer:
    """Take your own change request back (an admin: anybody's)."""
    from ..workflow.review import withdraw as take_back

    ref, cr_id = change_request_of(dataset, change_request)
    take_back(face.ws, face.actor, ref, cr_id)
    return card(face, ref, cr_id)


@command(
    app,
    "retry",
    """
    oreo cr retry shop/orders cr_01k3x8 --wait      stage it anew on main as it is now, and check it again
    """,
)
def retry(
    face: Face,
    dataset: Dataset,
    change_request: ChangeRequestId,
    wait: Wait = False,
    timeout: Timeout = WAIT_SECONDS,
) -> Answer:
    """Send a change request through the pipeline once more.

    For one that failed, went stale, or met a conflict. Approvals it had are void: what is staged is new.
    """
    from ..workflow.review import retry as again

    ref, cr_id = change_request_of(dataset, change_request)
    again(face.ws, face.actor, ref, cr_id)
    return wait_for_review(face, ref, cr_id, timeout) if wait else card(face, ref, cr_id)


def _acknowledged(given: list[str] | None) -> dict[str, str]:
    acks: dict[str, str] = {}
    for text in given or ():
        name, equals, reason = text.partition("=")
        if not equals or not name.strip() or not reason.strip():
            raise UsageError(f"{text!r} is not an acknowledgement.", "Write --ack CHECK=REASON.")
        acks[name.strip()] = reason.strip()
    return acks
