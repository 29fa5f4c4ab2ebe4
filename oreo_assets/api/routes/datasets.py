"""Datasets: declared, listed, shown."""

from __future__ import annotations

import json
import logging
from contextlib import suppress
from operator import itemgetter
from typing import Annotated, Any

import yaml
from fastapi import APIRouter, Depends, Request
from fastapi.responses import Response

from ...model.errors import SpecError
from ...model.spec import DatasetSpec
from ...model.spec_file import parse_spec, validate_spec
from ...platform_info import tell_of_new_datasets
from ...workflow.datasets import apply_dataset, datasets, show_dataset
from .. import told
from ..answers import Answer, Json, page
from ..asked import After, Limit, following
from ..auth import Who
from ..errors import TooLargeError
from ..once import Once
from ..places import DatasetAt, ProjectId, dataset_path
from ..service import Here

logger = logging.getLogger(__name__)
router = APIRouter(tags=["datasets"])

_MAX_SPEC_BYTES = 2**20
_MAX_DEPTH = 50
_SOURCE = "body"
_EXAMPLE = {
    "project": "shop",
    "dataset": "orders",
    "columns": [{"name": "order_id", "type": "string", "nullable": False}, {"name": "amount", "type": "decimal(12,2)"}],
    "key": ["order_id"],
}
_BODY: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {
            "application/json": {"schema": {"$ref": "#/components/schemas/DatasetSpec"}, "example": _EXAMPLE},
            "application/yaml": {"schema": {"type": "string"}, "example": yaml.safe_dump(_EXAMPLE, sort_keys=False)},
        },
    }
}


async def _text(request: Request) -> str:
    body = await request.body()
    if len(body) > _MAX_SPEC_BYTES:
        raise TooLargeError("A dataset file has at most 1 MB.", "Send less.")
    try:
        return body.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise SpecError(f"{_SOURCE}: not UTF-8 text.", "Send JSON or YAML in UTF-8.") from error


@router.get("/datasets", response_model=list[told.Dataset], summary="List the datasets of all your projects")
def list_all(request: Request, here: Here, who: Who, after: After = None, limit: Limit = None) -> Json:
    """In the order of their names; `after` is the last name of the page before, as `project/dataset`."""
    found = following(datasets(here.ws, who), _name, after and tuple(after.split("/", 1)))
    return page(request, found, limit, lambda item: "/".join(_name(item)))


@router.get("/projects/{project}/datasets", response_model=list[told.Dataset], summary="List the datasets of a project")
def list_of_project(
    request: Request, here: Here, who: Who, project: ProjectId, after: After = None, limit: Limit = None
) -> Json:
    found = following(datasets(here.ws, who, project), itemgetter("dataset"), after)
    return page(request, found, limit, itemgetter("dataset"))


@router.post(
    "/projects/{project}/datasets",
    response_model=told.DatasetApplied,
    responses={201: {"model": told.DatasetApplied, "description": "It is new."}},
    openapi_extra=_BODY,
    summary="Create a dataset, or change it to what the declaration says",
)
def apply(
    here: Here, who: Who, project: ProjectId, text: Annotated[str, Depends(_text)], request: Request, once: Once
) -> Response:
    """JSON, or YAML as in a dataset file. The same again changes nothing. Takes the role admin in the project."""
    spec = _declared(text, request.headers.get("content-type", ""))
    if spec.project != project:
        raise SpecError(
            f"{_SOURCE}: project: {spec.project} is declared, but the path says {project}.", "Let them agree."
        )

    def do() -> Answer:
        applied = apply_dataset(here.ws, who, spec)
        if applied.created and (problem := tell_of_new_datasets(here.settings)):
            logger.warning("the platform could not be told of %s: %s", spec.ref, problem)
        return Answer(applied.as_json(), 201 if applied.created else 200, dataset_path(spec.ref))

    return once(do, spec.as_json())


@router.get("/projects/{project}/datasets/{dataset}", response_model=told.DatasetCard, summary="Show a dataset")
def show(here: Here, who: Who, ref: DatasetAt) -> Json:
    """Its declaration, version, size, and the change requests that are open."""
    return Json(show_dataset(here.ws, who, ref))


def _name(found: dict[str, Any]) -> tuple[str, str]:
    return found["project"], found["dataset"]


def _declared(text: str, content_type: str) -> DatasetSpec:
    if "yaml" in content_type:
        _refuse_traps(text)
        return parse_spec(text, _SOURCE)
    try:
        data = json.loads(text, object_pairs_hook=_no_key_twice)
    except json.JSONDecodeError as error:
        raise SpecError(
            f"{_SOURCE}:{error.lineno}: not valid JSON: {error.msg}.",
            "Mend it; for YAML, say so: Content-Type: application/yaml.",
        ) from error
    except RecursionError as error:
        raise _too_deep() from error
    if not isinstance(data, dict):
        raise SpecError(f"{_SOURCE}: a dataset is an object (project, dataset, columns …).", "See /api/docs.")
    return validate_spec(data, _SOURCE)


def _refuse_traps(text: str) -> None:
    """What costs its writer a line and its reader, who walks what it stands for, anything up to forever."""
    depth = 0
    with suppress(yaml.YAMLError):  # parse_spec says so, with the line it is in
        for event in yaml.parse(text, Loader=yaml.SafeLoader):
            if isinstance(event, yaml.AliasEvent):
                raise SpecError(f"{_SOURCE}: aliases (*name) are not taken here.", "Write it out.")
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            if depth > _MAX_DEPTH:
                raise _too_deep()


def _too_deep() -> SpecError:
    return SpecError(f"{_SOURCE}: nested too deeply.", "A dataset file has a few levels only.")


def _no_key_twice(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise SpecError(f"{_SOURCE}: {twice}: given twice.", "Keep one of the two.")
    return found
