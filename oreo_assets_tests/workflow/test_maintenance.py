"""Maintenance on real Spark and Delta: what it deletes, what it keeps, and that a dry run does nothing."""

from __future__ import annotations

import json
import os
import shutil
import time
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import update

from oreo_assets.catalog import audit
from oreo_assets.catalog.models import ChangeRequest, now
from oreo_assets.catalog.users import add_user
from oreo_assets.lake import log
from oreo_assets.model.errors import BusyError, NotFoundError
from oreo_assets.model.states import CRState, Role
from oreo_assets.settings import Settings
from oreo_assets.workflow import review
from oreo_assets.workflow.maintenance import Chore, ChoreReport, keep_hours, maintain
from oreo_assets.workflow.workspace import Workspace
from oreo_assets_tests.cli.conftest import Oreo
from oreo_assets_tests.house import House, open_house

pytestmark = pytest.mark.spark

FIRST = "order_id,amount,status\nA1,1,open\nA2,2,open\n"
SECOND = "order_id,amount,status\nB1,3,open\nB2,4,paid\n"
ROWS = {"A1": ("1.00", "open"), "A2": ("2.00", "open"), "B1": ("3.00", "open"), "B2": ("4.00", "paid")}


@dataclass(frozen=True)
class Ids:
    """The change requests of the lake that each test starts from."""

    landed: str
    in_review: str
    approved: str
    refused: str
    failed: str


@dataclass
class Lake:
    house: House
    ids: Ids

    def do(self, chore: Chore, *, dry_run: bool = False) -> ChoreReport:
        (report,) = maintain(self.house.ws, self.house.ann, chore, self.house.ref, dry_run=dry_run)
        return report

    @property
    def main(self) -> Path:
        return Path(self.house.ws.layout(self.house.ref).main)

    @property
    def data_files(self) -> set[str]:
        return {path.name for path in self.main.rglob("*.parquet") if "_delta_log" not in path.parts}

    @property
    def live_files(self) -> set[str]:
        return {uri.rsplit("/", 1)[-1] for uri in log.open_table(str(self.main)).file_uris()}

    def upload_of(self, cr_id: str) -> Path:
        upload_id = self.house.cr(cr_id).upload_id
        assert upload_id is not None
        return self.house.ws.layout(self.house.ref).upload(upload_id)

    def copy_to(self, folder: Path) -> Lake:
        """The same lake at another place: Spark has not seen its log there, so it can be made older."""
        root = Path(self.house.ws.settings.root)
        for path in (root, root.with_name(f"{root.name}.oreo")):
            shutil.copytree(path, folder / path.name)
        ws = Workspace.open(Settings.from_env(root=str(folder / root.name)))
        return Lake(replace(self.house, ws=ws, folder=folder), self.ids)


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Lake:
    house = open_house(tmp_path_factory.mktemp("template"))
    house.land(FIRST)
    landed = house.land(SECOND).id
    approved = house.review("order_id,amount,status\nA1,10,open\n")
    house.approve(approved)
    in_review = house.review("order_id,amount,status\nB1,30,open\n")
    refused = house.review("order_id,amount\nC1,\n")
    failed = house.send("order_id,amount\nC1,x\n")
    return Lake(house, Ids(landed, in_review, approved, refused, failed))


@pytest.fixture
def lake(template: Lake, tmp_path: Path) -> Lake:
    """Two commits, and change requests in review, approved, refused and failed."""
    return template.copy_to(tmp_path)


def test_optimize_makes_fewer_files_changes_no_row_and_disturbs_no_approval(lake: Lake):
    house, before = lake.house, lake.house.version
    assert len(lake.live_files) >= 2
    assert house.rows() == ROWS
    report = lake.do(Chore.OPTIMIZE)
    assert len(lake.live_files) == 1
    assert (report.details["files_removed"] >= 2, report.details["files_added"]) == (True, 1)
    assert house.version == report.details["version"] > before
    assert house.rows() == house.rows(before) == ROWS
    assert house.merge(lake.ids.approved).state is CRState.CLOSED
    assert house.rows() == ROWS | {"A1": ("10.00", "open")}
    assert house.approve(lake.ids.in_review).state is CRState.APPROVED
    assert house.merge(lake.ids.in_review).state is CRState.CLOSED


