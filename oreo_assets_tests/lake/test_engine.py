"""The local engine for real: processes, a JVM, a token. Each test has its own home, with shared jars."""

from __future__ import annotations

import atexit
import json
import os
import socket
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from oreo_assets.lake import engine, local_engine
from oreo_assets.lake.connect_server import connect_url
from oreo_assets.lake.engine_state import has_socket
from oreo_assets.lake.jars import ensure_jars, installed_jars
from oreo_assets.lake.java import find_java
from oreo_assets.model.errors import UnavailableError
from oreo_assets.settings import Settings

pytestmark = [pytest.mark.spark, pytest.mark.slow]

_ENSURE = """
from oreo_assets.lake import local_engine
from oreo_assets.settings import Settings
print(local_engine.ensure(Settings.from_env()).pid)
"""

_SESSION = """
import sys
from oreo_assets.lake import engine, local_engine
from oreo_assets.settings import Settings
settings = Settings.from_env()
spark = engine.open_session(settings)
assert engine.open_session(settings) is spark
with engine.isolated_session(settings) as own:
    own.conf.set("spark.databricks.delta.commitInfo.userMetadata", "mine")
    own.sql("SELECT 1 AS one").createOrReplaceTempView("v")
    assert own.table("v").collect()[0].one == 1
assert spark.conf.get("spark.databricks.delta.commitInfo.userMetadata", None) is None
spark.sql(f"CREATE TABLE delta.`{sys.argv[1]}` (k STRING) USING delta")
local_engine.stop(settings)
again = engine.open_session(settings)
assert again is not spark
assert again.range(3).count() == 3
assert again.conf.get("spark.sql.session.timeZone") == "UTC"
local_engine.stop(settings)
"""


@pytest.fixture
def settings(tmp_path: Path) -> Iterator[Settings]:
    shared = Settings.from_env()
    ensure_jars(shared)
    home = tmp_path / "a home"
    home.mkdir()
    for name in ("jars", "cds"):
        if (shared.home / name).exists():
            (home / name).symlink_to(shared.home / name)
    made = Settings.from_env({"OREO_HOME": str(home), "DELTA_DATA_ROOT": str(tmp_path / "root")})
    yield made
    local_engine.stop(made)


def test_ten_processes_at_once_start_one_engine_and_only_its_token_opens_it(settings: Settings) -> None:
    starters = [
        subprocess.Popen([sys.executable, "-c", _ENSURE], env=_environ(settings), stdout=subprocess.PIPE)
        for _ in range(10)
    ]
    pids = {int(starter.communicate(timeout=120)[0]) for starter in starters}
    assert len(pids) == 1
    assert _engines_of(settings) == pids

    endpoint = local_engine.ensure(settings)
    assert {endpoint.pid} == pids
    assert local_engine.status(settings) == endpoint
    report = engine.describe(settings)
    assert (report.kind, report.is_up) == (engine.EngineKind.LOCAL, True)

    state = settings.home / "engine" / "engine.json"
    assert stat.S_IMODE(state.stat().st_mode) == 0o600
    assert endpoint.token not in " ".join(psutil.Process(endpoint.pid).cmdline())
    assert endpoint.token not in repr(endpoint)
    assert _may_enter(connect_url(endpoint.port, endpoint.token))
    assert not _may_enter(connect_url(endpoint.port, "guessed"))

    assert local_engine.stop(settings)
    assert not psutil.pid_exists(endpoint.pid)
    assert local_engine.status(settings) is None
    assert not local_engine.stop(settings)
    assert not engine.describe(settings).is_up


def test_a_platform_that_stops_leaves_the_engine_to_whoever_is_still_connected(settings: Settings) -> None:
    endpoint = local_engine.ensure(settings, keep_alive_pid=os.getpid())
    with socket.create_connection(("127.0.0.1", endpoint.port)):
        deadline = time.monotonic() + 20
        while not has_socket(endpoint.pid, endpoint.port, psutil.CONN_ESTABLISHED) and time.monotonic() < deadline:
            time.sleep(0.05)  # until the engine has taken the connection up
        assert not local_engine.release(settings, os.getpid())
        assert local_engine.status(settings) == endpoint
    while has_socket(endpoint.pid, endpoint.port, psutil.CONN_ESTABLISHED) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert local_engine.release(settings, os.getpid())
    assert local_engine.status(settings) is None


