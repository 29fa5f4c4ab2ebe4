"""Editing cells in the browser, as a person does it; also when the server dies meanwhile."""

from __future__ import annotations

import re
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from deltalake import write_deltalake

from oreo_assets.catalog.users import Actor
from oreo_assets.lake.connect_server import free_port
from oreo_assets.model.filters import Filter
from oreo_assets.model.ids import DatasetRef
from oreo_assets.model.states import Role
from oreo_assets.workflow import live_edit
from oreo_assets.workflow.live_types import CellEdit

from .conftest import Site, serving

pytestmark = pytest.mark.browser

REF = DatasetRef("shop", "orders")
CUSTOMER, STATUS, AMOUNT = 1, 3, 4
WIDTH = 6


@pytest.fixture
def session(site: Site) -> Callable[..., str]:
    """Opens a session of somebody's, only on a few rows if named; its address."""

    def open_session(name: str = "ben", where: str | None = None, ref: DatasetRef = REF) -> str:
        filters = [Filter.parse(where)] if where else []
        made = live_edit.open_session(site.team.ws, _actor(name), ref, where=filters)
        return f"/p/{ref.project}/{ref.dataset}/live/{made.session_id}"

    return open_session


def test_a_cell_is_saved_coloured_and_undone_with_the_keyboard(site: Site, visit: Any, session: Any):
    address = session()
    page = visit("ben", address)
    before = _text(page, "O-100001", CUSTOMER)
    _type(page, "O-100001", CUSTOMER, "Somebody <b>else</b>")
    changed = _cell(page, "O-100001", CUSTOMER)
    page.wait_for_function("document.querySelector('#live .o-live-changed')")
    assert changed.inner_text() == "Somebody <b>else</b>"
    assert page.locator("#live .ag-cell b").count() == 0
    assert _cells(site, address) == {("O-100001", "customer"): "Somebody <b>else</b>"}
    page.get_by_text("1 cell changed").wait_for()
    page.keyboard.press("Control+z")
    page.get_by_text("Undone: 1 row").wait_for()
    assert _text(page, "O-100001", CUSTOMER) == before
    assert _cells(site, address) == {}
    page.keyboard.press("Control+Shift+z")
    page.get_by_text("Done again").wait_for()
    assert _text(page, "O-100001", CUSTOMER) == "Somebody <b>else</b>"
    assert page.locator("#live-redo").is_disabled()


def test_a_value_that_does_not_fit_is_refused_beside_the_cell_and_the_old_one_stands(
    site: Site, visit: Any, session: Any
):
    address = session()
    page = visit("ben", address)
    before = _text(page, "O-100002", AMOUNT)
    _type(page, "O-100002", AMOUNT, "twelve")
    said = page.locator("#live-beside")
    said.wait_for()
    assert said.inner_text() == "“twelve” was not taken: not a number. The old value stands."
    assert _text(page, "O-100002", AMOUNT) == before
    assert "O-100002 · amount" in page.locator("#live-refused").inner_text()
    assert _cells(site, address) == {}
    _type(page, "O-100002", AMOUNT, "12")
    page.get_by_text("1 cell changed").wait_for()
    assert page.locator("#live-refused").inner_text() == ""
    assert _text(page, "O-100002", AMOUNT) == "12.00"


def test_a_failed_check_colours_the_cell_and_is_listed_with_its_reason(visit: Any, session: Any):
    page = visit("ben", session())
    _type(page, "O-100003", STATUS, "payed")
    page.get_by_text("1 value fails a check").wait_for()
    assert "o-live-fatal" in (_cell(page, "O-100003", STATUS).get_attribute("class") or "")
    assert "status is one of open, paid, shipped, cancelled" in page.locator("#session-counts").inner_text()
    _cell(page, "O-100003", STATUS).hover()
    page.locator(".ag-tooltip").get_by_text("Fails (fatal)").wait_for()


def test_rows_are_edited_with_the_keyboard_alone(site: Site, visit: Any, session: Any):
    address = session(where="row_id=eq.O-100001")
    page = visit("ben", address)
    _cell(page, "O-100001", CUSTOMER).wait_for()
    page.locator("#live .ag-header-cell").last.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Home")
    while page.evaluate("document.activeElement.getAttribute('col-id')") != f"c{CUSTOMER}":
        page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    page.keyboard.type("By keys")
    page.keyboard.press("Enter")
    page.get_by_text("1 cell changed").wait_for()
    assert _cells(site, address)["O-100001", "customer"].endswith("By keys")
    page.keyboard.press("Delete")
    _cell(page, "O-100001", CUSTOMER).get_by_text("null").wait_for()


