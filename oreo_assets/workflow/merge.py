"""The merge: the only way into main. Each step is safe to repeat; the marker in the log decides.

1. hold the dataset; 2. verify from stored facts, failing closed; 3. find conflicts if main moved;
4. MERGE, at most once; 5. read the marker back; 6. tell the catalog in one transaction; 7. delete staging.
"""

from __future__ import annotations

import logging

from ..catalog import audit
from ..catalog.change_requests import get_change_request, get_upload, transition, valid_approvals
from ..catalog.datasets import get_dataset, spec_of
from ..catalog.leases import HeldLease
from ..catalog.models import ChangeRequest
from ..crash_points import reach
from ..lake import log
from ..lake.diff import Counts
from ..lake.merge import MergePlan, fence_off, merge, merged_counts
from ..model.commit import CommitMetadata
from ..model.errors import DefectError, StateError
from ..model.ids import DatasetRef, new_id
from ..model.spec import Column, DatasetSpec
from ..model.states import CRState
from .datasets import sync_meta
from .gate import Passed, pass_gate
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
            passed = pass_gate(ws, spec, cr)
            reach("merge.verified")
            _start(ws, cr, held)
            reach("merge.started")
            _commit(ws, spec, cr, passed, held)
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


def _commit(ws: Workspace, spec: DatasetSpec, cr: ChangeRequest, passed: Passed, held: HeldLease) -> None:
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
    plan = MergePlan.of(spec, passed.change, main_moved=passed.main_moved)
    with ws.isolated_spark() as spark:
        held.assert_held()
        merge(spark, plan, metadata)
    reach("merge.committed")
    if not log.is_committed(passed.change.main.uri, cr.id):
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


def _reread(ws: Workspace, cr: ChangeRequest) -> ChangeRequest:
    with ws.catalog.read() as tx:
        return get_change_request(tx, cr.ref, cr.id)
