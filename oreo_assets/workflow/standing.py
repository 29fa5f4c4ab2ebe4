"""Where a change request stands: how main moved under it, and what speaks against approving it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..catalog import Transaction
from ..catalog.change_requests import editors_of, get_change_request, valid_approvals, validation_run_of
from ..catalog.comments import changes_wanted
from ..catalog.datasets import get_dataset, spec_of
from ..catalog.models import ChangeRequest
from ..catalog.users import Actor
from ..lake import log
from ..lake.conflicts import find_conflicts
from ..model.errors import NotAllowedError, OreoError, StaleApprovalError, StateError
from ..model.ids import DatasetRef
from ..model.spec import DatasetSpec
from ..model.states import CRState, Role, Severity
from ..quality.outcomes import CheckStatus
from .comments import CommentCard, card
from .workspace import Workspace

WARNINGS_OPEN = "warnings_to_acknowledge"
_ROWS_LOOKED_AT = 10_000
_ENDED = (CRState.MERGED, CRState.CLOSED)


@dataclass(frozen=True)
class Reason:
    """One thing that speaks against an approval, as a sentence, and what to do about it."""

    code: str
    message: str
    remedy: str

    @classmethod
    def of(cls, error: OreoError) -> Reason:
        code = WARNINGS_OPEN if isinstance(error, WarningsOpenError) else error.code
        return cls(code, error.message, error.remedy)

    def as_json(self) -> dict[str, str]:
        return {"code": self.code, "message": self.message, "remedy": self.remedy}


@dataclass(frozen=True)
class Standing:
    """How main moved since the base, and whether who asks may approve.

    `commits` counts the change requests that were merged since the base, `rows_overlapping` the rows that both
    sides changed, `conflicts` the cells and rows that a person would have to settle. `capped`: there are more
    than were looked at. `warnings` are the failed checks whose reasons an approval must give.
    """

    change_request_id: str
    state: CRState
    base_version: int | None
    main_version: int
    commits: int
    rows_overlapping: int
    conflicts: int
    capped: bool
    approvals: int
    approvals_needed: int
    approved_by_me: bool
    warnings: tuple[str, ...]
    changes_requested: tuple[CommentCard, ...]
    reasons: tuple[Reason, ...]

    @property
    def can_approve(self) -> bool:
        return not self.reasons

    @property
    def lacks_only_acknowledgement(self) -> bool:
        """Whether it could be approved as soon as each warning has a reason."""
        return bool(self.reasons) and all(r.code == WARNINGS_OPEN for r in self.reasons)

    def as_json(self) -> dict[str, Any]:
        return {
            "change_request_id": self.change_request_id,
            "state": self.state,
            "base_version": self.base_version,
            "main_version": self.main_version,
            "commits": self.commits,
            "rows_overlapping": self.rows_overlapping,
            "conflicts": self.conflicts,
            "capped": self.capped,
            "approvals": self.approvals,
            "approvals_needed": self.approvals_needed,
            "approved_by_me": self.approved_by_me,
            "warnings": list(self.warnings),
            "changes_requested": [c.as_json() for c in self.changes_requested],
            "can_approve": self.can_approve,
            "reasons": [r.as_json() for r in self.reasons],
        }


class WarningsOpenError(StateError):
    """Failed warnings that nobody has given a reason for. To scripts it goes by the code of any wrong state."""


class ChangesRequestedError(StateError):
    """A reviewer wants it changed first."""

    code = "changes_requested"


def standing(
    ws: Workspace, actor: Actor, ref: DatasetRef, cr_id: str, acknowledged: Mapping[str, str] | None = None
) -> Standing:
    """Everything that a reviewer should know before deciding. `acknowledged` are the reasons given so far."""
    actor.require(Role.VIEWER, ref.project)
    with ws.catalog.read() as tx:
        cr = get_change_request(tx, ref, cr_id)
        spec = spec_of(get_dataset(tx, ref))
        approvers = [a.approver for a in valid_approvals(tx, cr_id)]
        against = objections(ws, tx, actor, cr, spec, acknowledged or {})
        warnings = failed_warnings(tx, cr)
        wanted = tuple(card(c) for c in changes_wanted(tx, cr))
    main_version = log.current_version(ws.layout(ref).main)
    overlapping, conflicts, capped = _overlap(ws, cr, spec, main_version)
    return Standing(
        change_request_id=cr_id,
        state=cr.state,
        base_version=cr.base_version,
        main_version=main_version,
        commits=_commits_since(ws, cr, main_version),
        rows_overlapping=overlapping,
        conflicts=conflicts,
        capped=capped,
        approvals=len(approvers),
        approvals_needed=spec.approvals,
        approved_by_me=actor.name in approvers,
        warnings=tuple(warnings),
        changes_requested=wanted,
        reasons=tuple(Reason.of(error) for error in against),
    )


def objections(
    ws: Workspace, tx: Transaction, actor: Actor, cr: ChangeRequest, spec: DatasetSpec, acks: Mapping[str, str]
) -> list[OreoError]:
    """All that speaks against this person's approval, the weightiest first.

    `approve` raises the first of them, and pages list them all: so a button that is not disabled works.
    """
    return [
        *_against_role(actor, cr),
        *_against_state(ws, cr, spec),
        *_against_person(tx, actor, cr),
        *_against_checks(tx, cr, acks),
        *_against_wishes(tx, actor, cr),
    ]


def failed_warnings(tx: Transaction, cr: ChangeRequest) -> list[str]:
    """The checks whose failure an approver must give a reason for."""
    run = validation_run_of(tx, cr)
    return [
        c["name"]
        for c in (run.summary["checks"] if run else ())
        if c["status"] != CheckStatus.PASSED and c["severity"] == Severity.WARNING
    ]


def _against_role(actor: Actor, cr: ChangeRequest) -> list[OreoError]:
    try:
        actor.require(Role.REVIEWER, cr.project)
    except NotAllowedError as error:
        return [error]
    return []


def _against_person(tx: Transaction, actor: Actor, cr: ChangeRequest) -> list[OreoError]:
    if actor.name in (cr.author, *editors_of(tx, cr.id)):
        did = "sent" if cr.author == actor.name else "edited"
        return [
            NotAllowedError(
                f"{actor.name} {did} {cr.id} and cannot approve it as well.", "Ask a second person to review it."
            )
        ]
    if cr.state is CRState.IN_REVIEW and any(a.approver == actor.name for a in valid_approvals(tx, cr.id)):
        return [StateError(f"{actor.name} has approved {cr.id} already.", "There is nothing more to do.")]
    return []


def _against_state(ws: Workspace, cr: ChangeRequest, spec: DatasetSpec) -> list[OreoError]:
    again = f"Check it again: oreo cr retry {cr.ref} {cr.id}"
    if cr.state is not CRState.IN_REVIEW:
        return [
            StateError(
                f"Change request {cr.id} is {cr.state}; only one that is in review can be approved.",
                f"See: oreo cr show {cr.ref} {cr.id}",
            )
        ]
    found: list[OreoError] = []
    if cr.suite_hash != spec.suite_hash:
        found.append(StaleApprovalError(f"The checks of {cr.ref} changed after {cr.id} was checked.", again))
    staged = ws.layout(cr.ref).staging(cr.id)
    if not log.table_exists(staged):
        found.append(StaleApprovalError(f"What was staged for {cr.id} is gone.", again))
    elif log.current_version(staged) != cr.staging_version:
        found.append(StaleApprovalError(f"What is staged for {cr.id} changed after it was checked.", again))
    return found


def _against_checks(tx: Transaction, cr: ChangeRequest, acks: Mapping[str, str]) -> list[OreoError]:
    if cr.state is not CRState.IN_REVIEW:
        return []
    run = validation_run_of(tx, cr)
    if run is None or run.blocks:
        return [
            StateError(
                f"Change request {cr.id} has no validation run that lets it through.",
                f"Check it again: oreo cr retry {cr.ref} {cr.id}",
            )
        ]
    missing = [name for name in failed_warnings(tx, cr) if not acks.get(name, "").strip()]
    if not missing:
        return []
    return [
        WarningsOpenError(
            f"Warnings to acknowledge first: {', '.join(missing)}.",
            "Give a reason for each: " + " ".join(f"--ack {name}='…'" for name in missing),
        )
    ]


def _against_wishes(tx: Transaction, actor: Actor, cr: ChangeRequest) -> list[OreoError]:
    """One's own wish does not bind: who approves after all has changed their mind."""
    return [
        ChangesRequestedError(
            f"{wish.author} asked for changes: {_short(wish.text)}",
            f"Send it anew with them; or {wish.author} takes it back: oreo cr resolve-comment "
            f"{cr.ref} {cr.id} {wish.id}",
        )
        for wish in changes_wanted(tx, cr)
        if wish.author != actor.name and cr.state is CRState.IN_REVIEW
    ]


