"""What the pages show, to whom, and on which screen."""

from __future__ import annotations

import subprocess
import sys
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest

from .conftest import Site

pytestmark = pytest.mark.browser

HOSTILE = '<img src=x onerror="window.brokenIn = true">'
DATASET = "/p/shop/orders"
TABS = ("rows", "history", "schema", "checks", "statistics", "sessions", "lineage")


def test_home_shows_the_datasets_and_what_waits_for_whom(site: Site, visit: Any):
    site.in_review(note="Please look at this")
    page = visit("dmitri")
    assert page.locator("#datasets").get_by_role("link", name="shop/orders").is_visible()
    waiting = page.locator("#waits")
    waiting.get_by_role("link", name="Please look at this").first.wait_for()
    assert "review" in waiting.inner_text()
    mine = visit("ben")
    assert mine.locator("#waits").get_by_role("link", name="Please look at this").count() == 0


def test_rows_are_sorted_filtered_and_read_as_of_a_version(visit: Any):
    page = visit("eva", DATASET)
    first = page.locator("#rows .ag-row[row-index='0']")
    first.get_by_text("O-100001").first.wait_for()
    page.locator("#rows .ag-header-cell[col-id=c0]").click()
    page.locator("#rows .ag-header-cell[col-id=c0]").click()
    page.locator("#rows .ag-row[row-index='0']").get_by_text("O-100200").first.wait_for()
    page.goto(f"{DATASET}?version=1")
    page.get_by_text("rows shown, of version 1").wait_for()
    slider = page.get_by_role("slider")
    slider.focus()
    page.keyboard.press("ArrowLeft")
    page.get_by_text("Version 0 has no rows.").wait_for()


def test_more_rows_come_when_they_are_asked_for(visit: Any):
    page = visit("eva", DATASET)
    page.get_by_text("100 rows shown").wait_for()
    page.get_by_role("button", name="More rows").click()
    page.get_by_text("200 rows shown").wait_for()
    assert page.get_by_role("button", name="More rows").count() == 0


def test_the_history_says_who_why_and_what(site: Site, visit: Any):
    page = visit("eva", f"{DATASET}?tab=history")
    row = page.locator("tr#v3")
    assert "chloe" in row.inner_text() and "approved by dmitri" in row.inner_text()
    row.get_by_role("link", name=site.team.change_requests["merged"]).click()
    page.get_by_role("heading", name="Shipped on the 14th").wait_for()


def test_lineage_leads_to_the_assets_in_dagster(site: Site, visit: Any):
    page = visit("eva", f"{DATASET}?tab=lineage")
    address = page.get_by_role("link", name="main", exact=True).get_attribute("href")
    assert address == f"http://127.0.0.1:{site.team.ws.settings.dagster_port}/assets/shop/orders/main"


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("/p/shop/nothing", "There is no dataset shop/nothing."),
        ("/p/shop/orders/cr/cr_nothing", "shop/orders has no change request cr_nothing."),
        ("/p/shop/orders/cr/..%2f..", "There is no such"),
        ("/p/SHOP/orders", "There is no such dataset."),
        ("/nowhere/at/all", "There is no such page."),
    ],
)
def test_what_is_not_there_is_said_on_a_page_of_the_site(visit: Any, path: str, said: str):
    page = visit("eva", None)
    answer = page.goto(path)
    assert answer.status == 404
    assert said in page.locator("main").inner_text()
    assert page.get_by_text("eva", exact=True).is_visible()
    page.get_by_role("link", name="All datasets", exact=True).click()
    page.locator("#datasets").wait_for()


def test_who_has_no_role_in_a_project_does_not_see_it(site: Site, visit: Any):
    from oreo_assets.catalog.users import add_user
    from oreo_assets.model.states import Role

    from .plausible import ADMIN

    site.team.tokens["lars"] = add_user(site.team.ws.catalog, ADMIN, "lars", Role.VIEWER, "logistics").token
    page = visit("lars")
    page.locator("#datasets").get_by_role("link", name="logistics/stock").wait_for()
    assert page.locator("#datasets").get_by_text("shop/").count() == 0
    assert page.goto(DATASET).status == 403
    assert "lars has no role there" in page.locator("main").inner_text()


def test_a_report_is_a_click_away_and_who_is_not_signed_in_is_asked_to(site: Site, visit: Any):
    page = visit("eva", site.address(site.team.change_requests["in_review"]))
    page.get_by_role("link", name="The whole report").click()
    page.wait_for_url("**/reports/shop/orders/vr_*")
    assert "usual_amount" in page.locator("body").inner_text()
    stranger = visit(None, page.url)
    assert "/sign-in?next=%2Freports%2F" in stranger.url
    assert httpx.get(page.url, trust_env=False).json()["error"]["code"] == "not_signed_in"


