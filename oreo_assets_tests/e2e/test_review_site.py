"""People at the review site of a running platform: sent, looked at, decided and merged without a command line."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from .conftest import Platform

pytestmark = [pytest.mark.e2e, pytest.mark.browser, pytest.mark.slow]

REF = "shop/prices"
PRICES = """\
project: shop
dataset: prices
columns:
  - {name: sku, type: string, nullable: false}
  - {name: price, type: "decimal(8,2)"}
key: [sku]
expectations:
  - {type: expect_column_values_to_not_be_null, column: price, severity: fatal, name: price_is_known}
  - {type: expect_column_values_to_be_between, column: price, max_value: 500, severity: warning, name: usual_price}
"""


@pytest.fixture(scope="module")
def prices(platform: Platform) -> Platform:
    platform.tokens["con"] = platform.oreo("user", "add", "con", "--role", "contributor")["token"]
    platform.oreo("dataset", "apply", platform.file(PRICES, "prices.yaml"))
    return platform


@pytest.fixture
def visit(prices: Platform, browser: Any) -> Iterator[Callable[[str, str], Any]]:
    """A page of somebody who signed in by the form."""
    contexts = []

    def open_page(name: str, path: str) -> Any:
        context = browser.new_context(base_url=f"http://127.0.0.1:{prices.api_port}")
        context.set_default_timeout(90_000)
        contexts.append(context)
        page = context.new_page()
        page.goto(path)
        page.get_by_label("Token").fill(prices.tokens[name])
        page.get_by_role("button", name="Sign in").click()
        page.wait_for_url(f"**{path}")
        return page

    yield open_page
    for context in contexts:
        context.close()


def _address(cr_id: str) -> str:
    return f"/p/shop/prices/cr/{cr_id}"


def _sent(prices: Platform, text: str, by: str = "con") -> str:
    sent = prices.oreo("upload", REF, prices.file(text, "prices.csv"), "--wait", by=by)
    assert sent["state"] == "in_review"
    return sent["change_request_id"]


def _merged(prices: Platform, cr_id: str) -> Any:
    def ended() -> Any:
        card = prices.oreo("cr", "show", REF, cr_id)
        return card if card["state"] in ("merged", "closed") else None

    return prices.wait(f"the merge of {cr_id}", ended)


def _price(prices: Platform, sku: str) -> float:
    (row,) = prices.oreo("query", REF, "--where", f"sku=eq.{sku}")["rows"]
    return row["price"]


def test_a_file_goes_from_the_senders_browser_through_the_reviewers_into_main(
    prices: Platform, visit: Callable[[str, str], Any]
):
    sender = visit("con", "/p/shop/prices/upload")
    file = {"name": "prices.csv", "mimeType": "text/csv", "buffer": b"sku,price\n0017,24.90\n0018,690\n"}
    sender.locator("#upload-file").set_input_files(file)
    sender.get_by_text("2 good").wait_for()
    sender.get_by_role("button", name="Send").click()
    sender.wait_for_url("**/cr/cr_*")
    cr_id = sender.url.rpartition("/")[2]
    # The page follows it: a sensor stages and checks it, and nobody asks for that.
    sender.locator("#why-not").get_by_text("con sent").wait_for()

    reviewer = visit("bob", _address(cr_id))
    reviewer.locator("#rows .ag-row").first.wait_for()
    approve = reviewer.get_by_role("button", name="Approve")
    assert approve.is_disabled()
    reviewer.get_by_label("Why usual_price is acceptable").fill("A samovar")
    approve.click()
    reviewer.get_by_role("link", name="version 1", exact=True).wait_for()
    assert _merged(prices, cr_id)["approvals"][0]["acknowledged"] == {"usual_price": "A samovar"}
    assert _price(prices, "0018") == 690.0


def test_a_refused_file_shows_why_and_cannot_be_approved(prices: Platform, visit: Callable[[str, str], Any]):
    refused = prices.oreo("upload", REF, prices.file("sku,price\n0019,\n", "bad.csv"), "--wait", by="con", code=3)
    page = visit("bob", _address(refused["change_request_id"]))
    verdict = page.locator("#verdict")
    verdict.get_by_text("price_is_known").first.wait_for()
    assert page.get_by_role("button", name="Approve").count() == 0


def test_a_conflict_is_settled_in_the_browser_and_merged_after_a_new_approval(
    prices: Platform, visit: Callable[[str, str], Any]
):
    first, second = _sent(prices, "sku,price\n0017,25\n"), _sent(prices, "sku,price\n0017,26\n")
    for cr_id in (first, second):
        prices.oreo("cr", "approve", REF, cr_id, by="bob")
    ids = {first, second}
    met = prices.wait("the conflict", lambda: _in_state(prices, ids, "conflicted"))
    (conflicted,) = met
    page = visit("con", _address(conflicted))
    page.get_by_role("button", name="Take all from this change request").click()
    page.get_by_role("button", name="Settle and check again").click()
    prices.wait("the settled change in review", lambda: _in_state(prices, ids, "in_review"))
    reviewer = visit("bob", _address(conflicted))
    reviewer.get_by_role("button", name="Approve").click()
    _merged(prices, conflicted)
    assert _price(prices, "0017") == (25.0 if conflicted == first else 26.0)


def test_live_edits_become_a_change_request_and_a_merge_is_reverted(prices: Platform, visit: Callable[[str, str], Any]):
    session = prices.oreo("live", "open", REF, by="con")["session_id"]
    before = _price(prices, "0017")
    prices.oreo("live", "set", REF, session, "0017:price=27.50", by="con")
    cr_id = prices.oreo("live", "submit", REF, session, "--note", "By hand", by="con")["change_request_id"]
    prices.wait("the edits in review", lambda: _in_state(prices, {cr_id}, "in_review"))
    reviewer = visit("bob", _address(cr_id))
    reviewer.get_by_role("button", name="Approve").click()
    _merged(prices, cr_id)
    assert _price(prices, "0017") == 27.5

    page = visit("con", _address(cr_id))
    page.get_by_role("button", name="Revert").click()
    page.wait_for_url(lambda url: "/cr/cr_" in url and not url.endswith(cr_id))
    inverse = page.url.rpartition("/")[2]
    prices.wait("the inverse in review", lambda: _in_state(prices, {inverse}, "in_review"))
    prices.oreo("cr", "approve", REF, inverse, "--wait", by="bob")
    assert _price(prices, "0017") == before


def _in_state(prices: Platform, ids: set[str], state: str) -> list[str]:
    return [
        c["change_request_id"]
        for c in prices.oreo("cr", "list", REF)
        if c["change_request_id"] in ids and c["state"] == state
    ]