def test_vacuum_deletes_what_no_kept_version_needs_and_leaves_the_history(lake: Lake, tmp_path: Path):
    lake.do(Chore.OPTIMIZE)
    old = lake.copy_to(tmp_path / "old")
    make_older(old.main, days=100)
    house, spec = old.house, old.house.ws.spec(old.house.ref)
    old_files = files = old.data_files
    versions = [c.version for c in log.commits(str(old.main))]
    base = house.cr(old.ids.in_review).base_version

    # Two open change requests still stand on a version that is older than the dataset's time travel.
    assert keep_hours(house.ws, spec) > 100 * 24
    assert old.do(Chore.VACUUM, dry_run=True).details["files"] == []
    assert old.do(Chore.VACUUM).summary.startswith("left alone: a tag or an open change request needs a version of 100")
    assert old.data_files == files
    page = review.review_diff(house.ws, house.ann, house.ref, old.ids.in_review)
    assert page.counts.updated == 1

    # Main has moved since (optimize), so this merge reads its base once more.
    assert house.merge(old.ids.approved).state is CRState.CLOSED
    files, rows = old.data_files, ROWS | {"A1": ("10.00", "open")}

    review.withdraw(house.ws, house.ann, house.ref, old.ids.in_review)
    assert keep_hours(house.ws, spec) == spec.policies.time_travel_days * 24
    report = old.do(Chore.VACUUM, dry_run=True)
    would_go = {path.rsplit("/", 1)[-1] for path in report.details["files"]}
    assert would_go == old_files - old.live_files
    assert old.data_files == files
    assert report.summary == f"would delete {len(would_go)} files that no version of the last 90 days needs"

    assert len(old.do(Chore.VACUUM).details["files"]) == len(would_go)
    assert old.data_files == files - would_go
    assert house.rows() == rows
    assert {c.version for c in log.commits(str(old.main))} >= set(versions)
    with pytest.raises(NotFoundError, match="vacuumed away"):
        house.rows(base)


def test_cleanup_ends_what_nobody_decided_on_and_keeps_what_is_open(lake: Lake):
    house, ids = lake.house, lake.ids
    fresh = house.review("order_id,amount\nD1,1\n")
    let_time_pass(lake, [ids.in_review, ids.approved, ids.refused, ids.failed], days=31)
    for cr_id in (ids.landed, ids.in_review, ids.approved, ids.refused, ids.failed):
        os.utime(lake.upload_of(cr_id), (time.time() - 31 * 86400,) * 2)
    due, ended = {ids.in_review, ids.refused, ids.failed}, {lake.upload_of(i).name for i in (ids.landed, ids.refused)}

    for dry_run in (True, False):
        states = {i: house.cr(i).state for i in due}
        assert states == {
            ids.in_review: CRState.IN_REVIEW,
            ids.refused: CRState.REFUSED,
            ids.failed: CRState.FAILED,
        }
        report = lake.do(Chore.CLEANUP, dry_run=dry_run)
        assert set(report.details["change_requests"]) == due
        assert set(report.details["imports"]) == ended

    assert [house.cr(i).state for i in (ids.in_review, ids.failed)] == [CRState.EXPIRED, CRState.EXPIRED]
    assert house.cr(ids.refused).state is CRState.REFUSED
    assert not any(house.staging_folder(i).exists() for i in due)
    assert not lake.upload_of(ids.landed).exists()
    assert [house.cr(i).state for i in (ids.approved, fresh)] == [CRState.APPROVED, CRState.IN_REVIEW]
    assert house.staging_folder(fresh).exists()
    assert lake.upload_of(ids.approved).exists()
    assert house.merge(ids.approved).state is CRState.CLOSED

    # The files of those that were open until now go the next time, and then there is nothing left to say.
    again = lake.do(Chore.CLEANUP)
    assert again.details["change_requests"] == []
    assert {lake.upload_of(i).name for i in (ids.in_review, ids.failed)} <= set(again.details["imports"])
    assert lake.do(Chore.CLEANUP).summary == "ended 0 change requests, 0 imports, 0 edit sessions"
    assert audit.verify(house.ws.catalog).intact


