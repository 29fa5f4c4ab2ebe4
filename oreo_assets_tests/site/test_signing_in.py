"""Who gets in, with what, and for how long."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from oreo_assets.catalog.users import EVERYWHERE, Actor, add_user, revoke_user
from oreo_assets.model.states import Role

from .conftest import Site
from .plausible import ADMIN

pytestmark = pytest.mark.browser


def test_a_token_opens_the_page_that_was_asked_for_and_never_stands_in_an_address(site: Site, visit: Any):
    page = visit(None, "/p/shop/orders?tab=schema")
    addresses = []
    page.on("request", lambda request: addresses.append(request.url))
    page.get_by_label("Token").fill(site.team.tokens["eva"])
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url("**/p/shop/orders?tab=schema")
    assert page.get_by_text("viewer in shop").is_visible()
    assert addresses and not any(site.team.tokens["eva"] in address for address in addresses)
    (cookie,) = page.context.cookies()
    assert (cookie["httpOnly"], cookie["sameSite"]) == (True, "Strict")
    assert site.team.tokens["eva"] not in cookie["value"]


def test_a_wrong_token_is_told_beside_the_field(visit: Any):
    page = visit(None, "/sign-in")
    page.get_by_label("Token").fill("oreo_nobody_has_this")
    page.keyboard.press("Enter")
    assert page.get_by_role("alert").inner_text().startswith("The token is not one that Oreo knows")
    assert page.context.cookies() == []
    assert page.get_by_label("Token").input_value() == ""


def test_a_token_that_is_revoked_stops_working_at_the_next_click_and_the_next_page(site: Site, visit: Any):
    catalog = site.team.ws.catalog
    site.team.tokens["rita"] = add_user(catalog, ADMIN, "rita", Role.REVIEWER, None).token
    cr_id = site.in_review()
    page = visit("rita", site.address(cr_id))
    page.get_by_role("button", name="Approve").wait_for()
    revoke_user(catalog, ADMIN, "rita")
    page.get_by_role("button", name="Approve").click()
    page.wait_for_url("**/sign-in?next=*")
    page.goto("/")
    assert "/sign-in" in page.url
    assert _approvals(site, cr_id) == []


def test_a_page_whose_socket_is_refused_leads_to_the_door(site: Site, visit: Any):
    catalog = site.team.ws.catalog
    site.team.tokens["rosa"] = add_user(catalog, ADMIN, "rosa", Role.VIEWER, None).token
    page = visit("rosa", "/p/shop/orders?tab=schema")
    page.wait_for_function("window.did_handshake")
    revoke_user(catalog, ADMIN, "rosa")
    page.evaluate("() => { window.socket.disconnect(); window.socket.connect(); }")
    page.wait_for_url("**/sign-in?next=%2Fp%2Fshop%2Forders%3Ftab%3Dschema")


def test_a_role_that_is_taken_away_counts_at_the_next_click(site: Site, visit: Any):
    catalog = site.team.ws.catalog
    site.team.tokens["rolf"] = add_user(catalog, ADMIN, "rolf", Role.REVIEWER, None).token
    cr_id = site.in_review()
    page = visit("rolf", site.address(cr_id))
    page.get_by_role("button", name="Approve").wait_for()
    add_user(catalog, ADMIN, "rolf", Role.VIEWER, None)
    page.get_by_role("button", name="Approve").click()
    page.get_by_role("alert").get_by_text("rolf is viewer there").wait_for()
    assert _approvals(site, cr_id) == []


def test_signing_out_ends_the_other_tabs_too(site: Site, visit: Any):
    page = visit("chloe")
    cr_id = site.in_review()
    other = page.context.new_page()
    other.goto(site.address(cr_id))
    other.get_by_role("button", name="Approve").wait_for()
    kept = page.context.cookies()
    page.get_by_role("button", name="Sign out").click()
    page.wait_for_url("**/sign-in")
    other.get_by_role("button", name="Approve").click()
    other.wait_for_url("**/sign-in?next=*")
    page.context.add_cookies(kept)
    page.goto("/")
    assert "/sign-in" in page.url


@pytest.mark.parametrize(
    "elsewhere", ["https://example.org/", "//example.org/x", "/\\example.org", "javascript:alert(1)"]
)
def test_signing_in_never_leads_to_another_site(site: Site, elsewhere: str):
    answer = _post(site, "/sign-in", {"token": site.team.tokens["eva"], "next": elsewhere})
    assert (answer.status_code, answer.headers["location"]) == (303, "/")


@pytest.mark.parametrize("origin", ["https://example.org", "http://127.0.0.1:1", "null", None])
def test_a_form_of_another_site_neither_signs_in_nor_out(site: Site, origin: str | None):
    for path in ("/sign-in", "/sign-out"):
        answer = _post(site, path, {"token": site.team.tokens["eva"]}, origin=origin)
        assert answer.status_code == 403
        assert "set-cookie" not in answer.headers


def test_the_socket_takes_nobody_without_a_cookie_and_no_page_of_another_site(site: Site):
    socket = "/_nicegui_ws/socket.io/?EIO=4&transport=polling"
    cookies = {"oreo_visit": _cookie(site)}
    with httpx.Client(base_url=site.url, trust_env=False) as client:
        assert client.get(socket).status_code == 403
        assert client.get(socket, headers={"Cookie": "oreo_visit=x.y"}).status_code == 403
    with httpx.Client(base_url=site.url, trust_env=False, cookies=cookies) as client:
        assert client.get(socket).status_code == 200
        assert client.get(socket, headers={"Origin": site.url}).status_code == 200
        assert client.get(socket, headers={"Origin": "http://127.0.0.1:1"}).status_code == 403
        assert client.get(socket, headers={"Sec-Fetch-Site": "cross-site"}).status_code == 403


def test_a_cookie_that_was_changed_is_not_believed(site: Site):
    cookie = _cookie(site)
    body, _, signature = cookie.partition(".")
    for forged in (f"{body[:-2]}AA.{signature}", f"{body}.{'0' * 64}", body, "..", "é.é"):
        with httpx.Client(base_url=site.url, trust_env=False) as client:
            answer = client.get("/", headers={"Cookie": f"oreo_visit={forged}".encode()})
        assert (answer.status_code, answer.headers["location"]) == (303, "/sign-in?next=%2F")


def test_the_key_that_signs_cookies_is_its_owners_alone(site: Site):
    key = site.team.ws.settings.state_dir / "site.key"
    assert oct(key.stat().st_mode & 0o777) == "0o600"
    assert len(key.read_bytes()) == 32


def _cookie(site: Site) -> str:
    answer = _post(site, "/sign-in", {"token": site.team.tokens["eva"]})
    return answer.cookies["oreo_visit"]


def _post(site: Site, path: str, form: dict[str, str], origin: str | None = "own") -> httpx.Response:
    headers = {} if origin is None else {"Origin": site.url if origin == "own" else origin}
    return httpx.post(f"{site.url}{path}", data=form, headers=headers, trust_env=False)


def _approvals(site: Site, cr_id: str) -> list[Any]:
    from oreo_assets.workflow import review

    return review.show(site.team.ws, Actor("x", {EVERYWHERE: Role.VIEWER}), site.team.spec.ref, cr_id)["approvals"]
