"""Live edit sessions: what they take and refuse, what they amount to, and how they end."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from deltalake import DeltaTable, write_deltalake
from sqlalchemy import update

from oreo_assets.catalog.change_requests import editors_of, get_change_request
from oreo_assets.catalog.models import LiveSession, now
from oreo_assets.catalog.users import Actor
from oreo_assets.model.errors import (
    ConflictError,
    NotAllowedError,
    NotFoundError,
    OreoError,
    RefusedError,
    StateError,
    UsageError,
)
from oreo_assets.model.filters import Filter, Order
from oreo_assets.model.states import CRState, Mode, Role
from oreo_assets.workflow import live_book, live_edit, review
from oreo_assets.workflow.live_edit import CellEdit, EditResult, SessionState
from oreo_assets.workflow.maintenance import Chore, keep_hours, maintain
from oreo_assets.workflow.recovery import recover
from oreo_assets.workflow.workspace import Workspace
from oreo_assets_tests.cli.conftest import Oreo, _shop_template, oreo, shop  # noqa: F401 - fixtures
from oreo_assets_tests.cli.lake_without_spark import ORDERS, rows
from oreo_assets_tests.house import House

REF = ORDERS.ref
ADA = Actor("ada", {"*": Role.ADMIN})
CON = Actor("con", {"*": Role.CONTRIBUTOR})
EVE = Actor("eve", {"*": Role.CONTRIBUTOR})
VIC = Actor("vic", {"*": Role.VIEWER})
CHECK = "values_to_be_between__amount"


@dataclass
class Session:
    """One session of con's on shop/orders (A1 12.50, A2 null, A3 huge), with the words a test wants to say."""

    ws: Workspace
    id: str
    actor: Actor = CON

    def set(self, *cells: tuple[str, str, str | None]) -> EditResult:
        return live_edit.set_cells(self.ws, self.actor, REF, self.id, [CellEdit(*cell) for cell in cells])

    def add(self, **row: str | None) -> EditResult:
        return live_edit.add_rows(self.ws, self.actor, REF, self.id, [row])

    def delete(self, *row_ids: str) -> EditResult:
        return live_edit.delete_rows(self.ws, self.actor, REF, self.id, row_ids)

    def undo(self) -> EditResult:
        return live_edit.undo(self.ws, self.actor, REF, self.id)

    def redo(self) -> EditResult:
        return live_edit.redo(self.ws, self.actor, REF, self.id)

    def show(self) -> live_edit.SessionCard:
        return live_edit.show_session(self.ws, VIC, REF, self.id)

    def submit(self) -> live_edit.Submitted:
        return live_edit.submit(self.ws, self.actor, REF, self.id)

    def amounts(self, **options: Any) -> dict[str, tuple[str, str | None]]:
        """Rows as (change, amount)."""
        page = live_edit.preview(self.ws, VIC, REF, self.id, **options)
        values = {row.row_id: row.values["amount"] for row in page.rows}
        return {row.row_id: (row.change, None if (v := values[row.row_id]) is None else str(v)) for row in page.rows}

    @property
    def folder(self) -> Path:
        return self.ws.layout(REF).live_edit(self.id)


@pytest.fixture
def ws(shop: Oreo) -> Workspace:  # noqa: F811
    return Workspace.open(shop.settings)


@pytest.fixture
def session(ws: Workspace) -> Session:
    return open_session(ws)


def open_session(ws: Workspace, actor: Actor = CON, *where: str) -> Session:
    made = live_edit.open_session(ws, actor, REF, where=[Filter.parse(text) for text in where])
    return Session(ws, made.session_id, actor)


def test_a_session_pins_the_version_and_remembers_its_filter_in_folder_and_catalog(ws: Workspace):
    session = open_session(ws, CON, "amount=gte.10")
    card = session.show()
    assert (card.base_version, card.owner, card.state) == (1, "con", SessionState.OPEN)
    assert card.expires_at - card.created_at == timedelta(hours=ORDERS.policies.live_edit_ttl_hours)
    told = json.loads((session.folder / "metadata.json").read_text())
    assert (told["owner"], told["base_version"], told["filters"]) == ("con", 1, [["amount", "gte", ["10"]]])
    assert set(session.amounts()) == {"A1", "A3"}
    with pytest.raises(NotFoundError, match="A2 is not in the part of version 1"):
        session.set(("A2", "amount", "1"))