def _short(text: str) -> str:
    return text if len(text) <= 200 else f"{text[:199]}…"


def _commits_since(ws: Workspace, cr: ChangeRequest, main_version: int) -> int:
    """How many change requests were merged since; optimizing and the like moves no rows."""
    if cr.base_version is None or cr.state in _ENDED or main_version <= cr.base_version:
        return 0
    newer = log.commits(ws.layout(cr.ref).main, main_version - cr.base_version)
    return sum(1 for c in newer if c.version > cr.base_version and c.metadata and c.metadata.change_request_id)


def _overlap(ws: Workspace, cr: ChangeRequest, spec: DatasetSpec, main_version: int) -> tuple[int, int, bool]:
    """Rows that both changed, conflicts by the dataset's own rule, and whether that is all of them."""
    if cr.base_version is None or cr.staging_version is None or main_version <= cr.base_version:
        return 0, 0, False
    change = ws.change_set(cr)
    if cr.state in _ENDED or not log.table_exists(change.staged.uri):
        return 0, 0, False
    by_row = find_conflicts(change, main_version, "row", _ROWS_LOOKED_AT)
    rows = len({c.row_id for c in by_row})
    found = by_row
    if spec.policies.conflicts != "row":
        found = find_conflicts(change, main_version, spec.policies.conflicts, _ROWS_LOOKED_AT) if rows else []
    return rows, len(found), rows >= _ROWS_LOOKED_AT
