"""What the sensors decide, as plain functions, and the sensors themselves on a real Dagster instance."""

from __future__ import annotations

import json
import os
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import dagster as dg
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oreo_assets.catalog.change_requests import list_change_requests
from oreo_assets.defs.build import build_definitions
from oreo_assets.defs.resources import OreoResource
from oreo_assets.defs.sensors import MAX_ATTEMPTS, LastRun, find_complete, judge_stuck, plan_runs
from oreo_assets.model.states import CRState, Mode
from oreo_assets.settings import Settings
from oreo_assets.workflow.recovery import Step, pending
from oreo_assets.workflow.workspace import Workspace
from oreo_assets_tests.cli.lake_without_spark import ORDERS, register

NOW = datetime(2026, 1, 1, tzinfo=UTC)
files = st.dictionaries(st.text("abc/", min_size=1), st.tuples(st.integers(0, 9), st.integers(0, 10**10)))


@given(files, files, st.floats(0, 100))
def test_a_file_is_complete_only_if_it_stood_still_since_the_last_look(
    seen: dict[str, tuple[int, int]], before: dict[str, tuple[int, int]], now: float
):
    complete, remember = find_complete(seen, before, now)
    assert all(seen[p] == before[p] and seen[p][0] > 0 and now - seen[p][1] / 1e9 >= 2 for p in complete)
    assert set(complete) | set(remember) == set(seen)
    assert not set(complete) & set(remember)


def test_a_growing_file_is_left_alone_until_it_rests():
    first = {"raw.csv": (10, 0)}
    complete, memory = find_complete(first, {}, now=100)
    assert complete == []
    grown = {"raw.csv": (20, int(99e9))}
    complete, memory = find_complete(grown, memory, now=100)
    assert complete == []
    complete, _ = find_complete(grown, memory, now=100.5)
    assert complete == []  # unchanged, but touched a moment ago
    complete, _ = find_complete(grown, memory, now=102)
    assert complete == ["raw.csv"]


@pytest.mark.parametrize(
    ("attempts", "run", "verdict"),
    [
        (0, None, None),
        (0, LastRun(False, False, None), None),
        (0, LastRun(True, False, NOW - timedelta(seconds=1)), None),
        (0, LastRun(True, False, NOW - timedelta(minutes=1)), "again"),
        (1, LastRun(True, True, NOW - timedelta(minutes=1)), "again"),
        (MAX_ATTEMPTS, LastRun(True, False, NOW - timedelta(minutes=1)), "give up"),
    ],
)
def test_what_is_stuck_is_tried_again_and_given_up_at_last(attempts: int, run: LastRun | None, verdict: str | None):
    assert judge_stuck(attempts, run, NOW) == verdict


@pytest.fixture
def ws(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    settings = Settings.from_env({}, root=str(tmp_path / "lake"))
    for name, value in settings.as_env().items():
        monkeypatch.setenv(name, value)
    workspace = Workspace.open(settings)
    register(workspace, ORDERS)
    return workspace


def _drop(ws: Workspace, upload_id: str, text: str = "order_id,amount\nB1,1\n", name: str = "raw.csv") -> Path:
    folder = ws.layout(ORDERS.ref).upload(upload_id)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text)
    old = time.time() - 60
    os.utime(folder / name, (old, old))
    return folder / name


def _tick(ws: Workspace, sensor: str, instance: dg.DagsterInstance, cursor: str | None = None) -> dg.SensorResult:
    repository = build_definitions(ws.settings).get_repository_def()
    context = dg.build_sensor_context(instance=instance, cursor=cursor, repository_def=repository)
    with context.merge_resources({"oreo": OreoResource()}) as ready:
        result = repository.get_sensor_def(sensor)(ready)
    assert isinstance(result, dg.SensorResult)
    return result


def test_a_dropped_file_is_adopted_at_the_second_look_and_its_run_asked_for(ws: Workspace):
    _drop(ws, "up_dropped")
    with dg.DagsterInstance.ephemeral() as instance:
        first = _tick(ws, "uploads", instance)
        assert first.run_requests == []
        second = _tick(ws, "uploads", instance, first.cursor)
        third = _tick(ws, "uploads", instance, second.cursor)
    (cr,) = list_change_requests(ws.catalog, ORDERS.ref)
    assert (cr.upload_id, cr.state, cr.author, cr.mode) == ("up_dropped", CRState.RECEIVED, "file-drop", Mode.UPSERT)
    assert [r.partition_key for r in second.run_requests or []] == [cr.id]
    assert [r.job_name for r in second.run_requests or []] == ["shop__orders__stage"]
    assert [list(r.partition_keys) for r in second.dynamic_partitions_requests or []] == [[cr.id]]
    # The same key again: Dagster itself drops the repetition.
    assert [r.run_key for r in third.run_requests or []] == [r.run_key for r in second.run_requests or []]


@pytest.mark.parametrize(("upload_id", "name"), [("UPPER", "raw.csv"), ("up_1", "raw.exe"), ("up_1", "other.csv")])
def test_what_is_not_an_upload_is_left_alone(ws: Workspace, upload_id: str, name: str):
    folder = ws.layout(ORDERS.ref).imports / upload_id
    folder.mkdir(parents=True)
    (folder / name).write_text("order_id\nA\n")
    with dg.DagsterInstance.ephemeral() as instance:
        assert json.loads(_tick(ws, "uploads", instance).cursor or "{}") == {}


def test_a_symlink_is_never_adopted(ws: Workspace, tmp_path: Path):
    secret = tmp_path / "secret.csv"
    secret.write_text("order_id\nA\n")
    folder = ws.layout(ORDERS.ref).imports / "up_1"
    folder.mkdir(parents=True)
    (folder / "raw.csv").symlink_to(secret)
    with dg.DagsterInstance.ephemeral() as instance:
        assert json.loads(_tick(ws, "uploads", instance).cursor or "{}") == {}


def test_each_attempt_is_a_run_of_its_own(ws: Workspace):
    _drop(ws, "up_dropped")
    with dg.DagsterInstance.ephemeral() as instance:
        _tick(ws, "uploads", instance, _tick(ws, "uploads", instance).cursor)
    waiting = pending(ws)
    known = frozenset({ORDERS.ref})
    (first,) = plan_runs(waiting, Step.STAGE, known)
    waiting[0][0].attempts += 1
    (second,) = plan_runs(waiting, Step.STAGE, known)
    assert first.run_key != second.run_key
    assert plan_runs(waiting, Step.MERGE, known) == []
    assert plan_runs(waiting, Step.STAGE, frozenset()) == []
