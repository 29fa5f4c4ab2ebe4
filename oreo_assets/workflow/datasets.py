"""Projects and datasets: made, changed, shown."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlalchemy import select

from ..catalog import Transaction, audit
from ..catalog.datasets import get_dataset, get_meta, list_datasets, list_projects, spec_of
from ..catalog.models import ChangeRequest, Dataset, DatasetMeta, Project, now
from ..catalog.users import Actor
from ..lake import log
from ..lake.read import TableAt, count_rows
from ..lake.tables import reconcile_main
from ..model.errors import NotFoundError, RefusedError, SpecError
from ..model.ids import DatasetRef, check_id
from ..model.spec import DatasetSpec
from ..model.states import CRState, Role
from ..quality.known import check_expectations
from .workspace import Workspace


def create_project(ws: Workspace, actor: Actor, project: str) -> bool:
    """Make a project; False if it was there already."""
    check_id(project, "project id")
    actor.require(Role.ADMIN, project)
    with ws.catalog.write() as tx:
        if tx.get(Project, project):
            return False
        tx.add(Project(id=project, created_by=actor.name))
        audit.record(tx, actor.name, "project.create", subject=project)
    return True


def projects(ws: Workspace, actor: Actor) -> list[Project]:
    return [p for p in list_projects(ws.catalog) if actor.role_in(p.id)]


def project_json(project: Project) -> dict[str, Any]:
    return {"project": project.id, "created_by": project.created_by, "created_at": project.created_at}


@dataclass(frozen=True)
class Applied:
    """What applying a dataset file did: nothing, if `changes` is empty."""

    ref: DatasetRef
    created: bool
    changes: tuple[str, ...]

    def as_json(self) -> dict[str, Any]:
        return {
            "project": self.ref.project,
            "dataset": self.ref.dataset,
            "created": self.created,
            "changed": bool(self.changes),
            "changes": list(self.changes),
        }


def apply_dataset(ws: Workspace, actor: Actor, spec: DatasetSpec) -> Applied:
    """Create a dataset, or change it to what the spec says. The same spec again changes nothing.

    The table is made first and the catalog told last: if the process dies between the two, applying
    the same file once more completes it.
    """
    actor.require(Role.ADMIN, spec.project)
    if problems := check_expectations(spec):
        raise SpecError("\n".join(problems), "Mend the expectations and apply the file again.")
    with ws.catalog.read() as tx:
        if not tx.get(Project, spec.project):
            raise NotFoundError(f"There is no project {spec.project}.", f"Make it: oreo project create {spec.project}")
        known = tx.get(Dataset, (spec.project, spec.dataset))
    layout = ws.layout(spec.ref)
    if known and known.fingerprint == spec.fingerprint and log.table_exists(layout.main):
        return Applied(spec.ref, False, ())
    if known:
        _refuse_new_identity(spec_of(known), spec)
    layout.create_folders()
    with ws.sole_writer(spec.ref):
        _check_constraints_parse(ws, spec)
        changes = reconcile_main(ws.spark(), spec, layout.main)
        with ws.catalog.write() as tx:
            row = tx.get(Dataset, (spec.project, spec.dataset)) or Dataset(
                project=spec.project, dataset=spec.dataset, created_by=actor.name
            )
            row.spec, row.fingerprint, row.updated_at = spec.as_json(), spec.fingerprint, now()
            tx.add(row)
            tx.flush()
            sync_meta(ws, tx, spec.ref)
            audit.record(tx, actor.name, "dataset.apply", spec.ref, changes=changes, fingerprint=spec.fingerprint)
    return Applied(spec.ref, known is None, tuple(changes) or ("declaration changed",))


def sync_meta(ws: Workspace, tx: Transaction, ref: DatasetRef) -> DatasetMeta:
    """Bring `dataset_meta` up to the log, in the caller's transaction. Again changes nothing."""
    uri = ws.layout(ref).main
    version = log.current_version(uri)
    meta = get_meta(tx, ref)
    if meta and meta.delta_version == version:
        return meta
    meta = meta or DatasetMeta(project=ref.project, dataset=ref.dataset)
    newest = next((c.metadata for c in log.commits(uri) if c.metadata), None)
    meta.delta_version = version
    meta.last_commit_id = newest.commit_id if newest else None
    meta.row_count = count_rows(TableAt("main", uri, version))
    meta.file_count, meta.bytes = log.file_facts(uri)
    meta.updated_at = now()
    tx.add(meta)
    return meta


def show_dataset(ws: Workspace, actor: Actor, ref: DatasetRef) -> dict[str, Any]:
    actor.require(Role.VIEWER, ref.project)
    with ws.catalog.read() as tx:
        dataset = get_dataset(tx, ref)
        meta = get_meta(tx, ref)
        open_states = [s for s in CRState if s.is_open]
        waiting = tx.scalars(
            select(ChangeRequest.id).where(
                ChangeRequest.project == ref.project,
                ChangeRequest.dataset == ref.dataset,
                ChangeRequest.state.in_(open_states),
            )
        ).all()
    return {**_summary(dataset, meta), "open_change_requests": list(waiting), "spec": dataset.spec} | {
        "location": ws.layout(ref).main
    }


def datasets(ws: Workspace, actor: Actor, project: str | None = None) -> list[dict[str, Any]]:
    return [_summary(d, m) for d, m in list_datasets(ws.catalog, project) if actor.role_in(d.project)]


def _summary(dataset: Dataset, meta: DatasetMeta | None) -> dict[str, Any]:
    return {
        "project": dataset.project,
        "dataset": dataset.dataset,
        "description": dataset.spec.get("description", ""),
        "owners": dataset.spec.get("owners", []),
        "delta_version": meta.delta_version if meta else None,
        "last_commit_id": meta.last_commit_id if meta else None,
        "row_count": meta.row_count if meta else None,
        "file_count": meta.file_count if meta else None,
        "bytes": meta.bytes if meta else None,
        "updated_at": dataset.updated_at.isoformat(),
    }


def _refuse_new_identity(old: DatasetSpec, new: DatasetSpec) -> None:
    """Rows already have their row_id, and files their partitions: these cannot change under them."""
    for field in ("key", "row_id_rule", "partition_by"):
        if getattr(old, field) != getattr(new, field):
            raise RefusedError(
                f"{field.removesuffix('_rule')} of {old.ref} cannot change from {getattr(old, field)} to "
                f"{getattr(new, field)}: the rows in main were made with it.",
                "Declare a new dataset and move the rows there.",
            )


def _check_constraints_parse(ws: Workspace, spec: DatasetSpec) -> None:
    if spec.constraints:
        from ..quality.constraints import validate_constraint_sql

        validate_constraint_sql(spec, ws.spark())
