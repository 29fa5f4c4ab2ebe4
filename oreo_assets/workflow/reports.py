"""Validation reports: one run as a page, for whoever may see the dataset."""

from __future__ import annotations

from collections.abc import Callable

from ..catalog.models import ValidationRun
from ..catalog.users import Actor
from ..model.errors import NotFoundError
from ..model.ids import DatasetRef
from ..model.states import Role
from ..quality.reports import render_report
from ..quality.store import read_run
from .workspace import Workspace


def report(ws: Workspace, actor: Actor, ref: DatasetRef, run_id: str, link: Callable[[str], str] | None = None) -> str:
    """The page of a run, as HTML that needs nothing else. `link` tells where its change request can be seen."""
    actor.require(Role.VIEWER, ref.project)
    with ws.catalog.read() as tx:
        run = tx.get(ValidationRun, run_id)
    if run is None or run.ref != ref:
        raise NotFoundError(f"{ref} has no validation run {run_id}.", f"See: oreo cr list {ref}")
    where = link(run.change_request_id) if link else None
    return render_report(read_run(ws.layout(ref).validation_run(run_id)), where)