def test_the_grid_shows_only_changed_rows_or_those_that_a_filter_lets_through(visit: Any, session: Any):
    page = visit("ben", session())
    _type(page, "O-100002", CUSTOMER, "Changed")
    page.get_by_text("1 cell changed").wait_for()
    rows = page.locator("#live .ag-center-cols-container .ag-row")
    assert rows.count() > 5
    page.get_by_role("button", name="Changed rows only").click()
    page.get_by_text("1 row shown").wait_for()
    assert rows.count() == 1
    page.get_by_role("button", name="Changed rows only").click()
    page.get_by_text("200 rows shown").wait_for()
    page.get_by_text("Filter", exact=True).click()
    page.get_by_label("Column").click()
    page.get_by_role("option", name="customer").click()
    page.get_by_label("Value").fill("Changed")
    page.get_by_role("button", name="Add filter").click()
    page.get_by_text("1 row shown").wait_for()
    assert _text(page, "O-100002", CUSTOMER) == "Changed"


def test_opening_a_cell_and_leaving_it_changes_nothing(site: Site, visit: Any, session: Any):
    address = session(where="row_id=in.O-100001,O-100002")
    texts = [CellEdit("O-100001", "customer", "two\nlines"), CellEdit("O-100002", "customer", "")]
    live_edit.set_cells(site.team.ws, _actor("ben"), REF, address.rpartition("/")[2], texts)
    page = visit("ben", address)
    for row_id in ("O-100001", "O-100002"):
        _cell(page, row_id, CUSTOMER).dblclick()
        page.keyboard.press("Enter")
    _type(page, "O-100001", STATUS, "paid")
    page.get_by_text("3 cells changed").wait_for()
    assert _cells(site, address) == {
        ("O-100001", "customer"): "two\nlines",
        ("O-100002", "customer"): "",
        ("O-100001", "status"): "paid",
    }


def test_a_key_cannot_be_typed_over(visit: Any, session: Any):
    page = visit("ben", session())
    cell = _cell(page, "O-100001", 0)
    cell.dblclick()
    assert page.locator("#live .ag-cell-inline-editing").count() == 0


def test_ten_thousand_cells_are_pasted_as_one_step(site: Site, visit: Any, session: Any):
    ref = DatasetRef("shop", "customers")
    more = [{"row_id": f"x{n:05}", "customer_id": f"x{n:05}", "name": "n", "country": "c"} for n in range(1_300)]
    write_deltalake(site.team.ws.layout(ref).main, pa.Table.from_pylist(more), mode="append")
    address = session(ref=ref)
    page = visit("ben", address)
    first = page.locator('#live .ag-row[row-index="0"] .ag-cell[col-id="c1"]')
    first.wait_for()
    first.click()
    _paste(page, "\r\n".join(f"Name {n}\tLand {n}" for n in range(5_050)) + "\r\n")
    page.get_by_text("cells pasted into").wait_for(timeout=60_000)
    told = page.locator("#live-said").inner_text().replace("\u202f", "")
    assert "10100 cells pasted into 5050 rows, as one step." in told
    assert first.inner_text() == "Name 0"
    card = live_edit.show_session(site.team.ws, _actor("ben"), ref, address.rpartition("/")[2])
    assert card.counts is not None and (card.counts.updated, card.counts.cells) == (5_050, 10_100)
    page.keyboard.press("Control+z")
    page.get_by_text("Undone").wait_for(timeout=60_000)
    card = live_edit.show_session(site.team.ws, _actor("ben"), ref, address.rpartition("/")[2])
    assert card.counts is not None and card.counts.cells == 0


def test_a_paste_with_bad_values_changes_nothing_and_lists_them(site: Site, visit: Any, session: Any):
    address = session()
    page = visit("ben", address)
    _cell(page, "O-100001", STATUS).click()
    _paste(page, "paid\tmuch\nopen\t7\nopen\tmore")
    page.get_by_text("Nothing was pasted: 2 values of").wait_for()
    told = page.locator("#live-said").inner_text()
    assert "O-100001 · amount: “much” not a number" in told
    assert "O-100003 · amount: “more” not a number" in told
    assert _cells(site, address) == {}


def test_a_paste_that_is_too_wide_or_too_long_is_told_and_not_done(site: Site, visit: Any, session: Any):
    address = session(where="row_id=in.O-100001,O-100002")
    page = visit("ben", address)
    _cell(page, "O-100001", AMOUNT).click()
    _paste(page, "1\t2026-01-01\tx")
    page.get_by_text("it is 3 columns wide, and there are only 2 from here on").wait_for()
    _cell(page, "O-100001", CUSTOMER).click()
    _paste(page, "a\nb\nc")
    page.get_by_text("it has 3 rows, and there are only 2 from here down").wait_for()
    assert _cells(site, address) == {}


