"""The warm run launcher with real processes: a Dagster instance, a code server, a nursery, forked runs."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import dagster as dg
import psutil
import pytest
from dagster._core.code_pointer import load_python_file
from dagster._core.launcher.base import WorkerStatus
from dagster._core.workspace.context import WorkspaceProcessContext
from dagster._core.workspace.load_target import PythonFileTarget

from oreo_assets.defs import nursery
from oreo_assets.defs.launcher import WORKER_TAG, WarmRunLauncher
from oreo_assets.defs.nursery import client

CODE = """
import os, sys, time
from concurrent import futures
import dagster as dg

def told(**facts):
    return dg.MaterializeResult(metadata={"pid": os.getpid(), **facts})

@dg.asset
def quick():
    print("words on stdout")
    print("words on stderr", file=sys.stderr)
    loaded = [m for m in ("great_expectations", "pyspark.sql.connect.session") if m in sys.modules]
    return told(session=os.getsid(0), loaded=",".join(loaded), seen=os.environ.get("OREO_TEST_WORD", ""))

@dg.asset
def sleepy():
    open(os.environ["OREO_TEST_AWAKE"] + f"/{os.getpid()}", "w").close()
    time.sleep(60)

@dg.asset
def dialing():
    import grpc
    server = grpc.server(futures.ThreadPoolExecutor(2))
    echo = grpc.unary_unary_rpc_method_handler(lambda request, context: request)
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("t.T", {"Echo": echo}),))
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
        answer = channel.unary_unary("/t.T/Echo")(b"hello", timeout=10)
    server.stop(0)
    return told(answer=answer.decode())

assets = [quick, sleepy, dialing]
jobs = [dg.define_asset_job(f"{a.key.path[0]}_job", [a]) for a in assets]
defs = dg.Definitions(assets=assets, jobs=jobs, executor=dg.in_process_executor)
"""
SMALL = ["dagster", "dagster._cli.api"]


@dataclass
class Platform:
    """An instance with our launcher and a code location, as web server and daemon have them."""

    instance: dg.DagsterInstance
    process: WorkspaceProcessContext
    jobs: dg.Definitions
    awake: Path

    @property
    def home(self) -> Path:
        return nursery.nursery_dir(self.instance.root_directory)

    @property
    def launcher(self) -> WarmRunLauncher:
        launcher = self.instance.run_launcher
        assert isinstance(launcher, WarmRunLauncher)
        return launcher

    def launch(self, job: str) -> str:
        workspace = self.process.create_request_context()
        location = workspace.get_code_location(workspace.code_location_names[0])
        remote = next(iter(location.get_repositories().values())).get_full_job(job)
        run = self.instance.create_run_for_job(
            self.jobs.resolve_job_def(job),
            remote_job_origin=remote.get_remote_origin(),
            job_code_origin=remote.get_python_origin(),
        )
        self.instance.launch_run(run.run_id, workspace)
        return run.run_id

    def run(self, run_id: str) -> dg.DagsterRun:
        run = self.instance.get_run_by_id(run_id)
        assert run is not None
        return run

    def wait(self, run_id: str) -> dg.DagsterRunStatus:
        wait_for(lambda: self.run(run_id).is_finished, 90)
        return self.run(run_id).status

    def told(self, run_id: str, asset: str) -> dict[str, object]:
        records = self.instance.fetch_materializations(dg.AssetKey(asset), limit=20).records
        event = next(r.asset_materialization for r in records if r.run_id == run_id)
        assert event is not None
        return {name: value.value for name, value in event.metadata.items()}

    def engine_words(self, run_id: str) -> str:
        return "\n".join(entry.message for entry in self.instance.all_logs(run_id))

    def launch_sleepy(self) -> tuple[str, int]:
        before = set(self.awake.iterdir())
        run_id = self.launch("sleepy_job")
        wait_for(lambda: set(self.awake.iterdir()) - before, 90)
        return run_id, int((set(self.awake.iterdir()) - before).pop().name)


def wait_for(condition: Callable[[], object], seconds: float = 30) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.02)


@dataclass(frozen=True)
class Location:
    """A code location that several instances share: a code server takes seconds to start."""

    process: WorkspaceProcessContext
    defs: dg.Definitions
    awake: Path


@pytest.fixture(scope="module")
def location(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Location]:
    folder = tmp_path_factory.mktemp("location")
    (folder / "awake").mkdir()
    file = folder / "location.py"
    file.write_text(CODE)
    target = PythonFileTarget(str(file), attribute="defs", working_directory=str(folder), location_name="tiny")
    with (
        pytest.MonkeyPatch.context() as patch,
        dg.instance_for_test() as instance,
        WorkspaceProcessContext(instance, target) as process,
    ):
        patch.setenv("OREO_TEST_AWAKE", str(folder / "awake"))
        defs = load_python_file(str(file), str(folder)).defs
        yield Location(process, defs, folder / "awake")


@contextmanager
def platform(location: Location, home: Path, config: str) -> Iterator[Platform]:
    (home / "dagster.yaml").write_text(
        "run_launcher:\n  module: oreo_assets.defs.launcher\n  class: WarmRunLauncher\n"
        + f"  config: {config}\n"
        + "telemetry: {enabled: false}\nrun_monitoring: {enabled: true}\n"
    )
    with dg.DagsterInstance.from_config(str(home)) as instance:
        try:
            yield Platform(instance, location.process, location.defs, location.awake)
        finally:
            nursery.stop(nursery.nursery_dir(home), end_workers=True)


@pytest.fixture(scope="module")
def small(location: Location, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Platform]:
    home = tmp_path_factory.mktemp("small")
    with platform(location, home, f"{{preload: {SMALL}, idle_seconds: 60}}") as it:
        yield it


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """A nursery's folder without Dagster around it."""
    yield tmp_path / "nursery"
    nursery.stop(tmp_path / "nursery", end_workers=True)