def test_a_stale_state_file_is_replaced_and_an_unused_engine_stops_by_itself(settings: Settings) -> None:
    # The number of a process that lives but is not the engine: it must neither be used nor ended.
    bystander = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(120)"])
    folder = settings.home / "engine"
    folder.mkdir()
    stale = {
        "pid": bystander.pid,
        "created": 1.0,
        "supervisor_pid": 1,
        "port": 9,
        "token": "t",
        "started_at": 1.0,
    }
    (folder / "engine.json").write_text(json.dumps(stale))
    holder = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(120)"])
    try:
        endpoint = local_engine.ensure(settings, idle_minutes=1 / 60, keep_alive_pid=holder.pid)
        assert endpoint.pid != bystander.pid
        assert bystander.poll() is None

        time.sleep(4)
        assert local_engine.status(settings) == endpoint, "held by a living process"
    finally:
        for process in (holder, bystander):
            process.kill()
            process.wait()
    assert _within(20, lambda: local_engine.status(settings) is None and not psutil.pid_exists(endpoint.pid))
    assert not (folder / "engine.json").exists()


def test_a_session_is_replaced_when_its_engine_was_restarted(settings: Settings, tmp_path: Path) -> None:
    # In a process of its own, as a process has one engine and the other tests have theirs.
    done = subprocess.run(
        [sys.executable, "-c", _SESSION, str(tmp_path / "a table")],
        env=_environ(settings),
        capture_output=True,
        text=True,
        timeout=180,
    )
    assert done.returncode == 0, done.stderr


def test_damaged_jars_are_not_used(tmp_path: Path) -> None:
    folder = tmp_path / "jars" / "4.4.0"
    folder.mkdir(parents=True)
    (folder / "manifest.json").write_text('{"delta.jar": 100}')
    (folder / "delta.jar").write_bytes(b"short")
    settings = Settings.from_env({"OREO_HOME": str(tmp_path), "DELTA_DATA_ROOT": str(tmp_path / "root")})
    assert installed_jars(settings) == ()


def test_missing_java_is_named_with_the_command_that_installs_it() -> None:
    with pytest.raises(UnavailableError, match="apt-get install openjdk-17"):
        find_java({"PATH": "/nowhere"})


def test_a_remote_that_does_not_answer_is_said_so(tmp_path: Path) -> None:
    environ = {
        "SPARK_REMOTE": "sc://127.0.0.1:9",
        "OREO_HOME": str(tmp_path),
        "DELTA_DATA_ROOT": str(tmp_path),
    }
    settings = Settings.from_env(environ)
    assert engine.describe(settings) == engine.EngineReport(
        engine.EngineKind.REMOTE, "127.0.0.1:9", False, "does not answer"
    )
    with pytest.raises(UnavailableError, match="No Spark answers"):
        engine.open_session(settings)


def _environ(settings: Settings) -> dict[str, str]:
    return {k: v for k, v in os.environ.items() if not k.startswith("SPARK_")} | settings.as_env()


def _engines_of(settings: Settings) -> set[int]:
    """Every JVM whose working folder is this home's engine folder."""
    found = set()
    for process in psutil.process_iter(["name"]):
        try:
            if process.info["name"] == "java" and process.cwd() == str(settings.home / "engine"):
                found.add(process.pid)
        except psutil.Error:
            continue
    return found


def _may_enter(url: str) -> bool:
    from pyspark.errors import PySparkException
    from pyspark.sql.connect.client import SparkConnectClient

    client = SparkConnectClient(url)
    atexit.unregister(client._cleanup_ml_cache)  # it would wait for a server that is gone by then
    try:
        return bool(client._analyze(method="spark_version").spark_version)
    except PySparkException as error:
        if "UNAUTHENTICATED" in str(error):
            return False
        raise
    finally:
        client.close()


def _within(seconds: float, condition) -> bool:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if condition():
            return True
        time.sleep(0.1)
    return False
