"""The same request twice is done once."""

from __future__ import annotations

import threading

import pytest
from fastapi.testclient import TestClient

from oreo_assets.api.app import create_app

from ..cli.conftest import Oreo
from .conftest import ORDERS, V1, Api
from .test_uploads import BAD, GOOD

KEY = {"Idempotency-Key": "k-1"}


def test_an_upload_sent_again_opens_no_second_change_request(shop: Oreo, api: Api):
    first = api.upload(GOOD, headers=KEY)
    again = api.upload(GOOD, headers=KEY)
    assert (again.status_code, again.json()) == (201, first.json())
    assert again.headers["Location"] == first.headers["Location"]
    assert (first.headers.get("Idempotency-Replayed"), again.headers["Idempotency-Replayed"]) == (None, "true")
    with TestClient(create_app(shop.settings)) as restarted:
        assert Api(restarted, shop.tokens).upload(GOOD, headers=KEY).json() == first.json()
    assert len(api.get(f"{ORDERS}/change-requests").json()) == 1
    assert api.upload(GOOD, headers={"Idempotency-Key": "k-2"}).json() != first.json()


@pytest.mark.parametrize("other", ["file", "name", "form", "path", "user"])
def test_another_request_under_the_same_key_is_refused(api: Api, other: str):
    api.upload(GOOD, headers=KEY)
    if other == "path":
        answer = api.post(f"{ORDERS}/restore", {"version": 0}, "con", headers=KEY)
    elif other == "user":
        assert api.upload(GOOD, headers=KEY, user="rev").status_code == 201  # keys are each user's own
        return
    else:
        content = GOOD.replace("1.50", "2.50") if other == "file" else GOOD
        form = {"note": "another"} if other == "form" else {}
        answer = api.upload(content, headers=KEY, name="other.csv" if other == "name" else "orders.csv", **form)
    assert (answer.status_code, answer.json()["error"]["code"]) == (409, "idempotency_key_reused")


def test_a_refused_file_is_refused_again_without_a_second_change_request(api: Api):
    first, again = (api.upload(BAD, headers=KEY) for _ in range(2))
    assert (again.status_code, again.headers["Idempotency-Replayed"]) == (422, "true")
    errors = [answer.json()["error"] for answer in (first, again)]
    assert errors[0].pop("request_id") != errors[1].pop("request_id")
    assert errors[0] == errors[1]
    assert len(api.get(f"{ORDERS}/change-requests").json()) == 1


def test_what_left_nothing_behind_may_be_tried_again(api: Api, in_review):
    place = f"{ORDERS}/change-requests/{in_review(warning=True)}/withdraw"
    assert api.post(place, None, "vic", headers=KEY).status_code == 403
    assert api.post(place, None, "vic", headers=KEY).status_code == 403
    done = api.post(place, None, "con", headers=KEY)
    again = api.post(place, None, "con", headers=KEY)
    assert (done.status_code, again.status_code, again.json()) == (200, 200, done.json())
    assert api.post(place, None, "con").status_code == 409


def test_a_defect_lets_the_key_go(api: Api, monkeypatch: pytest.MonkeyPatch):
    def fail(*args: object) -> None:
        raise ZeroDivisionError

    with monkeypatch.context() as patch:
        patch.setattr("oreo_assets.api.routes.projects.create_project", fail)
        assert api.post(f"{V1}/projects", {"project": "depot"}, headers=KEY).status_code == 500
    assert api.post(f"{V1}/projects", {"project": "depot"}, headers=KEY).status_code == 201


def test_of_two_at_once_one_is_done(live: Api):
    answers: list[tuple[int, str | None]] = []
    begin = threading.Barrier(2)

    def send() -> None:
        begin.wait()
        answer = live.upload(GOOD, headers=KEY)
        answers.append((answer.status_code, answer.json().get("error", {}).get("code")))

    threads = [threading.Thread(target=send) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    # The second comes while the first is at work, or after it.
    assert sorted(answers) in ([(201, None), (409, "still_working")], [(201, None), (201, None)])
    assert len(live.get(f"{ORDERS}/change-requests").json()) == 1
    assert live.upload(GOOD, headers=KEY).status_code == 201


def test_tokens_are_never_kept_for_a_second_telling(shop: Oreo, api: Api):
    token = api.post(f"{V1}/users", {"name": "eve", "role": "viewer"}, headers=KEY).json()["token"]
    catalog = shop.settings.catalog_url.removeprefix("sqlite:///")
    from pathlib import Path

    for file in Path(catalog).parent.glob("catalog.db*"):
        assert token.encode() not in file.read_bytes()


@pytest.mark.parametrize("key", ["", "a b", "x" * 256])
def test_keys_that_are_none(api: Api, key: str):
    assert api.post(f"{V1}/recover", headers={"Idempotency-Key": key}).status_code == 422