def nurseries(home: Path) -> list[int]:
    """The nurseries of a folder by what runs on this machine, not by what they say."""
    found = []
    for process in psutil.process_iter(["cmdline"]):
        words = process.info["cmdline"] or []
        if "oreo_assets.defs.nursery" in words and str(home) in words:
            found.append(process.pid)
    return found


def test_run_is_forked_from_the_nursery_and_succeeds(small: Platform, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OREO_TEST_WORD", "set after the nursery started")
    nursery.ensure(small.home, preload=SMALL, idle_seconds=60)
    run_id = small.launch("quick_job")
    assert small.wait(run_id) == dg.DagsterRunStatus.SUCCESS

    facts = small.told(run_id, "quick")
    assert facts["seen"] == "set after the nursery started"
    assert facts["session"] == facts["pid"], "a session of its own: signals to the nursery do not reach it"
    assert f"Forked (process {facts['pid']}) from the nursery" in small.engine_words(run_id)
    assert WORKER_TAG in small.run(run_id).tags


def test_what_a_step_prints_shows_in_its_compute_logs(small: Platform) -> None:
    run_id = small.launch("quick_job")
    assert small.wait(run_id) == dg.DagsterRunStatus.SUCCESS
    captured = next(e for e in small.instance.all_logs(run_id) if "LOGS_CAPTURED" in str(e.dagster_event_type))
    key = captured.get_dagster_event().logs_captured_data.file_key
    manager = small.instance.compute_log_manager
    data = manager.get_log_data([run_id, "compute_logs", key])
    assert b"words on stdout" in (data.stdout or b"")
    assert b"words on stderr" in (data.stderr or b"")


def test_run_opens_a_grpc_channel_in_the_forked_process(small: Platform) -> None:
    run_id = small.launch("dialing_job")
    assert small.wait(run_id) == dg.DagsterRunStatus.SUCCESS
    assert small.told(run_id, "dialing")["answer"] == "hello"


def test_killed_worker_is_found_dead_with_the_reason(small: Platform) -> None:
    run_id, pid = small.launch_sleepy()
    assert small.launcher.check_run_worker_health(small.run(run_id)).status == WorkerStatus.RUNNING
    os.kill(pid, signal.SIGKILL)
    wait_for(lambda: small.launcher.check_run_worker_health(small.run(run_id)).status == WorkerStatus.FAILED)
    assert "SIGKILL" in str(small.launcher.check_run_worker_health(small.run(run_id)).msg)
    assert small.run(run_id).status == dg.DagsterRunStatus.STARTED

    assert small.launcher.terminate(run_id), "and can still be canceled by hand"
    assert small.run(run_id).status == dg.DagsterRunStatus.CANCELED


def test_terminated_run_ends_canceled(small: Platform) -> None:
    run_id, pid = small.launch_sleepy()
    with dg.DagsterInstance.from_ref(small.instance.get_ref()) as another:
        assert another.run_launcher.terminate(run_id)
    assert small.wait(run_id) == dg.DagsterRunStatus.CANCELED
    wait_for(lambda: not psutil.pid_exists(pid))
    assert not small.launcher.terminate(run_id)


def test_run_terminated_before_its_first_step_ends_canceled(small: Platform) -> None:
    run_id = small.launch("sleepy_job")
    assert small.launcher.terminate(run_id)
    assert small.wait(run_id) == dg.DagsterRunStatus.CANCELED


def test_two_runs_at_once_are_two_workers(small: Platform) -> None:
    (first, first_pid), (second, second_pid) = small.launch_sleepy(), small.launch_sleepy()
    assert first_pid != second_pid
    status = nursery.status(small.home)
    assert status is not None
    assert status.workers >= 2
    for run_id in (first, second):
        assert small.launcher.check_run_worker_health(small.run(run_id)).status == WorkerStatus.RUNNING
        assert small.launcher.terminate(run_id)
    assert {small.wait(first), small.wait(second)} == {dg.DagsterRunStatus.CANCELED}


def test_killed_nursery_is_replaced_and_its_runs_go_on(small: Platform) -> None:
    run_id, pid = small.launch_sleepy()
    first = nursery.ensure(small.home)
    assert first.pid is not None
    os.kill(first.pid, signal.SIGKILL)
    wait_for(lambda: nursery.status(small.home) is None)
    assert small.launcher.check_run_worker_health(small.run(run_id)).status == WorkerStatus.RUNNING

    quick = small.launch("quick_job")
    assert small.wait(quick) == dg.DagsterRunStatus.SUCCESS
    second = nursery.status(small.home)
    assert second is not None
    assert second.pid != first.pid

    os.kill(pid, signal.SIGKILL)
    wait_for(lambda: small.launcher.check_run_worker_health(small.run(run_id)).status == WorkerStatus.FAILED)
    assert "is gone" in str(small.launcher.check_run_worker_health(small.run(run_id)).msg)
    assert small.launcher.terminate(run_id)


def test_changed_code_is_imported_anew_while_runs_go_on(small: Platform) -> None:
    run_id, _ = small.launch_sleepy()
    before = nursery.ensure(small.home)
    probe = Path(client.__file__).with_name(f"probe_{os.getpid()}.py")
    try:
        probe.write_text('"""Here for one test."""\n')
        quick = small.launch("quick_job")
        assert small.wait(quick) == dg.DagsterRunStatus.SUCCESS
    finally:
        probe.unlink()
    assert "importing it again" in (small.home / client.LOG).read_text()
    after = nursery.ensure(small.home)
    assert after.pid == before.pid
    health = client.health(small.home, run_id)
    assert health is not None
    assert health.exit_code is None
    assert small.launcher.terminate(run_id)
    assert small.wait(run_id) == dg.DagsterRunStatus.CANCELED


@pytest.mark.parametrize(
    ("config", "reason"),
    [("{fork: false}", "fork: false"), ("{fork: true}", "did not start")],
)
def test_without_a_nursery_the_run_is_a_plain_process_and_says_why(
    location: Location, tmp_path: Path, config: str, reason: str
) -> None:
    with platform(location, tmp_path, config) as it:
        (it.home / client.SOCKET).mkdir(parents=True)  # No nursery can listen here.
        run_id, pid = it.launch_sleepy()
        assert reason in it.engine_words(run_id)
        assert it.launcher.check_run_worker_health(it.run(run_id)).status == WorkerStatus.RUNNING
        os.kill(pid, signal.SIGKILL)
        wait_for(lambda: it.launcher.check_run_worker_health(it.run(run_id)).status == WorkerStatus.FAILED)
        assert nurseries(it.home) == []


def test_two_processes_that_start_a_nursery_at_once_end_with_one(folder: Path) -> None:
    code = f"""
        from pathlib import Path
        from oreo_assets.defs import nursery
        import sys
        sys.stdout.write(str(nursery.ensure(Path({str(folder)!r}), preload=["json"]).pid))
    """
    command = [sys.executable, "-c", textwrap.dedent(code)]
    starters = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(4)]
    told = {starter.communicate(timeout=30)[0] for starter in starters}
    wait_for(lambda: len(nurseries(folder)) == 1)
    assert told == {str(pid) for pid in nurseries(folder)}


