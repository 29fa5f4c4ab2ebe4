"""The entry points of the older service, over the storage adapter: a table is `project/dataset`."""

from __future__ import annotations

from operator import itemgetter
from typing import Annotated

from fastapi import APIRouter, Path, Query, Request
from fastapi.responses import Response

from ...model.ids import DatasetRef
from ...workflow.adapter import StorageAdapter
from .. import told
from ..answers import Json, page
from ..asked import Limit, Name, Note, QueryTable, RestoreTable, RestoreVersion, SendRows
from ..auth import Who
from ..once import Once
from ..service import Here
from .uploads import upload_answer

router = APIRouter(tags=["older service"])

_Table = Annotated[Name, Query(description="project/dataset", examples=["shop/orders"])]
_DottedId = Annotated[
    str,
    Path(
        pattern=r"^[a-z0-9][a-z0-9_-]{0,63}\.[a-z0-9][a-z0-9_-]{0,63}$",
        description="project.dataset",
        examples=["shop.orders"],
    ),
]


@router.post("/delta/append", status_code=202, response_model=told.Upload, summary="Add rows, by a change request")
def append(here: Here, who: Who, given: SendRows, once: Once) -> Response:
    adapter = _adapter(here, who, given.table)
    return once(
        lambda: upload_answer(adapter.ref, adapter.append_rows(given.rows, given.note), status=202), given.model_dump()
    )


@router.post(
    "/delta/overwrite", status_code=202, response_model=told.Upload, summary="Replace all rows, by a change request"
)
def overwrite(here: Here, who: Who, given: SendRows, once: Once) -> Response:
    adapter = _adapter(here, who, given.table)
    return once(
        lambda: upload_answer(adapter.ref, adapter.overwrite(given.rows, given.note), status=202), given.model_dump()
    )


@router.get("/delta/history", response_model=list[told.Commit], summary="The commits of a table, the newest first")
def history(request: Request, here: Here, who: Who, table: _Table, limit: Limit = None) -> Json:
    return page(request, _adapter(here, who, table).history(limit), limit, itemgetter("version"))


@router.post(
    "/delta/restore",
    status_code=202,
    response_model=told.Upload,
    summary="Bring an earlier version back, by a change request",
)
def restore(here: Here, who: Who, given: RestoreTable, once: Once) -> Response:
    return _restore(_adapter(here, who, given.table), given.version, once)


@router.get("/delta/query", response_model=told.TableRows, summary="Rows of a table")
def query(
    here: Here,
    who: Who,
    table: _Table,
    where: Annotated[list[Note], Query(description="column=op.value", examples=[["amount=gte.100"]])] = [],  # noqa: B006
    limit: Annotated[int, Query(ge=0, le=100_000)] = 100,
    offset: Annotated[int, Query(ge=0, le=2**53)] = 0,
) -> Json:
    return Json({"rows": _adapter(here, who, table).query(where, limit, offset)})


@router.post("/delta/query", response_model=told.TableRows, summary="Rows of a table, asked for with a body")
def query_by_body(here: Here, who: Who, given: QueryTable) -> Json:
    rows = _adapter(here, who, given.table).query(given.where, given.limit, given.offset)
    return Json({"rows": rows})


@router.get("/api/datasets/{dataset_id}/history", response_model=list[told.Commit], summary="The commits of a dataset")
def dataset_history(request: Request, here: Here, who: Who, dataset_id: _DottedId, limit: Limit = None) -> Json:
    return page(request, _adapter(here, who, dataset_id.replace(".", "/")).history(limit), limit, itemgetter("version"))


@router.post(
    "/api/datasets/{dataset_id}/restore",
    status_code=202,
    response_model=told.Upload,
    summary="Bring an earlier version of a dataset back, by a change request",
)
def dataset_restore(here: Here, who: Who, dataset_id: _DottedId, given: RestoreVersion, once: Once) -> Response:
    return _restore(_adapter(here, who, dataset_id.replace(".", "/")), given.version, once)


def _adapter(here: Here, who: Who, table: str) -> StorageAdapter:
    return StorageAdapter(here.ws, who, DatasetRef.parse(table))


def _restore(adapter: StorageAdapter, version: int, once: Once) -> Response:
    return once(lambda: upload_answer(adapter.ref, adapter.restore(version), status=202), version)
