"""The API as one FastAPI app."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from fastapi import FastAPI

from .. import __version__
from ..model.spec import DatasetSpec
from ..settings import Settings
from .errors import handle_errors
from .middleware import BodyLimit, RequestIds
from .receiving import remove_leftovers
from .routes import (
    audit,
    change_requests,
    comments,
    datasets,
    decisions,
    delta,
    health,
    history,
    live,
    maintenance,
    projects,
    reports,
    rows,
    uploads,
    users,
)
from .service import Service
from .told import ErrorDocument

V1 = "/api/v1"
_UPLOADS = (rf"{V1}/projects/[^/]+/datasets/[^/]+/uploads", r"/p/[^/]+/[^/]+/upload/file")
_NOUNS = (
    projects,
    datasets,
    users,
    uploads,
    change_requests,
    decisions,
    live,
    comments,
    rows,
    history,
    audit,
    maintenance,
)
_ERRORS: dict[int | str, dict[str, Any]] = {
    401: {"model": ErrorDocument, "description": "No token, or one that nobody knows."},
    403: {"model": ErrorDocument, "description": "The token's user has not the role for this."},
    404: {"model": ErrorDocument, "description": "There is no such thing."},
    422: {"model": ErrorDocument, "description": "What was sent is not as it must be, or was refused."},
    "default": {"model": ErrorDocument, "description": "409 for a wrong state, 413 for too much, 503 for a retry."},
}
_ABOUT = """
A governed home for datasets: what people send is staged, checked, reviewed, and only then merged.

Send your token as `Authorization: Bearer TOKEN`. Every error has one shape, `{"error": {"code", "message", "remedy",
"retryable", "details", "request_id"}}`. Every answer names its request in `X-Request-Id`; you may choose it yourself.
`Idempotency-Key` on a POST makes it safe to send again. Lists that go on have the next page in `Link`.
"""


def create_app(settings: Settings, *, site: bool = False) -> FastAPI:
    """The API, and (as the shipped server has it) the review site beside it."""
    service = Service(settings)

    @asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        remove_leftovers(settings)
        yield
        service.close()

    app = FastAPI(
        title="Oreo",
        description=_ABOUT,
        version=__version__,
        docs_url="/api/docs",
        redoc_url=None,
        openapi_url="/api/openapi.json",
        redirect_slashes=False,
        lifespan=lifespan,
    )
    app.state.service = service
    app.add_middleware(BodyLimit, unlimited=_UPLOADS)
    app.add_middleware(RequestIds)
    handle_errors(app)
    for noun in _NOUNS:
        app.include_router(noun.router, prefix=V1, responses=_ERRORS)
    app.include_router(delta.router, responses=_ERRORS)
    app.include_router(reports.router, responses=_ERRORS)
    app.include_router(health.router, responses={"default": _ERRORS["default"]})
    _declare_dataset_files(app)
    if site:
        # Here, not above: NiceGUI takes a second to import, and the API alone does without.
        from .site.mount import mount_site

        mount_site(app, service)
    return app


def _declare_dataset_files(app: FastAPI) -> None:
    """Add the schema of a dataset's declaration, whose route takes YAML too and so reads its body itself."""
    made = app.openapi

    def openapi() -> dict[str, Any]:
        if app.openapi_schema is None:
            document = made()
            schema = DatasetSpec.model_json_schema(ref_template="#/components/schemas/{model}")
            known = document["components"]["schemas"]
            known.update(schema.pop("$defs", {}))
            known["DatasetSpec"] = schema
        return app.openapi_schema or {}

    app.openapi = openapi  # type: ignore[method-assign]