def test_nursery_leaves_when_idle_or_when_its_folder_is_gone(tmp_path: Path) -> None:
    idle, orphan = tmp_path / ("a-long-name-" * 12), tmp_path / "orphan"
    nursery.ensure(idle, preload=["json"], idle_seconds=1)
    nursery.ensure(orphan, preload=["json"])
    (orphan / client.SOCKET).unlink()
    wait_for(lambda: not nurseries(idle) and not nurseries(orphan))
    assert nursery.status(idle) is None
    assert not nursery.stop(idle)


def test_a_module_that_cannot_be_imported_is_named(folder: Path) -> None:
    status = nursery.ensure(folder, preload=["json", "no_such_module"])
    assert status.not_loaded == ("no_such_module",)
    assert "Could not import no_such_module" in (folder / client.LOG).read_text()


def test_usual_preload_has_everything_and_no_threads(location: Location, tmp_path: Path) -> None:
    with platform(location, tmp_path, "{}") as it:
        run_id = it.launch("quick_job")
        assert it.wait(run_id) == dg.DagsterRunStatus.SUCCESS
        assert it.told(run_id, "quick")["loaded"] == "great_expectations,pyspark.sql.connect.session"
        dialing = it.launch("dialing_job")
        assert it.wait(dialing) == dg.DagsterRunStatus.SUCCESS
        assert "started threads" not in (it.home / client.LOG).read_text()
