"""The API: for now a health page that says what is up and what is not."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI
from fastapi.responses import JSONResponse

from .. import __version__
from ..lake import engine
from ..model.errors import OreoError
from ..settings import Settings
from ..workflow.workspace import Workspace


def create_app(settings: Settings) -> FastAPI:
    app = FastAPI(title="Oreo", version=__version__, docs_url="/api/docs", openapi_url="/api/openapi.json")

    @app.get("/healthz")
    def healthz() -> JSONResponse:
        """200 when the catalog answers; the parts that are not needed to answer are only told."""
        parts: dict[str, Any] = {"version": __version__, "root": settings.root}
        try:
            parts["catalog"] = Workspace.open(settings).catalog.schema_version()
        except OreoError as error:
            return JSONResponse({"status": "unavailable", **parts, **error.as_json()}, status_code=503)
        spark = engine.describe(settings)
        parts["spark"] = {"engine": spark.kind, "up": spark.is_up}
        return JSONResponse({"status": "ok", **parts})

    return app
