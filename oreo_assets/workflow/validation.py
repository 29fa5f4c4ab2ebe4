"""Validation: the dataset's suite on what is staged, and the verdict that lets it go on or not."""

from __future__ import annotations

from datetime import UTC, datetime
from importlib.metadata import version as package_version

from ..catalog import Transaction
from ..catalog.change_requests import get_change_request, transition
from ..catalog.models import ChangeRequest, ValidationRun
from ..crash_points import reach
from ..lake import log
from ..lake.diff import Wanted, changed_rows, content_hash, count_changes
from ..lake.overlay import main_as_is, rows_to_be, table_to_be
from ..model.errors import StaleApprovalError, StateError
from ..model.ids import new_id
from ..model.spec import BUILT_IN_CHECKS, NEW_ROWS, DatasetSpec
from ..model.states import CRState, Mode, Severity
from ..quality import documents
from ..quality.constraints import check_constraints, columns_constrained
from ..quality.documents import RunDocuments, RunFacts
from ..quality.frames import computed_once
from ..quality.outcomes import CheckOutcome, CheckStatus, FailingRow, Scope, Verdict
from ..quality.run import columns_looked_at
from ..quality.run import validate as run_suite
from ..quality.store import read_run, write_run
from .workspace import Workspace


def validate(ws: Workspace, cr: ChangeRequest) -> RunDocuments:
    """Run the suite on exactly what is staged, keep the run, and move the change request on.

    Fatal failures, and checks that err or give no result, end it as `refused`. Otherwise it goes to
    review, with the warnings for the reviewer.
    """
    if cr.state is not CRState.STAGED:
        raise StateError(
            f"Change request {cr.id} is {cr.state}; only what has just been staged is checked.",
            f"To check it again: oreo cr retry {cr.ref} {cr.id}",
        )
    spec = ws.spec(cr.ref)
    _assert_staged_as_recorded(ws, cr)
    started = _now()
    outcomes = _outcomes(ws, spec, cr)
    verdict = Verdict.of(outcomes, [*spec.check_names, *BUILT_IN_CHECKS])
    assert cr.staging_version is not None and cr.content_hash is not None and cr.base_version is not None
    facts = RunFacts(
        run_id=new_id("vr"),
        dataset=str(cr.ref),
        change_request_id=cr.id,
        staging_version=cr.staging_version,
        content_hash=cr.content_hash,
        suite_hash=spec.suite_hash,
        ge_version=package_version("great-expectations"),
        started=started,
        finished=_now(),
    )
    run = RunDocuments(documents.summary(facts, outcomes, verdict), documents.full(facts, outcomes, verdict))
    write_run(ws.layout(cr.ref).validation_run(facts.run_id), run.summary, run.full)
    reach("validate.stored")
    with ws.catalog.write() as tx:
        tx.add(
            ValidationRun(
                id=facts.run_id,
                project=cr.project,
                dataset=cr.dataset,
                change_request_id=cr.id,
                staging_version=cr.staging_version,
                content_hash=cr.content_hash,
                suite_hash=spec.suite_hash,
                base_version=cr.base_version,
                blocks=verdict.blocks,
                summary=run.summary,
            )
        )
        tx.flush()
        fresh = get_change_request(tx, cr.ref, cr.id)
        _assert_still_that(fresh, facts)
        _move_on(tx, spec, fresh, facts.run_id, verdict)
        reach("validate.recording")
    return run


def load_run(ws: Workspace, cr: ChangeRequest) -> RunDocuments | None:
    """The validation run that the change request stands on."""
    if not cr.validation_run_id:
        return None
    return read_run(ws.layout(cr.ref).validation_run(cr.validation_run_id))


def _move_on(tx: Transaction, spec: DatasetSpec, cr: ChangeRequest, run_id: str, verdict: Verdict) -> None:
    checks = {
        "passed": verdict.passed,
        "failed_fatal": verdict.failed_fatal,
        "failed_warning": verdict.failed_warning,
        "failed_info": verdict.failed_info,
        "errored": verdict.errored,
    }
    transition(
        tx,
        cr,
        CRState.CHECKED,
        actor="system",
        details={"validation_run_id": run_id, **checks},
        checks=checks,
        validation_run_id=run_id,
        suite_hash=spec.suite_hash,
    )
    if verdict.blocks:
        transition(tx, cr, CRState.REFUSED, actor="system", reason="Fatal checks failed.")
        return
    transition(tx, cr, CRState.IN_REVIEW, actor="system")
    if spec.approvals == 0:
        transition(tx, cr, CRState.APPROVED, actor="system", details={"policy": "approvals: 0"})


def _outcomes(ws: Workspace, spec: DatasetSpec, cr: ChangeRequest) -> tuple[CheckOutcome, ...]:
    change = ws.change_set(cr)
    table = table_to_be(ws.spark(), change)
    relative = any(e.relative for e in spec.expectations)
    before = main_as_is(ws.spark(), change) if relative else None
    with computed_once(rows_to_be(ws.spark(), change, _needed(spec))) as rows:
        judged = (*run_suite(spec, rows, table=table, before=before), *check_constraints(spec, rows))
    return (*judged, _appended_rows_are_new(ws, cr))


def _needed(spec: DatasetSpec) -> set[str] | None:
    """The columns that have to be looked up in main for rows of a file that leaves them out."""
    looked_at = columns_looked_at(spec)
    return None if looked_at is None else looked_at | columns_constrained(spec) | set(spec.key)


def _appended_rows_are_new(ws: Workspace, cr: ChangeRequest) -> CheckOutcome:
    """An append that meets a row of main would either double it or overwrite it."""
    rows: tuple[FailingRow, ...] = ()
    total = 0
    if cr.mode is Mode.APPEND:
        counts = count_changes(ws.change_set(cr))
        total = counts.updated + counts.unchanged
        known = changed_rows(ws.change_set(cr), Wanted(kinds=("updated", "unchanged")), 1000) if total else []
        rows = tuple(FailingRow(row_id, {}, {}) for row_id in known)
    return CheckOutcome(
        name=NEW_ROWS,
        type="oreo",
        severity=Severity.FATAL,
        status=CheckStatus.FAILED if total else CheckStatus.PASSED,
        scope=Scope.ROWS,
        expected=BUILT_IN_CHECKS[NEW_ROWS],
        observed=f"{total:,} rows are in main already" if total else "none is in main",
        failing_total=total,
        failing=rows,
        capped=total > len(rows),
    )


def _assert_staged_as_recorded(ws: Workspace, cr: ChangeRequest) -> None:
    change = ws.change_set(cr)
    there = log.current_version(change.staged.uri)
    if there != cr.staging_version or content_hash(change.staged) != cr.content_hash:
        raise StaleApprovalError(
            f"What is staged for {cr.id} (version {there}) is not what was recorded ({cr.staging_version}).",
            f"Stage it again: oreo cr retry {cr.ref} {cr.id}",
        )


def _assert_still_that(cr: ChangeRequest, facts: RunFacts) -> None:
    """Two may work on one change request; a verdict on rows that the other has replaced must not count."""
    if (cr.staging_version, cr.content_hash) != (facts.staging_version, facts.content_hash):
        raise StateError(
            f"Change request {cr.id} was staged anew while it was checked.", f"See: oreo cr show {cr.ref} {cr.id}"
        )


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
