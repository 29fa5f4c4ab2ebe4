"""Every named point of a change request's life, with the process killed there: nothing is lost, nothing doubled."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy import insert

from oreo_assets.catalog.change_requests import list_change_requests
from oreo_assets.catalog.models import ChangeRequest, Upload, now
from oreo_assets.lake import log
from oreo_assets.model.states import CRState, Mode
from oreo_assets.workflow import intake, review
from oreo_assets.workflow.recovery import recover

from .conftest import Lake
from .oracle import assert_invariants, come_back, let_leases_end
from .points import CHOSEN, CHOSEN_IN_RECOVERY, WHAT
from .processes import kill_when, new_data_file, until
from .table import note

pytestmark = [pytest.mark.spark, pytest.mark.slow]

LIFE = ("send", "check", "approve", "merge")


@pytest.mark.parametrize("point", CHOSEN)
def test_a_process_killed_there_loses_and_doubles_nothing(lake: Lake, point: str):
    rows = lake.new_rows()
    child = lake.start(*LIFE, rows=rows, at=point)
    child.wait()
    assert child.was_killed, f"{point} was never reached: {child.last}"
    (newest, *_) = list_change_requests(lake.house.ws.catalog, lake.house.ref, limit=1)
    died_as = newest.state
    back = come_back(lake.house)
    lake.oracle.lands(newest.id, rows)
    assert_invariants(lake.house, lake.oracle, spark=point in ("stage.written", "merge.started", "merge.committed"))
    how = "undone" if back.undone else "recovered"
    end = "taken back, then merged" if back.undone else "finished" if back.finished else f"went on from {died_as}"
    note(point, "python", how, f"{WHAT[point]}: {end}")


def test_a_file_that_the_catalog_never_heard_of_is_not_taken_for_another_programs(lake: Lake):
    child = lake.start(*LIFE, rows=lake.new_rows(), at="upload.copied")
    child.wait()
    assert child.was_killed
    assert child.last.cr_id is None
    imports = lake.house.ws.layout(lake.house.ref).imports
    orphans = [f for f in imports.glob("*/raw.csv") if _is_unknown(lake, f.parent.name)]
    assert len(orphans) == 1
    # Its sender may have meant "delete these rows": nobody can tell, so nobody may guess.
    assert intake.adopt(lake.house.ws, lake.house.ref, orphans[0].parent.name, orphans[0], "file-drop") is None
    come_back(lake.house)
    assert_invariants(lake.house, lake.oracle)
    note("upload.copied", "python", "undone", "file copied, no catalog row: its sender has no id and sends it again")


def test_a_sender_killed_while_its_file_is_converted(lake: Lake):
    rows = lake.new_rows()
    child = lake.start(*LIFE, rows=rows)
    imports = lake.house.ws.layout(lake.house.ref).imports
    before = set(imports.glob("*/.converting-*"))
    met = kill_when(lambda: bool(set(imports.glob("*/.converting-*")) - before), child, [child.pid])
    assert met
    child.wait()
    assert child.was_killed
    (newest, *_) = list_change_requests(lake.house.ws.catalog, lake.house.ref, limit=1)
    assert newest.state is CRState.RECEIVED
    come_back(lake.house)
    lake.oracle.lands(newest.id, rows)
    assert_invariants(lake.house, lake.oracle)
    note("convert (file half written)", "python", "recovered", "converted anew")


def test_a_converter_killed_between_its_files_fails_the_upload_and_a_retry_brings_it_in(lake: Lake):
    rows = lake.new_rows()
    answer = lake.start("send", rows=rows, at="convert.schema.json").wait()
    assert answer.error == "BadFileError"
    (newest, *_) = list_change_requests(lake.house.ws.catalog, lake.house.ref, limit=1)
    assert newest.state is CRState.FAILED
    come_back(lake.house)
    assert_invariants(lake.house, lake.oracle)
    review.retry(lake.house.ws, lake.house.ann, lake.house.ref, newest.id)
    come_back(lake.house)
    lake.oracle.lands(newest.id, rows)
    assert_invariants(lake.house, lake.oracle)
    note("convert.schema.json", "converter", "undone", "schema.json there, converted.parquet not: failed, then retried")


def test_a_process_killed_while_spark_stages_for_it(lake: Lake):
    rows = lake.new_rows()
    cr_id = lake.house.send((lake.file(rows)).read_text(), name=f"file-{lake.made}.csv")
    child = lake.start("check", cr_id=cr_id)
    met = kill_when(new_data_file(lake.house.staging_folder(cr_id)), child, [child.pid])
    child.wait()
    assert child.was_killed is met
    come_back(lake.house)
    lake.oracle.lands(cr_id, rows)
    assert_invariants(lake.house, lake.oracle)
    note("stage: data written, log not", "python", "recovered", "staged anew, whatever Spark did meanwhile")


def test_a_process_killed_while_spark_merges_for_it(lake: Lake):
    """Spark goes on without it: the merge may land before the fence, or be stopped by it, but not both."""
    rows = lake.new_rows()
    cr_id = lake.approved(rows)
    main = Path(lake.house.ws.layout(lake.house.ref).main)
    child = lake.start("merge", cr_id=cr_id)
    assert kill_when(new_data_file(main), child, [child.pid])
    child.wait()
    landed = log.is_committed(str(main), cr_id)
    back = come_back(lake.house)
    lake.oracle.lands(cr_id, rows)
    assert_invariants(lake.house, lake.oracle, spark=True)
    when = (
        "before the kill" if landed else "after it, fence refused" if back.finished else "never: the fence came first"
    )
    note(
        "merge: data written, log not",
        "python",
        "undone" if back.undone else "recovered",
        f"the dead process's commit landed {when}",
    )


@pytest.mark.parametrize(("first", "second"), CHOSEN_IN_RECOVERY)
def test_recovery_itself_killed_is_recovered_from(lake: Lake, first: str, second: str):
    rows = lake.new_rows()
    cr_id = lake.approved(rows)
    child = lake.start("merge", cr_id=cr_id, at=first)
    child.wait()
    assert child.was_killed
    let_leases_end(lake.house)
    helper = lake.start("recover", at=second)
    helper.wait()
    assert helper.was_killed, f"{second} was never reached: {helper.last}"
    back = come_back(lake.house)
    lake.oracle.lands(cr_id, rows)
    assert_invariants(lake.house, lake.oracle)
    note(f"{first}, then recovery at {second}", "python", "undone" if back.undone else "recovered")


def test_recovery_killed_while_it_deletes_leftovers(lake: Lake):
    for _ in range(2):
        Path(lake.house.ws.layout(lake.house.ref).staging(f"cr_leftover{lake.made}")).mkdir()
        lake.made += 1
    helper = lake.start("recover", at="recovery.leftover_deleted")
    helper.wait()
    assert helper.was_killed
    come_back(lake.house)
    assert_invariants(lake.house, lake.oracle)
    note("recovery.leftover_deleted", "python", "recovered", "staged tables of nobody: the rest deleted")


def test_recovery_spares_what_is_staged_however_many_wait(make_lake: Callable[..., Lake]):
    house = make_lake().house
    waiting = [
        {"id": f"cr_{n:06}", "project": "shop", "dataset": "orders", "state": CRState.IN_REVIEW, "mode": Mode.UPSERT}
        | {"author": "ann", "note": "", "attempts": 0, "created_at": now(), "updated_at": now()}
        for n in range(1200)
    ]
    with house.ws.catalog.write() as tx:
        tx.execute(insert(ChangeRequest), waiting)
    oldest = house.staging_folder("cr_000000")
    oldest.mkdir()
    assert recover(house.ws) == []
    assert oldest.exists()


def test_nothing_is_left_of_the_dead(lake: Lake):
    """After all of the above on one lake: no lease, no half-made file, no lock of a change request that ended."""
    house = lake.house
    assert until(lambda: not list(Path(house.ws.layout(house.ref).base).rglob("_temporary")), 1)
    open_ids = {cr.id for cr in list_change_requests(house.ws.catalog, house.ref) if cr.state.is_open}
    locks = {p.stem for p in (house.ws.settings.state_dir / "locks").glob("cr_*.lock")}
    assert locks <= open_ids


def _is_unknown(lake: Lake, upload_id: str) -> bool:
    with lake.house.ws.catalog.read() as tx:
        return tx.get(Upload, upload_id) is None