def test_a_filter_on_no_column_opens_nothing(ws: Workspace):
    with pytest.raises(UsageError, match="no column 'nope'"):
        open_session(ws, CON, "nope=eq.1")
    assert live_edit.list_sessions(ws, VIC, REF) == []
    assert list(Path(ws.layout(REF).base, "live_edit").iterdir()) == []


def test_an_edited_cell_shows_over_the_base_with_its_old_value_and_its_failed_check(session: Session):
    result = session.set(("A1", "amount", "-3.5"))
    (cell,) = result.cells
    assert (cell.old, cell.new) == ("12.50", "-3.50")
    assert [(f.check, f.severity) for f in cell.validation.failed] == [(CHECK, "warning")]
    assert (result.counts.updated, result.counts.cells, result.counts.failed_warning) == (1, 1, 1)
    page = live_edit.preview(session.ws, VIC, REF, session.id)
    shown = {row.row_id: row for row in page.rows}
    assert (shown["A1"].change, shown["A1"].old) == ("updated", {"amount": Decimal("12.50")})
    assert shown["A1"].values["amount"] == Decimal("-3.50")
    assert [f.check for f in shown["A1"].failed["amount"]] == [CHECK]
    assert (shown["A2"].change, shown["A2"].old) == ("unchanged", {})
    (edit,) = DeltaTable(str(session.folder / "edits.delta")).to_pyarrow_table().to_pylist()
    assert (edit["user_id"], edit["old_value"], edit["new_value"]) == ("con", "12.50", "-3.50")
    assert json.loads(edit["validation"])["failed"][0]["check"] == CHECK


@pytest.mark.parametrize(
    ("column", "value", "reason"),
    [
        ("amount", "1,5", "with a point"),
        ("amount", "1.005", "more than 2 digits"),
        ("amount", "many", "not a number"),
        ("ordered_on", "31.01.2026", "not a date"),
        ("ordered_on", "2026-02-30", "no such day"),
        ("order_id", "B1", "part of the key"),
        ("row_id", "B1", "not a column"),
        ("nope", "1", "not a column"),
        ("ordered_on", "a\x00b", "cannot be stored"),
    ],
)
def test_a_value_that_does_not_fit_is_refused_and_nothing_of_its_batch_is_written(
    session: Session, column: str, value: str, reason: str
):
    with pytest.raises(RefusedError, match=reason) as refused:
        session.set(("A2", "amount", "5"), ("A1", column, value))
    assert refused.value.details["cells"] == [
        {"row_id": "A1", "column": column, "value": value, "reason": refused.value.details["cells"][0]["reason"]}
    ]
    assert session.show().edits == 0


def test_an_empty_cell_is_null_where_null_may_be(session: Session):
    session.set(("A1", "amount", ""), ("A3", "amount", None))
    assert session.amounts()["A1"] == ("updated", None)
    assert session.amounts()["A3"] == ("updated", None)


def test_a_row_that_is_not_in_the_base_cannot_be_edited(session: Session):
    write_deltalake(session.ws.layout(REF).main, rows(("A9", "1.00")), mode="append")
    with pytest.raises(NotFoundError, match="Row A9 is not in version 1") as gone:
        session.set(("A1", "amount", "1"), ("A9", "amount", "2"))
    assert gone.value.details["rows"] == ["A9"]
    assert session.show().edits == 0
    assert session.show().main_version == 2


def test_rows_are_added_under_the_id_that_their_key_gives_them(session: Session):
    result = session.add(order_id="B1", amount="7")
    assert result.row_ids == ("B1",)
    session.set(("B1", "amount", "8"))
    assert session.amounts()["B1"] == ("inserted", "8.00")
    for taken in ("A1", "B1"):
        with pytest.raises(StateError, match=f"Row {taken} is in main or in this session"):
            session.add(order_id=taken)
    with pytest.raises(RefusedError, match="must not be empty"):
        session.add(amount="1")
    with pytest.raises(RefusedError, match="not a column"):
        session.add(order_id="B2", colour="red")
    assert session.show().counts.inserted == 1


