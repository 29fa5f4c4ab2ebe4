"""`oreo up`: the whole platform with one command, stopped with Ctrl-C."""

from __future__ import annotations

import os
import signal
import socket
import sys
import time
import webbrowser
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console

from ..defs import nursery
from ..lake import local_engine
from ..lake.connect_server import free_port
from ..model.errors import UnavailableError
from ..platform_info import clear_platform_info, platform_running, write_platform_info
from ..settings import Settings
from .supervise import Service, Supervisor

_LOCATION = "oreo_assets.definitions"


def run_up(settings: Settings, open_browser: bool = False) -> int:
    """Start Spark, the code server, Dagster's web server and daemon, and the API; stay until stopped."""
    console = Console(stderr=True)
    if info := platform_running(settings):
        raise UnavailableError(
            f"The platform is already up for {settings.root} (process {info.pid}).",
            f"Open http://127.0.0.1:{info.dagster_port}, or stop that process first.",
        )
    for name, port in (("OREO_PORT", settings.api_port), ("DAGSTER_PORT", settings.dagster_port)):
        if not _is_free(port):
            raise UnavailableError(f"Port {port} is taken by another program.", f"Choose another: {name}=… oreo up")
    from ..defs.embedded import prepare_instance
    from ..workflow.workspace import Workspace

    prepare_instance(settings)
    Workspace.open(settings)
    supervisor = Supervisor(settings.state_dir / "logs", settings.as_env())
    with _stopping_on_signals() as stop, console.status("Starting…") as status:
        try:
            for service in _services(settings):
                status.update(f"Starting {service.name}…")
                supervisor.start(service)
            if not settings.spark_remote and not settings.spark_master:
                status.update("Starting Spark…")
                local_engine.ensure(settings, keep_alive_pid=os.getpid())
            status.update("Warming up the runs…")
            nursery.ensure(nursery.nursery_dir(settings.dagster_home))
            for service in supervisor.services:
                status.update(f"Waiting for {service.name}…")
                supervisor.wait_ready(service)
            write_platform_info(settings)
            status.stop()
            _welcome(console, settings, supervisor)
            if open_browser:
                webbrowser.open(f"http://127.0.0.1:{settings.api_port}")
            return _stay(console, supervisor, stop)
        finally:
            status.stop()
            console.print("Stopping…", style="dim")
            clear_platform_info(settings)
            supervisor.stop()
            nursery.stop(nursery.nursery_dir(settings.dagster_home), end_workers=True)
            if not settings.spark_remote and not settings.spark_master:
                local_engine.release(settings, os.getpid())


def _services(settings: Settings) -> Iterator[Service]:
    python, port = sys.executable, free_port()
    workspace = _workspace_file(settings, port)
    scripts = Path(sys.executable).parent
    web = f"http://127.0.0.1:{settings.dagster_port}/server_info"
    yield Service(
        "code server",
        [
            *(python, "-m", "dagster", "code-server", "start", "-m", _LOCATION),
            *("-h", "127.0.0.1", "-p", str(port), "--location-name", _LOCATION, "--log-level", "warning"),
        ],
    )
    yield Service("API", [python, "-m", "oreo_assets.api"], f"http://127.0.0.1:{settings.api_port}/healthz")
    yield Service(
        "Dagster web server",
        [
            *(str(scripts / "dagster-webserver"), "-h", "127.0.0.1", "-p", str(settings.dagster_port)),
            *("-w", str(workspace), "--dagster-log-level", "warning", "--suppress-warnings"),
        ],
        web,
    )
    yield Service(
        "Dagster daemon",
        [str(scripts / "dagster-daemon"), "run", "-w", str(workspace), "--log-level", "warning"],
    )


def _workspace_file(settings: Settings, port: int) -> Path:
    """One code server for web server and daemon, so that both see a new dataset after one reload."""
    path = settings.state_dir / "workspace.yaml"
    path.write_text(f"load_from:\n  - grpc_server: {{host: 127.0.0.1, port: {port}, location_name: {_LOCATION}}}\n")
    return path


def _welcome(console: Console, settings: Settings, supervisor: Supervisor) -> None:
    console.print("[bold green]Oreo is up.[/] Ctrl-C stops it.\n")
    console.print(f"  Review    http://127.0.0.1:{settings.api_port}")
    console.print(f"  Dagster   http://127.0.0.1:{settings.dagster_port}")
    console.print(f"  API       http://127.0.0.1:{settings.api_port}/api/docs")
    console.print(f"  Root      {settings.root}")
    console.print(f"  Logs      {supervisor.logs}\n")
    console.print("Send a file from another terminal:  oreo upload PROJECT/DATASET FILE --wait", style="dim")


def _stay(console: Console, supervisor: Supervisor, stop: list[int]) -> int:
    while not stop:
        time.sleep(0.3)
        if dead := supervisor.first_dead():
            console.print(f"[red]{dead.name} ended by itself.[/] Its log: {supervisor.log_of(dead)}")
            return 8
    return 0


@contextmanager
def _stopping_on_signals() -> Iterator[list[int]]:
    """Ctrl-C and SIGTERM are noted, not raised, so that stopping is never itself interrupted half-way."""
    seen: list[int] = []
    before = {s: signal.signal(s, lambda number, _: seen.append(number)) for s in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield seen
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        return probe.connect_ex(("127.0.0.1", port)) != 0
