"""What is up and what is not."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request

from ... import __version__
from ...lake import engine
from ...model.errors import OreoError
from .. import told
from ..answers import Json
from ..service import Here

router = APIRouter(tags=["health"])


@router.get("/healthz", response_model=told.Health, summary="What is up")
def healthz(request: Request, here: Here) -> Json:
    """200 when the catalog answers; the parts that are not needed to answer are only told."""
    parts: dict[str, Any] = {"version": __version__, "root": here.settings.root}
    try:
        parts["catalog"] = here.ws.catalog.schema_version()
    except OreoError as error:
        told_error = {**error.as_json()["error"], "request_id": request.state.request_id}  # type: ignore[dict-item]
        return Json({"status": "unavailable", **parts, "error": told_error}, 503)
    spark = engine.describe(here.settings)
    parts["spark"] = {"engine": spark.kind, "up": spark.is_up}
    return Json({"status": "ok", **parts})
