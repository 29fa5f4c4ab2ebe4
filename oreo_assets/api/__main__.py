"""`python -m oreo_assets.api`: the API on the loopback interface."""

from __future__ import annotations

import uvicorn

from ..settings import Settings
from .app import create_app


def main() -> None:
    settings = Settings.from_env()
    uvicorn.run(create_app(settings), host="127.0.0.1", port=settings.api_port, log_level="warning")


if __name__ == "__main__":
    main()
