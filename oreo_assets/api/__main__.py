"""`python -m oreo_assets.api`: the API and the review site on the loopback interface."""

from __future__ import annotations

import logging

import uvicorn

from ..settings import Settings
from .app import create_app
from .middleware import WithRequestId


def main() -> None:
    settings = Settings.from_env()
    _log()
    uvicorn.run(create_app(settings, site=True), host="127.0.0.1", port=settings.api_port, log_level="warning")


def _log() -> None:
    """Our own lines, each with the id of its request. Uvicorn's access log would tell whole queries: left out."""
    handler = logging.StreamHandler()
    handler.addFilter(WithRequestId())
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s [%(request_id)s] %(message)s"))
    ours = logging.getLogger("oreo_assets")
    ours.addHandler(handler)
    ours.setLevel(logging.INFO)
    ours.propagate = False


if __name__ == "__main__":
    main()
