"""How a Spark Connect server is started on this machine, and how one tells that it is up."""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ..settings import Settings
from .jars import spark_home
from .spark_config import driver_memory, spark_config

_SERVER_CLASS = "org.apache.spark.sql.connect.service.SparkConnectServer"
# A session of a client that idles over lunch must still be there; one a dead client left must go some day.
_SESSION_TIMEOUT = "12h"


@dataclass(frozen=True)
class ServerLaunch:
    """A command line and its environment; the token is in the latter, where `ps` does not show it."""

    command: tuple[str, ...]
    environ: Mapping[str, str]


def server_launch(
    settings: Settings, port: int, token: str, overrides: Mapping[str, str] | None = None
) -> ServerLaunch:
    """How to start a server on `port` of the loopback interface that only admits who knows `token`."""
    config = {
        **spark_config(settings),
        "spark.connect.grpc.binding.address": "127.0.0.1",
        "spark.connect.grpc.binding.port": str(port),
        "spark.connect.session.manager.defaultSessionTimeout": _SESSION_TIMEOUT,
        **(overrides or {}),
    }
    command = [str(spark_home() / "bin" / "spark-submit"), "--class", _SERVER_CLASS]
    for name, value in config.items():
        command += ["--conf", f"{name}={value}"]
    return ServerLaunch((*command, "spark-internal"), _environment(token))


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def answers(port: int, host: str = "127.0.0.1", timeout: float = 2.0) -> bool:
    """Whether something listens there."""
    try:
        with socket.create_connection((host, port), timeout=timeout):
            return True
    except OSError:
        return False


def connect_url(port: int, token: str) -> str:
    """By name, not by number: PySpark sends a token over an unencrypted channel to `localhost` only."""
    return f"sc://localhost:{port}/;token={token}"


def _environment(token: str) -> dict[str, str]:
    # What would make Spark's launcher a client of another Spark, or use another Spark's jars, stays behind.
    misleading = (
        "SPARK_REMOTE",
        "SPARK_CONNECT_",
        "SPARK_LOCAL_REMOTE",
        "SPARK_API_MODE",
        "PYSPARK_",
        "MASTER",
    )
    environ = {name: value for name, value in os.environ.items() if not name.startswith(misleading)}
    environ.setdefault("SPARK_DRIVER_MEMORY", driver_memory())
    return environ | {
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_HOME": str(spark_home()),
        "SPARK_CONNECT_AUTHENTICATE_TOKEN": token,
        "PYSPARK_PYTHON": sys.executable,
    }


def log_tail(log: Path, lines: int = 5) -> str:
    """The end of a server's log, for an error message."""
    try:
        return "\n".join(log.read_text(errors="replace").splitlines()[-lines:])
    except OSError:
        return ""