def test_a_key_outside_of_the_filtered_part_is_taken_all_the_same(ws: Workspace):
    with pytest.raises(StateError, match="Row A2 is in main"):
        open_session(ws, CON, "amount=gte.10").add(order_id="A2")


def test_deleted_rows_are_shown_as_deleted_and_take_no_edits(session: Session):
    session.set(("A1", "amount", "1"))
    session.delete("A1", "A2")
    assert session.amounts() == {
        "A1": ("deleted", "12.50"),
        "A2": ("deleted", None),
        "A3": ("unchanged", "90071992547409931234567.01"),
    }
    with pytest.raises(StateError, match="Row A1 is deleted"):
        session.set(("A1", "amount", "2"))
    with pytest.raises(StateError, match="Row A1 is in main"):
        session.add(order_id="A1")
    with pytest.raises(NotFoundError):
        session.delete("A7")
    assert session.show().counts.deleted == 2


def test_deleting_an_added_row_leaves_no_trace_of_it(session: Session):
    session.add(order_id="B1")
    session.delete("B1")
    assert "B1" not in session.amounts()
    assert session.show().counts.rows == 0


def test_undo_and_redo_go_step_by_step_and_a_new_edit_ends_redo(session: Session):
    session.set(("A1", "amount", "1"), ("A2", "amount", "2"))
    session.add(order_id="B1")
    session.delete("A3")
    assert session.undo().row_ids == ("A3",)
    assert session.amounts()["A3"][0] == "unchanged"
    session.undo()
    assert "B1" not in session.amounts()
    assert session.undo().counts.rows == 0
    with pytest.raises(StateError, match="nothing to undo"):
        session.undo()
    session.redo()
    assert (session.amounts()["A1"], session.amounts()["A2"]) == (("updated", "1.00"), ("updated", "2.00"))
    assert session.redo().can_redo
    session.set(("A1", "amount", "9"))
    assert not session.show().can_redo
    with pytest.raises(StateError, match="nothing to redo"):
        session.redo()
    assert session.amounts()["B1"][0] == "inserted"
    written = DeltaTable(str(session.folder / "edits.delta")).to_pyarrow_table().to_pylist()
    assert sum(edit["column"] == "_undo" for edit in written) == 3, "undo is written down, nothing is taken out"


def test_a_cell_that_is_set_back_is_no_change(session: Session):
    session.set(("A1", "amount", "1"))
    session.set(("A1", "amount", "12.5"))
    assert session.show().counts.rows == 0
    assert session.amounts(changed_only=True) == {}


def test_the_preview_filters_orders_and_pages_by_the_new_values(session: Session):
    session.set(("A2", "amount", "100"))
    session.add(order_id="B1", amount="50")
    order = [Order("amount", descending=True)]
    assert list(session.amounts(order=order)) == ["A3", "A2", "B1", "A1"]
    assert list(session.amounts(where=[Filter.parse("amount=lte.100")], order=order)) == ["A2", "B1", "A1"]
    assert list(session.amounts(changed_only=True)) == ["A2", "B1"]
    first = live_edit.preview(session.ws, VIC, REF, session.id, limit=2)
    assert ([row.row_id for row in first.rows], first.next) == (["A1", "A2"], 2)
    last = live_edit.preview(session.ws, VIC, REF, session.id, limit=2, offset=2)
    assert ([row.row_id for row in last.rows], last.next) == (["A3", "B1"], None)


def test_the_diff_has_the_shape_of_a_change_requests(session: Session):
    session.set(("A1", "amount", "1"))
    session.add(order_id="B1", amount="7")
    session.delete("A2")
    page = live_edit.session_diff(session.ws, VIC, REF, session.id)
    assert page.counts.as_json() == {"inserted": 1, "updated": 1, "deleted": 1, "unchanged": 0}
    assert {c.name: c.cells_changed for c in page.columns}["amount"] == 1
    assert {row["row_id"]: row["change"] for row in page.rows} == {"A1": "updated", "A2": "deleted", "B1": "inserted"}
    assert page.rows[0]["cells"] == {"amount": {"old": Decimal("12.50"), "new": Decimal("1.00")}}
    only = live_edit.session_diff(session.ws, VIC, REF, session.id, kinds=["deleted"], limit=1)
    assert [row["row_id"] for row in only.rows] == ["A2"]


