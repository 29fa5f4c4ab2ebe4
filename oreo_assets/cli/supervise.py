"""Child processes that live and die together."""

from __future__ import annotations

import os
import signal
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ..model.errors import UnavailableError

_STOP_SECONDS = 20


@dataclass
class Service:
    """One process of the platform, and how to tell that it is ready."""

    name: str
    command: list[str]
    ready_url: str | None = None
    process: subprocess.Popen[bytes] | None = field(default=None, repr=False)

    @property
    def is_alive(self) -> bool:
        return self.process is not None and self.process.poll() is None


@dataclass
class Supervisor:
    """Starts services in order and stops them in the reverse; each logs to a file of its own."""

    logs: Path
    environment: Mapping[str, str]
    services: list[Service] = field(default_factory=list)

    def start(self, service: Service) -> None:
        self.logs.mkdir(parents=True, exist_ok=True)
        with self.log_of(service).open("ab") as log:
            # A session of its own: Ctrl-C reaches us alone, and we stop the others in order.
            service.process = subprocess.Popen(
                service.command,
                env={**os.environ, **self.environment},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self.services.append(service)

    def wait_ready(self, service: Service, seconds: float = 90) -> None:
        deadline = time.monotonic() + seconds
        while service.ready_url:
            if not service.is_alive:
                raise self._failed(service, "ended right after its start")
            if _answers(service.ready_url):
                return
            if time.monotonic() > deadline:
                raise self._failed(service, f"did not answer within {seconds:.0f} s")
            time.sleep(0.2)

    def first_dead(self) -> Service | None:
        return next((s for s in self.services if not s.is_alive), None)

    def stop(self) -> None:
        for service in reversed(self.services):
            _signal(service, signal.SIGTERM)
        deadline = time.monotonic() + _STOP_SECONDS
        for service in reversed(self.services):
            assert service.process is not None
            try:
                service.process.wait(max(0.1, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                _signal(service, signal.SIGKILL)
                service.process.wait()
        self.services.clear()

    def log_of(self, service: Service) -> Path:
        return self.logs / f"{service.name.replace(' ', '-').lower()}.log"

    def _failed(self, service: Service, what: str) -> UnavailableError:
        return UnavailableError(f"{service.name} {what}.", f"Its log says why: {self.log_of(service)}")


def _answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=2) as reply:
            return bool(reply.status < 500)
    except (urllib.error.URLError, OSError):
        return False


def _signal(service: Service, number: signal.Signals) -> None:
    if service.is_alive:
        assert service.process is not None
        os.killpg(service.process.pid, number)
