"""What Dagster is given: built from the catalog and the dataset files, without Spark."""

from __future__ import annotations

from pathlib import Path

import dagster as dg
import pytest

from oreo_assets.defs.build import build_definitions
from oreo_assets.settings import Settings
from oreo_assets.workflow.workspace import Workspace
from oreo_assets_tests.cli.lake_without_spark import ORDERS, register


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings.from_env({}, root=str(tmp_path / "lake"))


def _repository(settings: Settings) -> dg.RepositoryDefinition:
    return build_definitions(settings).get_repository_def()


def test_an_empty_catalog_has_its_maintenance_and_nothing_else(settings: Settings):
    repository = _repository(settings)
    assert {s.name for s in repository.schedule_defs} == {
        *("optimize_schedule", "vacuum_schedule", "checkpoint_schedule", "cleanup_schedule")
    }
    assert {s.name for s in repository.sensor_defs} == {"uploads", "approvals", "recovery"}
    assert repository.assets_defs_by_key == {}


def test_a_dataset_is_a_graph_of_four_assets_with_its_facts(settings: Settings):
    register(Workspace.open(settings), ORDERS)
    graph = _repository(settings).asset_graph
    keys = {layer: dg.AssetKey(["shop", "orders", layer]) for layer in ("imports", "staging", "main", "audit")}
    assert set(graph.get_all_asset_keys()) == set(keys.values())
    for child, parent in (("staging", "imports"), ("main", "staging"), ("audit", "main")):
        assert graph.get(keys[child]).parent_keys == {keys[parent]}
    main = graph.get(keys["main"])
    assert main.kinds == {"deltalake", "spark"}
    assert main.owners == ["team:sales"]
    assert main.group_name == "shop__orders"
    assert main.description is not None
    assert "Orders of the web shop" in main.description
    assert isinstance(main.partitions_def, dg.DynamicPartitionsDefinition)
    schema = main.metadata["dagster/column_schema"]
    assert [(c.name, c.type) for c in schema.columns] == [
        ("row_id", "string"),
        ("order_id", "string"),
        ("amount", "decimal(38,2)"),
        ("ordered_on", "date"),
    ]


def test_each_expectation_is_a_check_and_only_fatal_ones_block(settings: Settings):
    register(Workspace.open(settings), ORDERS)
    graph = _repository(settings).asset_graph
    checks = {key.name: graph.get_check_spec(key) for key in graph.asset_check_keys}
    assert {name: spec.blocking for name, spec in checks.items()} == {
        "values_to_be_between__amount": False,
        "not_null": True,
        "appended_rows_are_new": True,
    }
    assert checks["values_to_be_between__amount"].description == "amount is at least 0 (warning)"


def test_everything_is_on_by_default(settings: Settings):
    repository = _repository(settings)
    assert all(s.default_status is dg.DefaultSensorStatus.RUNNING for s in repository.sensor_defs)
    assert all(s.default_status is dg.DefaultScheduleStatus.RUNNING for s in repository.schedule_defs)


def test_a_dataset_file_that_is_not_applied_yet_is_shown_and_a_bad_one_left_out(tmp_path: Path):
    (tmp_path / "new.yaml").write_text("project: p\ndataset: d-1\ncolumns: [{name: a, type: int}]\n")
    (tmp_path / "bad.yaml").write_text("project: P\n")
    settings = Settings.from_env({"OREO_DATASETS": str(tmp_path)}, root=str(tmp_path / "lake"))
    assert dg.AssetKey(["p", "d-1", "main"]) in _repository(settings).asset_graph.get_all_asset_keys()


def test_the_shipped_instance_file_is_the_one_in_the_checkout():
    import oreo_assets

    package = Path(oreo_assets.__file__).parent
    assert (package / "defs" / "dagster.yaml").read_text() == (package.parent / "dagster.yaml").read_text()
