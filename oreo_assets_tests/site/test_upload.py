"""Sending a file in the browser: received once, looked over, mended, sent."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

import openpyxl
import pytest

from oreo_assets.api.receiving import incoming_folder
from oreo_assets.catalog.users import EVERYWHERE, Actor
from oreo_assets.model.ids import DatasetRef
from oreo_assets.model.states import Role
from oreo_assets.workflow import header_maps, review

from .conftest import Site

pytestmark = pytest.mark.browser

REF = DatasetRef("shop", "orders")
BEN = Actor("ben", {EVERYWHERE: Role.CONTRIBUTOR})
GOOD = "order_id,customer,status,amount\nU-1,Ada,open,12.50\nU-2,Ben,paid,7\n"
STRANGE = (
    "Order ID;Customer;status;Amount (EUR);remarks\n"
    "U-3;Ada;open;12.50;fine\n"
    "U-4;=cmd();open;much;not fine\n"
    "U-5;Eva;paid;1,5;neither\n"
)


def test_a_file_is_looked_over_and_sent(site: Site, visit: Any):
    page = visit("ben", "/p/shop/orders")
    page.get_by_role("link", name="Upload a file").click()
    _choose(page, "orders.csv", GOOD)
    page.get_by_text("2 good").wait_for()
    first = page.locator("#first-rows")
    assert "U-1" in first.inner_text() and "12.50" in first.inner_text()
    assert "Not in the file, so left as they are: country, ordered_on" in page.locator("#found").inner_text()
    page.get_by_label("Note: why? The reviewer reads it.").fill("From the browser")
    page.get_by_role("button", name="Send").click()
    page.wait_for_url("**/cr/cr_*")
    card = review.show(site.team.ws, BEN, REF, page.url.rpartition("/")[2])
    assert (card["author"], card["note"], card["mode"], card["state"]) == (
        "ben",
        "From the browser",
        "upsert",
        "converted",
    )


def test_headers_are_mapped_bad_rows_downloaded_and_set_aside_and_the_choice_remembered(site: Site, visit: Any):
    page = visit("ben", "/p/shop/orders/upload")
    _choose(page, "orders.csv", STRANGE)
    page.get_by_text("New columns cannot be called Amount (EUR).").wait_for()
    assert page.get_by_role("button", name="Send").is_disabled()
    _map(page, "Amount (EUR)", "amount")
    _map(page, "remarks", "– leave it out –")
    page.get_by_text("2 bad").wait_for()
    bad = page.locator("#bad-rows").inner_text()
    assert "much" in bad and "not a number" in bad and "1,5" in bad
    assert page.get_by_role("button", name="Send").is_disabled()
    with page.expect_download() as coming:
        page.get_by_role("link", name="Download the bad rows").click()
    rows = list(csv.reader(Path(coming.value.path()).read_text(encoding="utf-8-sig").splitlines()))
    assert rows[0] == ["reason", "line", "Order ID", "Customer", "status", "Amount (EUR)", "remarks"]
    assert rows[1] == ["amount: not a number", "3", "U-4", "'=cmd()", "open", "much", "not fine"]
    page.get_by_text("Set aside bad rows and go on with the good ones").click()
    page.get_by_role("button", name="Send").click()
    page.wait_for_url("**/cr/cr_*")
    known = header_maps.remembered(site.team.ws, BEN, REF)
    assert known == {"Order ID": "order_id", "Amount (EUR)": "amount", "remarks": ""}
    again = visit("ben", "/p/shop/orders/upload")
    _choose(again, "orders.csv", STRANGE.replace("much", "3").replace("1,5", "4"))
    again.get_by_text("3 good").wait_for()
    assert again.get_by_text("as last time").count() == 2


def test_a_sheet_is_chosen(visit: Any):
    book = openpyxl.Workbook()
    book.active.title = "Notes"
    book.active.append(["hello"])
    book.active.append(["world"])
    orders = book.create_sheet("Orders")
    orders.append(["order_id", "amount"])
    orders.append(["U-6", 5.25])
    content = io.BytesIO()
    book.save(content)
    page = visit("ben", "/p/shop/orders/upload")
    _choose(page, "book.xlsx", content.getvalue())
    page.get_by_text("The header names no column of this dataset. Found: hello.").wait_for()
    page.get_by_label("Sheet").click()
    page.get_by_role("option", name="Orders").click()
    page.get_by_text("1 good").wait_for()
    assert "U-6" in page.locator("#first-rows").inner_text()


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("orders.exe", b"MZ", "is not a kind of file that can be taken"),
        ("orders.xlsx", b"not a workbook", "orders.xlsx"),
        ("empty.csv", b"", "empty.csv is empty"),
    ],
)
def test_a_file_that_cannot_be_taken_is_told_where_it_was_chosen(visit: Any, name: str, content: bytes, said: str):
    page = visit("ben", "/p/shop/orders/upload")
    _choose(page, name, content)
    page.get_by_role("alert").first.wait_for()
    assert said in page.locator("main").inner_text()
    assert page.locator("button.main:enabled").count() == 0


def test_a_file_over_the_limit_is_refused_before_it_is_kept(site: Site, visit: Any):
    page = visit("ben", "/p/shop/orders/upload")
    page.evaluate("document.getElementById('upload').dataset.limit = '10'")
    _choose(page, "orders.csv", GOOD)
    page.get_by_text("this dataset takes up to").wait_for()


def test_cells_and_headers_are_text_never_html(visit: Any):
    page = visit("ben", "/p/shop/orders/upload")
    _choose(page, "<img src=x onerror=alert(1)>.csv", "order_id,<b>x</b>,amount\n<i>U</i>,<u>y</u>,<s>1</s>\n")
    page.get_by_text("New columns cannot be called <b>x</b>").wait_for()
    _map(page, "<b>x</b>", "customer")
    page.get_by_text("1 bad").wait_for()
    page.locator("#bad-rows").get_by_text("<s>1</s>").wait_for()
    assert page.locator("main :is(img, i:not(.q-icon), u, s)").count() == 0


def test_a_received_file_is_for_its_sender_alone_and_gone_once_it_is_sent(site: Site, visit: Any):
    page = visit("ben", "/p/shop/orders/upload")
    _choose(page, "orders.csv", GOOD.replace("7", "seven"))
    link = page.get_by_role("link", name="Download the bad rows")
    link.wait_for()
    place = link.get_attribute("href")
    draft = place.split("/")[-2]
    assert (incoming_folder(site.team.ws.settings) / draft).is_dir()
    chloe = visit("chloe", None)
    assert chloe.context.request.get(site.url + place).status == 404
    assert page.context.request.get(f"{site.url}/p/shop/orders/upload/../../x/bad-rows.csv").status == 404
    assert page.context.request.get(site.url + place.replace("orders", "customers")).status == 404
    assert page.context.request.get(site.url + place).status == 200
    page.get_by_text("Set aside bad rows and go on with the good ones").click()
    page.get_by_role("button", name="Send").click()
    page.wait_for_url("**/cr/cr_*")
    assert not (incoming_folder(site.team.ws.settings) / draft).exists()


def test_another_site_cannot_leave_a_file_here_with_the_cookie(site: Site, visit: Any):
    page = visit("ben", None)
    file = {"name": "orders.csv", "mimeType": "text/csv", "buffer": GOOD.encode()}
    place = f"{site.url}/p/shop/orders/upload/file"
    sent = page.context.request.post(place, multipart={"file": file}, headers={"Origin": "http://elsewhere.example"})
    assert sent.status == 403
    assert visit(None, None).context.request.post(place, multipart={"file": file}).status == 401


def test_a_viewer_is_told_that_it_takes_a_contributor(site: Site, visit: Any):
    page = visit("eva", "/p/shop/orders/upload")
    page.get_by_text("you need the role contributor here").wait_for()
    assert page.locator("input[type=file]").count() == 0
    file = {"name": "orders.csv", "mimeType": "text/csv", "buffer": GOOD.encode()}
    sent = page.context.request.post(
        f"{site.url}/p/shop/orders/upload/file", multipart={"file": file}, headers={"Origin": site.url}
    )
    assert sent.status == 403


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_fits_a_telephone(visit: Any, scheme: str):
    page = visit("ben", "/p/shop/orders/upload", width=390, color_scheme=scheme)
    _choose(page, "orders.csv", STRANGE)
    page.get_by_label("What remarks stands for").wait_for()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def _choose(page: Any, name: str, content: str | bytes) -> None:
    buffer = content.encode() if isinstance(content, str) else content
    page.locator("#upload-file").set_input_files({"name": name, "mimeType": "text/plain", "buffer": buffer})


def _map(page: Any, header: str, column: str) -> None:
    page.get_by_label(f"What {header} stands for").click()
    page.get_by_role("option", name=column, exact=True).click()
    page.locator(".q-menu").wait_for(state="detached")
