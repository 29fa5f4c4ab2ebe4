"""The assets on a real Dagster instance with real Spark: what the UI would show."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import dagster as dg
import pytest

from oreo_assets.defs.build import build_definitions
from oreo_assets.defs.embedded import prepare_instance, run_step
from oreo_assets.model.errors import StateError
from oreo_assets.model.states import CRState
from oreo_assets.platform_info import change_request_url, report_url
from oreo_assets.workflow.recovery import Step
from oreo_assets_tests.house import House

pytestmark = pytest.mark.spark

KEY = ["shop", "orders"]
FIRST = "order_id,amount,status\nA1,10.50,open\nA2,-20,open\n"


def _instance(house: House) -> dg.DagsterInstance:
    prepare_instance(house.ws.settings)
    return dg.DagsterInstance.from_config(str(house.ws.settings.dagster_home))


def _metadata(instance: dg.DagsterInstance, layer: str) -> dict[str, object]:
    event = instance.get_latest_materialization_event(dg.AssetKey([*KEY, layer]))
    assert event is not None
    materialization = event.asset_materialization
    assert materialization is not None
    return {name: value.value for name, value in materialization.metadata.items()}


def test_a_change_request_goes_through_dagster_and_leaves_its_facts_there(house: House):
    cr_id = house.send(FIRST)
    run_step(house.ws, house.ref, cr_id, Step.STAGE)
    assert house.cr(cr_id).state is CRState.IN_REVIEW
    with _instance(house) as instance:
        staged = _metadata(instance, "staging")
        assert staged["dagster/row_count"] == 2
        assert staged["rows_inserted"] == 2
        checks = {
            key.name: record
            for key in [dg.AssetCheckKey(dg.AssetKey([*KEY, "staging"]), n) for n in _check_names(house)]
            for record in instance.event_log_storage.get_asset_check_execution_history(key, limit=1)
        }
        assert set(checks) == set(_check_names(house))
        failed = checks["values_to_be_between__amount"].event.dagster_event.event_specific_data
        assert (failed.passed, failed.severity, failed.partition) == (False, dg.AssetCheckSeverity.WARN, cr_id)
        assert failed.metadata["failing_rows"].value == 1
        assert "A2" in failed.metadata["first_failing_rows"].value
        assert Path(failed.metadata["validation_run"].value).is_file()
        run_id = house.cr(cr_id).validation_run_id
        assert failed.metadata["report"].value == report_url(house.ws.settings, house.ref, str(run_id))
        assert failed.metadata["review"].value == change_request_url(house.ws.settings, house.ref, cr_id)
    house.approve(cr_id, values_to_be_between__amount="a refund")
    run_step(house.ws, house.ref, cr_id, Step.MERGE)
    cr = house.cr(cr_id)
    with _instance(house) as instance:
        main = _metadata(instance, "main")
        assert main["dagster/row_count"] == 2
        assert main["delta_version"] == cr.merged_version
        assert main["commit_id"] == cr.commit_id
        assert str(main["dagster/uri"]).endswith("/main/") or str(main["dagster/uri"]).endswith("/main")
        assert _metadata(instance, "audit")["commits_added"] == house.version + 1


def test_materializing_main_without_an_approval_fails_and_says_what_to_do(house: House):
    cr_id = house.send(FIRST)
    run_step(house.ws, house.ref, cr_id, Step.STAGE)
    before = house.version
    with pytest.raises(StateError):
        run_step(house.ws, house.ref, cr_id, Step.MERGE)
    with _instance(house) as instance, pytest.MonkeyPatch.context() as patch:
        for name, value in house.ws.settings.as_env().items():
            patch.setenv(name, value)
        job = build_definitions(house.ws.settings).get_repository_def().get_job("shop__orders__merge")
        result = job.execute_in_process(instance=instance, partition_key=cr_id, raise_on_error=False)
        assert not result.success
        (failure,) = [e for e in result.all_events if e.is_step_failure]
        said = failure.event_specific_data.user_failure_data.description
    assert "is in_review, not approved; main was not touched" in said
    assert f"oreo cr approve shop/orders {cr_id}" in said
    assert house.version == before


def test_a_refused_file_leaves_a_failed_blocking_check(house: House):
    cr_id = house.send("order_id,amount\nA1,\n")
    run_step(house.ws, house.ref, cr_id, Step.STAGE)
    assert house.cr(cr_id).state is CRState.REFUSED
    with _instance(house) as instance:
        key = dg.AssetCheckKey(dg.AssetKey([*KEY, "staging"]), "values_to_not_be_null__amount")
        (record,) = instance.event_log_storage.get_asset_check_execution_history(key, limit=1)
        evaluation = record.event.dagster_event.event_specific_data
        assert (evaluation.passed, evaluation.severity) == (False, dg.AssetCheckSeverity.ERROR)


def _check_names(house: House) -> list[str]:
    return [*house.ws.spec(house.ref).check_names, "not_null", "appended_rows_are_new"]


def test_processes_that_open_a_new_dagster_home_at_once_all_can(tmp_path: Path):
    opening = (
        "from oreo_assets.defs.embedded import prepare_instance; from oreo_assets.settings import Settings; "
        "prepare_instance(Settings.from_env())"
    )
    env = os.environ | {"DELTA_DATA_ROOT": str(tmp_path / "lake")}
    openers = [subprocess.Popen([sys.executable, "-c", opening], env=env) for _ in range(3)]
    assert [opener.wait(120) for opener in openers] == [0, 0, 0]
    with closing(sqlite3.connect(tmp_path / "lake.oreo" / "dagster" / "schedules" / "schedules.db")) as database:
        assert len(database.execute("SELECT * FROM alembic_version").fetchall()) == 1
