"""Pages and entity tags."""

from __future__ import annotations

import re

from oreo_assets.workflow.workspace import Workspace

from ..cli.conftest import Oreo
from ..cli.lake_without_spark import ORDERS as SPEC
from ..cli.lake_without_spark import rows
from .conftest import ORDERS, V1, Api


def _pages(api: Api, path: str) -> list[list]:
    pages = []
    while path:
        answer = api.get(path)
        assert answer.status_code == 200, answer.text
        pages.append(answer.json())
        found = re.fullmatch(r'<(.+)>; rel="next"', answer.headers.get("Link", ""))
        path = found.group(1) if found else ""
        assert len(pages) < 50
    return pages


def test_lists_go_on_where_the_page_before_ended(api: Api, in_review):
    for _ in range(5):
        in_review()
    for path in (f"{ORDERS}/change-requests", f"{V1}/change-requests?open=true", f"{V1}/users", f"{V1}/audit/log"):
        joined = "&" if "?" in path else "?"
        whole = api.get(path).json()
        pages = _pages(api, f"{path}{joined}limit=2")
        assert [item for page in pages for item in page] == whole
        assert [len(page) for page in pages[:-1]] == [2] * (len(pages) - 1)
        assert len(pages) >= 2
    assert [[c["version"] for c in page] for page in _pages(api, f"{ORDERS}/history?limit=1")] == [[1], [0]]


def test_names_that_sort_unlike_their_paths_are_paged_whole(api: Api):
    for name in ("a", "a-b", "a_b", "ab"):
        api.post(f"{V1}/projects", {"project": name})
    found = [p["project"] for page in _pages(api, f"{V1}/projects?limit=1") for p in page]
    assert found == ["a", "a-b", "a_b", "ab", "shop"]


def test_a_list_holds_only_what_the_reader_may_see(api: Api, in_review):
    in_review()
    made = api.post(f"{V1}/users", {"name": "out", "role": "viewer", "project": "shop"}).json()
    api.post(f"{V1}/projects", {"project": "other"})
    stranger = api.post(f"{V1}/users", {"name": "far", "role": "admin", "project": "other"}).json()
    api.tokens = {**api.tokens, "out": made["token"], "far": stranger["token"]}
    assert len(api.get(f"{V1}/change-requests", "out").json()) == 1
    assert api.get(f"{V1}/change-requests", "far").json() == []
    assert api.get(f"{V1}/datasets", "far").json() == []
    for path in ("", "/rows", "/history", "/change-requests", "/audit/log"):
        assert api.get(ORDERS + path, "far").status_code == 403


def test_diff_and_rows_are_paged(api: Api, in_review):
    place = f"{ORDERS}/change-requests/{in_review()}/diff?kind=inserted,updated&limit=1"
    first = api.get(place).json()
    assert ([row["row_id"] for row in first["rows"]], first["next"]) == (["A1"], "A1")
    second = api.get(f"{place}&after={first['next']}").json()
    assert ([row["row_id"] for row in second["rows"]], second["next"]) == (["A4"], None)
    assert api.get(f"{ORDERS}/rows?limit=2").json()["next"] == 2
    assert [row["row_id"] for row in api.get(f"{ORDERS}/rows?limit=2&offset=2").json()["rows"]] == ["A3"]


def test_rows_are_paged_by_row_and_all_pages_are_of_one_version(api: Api):
    whole = api.get(f"{ORDERS}/rows").json()
    pages = _pages(api, f"{ORDERS}/rows?limit=1")
    assert [row for page in pages for row in page["rows"]] == whole["rows"]
    assert len(pages) == len(whole["rows"]) >= 2
    assert {page["version"] for page in pages} == {whole["version"]}
    assert api.get(f"{ORDERS}/rows?after=A1&order=amount").json()["error"]["code"] == "usage"
    assert "Link" not in api.get(f"{ORDERS}/rows?limit=1&order=amount").headers


def test_filters_on_columns_that_are_named_like_a_parameter(api: Api):
    assert api.get(f"{ORDERS}/rows?where=order_id=eq.A1").json() == api.get(f"{ORDERS}/rows?order_id=eq.A1").json()


def test_a_pinned_read_is_not_sent_twice(shop: Oreo, api: Api, in_review):
    from deltalake import write_deltalake

    paths = [f"{ORDERS}/rows?version=1", f"{ORDERS}/rows", f"{ORDERS}/change-requests/{in_review()}/diff"]
    tags = [api.get(path).headers["ETag"] for path in paths]
    assert len(set(tags)) == 3
    for path, tag in zip(paths, tags, strict=True):
        again = api.get(path, headers={"If-None-Match": f'"other", W/{tag}'})
        assert (again.status_code, again.content, again.headers["ETag"]) == (304, b"", tag)
        assert api.get(path, headers={"If-None-Match": '"other"'}).status_code == 200
        assert api.get(path, None, headers={"If-None-Match": tag}).status_code == 401
    write_deltalake(Workspace.open(shop.settings).layout(SPEC.ref).main, rows(("B1", "1.00")), mode="append")
    seen = [api.get(path, headers={"If-None-Match": tag}).status_code for path, tag in zip(paths, tags, strict=True)]
    assert seen == [304, 200, 304]
    assert api.get(f"{ORDERS}/rows?version=1&limit=1").headers["ETag"] != tags[0]


def test_the_diff_of_something_staged_anew_has_another_tag(shop: Oreo, api: Api, in_review):
    from sqlalchemy import update

    from oreo_assets.catalog.models import ChangeRequest

    path = f"{ORDERS}/change-requests/{in_review()}/diff"
    tag = api.get(path).headers["ETag"]
    with Workspace.open(shop.settings).catalog.write() as tx:
        tx.execute(update(ChangeRequest).values(base_version=0))
    answer = api.get(path, headers={"If-None-Match": tag})
    assert (answer.status_code, answer.json()["counts"]["inserted"]) == (200, 3)