def test_others_who_edit_the_same_rows_are_named_on_both_sides(session: Session):
    theirs = open_session(session.ws, EVE)
    session.set(("A1", "amount", "1"), ("A2", "amount", "2"))
    theirs.set(("A1", "ordered_on", "2026-02-01"))
    theirs.delete("A3")
    (overlap,) = live_edit.who_else(session.ws, VIC, REF, session.id)
    assert (overlap.row_id, overlap.columns, overlap.owner) == ("A1", ("ordered_on",), "eve")
    page = live_edit.preview(session.ws, VIC, REF, session.id)
    assert {row.row_id: row.others for row in page.rows} == {"A1": ("eve",), "A2": (), "A3": ("eve",)}
    live_edit.discard(session.ws, EVE, REF, theirs.id)
    assert live_edit.who_else(session.ws, VIC, REF, session.id) == []


def test_only_the_owner_and_admins_edit_viewers_look_contributors_open(session: Session):
    with pytest.raises(NotAllowedError):
        open_session(session.ws, VIC)
    for nobody in (VIC, EVE):
        other = Session(session.ws, session.id, nobody)
        for act in (lambda s: s.set(("A1", "amount", "1")), Session.undo, Session.submit):
            with pytest.raises(NotAllowedError):
                act(other)
        with pytest.raises(NotAllowedError):
            live_edit.discard(session.ws, nobody, REF, session.id)
    Session(session.ws, session.id, ADA).set(("A1", "amount", "1"))
    assert session.amounts()["A1"] == ("updated", "1.00")
    stranger = Actor("stranger", {})
    with pytest.raises(NotAllowedError):
        live_edit.show_session(session.ws, stranger, REF, session.id)


def test_sessions_are_listed_by_dataset_owner_and_state(session: Session):
    theirs = open_session(session.ws, EVE)
    gone = open_session(session.ws, EVE)
    live_edit.discard(session.ws, EVE, REF, gone.id)
    listed = live_edit.list_sessions
    assert [c.session_id for c in listed(session.ws, VIC, REF)] == [theirs.id, session.id]
    assert [c.session_id for c in listed(session.ws, CON, mine=True)] == [session.id]
    assert len(listed(session.ws, EVE, REF, mine=True, open_only=False)) == 2
    assert listed(session.ws, Actor("far", {"elsewhere": Role.VIEWER})) == []


def test_a_session_goes_on_in_another_process_with_exactly_what_was_committed(session: Session):
    session.set(("A1", "amount", "1"))
    code = (
        "import sys; from oreo_assets.settings import Settings; from oreo_assets.workflow.workspace import Workspace\n"
        "from oreo_assets.catalog.users import Actor; from oreo_assets.model.states import Role\n"
        "from oreo_assets.model.ids import DatasetRef; from oreo_assets.workflow import live_edit as live\n"
        "ws = Workspace.open(Settings.from_env(root=sys.argv[1])); con = Actor('con', {'*': Role.CONTRIBUTOR})\n"
        "live.set_cells(ws, con, DatasetRef.parse('shop/orders'), sys.argv[2], [live.CellEdit('A2', 'amount', '2')])\n"
    )
    killed = subprocess.run(
        [sys.executable, "-c", code, session.ws.settings.root, session.id],
        env={**os.environ, "OREO_CRASH_AT": "live.appended", "OREO_HOME": str(session.ws.settings.home)},
        capture_output=True,
        timeout=120,
        check=False,
    )
    assert killed.returncode == -9, killed.stderr
    assert session.amounts(changed_only=True) == {"A1": ("updated", "1.00"), "A2": ("updated", "2.00")}
    assert session.undo().row_ids == ("A2",)


