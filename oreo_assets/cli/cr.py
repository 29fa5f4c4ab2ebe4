"""`oreo cr`: change requests."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..model.errors import UsageError
from ..model.states import CRState
from .arguments import WAIT_SECONDS, ChangeRequestId, Dataset, MaybeDataset, Timeout, Wait
from .command import command, noun
from .face import Answer, Face, change_request_of, dataset_of
from .quick import without_pandas

if TYPE_CHECKING:
    from rich.console import Console

    from ..model.ids import DatasetRef

app = noun("cr", "Change requests: what people want to change, and the decision on it.")


@command(
    app,
    "list",
    """
    oreo cr list                          the newest, of all datasets
    oreo cr list shop/orders --open       what still waits for something
    """,
)
def list_(
    face: Face,
    dataset: MaybeDataset = None,
    open_only: Annotated[bool, typer.Option("--open", help="Only those that are not ended.")] = False,
    limit: Annotated[int, typer.Option("--limit", metavar="N", min=1, help="At most so many.")] = 100,
) -> Answer:
    """List change requests, the newest first."""
    from ..workflow.review import list_requests

    ref = dataset_of(dataset) if dataset is not None else None
    found = list_requests(face.ws, face.actor, ref, open_only=open_only, limit=limit)

    def render(console: Console) -> None:
        from .cr_card import show_list

        show_list(console, found, limit)

    return Answer(found, render)


@command(
    app,
    "show",
    """
    oreo cr show shop/orders cr_01k3x8
    oreo cr show shop/orders cr_01k3x8 --json | jq .counts
    """,
)
def show(face: Face, dataset: Dataset, change_request: ChangeRequestId) -> Answer:
    """Show where a change request stands, and what to do next."""
    ref, cr_id = change_request_of(dataset, change_request)
    return _card(face, ref, cr_id)


@command(
    app,
    "checks",
    """
    oreo cr checks shop/orders cr_01k3x8
    oreo cr checks shop/orders cr_01k3x8 --rows 50
    oreo cr checks shop/orders cr_01k3x8 --json | jq '.checks[] | select(.status != "passed")'
    """,
)
def checks(
    face: Face,
    dataset: Dataset,
    change_request: ChangeRequestId,
    rows: Annotated[
        int,
        typer.Option("--rows", metavar="N", min=0, help="So many failing rows of each check."),
    ] = 5,
) -> Answer:
    """Show what the checks found, with the rows that failed."""
    from ..workflow.review import checks as run_of

    ref, cr_id = change_request_of(dataset, change_request)
    run = run_of(face.ws, face.actor, ref, cr_id)

    def render(console: Console) -> None:
        from .cr_checks import show_checks, show_verdict

        show_checks(console, run.outcomes, rows=rows)
        show_verdict(console, run.verdict)

    told = {name: value for name, value in run.full.items() if name != "run_id"}
    return Answer({"validation_run_id": run.full["run_id"], **told}, render)


@command(
    app,
    "diff",
    """
    oreo cr diff shop/orders cr_01k3x8
    oreo cr diff shop/orders cr_01k3x8 --kind deleted --limit 500
    oreo cr diff shop/orders cr_01k3x8 --after ROW_ID      the next page; `next` of the one before
    """,
)
def diff(
    face: Face,
    dataset: Dataset,
    change_request: ChangeRequestId,
    kind: Annotated[
        list[str] | None,
        typer.Option(
            "--kind",
            metavar="KIND",
            help="inserted, updated, deleted or unchanged; the first three if left out.",
        ),
    ] = None,
    limit: Annotated[int, typer.Option("--limit", metavar="N", min=1, help="At most so many rows.")] = 100,
    after: Annotated[str, typer.Option("--after", metavar="ROW_ID", help="Begin after this row.")] = "",
) -> Answer:
    """Show what a change request changes, cell by cell."""
    from ..lake.diff import KINDS
    from ..workflow.review import review_diff

    ref, cr_id = change_request_of(dataset, change_request)
    kinds = [word.strip() for text in kind or () for word in text.split(",")] or list(KINDS[:3])
    if unknown := [word for word in kinds if word not in KINDS]:
        raise UsageError(f"{unknown[0]!r} is not a kind of change.", f"Use {', '.join(KINDS)}.")
    with without_pandas():
        page = review_diff(face.ws, face.actor, ref, cr_id, kinds=kinds, limit=limit, after=after)

    def render(console: Console) -> None:
        from .cr_diff import show_diff

        show_diff(console, page)

    return Answer(page.as_json(), render)


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
        return _wait_for_merge(face, ref, cr_id, timeout)
    return _card(face, ref, cr_id)


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
    return _card(face, ref, cr_id)


@command(app, "withdraw", "oreo cr withdraw shop/orders cr_01k3x8")
def withdraw(face: Face, dataset: Dataset, change_request: ChangeRequestId) -> Answer:
    """Take your own change request back (an admin: anybody's)."""
    from ..workflow.review import withdraw as take_back

    ref, cr_id = change_request_of(dataset, change_request)
    take_back(face.ws, face.actor, ref, cr_id)
    return _card(face, ref, cr_id)


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
    return _wait_for_review(face, ref, cr_id, timeout) if wait else _card(face, ref, cr_id)


def _card(face: Face, ref: DatasetRef, cr_id: str, found: dict[str, Any] | None = None) -> Answer:
    from ..workflow.review import show as look

    cr = found or look(face.ws, face.actor, ref, cr_id)

    def render(console: Console) -> None:
        from .cr_card import show_card

        show_card(console, cr)

    return Answer(cr, render)


def _wait_for_review(face: Face, ref: DatasetRef, cr_id: str, timeout: float) -> Answer:
    from .waiting import verdict, wait

    cr = wait(face, ref, cr_id, timeout)
    return _with_error(_card(face, ref, cr_id, cr), verdict(cr))


def _wait_for_merge(face: Face, ref: DatasetRef, cr_id: str, timeout: float) -> Answer:
    from ..model.errors import StaleApprovalError
    from .waiting import verdict, wait

    cr = wait(face, ref, cr_id, timeout)
    error = verdict(cr)
    if cr["state"] == CRState.IN_REVIEW:
        error = StaleApprovalError(
            f"{cr_id} was not merged; it is in review again: {cr['reason'] or 'its approval is stale'}.",
            f"Check it again and have it approved anew: oreo cr retry {ref} {cr_id}",
        )
    return _with_error(_card(face, ref, cr_id, cr), error)


def _with_error(answer: Answer, error: Any) -> Answer:
    # `cr show` has an `error` too, why it failed; here it is what the command ended with, in the same shape.
    return Answer(answer.document, answer.render, error)


def _acknowledged(given: list[str] | None) -> dict[str, str]:
    acks: dict[str, str] = {}
    for text in given or ():
        name, equals, reason = text.partition("=")
        if not equals or not name.strip() or not reason.strip():
            raise UsageError(f"{text!r} is not an acknowledgement.", "Write --ack CHECK=REASON.")
        acks[name.strip()] = reason.strip()
    return acks
