"""Chores, recovery, and the jobs that do them."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from fastapi import APIRouter, Path, Query
from fastapi.responses import Response

from ...catalog.users import EVERYWHERE
from ...model.ids import DatasetRef
from ...model.states import Role
from ...workflow.maintenance import Chore, maintain_all
from ...workflow.recovery import recover
from .. import told
from ..answers import Answer, Json
from ..auth import Who
from ..jobs import Job, Outcome
from ..once import Once
from ..places import ID, DatasetAt
from ..service import Here

router = APIRouter(tags=["maintenance"])

Chores = StrEnum("Chores", {**{chore.name: chore.value for chore in Chore}, "ALL": "all"})  # type: ignore[misc]
_OF_DATASET = "/projects/{project}/datasets/{dataset}"
_Chores = Annotated[Chores, Path(description="`all` is the four of them.")]
_DryRun = Annotated[bool, Query(description="Only say what would be done.")]


@router.post("/maintenance/{chore}", status_code=202, response_model=told.Job, summary="Keep all datasets in shape")
def maintain_everything(here: Here, who: Who, chore: _Chores, once: Once, dry_run: _DryRun = False) -> Response:
    """All that you administer. The platform does this on a schedule; here it is by hand. Poll the job."""
    if Role.ADMIN not in who.grants.values():
        who.require(Role.ADMIN, EVERYWHERE)
    return _maintain(here, who, chore, None, dry_run, once)


@router.post(
    _OF_DATASET + "/maintenance/{chore}", status_code=202, response_model=told.Job, summary="Keep a dataset in shape"
)
def maintain_dataset(
    here: Here, who: Who, ref: DatasetAt, chore: _Chores, once: Once, dry_run: _DryRun = False
) -> Response:
    """Takes the role admin. Poll the job."""
    here.ws.spec(ref)
    who.require(Role.ADMIN, ref.project)
    return _maintain(here, who, chore, ref, dry_run, once)


@router.post("/recover", status_code=202, response_model=told.Job, summary="Finish or undo what a crash left half done")
def recover_everything(here: Here, who: Who, once: Once) -> Response:
    """By what the tables' logs say. Safe at any time: nothing is done that the platform would not do by itself.

    Change requests that wait are the platform's to bring on.
    """
    return _recover(here, who, None, once)


@router.post(_OF_DATASET + "/recover", status_code=202, response_model=told.Job, summary="The same for one dataset")
def recover_dataset(here: Here, who: Who, ref: DatasetAt, once: Once) -> Response:
    here.ws.spec(ref)
    return _recover(here, who, ref, once)


@router.get("/jobs/{job}", response_model=told.Job, summary="How far a job is, and what came of it")
def show_job(here: Here, who: Who, job: Annotated[str, Path(pattern=ID, examples=["job_01k3x8m2t4v6w8y"])]) -> Json:
    """Your own; an admin: anybody's. Jobs are forgotten at a restart: what they do is safe to be begun again."""
    return Json(here.jobs.get(who, job).as_json())


def _maintain(here: Here, who: Who, chore: StrEnum, ref: DatasetRef | None, dry_run: bool, once: Once) -> Response:
    chores = list(Chore) if chore.value == "all" else [Chore(chore.value)]

    def work() -> Outcome:
        done = maintain_all(here.ws, who, chores, ref, dry_run=dry_run)
        return Outcome(done.as_json(), done.error)

    return once(lambda: _accepted(here.jobs.start(who, f"maintain {chore.value}", work)))


def _recover(here: Here, who: Who, ref: DatasetRef | None, once: Once) -> Response:
    def work() -> Outcome:
        return Outcome({"recovered": [item.as_json() for item in recover(here.ws, ref)], "driven": []})

    return once(lambda: _accepted(here.jobs.start(who, "recover", work)))


def _accepted(job: Job) -> Answer:
    return Answer(job.as_json(), 202, f"/api/v1/jobs/{job.id}")
