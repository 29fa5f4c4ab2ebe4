"""The demo is the product's first impression: it runs here as a user runs it, and its claims are checked."""

from __future__ import annotations

from pathlib import Path

import pytest

from oreo_assets.catalog import Catalog, audit
from oreo_assets.demo.data import COLUMNS, GOOD_ROWS, make_orders, refunds, write_files
from oreo_assets.demo.run import DATASET_FILE, run_demo
from oreo_assets.lake import log
from oreo_assets.lake.layout import DatasetLayout
from oreo_assets.lake.read import TableAt, query_rows
from oreo_assets.model.errors import UsageError
from oreo_assets.model.filters import Filter
from oreo_assets.model.ids import DatasetRef
from oreo_assets.model.spec_file import load_spec_file
from oreo_assets.quality.known import check_expectations
from oreo_assets.settings import Settings


@pytest.mark.spark
@pytest.mark.slow
def test_demo_ends_well_and_leaves_what_it_told_of(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    settings = Settings.from_env(root=str(tmp_path / "delta"))

    assert run_demo(settings, keep=True) == 0

    main = DatasetLayout(settings.root, DatasetRef("shop", "orders")).main
    merges = [commit for commit in log.commits(main) if commit.operation == "MERGE"]
    assert [commit.version for commit in merges] == [3, 2]
    assert {(m.metadata.author, m.metadata.approvers) for m in merges if m.metadata} == {("ann", ("bea",))}
    before = query_rows(TableAt("main", main, 2), limit=1000)
    after = query_rows(TableAt("main", main, 3), limit=1000)
    refunded = {order_id for order_id, status in refunds(make_orders(GOOD_ROWS)) if status == "refunded"}
    assert len(before) == len(after) == GOOD_ROWS
    assert {row["order_id"] for row in after if row["status"] == "refunded"} == refunded
    unchanged = [{**row, "status": None} for row in after]
    assert sorted(unchanged, key=str) == sorted(({**row, "status": None} for row in before), key=str)
    assert audit.verify(Catalog.open(f"sqlite:///{settings.state_dir / 'catalog.db'}")).intact
    told = capsys.readouterr()
    assert "Done" in told.out and settings.root in told.out
    assert "Traceback" not in told.out + told.err


def test_root_that_is_there_already_is_left_alone(tmp_path: Path):
    precious = tmp_path / "delta" / "precious.txt"
    precious.parent.mkdir()
    precious.write_text("mine")

    with pytest.raises(UsageError):
        run_demo(Settings.from_env(root=str(precious.parent)))

    assert precious.read_text() == "mine"


def test_dataset_file_is_one_that_can_be_applied():
    spec = load_spec_file(DATASET_FILE)

    assert check_expectations(spec) == []
    assert tuple(spec.column_names) == COLUMNS
    assert {str(e.severity) for e in spec.expectations} == {"fatal", "warning", "info"}


def test_same_seed_gives_the_same_files(tmp_path: Path):
    folders = [tmp_path / name for name in ("one", "two")]
    for folder in folders:
        folder.mkdir()
        write_files(folder)

    one, two = ({p.name: p.read_bytes() for p in folder.iterdir()} for folder in folders)
    assert one == two
    assert make_orders(5, seed=1) != make_orders(5, seed=2)


def test_good_rows_have_keys_of_their_own():
    keys = [row[0] for row in make_orders(GOOD_ROWS)]

    assert len(set(keys)) == GOOD_ROWS
    assert Filter.parse(f"order_id=eq.{keys[0]}").values == (keys[0],)
