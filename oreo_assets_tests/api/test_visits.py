"""Routes that take a token or the review site's cookie."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from fastapi.testclient import TestClient

from oreo_assets.api.app import create_app
from oreo_assets.api.auth import WhoOnSite
from oreo_assets.api.visits import COOKIE, Visits
from oreo_assets.catalog.users import revoke_user
from oreo_assets.model.errors import NotSignedInError
from oreo_assets.settings import cookie_secret

from ..cli.conftest import ADMIN, Oreo

HERE = "http://testserver"


@pytest.fixture
def client(shop: Oreo) -> Iterator[TestClient]:
    app = create_app(shop.settings)

    @app.api_route("/whoami", methods=["GET", "POST"])
    def whoami(who: WhoOnSite) -> str:
        return who.name

    with TestClient(app, base_url=HERE) as opened:
        opened.cookies.set(COOKIE, app.state.service.visits.begin(shop.tokens["vic"]))
        yield opened


def test_a_cookie_reads_from_anywhere_but_changes_only_from_a_page_of_this_site(client: TestClient):
    assert client.get("/whoami").json() == "vic"
    assert client.post("/whoami", headers={"Origin": HERE}).json() == "vic"
    for origin in ("http://example.org", "null", "http://testserver:81", ""):
        assert client.post("/whoami", headers={"Origin": origin}).status_code == 403
    assert client.post("/whoami").status_code == 403


def test_a_token_needs_no_origin_and_comes_before_the_cookie(client: TestClient, shop: Oreo):
    headers = {"Authorization": f"Bearer {shop.tokens['rev']}"}
    assert client.post("/whoami", headers=headers).json() == "rev"
    assert client.get("/whoami", headers={"Authorization": "Bearer wrong"}).status_code == 401


def test_pages_may_use_the_api_and_other_sites_may_not(client: TestClient):
    assert client.get("/api/v1/projects").status_code == 200
    answer = client.post("/api/v1/projects", json={"project": "mine"}, headers={"Origin": "http://example.org"})
    assert (answer.status_code, answer.json()["error"]["code"]) == (403, "not_allowed")
    assert "does not come from a page of this site" in answer.json()["error"]["message"]
    client.cookies.set(COOKIE, "forged.cookie")
    assert client.get("/api/v1/projects").status_code == 401


def test_nobody_goes_on_with_a_cookie_whose_token_was_revoked(client: TestClient):
    service = client.app.state.service  # type: ignore[attr-defined]
    revoke_user(service.ws.catalog, ADMIN, "vic")
    assert client.get("/whoami").status_code == 401


def test_a_visit_ends_after_a_week_and_its_cookie_holds_for_no_other_root(
    client: TestClient, shop: Oreo, monkeypatch: pytest.MonkeyPatch
):
    catalog = client.app.state.service.ws.catalog  # type: ignore[attr-defined]
    cookie = client.cookies[COOKIE]
    own = Visits(lambda: cookie_secret(shop.settings), lambda: catalog)
    assert own.actor(cookie).name == "vic"
    with pytest.raises(NotSignedInError, match="not one that this site made"):
        Visits(lambda: b"another key", lambda: catalog).actor(cookie)
    monkeypatch.setattr("oreo_assets.api.visits.MAX_AGE_SECONDS", -1)
    with pytest.raises(NotSignedInError, match="a week ago"):
        own.actor(cookie)
