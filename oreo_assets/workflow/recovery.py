"""Recovery: what a crash left half done is finished or undone, by what the log says, never by guesses."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from ..catalog.change_requests import get_change_request, list_change_requests, transition
from ..catalog.datasets import get_meta, list_datasets, spec_of
from ..catalog.leases import HeldLease, is_leased
from ..catalog.models import ChangeRequest
from ..crash_points import reach
from ..lake import log
from ..lake.tables import reconcile_main
from ..model.errors import BusyError, UnavailableError
from ..model.ids import DatasetRef
from ..model.spec import DatasetSpec
from ..model.states import CRState
from .datasets import sync_meta
from .merge import finish, was_committed
from .workspace import Workspace, lease_name


class Step(StrEnum):
    """What a change request waits for that the platform can do by itself."""

    STAGE = "stage"
    MERGE = "merge"


NEXT_STEP = {
    CRState.RECEIVED: Step.STAGE,
    CRState.CONVERTED: Step.STAGE,
    CRState.STAGED: Step.STAGE,
    CRState.APPROVED: Step.MERGE,
}


@dataclass(frozen=True)
class Recovered:
    """One thing that was put right."""

    ref: DatasetRef
    subject: str
    action: str

    def as_json(self) -> dict[str, str]:
        return {"dataset": str(self.ref), "subject": self.subject, "action": self.action}

    def __str__(self) -> str:
        return f"{self.ref} {self.subject}: {self.action}"


def recover(ws: Workspace, ref: DatasetRef | None = None) -> list[Recovered]:
    """Put right what can be put right now, and tell what was done. A second time does nothing.

    Datasets that somebody is writing at this moment are left to them.
    """
    done: list[Recovered] = []
    trouble: UnavailableError | None = None
    for dataset, _meta in list_datasets(ws.catalog):
        if ref in (None, dataset.ref) and not is_leased(ws.catalog, lease_name(dataset.ref)):
            try:
                done += _recover_dataset(ws, spec_of(dataset))
            except BusyError:
                continue  # taken between the look and the lease: its holder is at work
            except UnavailableError as error:
                trouble = trouble or error  # told at the end: the other datasets must not wait for this one
    if trouble:
        raise trouble
    return done


def pending(ws: Workspace) -> list[tuple[ChangeRequest, Step]]:
    """Change requests that wait for the pipeline, the oldest first."""
    waiting = list_change_requests(ws.catalog, states=NEXT_STEP)
    return [(cr, NEXT_STEP[cr.state]) for cr in reversed(waiting)]


def _recover_dataset(ws: Workspace, spec: DatasetSpec) -> list[Recovered]:
    ref = spec.ref
    half_done = list_change_requests(ws.catalog, ref, (CRState.MERGING, CRState.MERGED))
    leftovers = _leftover_staging(ws, ref)
    table_missing = not log.table_exists(ws.layout(ref).main)
    if table_missing:
        _refuse_to_forget(ws, ref)
    behind = not table_missing and _meta_is_behind(ws, ref)
    if not (half_done or leftovers or table_missing or behind):
        return []
    done: list[Recovered] = []
    with ws.sole_writer(ref) as held:
        if table_missing:
            ws.layout(ref).create_folders()
            reconcile_main(ws.spark(), spec, ws.layout(ref).main)
            done.append(Recovered(ref, "main", "made again, empty: its table was missing"))
        done += [_recover_merge(ws, cr, held) for cr in half_done]
        reach("recovery.merges_done")
        for folder in leftovers:
            shutil.rmtree(folder, ignore_errors=True)
            done.append(Recovered(ref, folder.name, "what was staged for it deleted"))
            reach("recovery.leftover_deleted")
        if behind or table_missing:
            with ws.catalog.write() as tx:
                sync_meta(ws, tx, ref)
            done.append(Recovered(ref, "dataset_meta", "brought up to the log"))
    return done


def _recover_merge(ws: Workspace, cr: ChangeRequest, held: HeldLease) -> Recovered:
    if was_committed(ws, cr, held):
        finish(ws, cr)
        return Recovered(cr.ref, cr.id, "was committed; the catalog now knows, and it is closed")
    with ws.catalog.write() as tx:
        fresh = get_change_request(tx, cr.ref, cr.id)
        sync_meta(ws, tx, cr.ref)
        transition(tx, fresh, CRState.APPROVED, actor="system", action="change_request.merge_undone")
        reach("recovery.undoing")
    return Recovered(cr.ref, cr.id, "was not committed; it is approved again and will be merged")


def _leftover_staging(ws: Workspace, ref: DatasetRef) -> list[Path]:
    """Staged tables of change requests that ended, or that never were."""
    folder = Path(ws.layout(ref).base, "staging")
    if not folder.is_dir():
        return []
    # First the folders, then the catalog: what is staged after this look belongs to somebody at work.
    found = sorted(folder.iterdir())
    kept = {cr.id for cr in list_change_requests(ws.catalog, ref, _STATES_WITH_STAGING)}
    return [path for path in found if path.name not in kept]


_STATES_WITH_STAGING = [s for s in CRState if s.is_open or s in (CRState.MERGING, CRState.MERGED, CRState.REFUSED)]
"""A refused change request keeps its rows, so that its sender can look at them; its TTL ends that."""


def _refuse_to_forget(ws: Workspace, ref: DatasetRef) -> None:
    """A table that had rows and is not there: a disk that is not mounted, perhaps. An empty one would hide that."""
    with ws.catalog.read() as tx:
        meta = get_meta(tx, ref)
    if meta and meta.row_count:
        raise UnavailableError(
            f"Main of {ref} is not at {ws.layout(ref).main}, but had {meta.row_count:,} rows "
            f"at version {meta.delta_version}.",
            "Mount its disk, or bring the folder back from a backup; nothing was made in its place.",
        )


def _meta_is_behind(ws: Workspace, ref: DatasetRef) -> bool:
    with ws.catalog.read() as tx:
        meta = get_meta(tx, ref)
    return meta is None or meta.delta_version != log.current_version(ws.layout(ref).main)