def test_two_tabs_of_one_owner_lose_nothing(session: Session):
    errors: list[BaseException] = []

    def type_in(row_id: str, low: int) -> None:
        try:
            for i in range(low, low + 15):
                session.set((row_id, "amount", str(i)))
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=type_in, args=args) for args in (("A1", 100), ("A2", 200), ("A3", 300))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert session.show().edits == 45
    assert {k: v[1] for k, v in session.amounts().items()} == {"A1": "114.00", "A2": "214.00", "A3": "314.00"}


def test_ten_thousand_cells_pasted_at_once_are_one_commit_that_one_undo_takes_back(session: Session):
    many = rows(*((f"P{i:05d}", "1.00") for i in range(5_000)))
    write_deltalake(session.ws.layout(REF).main, many, mode="append")
    session = open_session(session.ws)
    cells = [
        (f"P{i:05d}", c, v) for i in range(5_000) for c, v in (("amount", str(i + 2)), ("ordered_on", "2026-03-01"))
    ]
    result = session.set(*cells)
    assert (len(result.cells), result.counts.updated, result.counts.cells) == (10_000, 5_000, 10_000)
    assert DeltaTable(str(session.folder / "edits.delta")).version() == 1
    with pytest.raises(RefusedError, match="1 of 10,000 values") as refused:
        session.set(*cells[:-1], ("P00001", "amount", "one"))
    assert len(refused.value.details["cells"]) == 1
    assert session.undo().counts.rows == 0


def test_a_session_that_would_grow_too_large_refuses_the_edit_and_keeps_the_rest(
    session: Session, monkeypatch: pytest.MonkeyPatch
):
    session.set(("A1", "amount", "1"))
    monkeypatch.setattr(live_book, "MAX_BYTES", session.show().bytes + 1_000)
    with pytest.raises(StateError, match="MB of edits"):
        session.set(("A1", "amount", "2"))
    assert session.amounts()["A1"] == ("updated", "1.00")


def expire(session: Session) -> None:
    with session.ws.catalog.write() as tx:
        tx.execute(update(LiveSession).where(LiveSession.id == session.id).values(expires_at=now()))


def test_an_expired_session_takes_no_edits_and_cleanup_ends_it(session: Session):
    session.set(("A1", "amount", "1"))
    expire(session)
    for act in (lambda: session.set(("A1", "amount", "2")), session.undo, session.submit):
        with pytest.raises(StateError, match="is expired"):
            act()
    assert live_edit.list_sessions(session.ws, VIC, REF) == []
    (would,) = maintain(session.ws, ADA, Chore.CLEANUP, REF, dry_run=True)
    assert would.details["live_sessions"] == [session.id]
    assert session.folder.exists()
    maintain(session.ws, ADA, Chore.CLEANUP, REF)
    assert not session.folder.exists()
    card = session.show()
    assert (card.state, card.counts) == (SessionState.EXPIRED, None)
    (again,) = maintain(session.ws, ADA, Chore.CLEANUP, REF)
    assert again.details["live_sessions"] == []


def test_cleanup_leaves_open_and_submitted_sessions_and_takes_folders_of_none(session: Session):
    sent = open_session(session.ws)
    sent.set(("A1", "amount", "1"))
    sent.submit()
    expire(sent)
    parent = session.folder.parent
    for name, age in (("se_crashed", 100 * 3600), ("se_just_now", 0)):
        (parent / name).mkdir()
        os.utime(parent / name, (os.stat(parent).st_mtime - age,) * 2)
    assert recover(session.ws) == []
    maintain(session.ws, ADA, Chore.CLEANUP, REF)
    assert {p.name for p in parent.iterdir()} == {session.id, sent.id, "se_just_now"}


def test_vacuum_keeps_the_version_that_an_open_session_edits(session: Session):
    before = keep_hours(session.ws, ORDERS)
    with session.ws.catalog.write() as tx:
        tx.execute(update(LiveSession).values(base_version=99))
    with pytest.raises(StateError, match="Version 99"):
        keep_hours(session.ws, ORDERS)
    live_edit.discard(session.ws, CON, REF, session.id)
    assert keep_hours(session.ws, ORDERS) == before


