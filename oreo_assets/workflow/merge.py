"""The merge: the only way into main. Each step is safe to repeat; the marker in the log decides.

1. hold the dataset; 2. verify from stored facts, failing closed; 3. find conflicts if main moved;
4. MERGE, at most once; 5. read the marker back; 6. tell the catalog in one transaction; 7. delete staging.
"""

from __future__ import annotations

import logging

from ..catalog import Transaction, audit
from ..catalog.change_requests import (
    get_change_request,
    get_upload,
    transition,
    valid_approvals,
    validation_run_of,
    void_approvals,
)
from ..catalog.datasets import get_dataset, spec_of
from ..catalog.leases import HeldLease
from ..catalog.models import Approval, ChangeRequest
from ..crash_points import reach
from ..lake import log
from ..lake.conflicts import Conflict, find_conflicts
from ..lake.diff import ChangeSet, Counts, content_hash
from ..lake.merge import MergePlan, fence_off, merge, merged_counts
from ..model.commit import CommitMetadata
from ..model.errors import ConflictError, DefectError, StaleApprovalError, StateError
from ..model.ids import DatasetRef, new_id
from ..model.spec import Column, DatasetSpec
from ..model.states import CRState
from .datasets import sync_meta
from .staging import delete_staging
from .workspace import Workspace

logger = logging.getLogger(__name__)


def merge_change_request(ws: Workspace, ref: DatasetRef, cr_id: str) -> ChangeRequest:
    """Bring an approved change request into main, exactly once. Merged already: nothing happens."""
    with ws.catalog.read() as tx:
        cr = get_change_request(tx, ref, cr_id)
    if cr.state is CRState.CLOSED:
        return cr
    _require_mergeable(cr)
    with ws.sole_writer(ref) as held:
        reach("merge.leased")
        cr = _reread(ws, cr)
        if cr.state in (CRState.MERGED, CRState.CLOSED):
            return finish(ws, cr)
        _require_mergeable(cr)
        if not was_committed(ws, cr, held):
            spec = ws.spec(ref)
            change = _verify(ws, spec, cr)
            moved = _settle(ws, spec, cr, change)
            reach("merge.verified")
            _start(ws, cr, held)
            reach("merge.started")
            _commit(ws, spec, cr, change, held, moved=moved)
        return finish(ws, cr)


def was_committed(ws: Workspace, cr: ChangeRequest, held: HeldLease) -> bool:
    """Whether the log has it. If not, it stays so: an attempt that is still under way can no longer commit.

    Whoever began the merge may be dead while Spark still works on it; without the fence it could land after
    the change request was withdrawn, or found to be in conflict.
    """
    uri = ws.layout(cr.ref).main
    if log.is_committed(uri, cr.id):
        return True
    if cr.state is not CRState.MERGING:
        return False
    metadata = CommitMetadata(
        commit_id=new_id("co"),
        change_request_id=None,
        author="system",
        note=f"An unfinished merge of {cr.id} is given up",
        fence=held.fence,
    )
    with ws.isolated_spark() as spark:
        held.assert_held()
        try:
            fence_off(spark, uri, metadata, cr.id, held.fence)
        except Exception:
            # Delta refuses the fence if the merge committed meanwhile; any other trouble is trouble.
            if not log.is_committed(uri, cr.id):
                raise
    reach("merge.fenced")
    return log.is_committed(uri, cr.id)


def finish(ws: Workspace, cr: ChangeRequest) -> ChangeRequest:
    """From the marker onwards: the catalog is told, staging is deleted, the change request closed."""
    cr = _reread(ws, cr)
    if cr.state is CRState.MERGING:
        _record_merge(ws, cr)
        reach("merge.recorded")
    if cr.state is CRState.MERGED:
        delete_staging(ws, cr)
        reach("merge.staging_deleted")
        with ws.catalog.write() as tx:
            transition(tx, get_change_request(tx, cr.ref, cr.id), CRState.CLOSED, actor="system")
    return _reread(ws, cr)


def _require_mergeable(cr: ChangeRequest) -> None:
    if cr.state in (CRState.APPROVED, CRState.MERGING, CRState.MERGED):
        return
    remedy = {
        CRState.IN_REVIEW: f"Have it approved by a second person: oreo cr approve {cr.ref} {cr.id}",
        CRState.CONFLICTED: f"Settle its conflicts: oreo cr resolve {cr.ref} {cr.id} --take ours|theirs",
    }.get(cr.state, f"See where it stands: oreo cr show {cr.ref} {cr.id}")
    raise StateError(f"Change request {cr.id} is {cr.state}, not approved; main was not touched.", remedy)


def _verify(ws: Workspace, spec: DatasetSpec, cr: ChangeRequest) -> ChangeSet:
    """Everything that an approval rests on, from stored facts. Whatever is missing fails closed."""
    change = ws.change_set(cr)
    with ws.catalog.read() as tx:
        problem = _doubt(tx, spec, cr)
    if problem is None and not log.table_exists(change.staged.uri):
        problem = "what was staged is gone"
    if problem is None and log.current_version(change.staged.uri) != cr.staging_version:
        problem = "what is staged changed after the approval"
    if problem is None and content_hash(change.staged) != cr.content_hash:
        problem = "the staged rows are not the approved ones"
    if problem:
        with ws.catalog.write() as tx:
            fresh = get_change_request(tx, cr.ref, cr.id)
            void_approvals(tx, fresh, "system", problem)
            transition(tx, fresh, CRState.IN_REVIEW, actor="system", reason=problem)
        raise StaleApprovalError(
            f"The approval of {cr.id} no longer holds: {problem}. Main was not touched.",
            f"Check it again and have it approved anew: oreo cr retry {cr.ref} {cr.id}",
        )
    return change


