"""The gate in front of main: what a merge rests on is looked at once more, and anything missing fails closed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NoReturn

from ..catalog import Transaction
from ..catalog.change_requests import (
    get_change_request,
    transition,
    valid_approvals,
    validation_run_of,
    void_approvals,
)
from ..catalog.models import Approval, ChangeRequest
from ..lake import log
from ..lake.conflicts import Conflict, find_conflicts
from ..lake.diff import ChangeSet, content_hash
from ..lake.overlay import table_at, table_on_moved_main
from ..model.errors import ConflictError, StaleApprovalError
from ..model.spec import DatasetSpec
from ..model.states import CRState, Severity
from ..quality.outcomes import CheckOutcome, CheckStatus
from ..quality.run import about_the_table
from ..quality.run import validate as run_suite
from .workspace import Workspace


@dataclass(frozen=True)
class Passed:
    """What may be merged, and whether main moved since it was staged."""

    change: ChangeSet
    main_moved: bool


def pass_gate(ws: Workspace, spec: DatasetSpec, cr: ChangeRequest) -> Passed:
    """Let an approved change request through, or end its approval and say why. The caller holds the dataset."""
    change = ws.change_set(cr)
    if problem := _doubt(ws, spec, cr, change):
        _turn_back(ws, cr, problem)
    main_now = log.current_version(change.main.uri)
    if main_now == change.main.version:
        return Passed(change, main_moved=False)
    if conflicts := find_conflicts(change, main_now, spec.policies.conflicts):
        _send_to_a_person(ws, cr, change, main_now, conflicts)
    if failing := _no_longer_passing(ws, spec, cr, change, main_now):
        _turn_back(ws, cr, f"main moved to version {main_now}, and on what is there now {failing}")
    return Passed(change, main_moved=True)


def _doubt(ws: Workspace, spec: DatasetSpec, cr: ChangeRequest, change: ChangeSet) -> str | None:
    """Why the approval does not hold, from stored facts."""
    with ws.catalog.read() as tx:
        problem = _doubt_in_catalog(tx, spec, cr)
    if problem:
        return problem
    if not log.table_exists(change.staged.uri):
        return "what was staged is gone"
    if log.current_version(change.staged.uri) != cr.staging_version:
        return "what is staged changed after the approval"
    if content_hash(change.staged) != cr.content_hash:
        return "the staged rows are not the approved ones"
    return None


def _doubt_in_catalog(tx: Transaction, spec: DatasetSpec, cr: ChangeRequest) -> str | None:
    approvals = [a for a in valid_approvals(tx, cr.id) if _matches(a, cr)]
    if len(approvals) < spec.approvals:
        return f"{len(approvals)} of {spec.approvals} needed approvals are for what is staged"
    run = validation_run_of(tx, cr)
    if run is None:
        return "it has no validation run"
    judged = (run.staging_version, run.content_hash, run.suite_hash, run.base_version)
    if judged != (cr.staging_version, cr.content_hash, cr.suite_hash, cr.base_version):
        return "the validation run judged something else"
    if run.blocks:
        return "its validation run blocks it"
    if cr.suite_hash != spec.suite_hash:
        return "the dataset's checks changed since"
    return None


def _matches(approval: Approval, cr: ChangeRequest) -> bool:
    return (approval.staging_version, approval.content_hash, approval.base_version, approval.suite_hash) == (
        cr.staging_version,
        cr.content_hash,
        cr.base_version,
        cr.suite_hash,
    )


def _no_longer_passing(
    ws: Workspace, spec: DatasetSpec, cr: ChangeRequest, change: ChangeSet, main_now: int
) -> str | None:
    """Checks of the table as a whole that this change breaks together with what others merged since.

    Two changes that touch no common row can each keep a column unique, and both together not. What the
    approvers saw fail and accepted is not asked about again.
    """
    suite = about_the_table(spec)
    if not suite.expectations:
        return None
    table = table_on_moved_main(ws.spark(), change, main_now)
    before = table_at(ws.spark(), change.main.uri, main_now) if any(e.relative for e in suite.expectations) else None
    with ws.catalog.read() as tx:
        run = validation_run_of(tx, cr)
    known = {c["name"] for c in run.summary["checks"] if c["status"] != CheckStatus.PASSED} if run else set()
    failing = [o for o in run_suite(suite, table, table=table, before=before) if _matters(o) and o.name not in known]
    return "; ".join(f"{o.name} does not hold: {o.error or o.observed}" for o in failing) or None


def _matters(outcome: CheckOutcome) -> bool:
    if outcome.status is CheckStatus.ERROR:
        return True
    return outcome.status is not CheckStatus.PASSED and outcome.severity is not Severity.INFO


def _turn_back(ws: Workspace, cr: ChangeRequest, problem: str) -> NoReturn:
    with ws.catalog.write() as tx:
        fresh = get_change_request(tx, cr.ref, cr.id)
        void_approvals(tx, fresh, "system", problem)
        transition(tx, fresh, CRState.IN_REVIEW, actor="system", reason=problem)
    raise StaleApprovalError(
        f"The approval of {cr.id} no longer holds: {problem}. Main was not touched.",
        f"Check it again and have it approved anew: oreo cr retry {cr.ref} {cr.id}",
    )


def _send_to_a_person(
    ws: Workspace, cr: ChangeRequest, change: ChangeSet, main_now: int, conflicts: list[Conflict]
) -> NoReturn:
    told = _tell(conflicts)
    with ws.catalog.write() as tx:
        fresh = get_change_request(tx, cr.ref, cr.id)
        if fresh.state is CRState.APPROVED:
            transition(tx, fresh, CRState.MERGING, actor="system")
        transition(
            tx,
            fresh,
            CRState.CONFLICTED,
            actor="system",
            details={"main_version": main_now, "conflicts": len(conflicts)},
            reason=f"Main moved to version {main_now}: {told}",
        )
    raise ConflictError(
        f"Main of {cr.ref} moved from version {change.main.version} to {main_now}, and both changed {told}.",
        f"Settle it: oreo cr resolve {cr.ref} {cr.id} --take ours|theirs [--cell ROW:COL=ours]…",
        conflicts=[c.as_json() for c in conflicts[:100]],
    )


def _tell(conflicts: list[Conflict]) -> str:
    cells = [f"{c.row_id}:{c.column}" if c.column else f"row {c.row_id}" for c in conflicts]
    return ", ".join(cells[:5]) + (f" and {len(cells) - 5:,} more" if len(cells) > 5 else "")