def test_the_api_keeps_its_own_answers(site: Site):
    with httpx.Client(base_url=site.url, trust_env=False) as client:
        assert client.get("/api/v1/nothing").json()["error"]["code"] == "not_found"
        assert client.delete("/healthz").status_code == 405
        assert client.get("/api/v1/projects", headers={"Cookie": "oreo_visit=x"}).status_code == 401
        assert client.get("/healthz").json()["status"] == "ok"


def test_values_notes_file_names_and_comments_are_never_taken_for_html(site: Site, visit: Any):
    from oreo_assets.workflow import comments

    from . import plausible
    from .plausible import ADMIN

    row = site.order(customer=HOSTILE, status=HOSTILE)
    row["row_id"] = row["order_id"] = f"{HOSTILE} {row['order_id']}"
    cr_id = plausible.stage(
        site.team,
        [row],
        f"{HOSTILE}\n{HOSTILE}",
        "ben",
        file_name=f"{HOSTILE}.csv",
        outcomes=plausible.outcomes_of([row], row),
    )
    comments.comment(site.team.ws, ADMIN, site.team.spec.ref, cr_id, HOSTILE, row_id=row["row_id"], column="customer")
    for path in (site.address(cr_id), "/", f"{DATASET}/crs?show=all", f"{DATASET}?tab=checks"):
        page = visit("chloe", path)
        page.locator("main section").first.wait_for()
        if path == site.address(cr_id):
            page.locator("#rows .ag-cell[col-id=c1]").get_by_text(HOSTILE).first.wait_for()
            page.get_by_role("button", name="Show 1 failing row").first.click()
            page.locator("#rows").get_by_text("1 of 1 row", exact=True).wait_for()
            page.locator("#rows .ag-cell[col-id=c1]").first.click()
            page.get_by_role("heading", name=HOSTILE).wait_for()
        assert page.locator("img[onerror]").count() == 0
        assert page.evaluate("window.brokenIn") is None


def test_nothing_is_fetched_from_elsewhere_and_browsers_are_told_so(site: Site, visit: Any):
    page = visit("chloe", None)
    hosts = set()
    page.on("request", lambda request: hosts.add(urlsplit(request.url).netloc))
    answer = page.goto(site.address(site.team.change_requests["in_review"]))
    page.locator("#rows .ag-row").first.wait_for()
    assert hosts == {urlsplit(site.url).netloc}
    policy = answer.headers["content-security-policy"]
    assert "default-src 'self'" in policy and "frame-ancestors 'none'" in policy


@pytest.mark.parametrize("width", [390, 1280])
def test_no_page_scrolls_sideways(site: Site, visit: Any, width: int):
    crs = site.team.change_requests
    page = visit("chloe", None, width=width)
    paths = ["/", f"{DATASET}/crs?show=all", *(f"{DATASET}?tab={tab}" for tab in TABS)]
    for path in [*paths, *(site.address(crs[name]) for name in ("in_review", "refused", "merged"))]:
        page.goto(path)
        page.locator("main section").first.wait_for()
        page.wait_for_function("!document.querySelector('.o-wait')")
        assert page.evaluate("document.documentElement.scrollWidth") <= width, path


def test_times_are_told_in_the_readers_zone(site: Site, visit: Any):
    times = {
        zone: visit("eva", f"{DATASET}?tab=history", timezone_id=zone).locator("tr#v1 time").get_attribute("title")
        for zone in ("Europe/Berlin", "Asia/Tokyo")
    }
    assert times["Europe/Berlin"] != times["Asia/Tokyo"]
    assert "GMT+9" in (times["Asia/Tokyo"] or "")


def test_light_and_dark_follow_the_machine_until_somebody_chooses(visit: Any):
    page = visit("eva", color_scheme="dark")
    page.locator("body.body--dark").wait_for()
    page.get_by_role("button", name="Light or dark").click()
    page.locator("body.body--light").wait_for()
    page.reload()
    page.locator("main section").first.wait_for()
    page.locator("body.body--light").wait_for()


def test_a_comment_that_is_being_written_outlives_news(site: Site, visit: Any):
    from oreo_assets.workflow import review

    from .plausible import ADMIN

    cr_id = site.in_review()
    page = visit("dmitri", site.address(cr_id))
    page.get_by_label("Comment", exact=True).fill("Half a thought")
    review.approve(site.team.ws, ADMIN, site.team.spec.ref, cr_id)
    page.get_by_role("button", name="Show it as it is now").click()
    page.get_by_text("It is approved and moves on by itself.").wait_for()
    assert page.get_by_label("Comment", exact=True).input_value() == "Half a thought"


def test_neither_the_command_line_nor_the_api_alone_imports_the_site():
    code = "import sys, oreo_assets.cli.app, oreo_assets.api.app; sys.exit('nicegui' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
