"""Reading without a JVM: rows, history, datasets, and how fast."""

from __future__ import annotations

import pytest

from .conftest import Oreo

HEAVY = ("dagster", "pyspark", "great_expectations", "pandas", "alembic")


def test_query_gives_rows_version_and_next(shop: Oreo):
    ran = shop("query", "shop/orders", "--json")
    assert ran.err == ""
    assert ran.json == {
        "rows": [
            {"row_id": "A1", "order_id": "A1", "amount": 12.5, "ordered_on": "2026-01-31"},
            {"row_id": "A2", "order_id": "A2", "amount": None, "ordered_on": "2026-01-31"},
            # More digits than a float has: text, so that none is lost.
            {
                "row_id": "A3",
                "order_id": "A3",
                "amount": "90071992547409931234567.01",
                "ordered_on": "2026-01-31",
            },
        ],
        "version": 1,
        "next": None,
    }


def test_query_selects_filters_orders_and_pages(shop: Oreo):
    ran = shop(
        *("query", "shop/orders", "--select", "order_id", "--where", "amount=is.notnull"),
        *("--order", "order_id.desc", "--limit", "1", "--json"),
    )
    assert ran.json == {"rows": [{"order_id": "A3"}], "version": 1, "next": 1}
    assert shop("query", "shop/orders", "--version", "0", "--json").json == {
        "rows": [],
        "version": 0,
        "next": None,
    }


def test_global_options_work_at_every_place(shop: Oreo):
    token = shop.tokens["vic"]
    where = ("--root", shop.env["DELTA_DATA_ROOT"], "--token", token, "--json")
    places = [
        (*where, "cr", "list", "shop/orders"),
        ("cr", *where, "list", "shop/orders"),
        ("cr", "list", "shop/orders", *where),
        ("--json", "cr", "--root", shop.env["DELTA_DATA_ROOT"], "list", "--token", token, "shop/orders"),
    ]
    for args in places:
        ran = shop(*args, user=None, env={"DELTA_DATA_ROOT": "/nonexistent/root"})
        assert (ran.code, ran.json) == (0, [])


def test_people_see_a_table_that_no_pipe_cuts_or_colours(shop: Oreo):
    ran = shop("query", "shop/orders")
    assert "90071992547409931234567.01" in ran.out
    assert "\x1b[" not in ran.out
    assert "3 rows of version 1." in ran.out


def test_history_tells_who_and_why(shop: Oreo):
    newest, oldest = shop("history", "shop/orders", "--json").json
    assert newest["version"] == 1
    assert (newest["author"], newest["approvers"], newest["note"]) == ("con", ["rev"], "The first [orders]")
    assert (newest["commit_id"], newest["change_request_id"]) == ("co_first", "cr_first")
    assert oldest["version"] == 0
    assert "The first [orders]" in shop("history", "shop/orders").out


def test_dataset_show_and_list(shop: Oreo):
    shown = shop("dataset", "show", "shop/orders", "--json").json
    assert (shown["delta_version"], shown["last_commit_id"], shown["row_count"]) == (1, "co_first", 3)
    assert "decimal(38,2)" in shop("dataset", "show", "shop/orders").out
    assert [d["dataset"] for d in shop("dataset", "list", "--json").json] == ["orders"]
    assert "shop/orders" in shop("dataset", "list", "shop").out


def test_audit_log_and_verify(shop: Oreo):
    assert shop("audit", "verify", "--json", user="vic").json["intact"] is True
    events = shop("audit", "log", "--json", "--limit", "2").json
    assert [event["seq"] for event in events] == [4, 3]
    assert events[0]["action"] == "user.add"


def test_a_changed_audit_event_is_found(shop: Oreo):
    import sqlite3

    with sqlite3.connect(shop.settings.catalog_url.removeprefix("sqlite:///")) as catalog:
        catalog.execute("UPDATE audit_events SET actor = 'somebody' WHERE seq = 2")
    ran = shop("audit", "verify", "--json")
    assert ran.code == 3
    assert (ran.json["intact"], ran.json["broken_at"]) == (False, 2)
    assert "event 2" in ran.json["error"]["message"]


@pytest.mark.parametrize(
    "args",
    [
        ("--help",),
        ("query", "shop/orders"),
        ("history", "shop/orders", "--json"),
        ("cr", "list"),
        ("cr", "show", "shop/orders", "CR"),
        ("cr", "checks", "shop/orders", "CR"),
        ("cr", "diff", "shop/orders", "CR"),
    ],
    ids=" ".join,
)
def test_reading_imports_nothing_heavy(shop: Oreo, in_review, args: tuple[str, ...]):
    cr_id = in_review() if args[0] == "cr" else ""
    code = (
        "import sys; from oreo_assets.cli.running import run; code = run(sys.argv[1:])\n"
        f"print([m for m in {HEAVY!r} if m in sys.modules], code, file=sys.stderr)"
    )
    ran = shop.process(code, *(cr_id if arg == "CR" else arg for arg in args), user="vic")
    assert ran.err.strip() == "[] 0"