def test_rows_are_added_and_deleted_and_the_diff_shows_them(visit: Any, session: Any):
    page = visit("ben", session())
    page.get_by_role("button", name="Add rows").click()
    page.get_by_label("order_id", exact=True).fill("N-1")
    page.get_by_label("amount", exact=True).fill("a lot")
    page.get_by_role("button", name="Add this row").click()
    page.get_by_text("amount: “a lot” not a number").wait_for()
    page.get_by_label("amount", exact=True).fill("5")
    page.get_by_role("button", name="Add this row").click()
    page.get_by_text("1 row added.").wait_for()
    _cell(page, "N-1", AMOUNT).get_by_text("5.00").wait_for()
    _cell(page, "O-100005", CUSTOMER).click()
    page.get_by_role("button", name="Delete rows").click()
    page.get_by_text("1 row deleted.").wait_for()
    page.get_by_role("button", name="Show the changes").click()
    diff = page.locator("#diff")
    diff.get_by_text("1 inserted").wait_for()
    diff.get_by_text("1 deleted").wait_for()
    assert diff.locator(".ag-row", has_text="O-100005").locator("del").count() == WIDTH


def test_who_else_changes_the_same_row_is_seen(site: Site, visit: Any, session: Any):
    theirs = session("chloe")
    ws = site.team.ws
    live_edit.set_cells(ws, _actor("chloe"), REF, theirs.rpartition("/")[2], [CellEdit("O-100007", "status", "paid")])
    page = visit("ben", session())
    page.get_by_label("changed by chloe too").wait_for()
    _type(page, "O-100007", CUSTOMER, "Me")
    page.locator("#others").get_by_text("chloe").wait_for()
    assert "O-100007" in page.locator("#others").inner_text()
    live_edit.discard(ws, _actor("chloe"), REF, theirs.rpartition("/")[2])


def test_a_session_is_submitted_and_leads_to_its_change_request(visit: Any, session: Any):
    address = session()
    page = visit("ben", address)
    _type(page, "O-100008", CUSTOMER, "By hand")
    page.get_by_text("1 cell changed").wait_for()
    page.get_by_role("button", name="Submit for review").click()
    page.get_by_label("Why? Reviewers and the history show it.").fill("Mended by hand")
    page.get_by_role("button", name="Submit", exact=True).click()
    page.wait_for_url("**/cr/cr_*")
    page.get_by_text("Mended by hand").first.wait_for()
    cr_id = page.url.rpartition("/")[2]
    page.goto(address)
    page.get_by_text(f"It was submitted as {cr_id}.").wait_for()
    assert page.get_by_role("button", name="Undo").count() == 0


def test_an_empty_session_is_not_submitted_and_says_why(visit: Any, session: Any):
    page = visit("ben", session())
    page.get_by_role("button", name="Submit for review").click()
    page.get_by_role("button", name="Submit", exact=True).click()
    page.get_by_role("alert").get_by_text("nothing", exact=False).first.wait_for()


def test_discarding_asks_once_more(site: Site, visit: Any, session: Any):
    address = session()
    page = visit("ben", address)
    page.get_by_role("button", name="Discard", exact=True).click()
    page.get_by_role("button", name="Discard all edits").click()
    page.wait_for_url("**/live")
    card = live_edit.show_session(site.team.ws, _actor("ben"), REF, address.rpartition("/")[2])
    assert card.state == "discarded"


def test_an_edit_in_a_session_that_has_ended_is_told_and_taken_back(site: Site, visit: Any, session: Any):
    address = session()
    page = visit("ben", address)
    before = _text(page, "O-100009", CUSTOMER)
    live_edit.discard(site.team.ws, _actor("ben"), REF, address.rpartition("/")[2])
    _type(page, "O-100009", CUSTOMER, "Too late")
    page.locator("#live-said").get_by_text("is discarded").wait_for()
    assert _text(page, "O-100009", CUSTOMER) == before


def test_others_look_and_cannot_edit(visit: Any, session: Any):
    address = session()
    page = visit("eva", address)
    page.get_by_text("You look at the session of ben.").wait_for()
    _cell(page, "O-100001", CUSTOMER).dblclick()
    assert page.locator("#live .ag-cell-inline-editing").count() == 0
    assert page.get_by_role("button", name="Submit for review").count() == 0


def test_the_rows_that_are_filtered_are_the_part_that_is_edited(visit: Any):
    page = visit("ben", "/p/shop/orders")
    page.get_by_text("Filter", exact=True).click()
    page.get_by_label("Column").click()
    page.get_by_role("option", name="order_id").click()
    page.get_by_label("Value").fill("O-100002")
    page.get_by_role("button", name="Add filter").click()
    page.get_by_text("1 rows shown").wait_for()
    page.get_by_role("button", name="Edit these rows").click()
    page.wait_for_url("**/live/se_*")
    page.get_by_text("1 row shown").wait_for()
    assert page.locator("#live .ag-center-cols-container .ag-row").count() == 1


