"""What one API process has at hand: opened once, and shared by all requests."""

from __future__ import annotations

import threading
from functools import cached_property
from typing import Annotated

from fastapi import Depends, Request

from ..settings import Settings, cookie_secret
from ..workflow.workspace import Workspace
from .jobs import JobTable
from .visits import Visits


class Service:
    """The workspace, the jobs and the visits of an app."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.jobs = JobTable()
        self.visits = Visits(lambda: self._cookie_secret, lambda: self.ws.catalog)
        self._lock = threading.Lock()
        self._ws: Workspace | None = None

    @property
    def ws(self) -> Workspace:
        """Opened at the first request, not at the start: a catalog that is away then may be back a minute later."""
        with self._lock:
            if self._ws is None:
                self._ws = Workspace.open(self.settings)
            return self._ws

    @cached_property
    def _cookie_secret(self) -> bytes:
        return cookie_secret(self.settings)

    def close(self) -> None:
        with self._lock:
            if self._ws is not None:
                self._ws.catalog.close()
                self._ws = None


def _service(request: Request) -> Service:
    service: Service = request.app.state.service
    return service


Here = Annotated[Service, Depends(_service)]