def _doubt(tx: Transaction, spec: DatasetSpec, cr: ChangeRequest) -> str | None:
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


def _settle(ws: Workspace, spec: DatasetSpec, cr: ChangeRequest, change: ChangeSet) -> bool:
    """Whether main moved since the base. Disjoint changes go on; an overlap ends here, as `conflicted`."""
    main_now = log.current_version(change.main.uri)
    if main_now == change.main.version:
        return False
    conflicts = find_conflicts(change, main_now, spec.policies.conflicts)
    if not conflicts:
        return True
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


def _start(ws: Workspace, cr: ChangeRequest, held: HeldLease) -> None:
    if cr.state is CRState.APPROVED:
        with ws.catalog.write() as tx:
            fresh = get_change_request(tx, cr.ref, cr.id)
            transition(
                tx,
                fresh,
                CRState.MERGING,
                actor="system",
                details={"fence": held.fence},
                attempts=fresh.attempts + 1,
            )


def _commit(
    ws: Workspace, spec: DatasetSpec, cr: ChangeRequest, change: ChangeSet, held: HeldLease, *, moved: bool
) -> None:
    with ws.catalog.read() as tx:
        approvers = tuple(a.approver for a in valid_approvals(tx, cr.id))
        source = get_upload(tx, cr.upload_id).sha256 if cr.upload_id else None
        attempts = get_change_request(tx, cr.ref, cr.id).attempts
    metadata = CommitMetadata(
        commit_id=new_id("co"),
        change_request_id=cr.id,
        author=cr.author,
        approvers=approvers,
        note=cr.note,
        mode=cr.mode,
        source_sha256=source,
        schema_fingerprint=_evolved(spec, cr).schema_fingerprint,
        validation_run_id=cr.validation_run_id,
        attempts=attempts,
        fence=held.fence,
    )
    plan = MergePlan.of(spec, change, main_moved=moved)
    with ws.isolated_spark() as spark:
        held.assert_held()
        merge(spark, plan, metadata)
    reach("merge.committed")
    if not log.is_committed(change.main.uri, cr.id):
        raise DefectError(
            f"The merge of {cr.id} ended, but the log of {cr.ref} does not carry its marker.",
            "Main may have been written by something else at the same time. Run: oreo recover",
        )


def _record_merge(ws: Workspace, cr: ChangeRequest) -> None:
    """One transaction: the facts of main, the evolved declaration, the state, the audit event."""
    commit = log.find_commit(ws.layout(cr.ref).main, cr.id)
    if commit is None or commit.metadata is None:
        raise DefectError(f"The log of {cr.ref} has {cr.id}'s marker but not its commit.", "Run: oreo recover")
    counts = merged_counts(commit)
    reach("merge.proven")
    with ws.catalog.write() as tx:
        fresh = get_change_request(tx, cr.ref, cr.id)
        dataset = get_dataset(tx, cr.ref)
        spec = _evolved(spec_of(dataset), fresh)
        dataset.spec, dataset.fingerprint = spec.as_json(), spec.fingerprint
        sync_meta(ws, tx, cr.ref)
        if not _as_approved(counts, fresh):
            # Too late to stop it, never too late to say so.
            logger.error("%s: main changed by %s, approved were %s", cr.id, counts.as_json(), fresh.counts)
            audit.record(
                tx,
                "system",
                "merge.counts_differ",
                cr.ref,
                cr.id,
                merged=counts.as_json(),
                approved=fresh.counts,
            )
        transition(
            tx,
            fresh,
            CRState.MERGED,
            actor="system",
            details={
                "version": commit.version,
                "commit_id": commit.metadata.commit_id,
                "approvers": list(commit.metadata.approvers),
                **counts.as_json(),
            },
            merged_version=commit.version,
            commit_id=commit.metadata.commit_id,
        )
        cr.state = fresh.state
        reach("merge.recording")


def _as_approved(counts: Counts, cr: ChangeRequest) -> bool:
    """The commit did what the diff said; if main moved meanwhile, fewer updates may have been left to do."""
    wanted = cr.counts or {}
    exact = all(getattr(counts, kind) == wanted.get(kind) for kind in ("inserted", "deleted"))
    return exact and counts.updated <= wanted.get("updated", 0)


def _evolved(spec: DatasetSpec, cr: ChangeRequest) -> DatasetSpec:
    """The spec with the columns that the change request brings along."""
    known = set(spec.column_names)
    added = [Column(name=c["name"], type=c["type"]) for c in cr.new_columns or [] if c["name"] not in known]
    return spec.model_copy(update={"columns": [*spec.columns, *added]}) if added else spec


def _tell(conflicts: list[Conflict]) -> str:
    cells = [f"{c.row_id}:{c.column}" if c.column else f"row {c.row_id}" for c in conflicts]
    return ", ".join(cells[:5]) + (f" and {len(cells) - 5:,} more" if len(cells) > 5 else "")


def _reread(ws: Workspace, cr: ChangeRequest) -> ChangeRequest:
    with ws.catalog.read() as tx:
        return get_change_request(tx, cr.ref, cr.id)