def test_an_unknown_session_is_a_page_that_says_so(visit: Any):
    page = visit("ben", "/p/shop/orders/live/se_nothing")
    page.get_by_text("shop/orders has no live session se_nothing.").wait_for()


def test_a_session_outlives_the_server_and_what_was_typed_meanwhile_is_sent_later(
    site: Site, browser: Any, session: Any, tmp_path: Path
):
    address, port = session(), free_port()
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    context.set_default_timeout(30_000)
    page = context.new_page()
    mortal = serving(site.team, tmp_path / "first.log", port)
    with mortal as first:
        url = first.url
        context.request.post(f"{url}/sign-in", form={"token": site.team.tokens["ben"]}, headers={"Origin": url})
        page.goto(url + address)
        _type(page, "O-100011", CUSTOMER, "Before the crash")
        page.get_by_text("1 cell changed").wait_for()
        page.evaluate("window.beforeTheCrash = true")
        mortal.process.send_signal(signal.SIGKILL)
        mortal.process.wait(30)
        _type(page, "O-100012", CUSTOMER, "While it was away")
        page.get_by_text("The server is away. 1 edit not saved").wait_for()
        assert "o-live-unsaved" in (_cell(page, "O-100012", CUSTOMER).get_attribute("class") or "")
        assert _cells(site, address) == {("O-100011", "customer"): "Before the crash"}
    with serving(site.team, tmp_path / "second.log", port):
        # The page loads itself again when the new server does not know it; only then is it left alone.
        page.wait_for_function("!window.beforeTheCrash && window.oreoLive")
        page.get_by_text("All edits are saved.").wait_for()
        page.reload()
        page.get_by_text("2 cells changed").wait_for()
        assert _text(page, "O-100011", CUSTOMER) == "Before the crash"
        assert _text(page, "O-100012", CUSTOMER) == "While it was away"
        assert page.locator("#live .o-live-unsaved").count() == 0
        assert _cells(site, address) == {
            ("O-100011", "customer"): "Before the crash",
            ("O-100012", "customer"): "While it was away",
        }
    context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_session_fits_a_telephone(visit: Any, session: Any, scheme: str):
    page = visit("ben", session(), width=390, color_scheme=scheme)
    _cell(page, "O-100001", CUSTOMER).wait_for()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_another_site_cannot_edit_with_the_cookie(site: Site, visit: Any, session: Any):
    address = session()
    page = visit("ben", None)
    api = f"{site.url}/api/v1/projects/shop/datasets/orders/live-sessions/{address.rpartition('/')[2]}/cells"
    body = {"cells": [{"row_id": "O-100001", "column": "customer", "value": "evil"}]}
    refused = page.context.request.post(api, data=body, headers={"Origin": "http://elsewhere.example"})
    assert refused.status == 403
    assert page.context.request.post(api, data=body).status == 403
    assert _cells(site, address) == {}
    assert page.context.request.post(api, data=body, headers={"Origin": site.url}).status == 200


def _cell(page: Any, row_id: str, column: int) -> Any:
    return page.locator(f'#live .ag-row[row-id="{row_id}"] .ag-cell[col-id="c{column}"]')


def _text(page: Any, row_id: str, column: int) -> str:
    """What a cell shows, once it shows something: the grid fills its cells after it has made them."""
    text: str = _cell(page, row_id, column).filter(has_text=re.compile(r"\S")).inner_text()
    return text


def _type(page: Any, row_id: str, column: int, text: str) -> None:
    cell = _cell(page, row_id, column)
    cell.dblclick()
    page.locator("#live .ag-cell-inline-editing input").fill(text)
    page.keyboard.press("Enter")


def _paste(page: Any, text: str) -> None:
    """By the browser's own clipboard."""
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.evaluate("(text) => navigator.clipboard.writeText(text)", text)
    page.keyboard.press("Control+v")


def _cells(site: Site, address: str) -> dict[tuple[str, str], Any]:
    """What the session has changed by now, read from its own table."""
    found = live_edit.preview(site.team.ws, _actor("ada"), REF, address.rpartition("/")[2], changed_only=True)
    return {(row.row_id, column): row.values[column] for row in found.rows for column in row.old}


def _actor(name: str) -> Actor:
    roles = {"ada": Role.ADMIN, "ben": Role.CONTRIBUTOR, "chloe": Role.REVIEWER, "eva": Role.VIEWER}
    return Actor(name, {"*": roles[name]})