def test_a_change_request_that_is_approved_while_cleanup_looks_is_left_alone(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
):
    from oreo_assets.workflow import maintenance

    let_time_pass(lake, [lake.ids.in_review], days=31)
    look = maintenance._orphaned_imports

    def look_while_bob_approves(*given: Any) -> list[Path]:
        lake.house.approve(lake.ids.in_review)
        return look(*given)

    monkeypatch.setattr(maintenance, "_orphaned_imports", look_while_bob_approves)
    assert lake.do(Chore.CLEANUP).details["change_requests"] == []
    assert lake.house.cr(lake.ids.in_review).state is CRState.APPROVED
    assert lake.house.merge(lake.ids.in_review).state is CRState.CLOSED


def test_a_dry_run_changes_nothing_even_while_somebody_writes(lake: Lake):
    house = lake.house
    let_time_pass(lake, [lake.ids.in_review], days=31)
    events, files = len(audit.events(house.ws.catalog, house.ref)), everything(Path(house.ws.settings.root))
    with house.ws.sole_writer(house.ref):
        reports = [lake.do(chore, dry_run=True) for chore in Chore]
    assert all(r.dry_run and r.summary.startswith("would ") for r in reports)
    assert everything(Path(house.ws.settings.root)) == files
    assert len(audit.events(house.ws.catalog, house.ref)) == events
    assert house.cr(lake.ids.in_review).state is CRState.IN_REVIEW


@pytest.mark.parametrize("chore", [Chore.OPTIMIZE, Chore.VACUUM, Chore.CHECKPOINT])
def test_a_dataset_that_somebody_writes_is_not_maintained(lake: Lake, chore: Chore):
    files = everything(lake.main)
    with lake.house.ws.sole_writer(lake.house.ref), pytest.raises(BusyError, match="being written"):
        lake.do(chore)
    assert everything(lake.main) == files


def test_oreo_maintain_reports_what_each_chore_did(lake: Lake):
    settings = lake.house.ws.settings
    token = add_user(lake.house.ws.catalog, lake.house.ann, "zoe", Role.ADMIN, None).token
    oreo = Oreo({**os.environ, **settings.as_env()}, {"zoe": token})
    ran = oreo("maintain", "all", "shop/orders", "--json", user="zoe")
    assert ran.code == 0, ran.err
    assert ran.json["dry_run"] is False
    reports = {r["chore"]: r for r in ran.json["reports"]}
    assert list(reports) == ["optimize", "vacuum", "checkpoint", "cleanup"]
    assert {r["dataset"] for r in reports.values()} == {"shop/orders"}
    assert reports["optimize"]["files_added"] == 1
    assert (reports["vacuum"]["files"], reports["vacuum"]["keep_hours"]) == ([], 90 * 24)
    assert reports["checkpoint"]["version"] == lake.house.version
    assert (lake.main / "_delta_log" / "_last_checkpoint").exists()
    assert reports["cleanup"]["change_requests"] == []
    told = [e.action for e in audit.events(lake.house.ws.catalog, lake.house.ref)]
    assert told[:3] == ["maintenance.checkpoint", "maintenance.vacuum", "maintenance.optimize"]


def let_time_pass(lake: Lake, cr_ids: list[str], *, days: int) -> None:
    with lake.house.ws.catalog.write() as tx:
        tx.execute(
            update(ChangeRequest).where(ChangeRequest.id.in_(cr_ids)).values(updated_at=now() - timedelta(days=days))
        )


def make_older(table: Path, *, days: int) -> None:
    """As if every commit and file had been made so many days ago."""
    for checksum in [p for p in table.rglob("*") if p.suffix == ".crc"]:
        checksum.unlink()
    for file in (table / "_delta_log").glob("*.json"):
        actions = [json.loads(line) for line in file.read_text().splitlines()]
        for action in actions:
            for kind, moment in (
                ("commitInfo", "timestamp"),
                ("add", "modificationTime"),
                ("remove", "deletionTimestamp"),
            ):
                if moment in action.get(kind, {}):
                    action[kind][moment] -= days * 86_400_000
        file.write_text("".join(json.dumps(action) + "\n" for action in actions))
    for path in table.rglob("*"):
        os.utime(path, (path.stat().st_mtime - days * 86400,) * 2)


def everything(folder: Path) -> dict[str, tuple[int, int]]:
    return {str(p): (p.stat().st_size, p.stat().st_mtime_ns) for p in sorted(folder.rglob("*"))}
