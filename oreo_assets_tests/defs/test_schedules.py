"""Maintenance as Dagster runs it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import dagster as dg
import pytest
from sqlalchemy import update

from oreo_assets.catalog.models import ChangeRequest
from oreo_assets.defs.build import build_definitions
from oreo_assets.defs.datasets import partitions_name
from oreo_assets.defs.schedules import old_partitions, wants
from oreo_assets.model.spec import DatasetSpec
from oreo_assets.settings import Settings
from oreo_assets.workflow.maintenance import Chore
from oreo_assets.workflow.workspace import Workspace
from oreo_assets_tests.cli.lake_without_spark import ORDERS, put_in_review, register

NOW = datetime(2026, 6, 1, tzinfo=UTC)


def test_a_dataset_may_opt_out_of_a_schedule():
    quiet = DatasetSpec.model_validate(ORDERS.as_json() | {"policies": {"optimize": "never", "vacuum": "never"}})
    assert [c for c in Chore if wants(ORDERS, c)] == list(Chore)
    assert [c for c in Chore if wants(quiet, c)] == [Chore.CHECKPOINT, Chore.CLEANUP]


def test_only_partitions_of_change_requests_that_ended_long_ago_are_old():
    ended = {"old": NOW - timedelta(days=31), "new": NOW - timedelta(days=29)}
    assert old_partitions(["old", "new", "open"], ended, ORDERS, NOW) == ["old"]


def test_the_cleanup_job_prunes_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    settings = Settings.from_env({}, root=str(tmp_path / "lake"))
    for name, value in settings.as_env().items():
        monkeypatch.setenv(name, value)
    ws = Workspace.open(settings)
    register(ws, ORDERS)
    old, fresh = put_in_review(ws, ORDERS, fatal=True), put_in_review(ws, ORDERS)
    long_ago = datetime.now(UTC) - timedelta(days=60)
    with ws.catalog.write() as tx:
        tx.execute(update(ChangeRequest).where(ChangeRequest.id == old).values(updated_at=long_ago))
    job = build_definitions(settings).get_repository_def().get_job("cleanup_job")
    with dg.DagsterInstance.ephemeral() as instance:
        instance.add_dynamic_partitions(partitions_name(ORDERS.ref), [old, fresh])
        assert job.execute_in_process(instance=instance).success
        assert instance.get_dynamic_partitions(partitions_name(ORDERS.ref)) == [fresh]
    assert not Path(ws.layout(ORDERS.ref).staging(old)).exists()
    assert Path(ws.layout(ORDERS.ref).staging(fresh)).exists()
