"""Sending a file: what the sender is told, and what `--wait` waits for."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import pytest

from oreo_assets.catalog.change_requests import get_change_request, transition
from oreo_assets.model.states import CRState
from oreo_assets.platform_info import write_platform_info
from oreo_assets.workflow.workspace import Workspace

from .conftest import Oreo
from .lake_without_spark import ORDERS

GOOD = "order_id,amount,ordered_on\nA9,1.50,2026-02-01\n"
BAD = "order_id,amount,ordered_on\nA9,1.50,2026-02-01\nA8,much,2026-02-01\nA7,3.00,never\n"


@pytest.fixture
def good(tmp_path: Path) -> str:
    (tmp_path / "good.csv").write_text(GOOD)
    return str(tmp_path / "good.csv")


@pytest.fixture
def bad(tmp_path: Path) -> str:
    (tmp_path / "bad.csv").write_text(BAD)
    return str(tmp_path / "bad.csv")


def test_upload_opens_a_change_request(shop: Oreo, good: str):
    ran = shop("upload", "shop/orders", good, "--note", "February", "--json", user="con")
    assert ran.code == 0
    told = ran.json
    assert (told["state"], told["rows_read"], told["rows_rejected"], told["rejects"]) == (
        "converted",
        1,
        0,
        [],
    )
    shown = shop("cr", "show", "shop/orders", told["change_request_id"], "--json").json
    assert (shown["upload_id"], shown["note"], shown["author"]) == (told["upload_id"], "February", "con")


def test_bad_rows_are_all_listed_and_the_file_refused(shop: Oreo, bad: str):
    ran = shop("upload", "shop/orders", bad, "--json", user="con")
    assert ran.code == 7
    told = ran.json
    assert (told["state"], told["rows_read"], told["rows_rejected"]) == ("failed", 3, 2)
    assert [(r["line"], r["column"], r["value"]) for r in told["rejects"]] == [
        (3, "amount", "much"),
        (4, "ordered_on", "never"),
    ]
    assert all(reject["reason"] for reject in told["rejects"])
    assert (told["error"]["code"], told["error"]["retryable"]) == ("bad_file", False)
    people = shop("upload", "shop/orders", bad, user="con")
    assert people.code == 7
    assert "much" in people.out
    assert "--set-aside" in people.err


def test_bad_rows_can_be_set_aside(shop: Oreo, bad: str):
    ran = shop("upload", "shop/orders", bad, "--set-aside", "--json", user="con")
    assert (ran.code, ran.json["state"], ran.json["rows_rejected"]) == (0, "converted", 2)


def test_a_header_can_stand_for_a_column_or_be_left_out(shop: Oreo, tmp_path: Path):
    (tmp_path / "other.csv").write_text("Order no.,amount,a=b\nB7,5,x\n")
    file = str(tmp_path / "other.csv")
    renames = ("--rename", "Order no.=order_id", "--rename", "a=b=")
    ran = shop("upload", "shop/orders", file, *renames, "--json", user="con")
    assert (ran.code, ran.json["columns"], ran.json["new_columns"]) == (0, ["order_id", "amount"], [])
    assert shop("upload", "shop/orders", file, "--rename", "amount", user="con").code == 2


def test_dry_run_reports_and_keeps_nothing(shop: Oreo, good: str, bad: str):
    ran = shop("upload", "shop/orders", good, "--dry-run", "--json", user="con")
    assert (ran.code, ran.json["rows_read"], ran.json["change_request_id"]) == (0, 1, None)
    ran = shop("upload", "shop/orders", bad, "--dry-run", "--json", user="con")
    assert (ran.code, len(ran.json["rejects"]), ran.json["error"]["code"]) == (7, 2, "bad_file")
    assert shop("cr", "list", "--json").json == []
    assert not any(Workspace.open(shop.settings).layout(ORDERS.ref).imports.iterdir())


def test_long_lists_of_bad_rows_are_cut_for_people_and_whole_for_scripts(shop: Oreo, tmp_path: Path):
    file = tmp_path / "long.csv"
    file.write_text("order_id,amount\n" + "".join(f"B{n},x{n}\n" for n in range(120)))
    people = shop("upload", "shop/orders", str(file), "--dry-run", user="con")
    assert "x49" in people.out
    assert "x50" not in people.out
    assert "70 more problems" in people.out
    assert len(shop("upload", "shop/orders", str(file), "--dry-run", "--json", user="con").json["rejects"]) == 120


def test_files_that_cannot_be_taken_end_with_7(shop: Oreo, tmp_path: Path):
    (tmp_path / "empty.csv").write_text("")
    (tmp_path / "notes.doc").write_text("x")
    for name in ("empty.csv", "notes.doc", "absent.csv"):
        ran = shop("upload", "shop/orders", str(tmp_path / name), "--json", user="con")
        assert (ran.code, ran.json["error"]["code"], ran.json["rejects"]) == (7, "bad_file", [])
    assert shop("upload", "shop/orders", str(tmp_path / "empty.csv"), user="vic").code == 5


@pytest.mark.parametrize(("ending", "code"), [("in_review", 0), ("refused", 3), ("failed", 7)])
def test_wait_watches_a_running_platform(shop: Oreo, good: str, ending: str, code: int):
    """This process plays the platform: it is alive, and moves the change request on."""
    write_platform_info(shop.settings)
    platform = threading.Thread(target=_play_platform, args=(shop, CRState(ending)))
    platform.start()
    ran = shop("upload", "shop/orders", good, "--wait", "--json", user="con")
    platform.join()
    assert (ran.code, ran.json["state"]) == (code, ending)
    assert ("error" in ran.json) == bool(code)


def test_wait_gives_up_after_its_timeout(shop: Oreo, good: str):
    write_platform_info(shop.settings)
    ran = shop("upload", "shop/orders", good, "--wait", "--timeout", "1", "--json", user="con")
    assert ran.code == 8
    assert ran.json["error"]["retryable"] is True
    assert "oreo cr show" in ran.json["error"]["remedy"]


def test_approve_waits_for_the_merge_and_tells_of_a_conflict(shop: Oreo, in_review):
    write_platform_info(shop.settings)
    cr_id = in_review()
    platform = threading.Thread(target=_play_merge, args=(shop, cr_id))
    platform.start()
    ran = shop("cr", "approve", "shop/orders", cr_id, "--wait", "--json", user="rev")
    platform.join()
    assert (ran.code, ran.json["state"], ran.json["error"]["code"]) == (4, "conflicted", "conflict")
    assert "A1" in ran.json["error"]["message"]


def _play_platform(shop: Oreo, ending: CRState) -> None:
    ws = Workspace.open(shop.settings)
    cr_id = _first(ws)
    way = {CRState.FAILED: []}.get(ending, [CRState.STAGED, CRState.CHECKED])
    for state in (*way, ending):
        with ws.catalog.write() as tx:
            transition(tx, get_change_request(tx, ORDERS.ref, cr_id), state, actor="system", reason="as played")


def _play_merge(shop: Oreo, cr_id: str) -> None:
    ws = Workspace.open(shop.settings)
    _until(lambda: _state(ws, cr_id) is CRState.APPROVED)
    for state in (CRState.MERGING, CRState.CONFLICTED):
        with ws.catalog.write() as tx:
            transition(tx, get_change_request(tx, ORDERS.ref, cr_id), state, actor="system", reason="both changed A1")


def _first(ws: Workspace) -> str:
    from oreo_assets.catalog.change_requests import list_change_requests

    found: list[str] = []

    def seen() -> bool:
        found[:] = [cr.id for cr in list_change_requests(ws.catalog, states=[CRState.CONVERTED])]
        return bool(found)

    _until(seen)
    return found[0]


def _state(ws: Workspace, cr_id: str) -> CRState:
    with ws.catalog.read() as tx:
        return get_change_request(tx, ORDERS.ref, cr_id).state


def _until(seen) -> None:
    deadline = time.monotonic() + 60
    while not seen():
        assert time.monotonic() < deadline
        time.sleep(0.05)