def test_discarding_deletes_the_edits_and_twice_is_once(session: Session):
    session.set(("A1", "amount", "1"))
    for _ in range(2):
        assert live_edit.discard(session.ws, CON, REF, session.id).state is SessionState.DISCARDED
    assert not session.folder.exists()
    with pytest.raises(StateError, match="was discarded"):
        session.set(("A1", "amount", "1"))


def test_a_session_is_submitted_once_with_its_base_and_its_editors(session: Session):
    with pytest.raises(StateError, match="changes nothing"):
        session.submit()
    session.set(("A1", "amount", "1"))
    Session(session.ws, session.id, ADA).set(("A2", "amount", "2"))
    write_deltalake(session.ws.layout(REF).main, rows(("A9", "1.00")), mode="append")
    sent = session.submit()
    assert session.submit() == sent
    with session.ws.catalog.read() as tx:
        cr = get_change_request(tx, REF, sent.change_request_id)
        assert (cr.mode, cr.author, cr.base_version, cr.state) == (Mode.PATCH, "con", 1, CRState.CONVERTED)
        assert sorted(editors_of(tx, cr.id)) == ["ada", "con"]
    with pytest.raises(StateError, match=f"it became {sent.change_request_id}"):
        session.set(("A1", "amount", "2"))
    with pytest.raises(StateError, match="oreo cr withdraw"):
        live_edit.discard(session.ws, CON, REF, session.id)
    assert session.show().state is SessionState.SUBMITTED
    review.withdraw(session.ws, CON, REF, sent.change_request_id)
    assert session.show().state is SessionState.CLOSED
    assert not session.folder.exists()


def test_many_submits_at_once_make_one_change_request(session: Session):
    session.set(("A1", "amount", "1"))
    found: list[Any] = []

    def send() -> None:
        try:
            found.append(session.submit().change_request_id)
        except OreoError as error:
            found.append(error)

    threads = [threading.Thread(target=send) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(found)) == 1 and isinstance(found[0], str), found
    assert [c["change_request_id"] for c in review.list_requests(session.ws, ADA, REF)] == [found[0]]


@pytest.mark.spark
def test_a_session_lands_beside_what_others_merged_and_meets_them_where_both_changed_a_row(house: House):
    house.land("order_id,amount,status\nA1,1,open\nA2,2,open\nA3,3,open\nA4,4,open\n")
    ws, ref, ann = house.ws, house.ref, house.ann
    first, second = (live_edit.open_session(ws, ann, ref).session_id for _ in range(2))
    base = house.version
    house.land("order_id,amount,status\nA4,40,paid\n")
    live_edit.set_cells(ws, ann, ref, first, [CellEdit("A1", "amount", "10"), CellEdit("A3", "amount", "-3")])
    live_edit.add_rows(ws, ann, ref, first, [{"order_id": "B1", "amount": "7", "status": "new"}])
    live_edit.delete_rows(ws, ann, ref, first, ["A2"])
    cr_id = live_edit.submit(ws, ann, ref, first).change_request_id
    cr = house.check(cr_id)
    assert (cr.state, cr.base_version) == (CRState.IN_REVIEW, base)
    assert cr.counts == {"inserted": 1, "updated": 2, "deleted": 1, "unchanged": 0}
    with pytest.raises(NotAllowedError):
        review.approve(ws, ann, ref, cr_id, {CHECK: "a refund"})
    house.approve(cr_id, **{CHECK: "a refund"})
    assert house.merge(cr_id).state is CRState.CLOSED
    landed = {"A1": ("10.00", "open"), "A3": ("-3.00", "open"), "A4": ("40.00", "paid"), "B1": ("7.00", "new")}
    assert house.rows() == landed
    assert not ws.layout(ref).live_edit(first).exists()
    assert live_edit.show_session(ws, ann, ref, first).state is SessionState.CLOSED

    live_edit.set_cells(ws, ann, ref, second, [CellEdit("A4", "amount", "44")])
    cr_id = live_edit.submit(ws, ann, ref, second).change_request_id
    house.check(cr_id)
    house.approve(cr_id)
    with pytest.raises(ConflictError, match="A4:amount"):
        house.merge(cr_id)
    assert house.rows() == landed
