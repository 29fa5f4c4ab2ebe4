"""`oreo cr` for reviewers: figures, comments, standing, reports."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from .conftest import Oreo
from .lake_without_spark import WARNING

InReview = Callable[..., str]


def test_a_diff_shows_what_becomes_of_each_column(shop: Oreo, in_review: InReview):
    cr_id = in_review()
    ran = shop("cr", "diff", "shop/orders", cr_id)
    assert ran.code == 0
    assert "12.50 → -5.00" in ran.out
    (amount,) = (c for c in shop("cr", "diff", "shop/orders", cr_id, "--json").json["columns"] if c["name"] == "amount")
    assert amount["max"] == {"before": 12.5, "after": 7.0}
    assert amount["new_values"]["count"] == 2


def test_a_diff_is_narrowed_to_what_failed(shop: Oreo, in_review: InReview):
    cr_id = in_review(warning=True)
    found = shop("cr", "diff", "shop/orders", cr_id, "--check", WARNING, "--all-columns", "--json").json
    assert [(row["row_id"], list(row["cells"])) for row in found["rows"]] == [
        ("A1", ["order_id", "amount", "ordered_on"])
    ]


def test_people_talk_about_a_change_request(shop: Oreo, in_review: InReview):
    cr_id = in_review()
    said = shop(
        "cr", "comment", "shop/orders", cr_id, "net [or] gross?", "--row", "A1", "--column", "amount", user="rev"
    )
    assert said.code == 0
    shop("cr", "request-changes", "shop/orders", cr_id, "--reason", "net, please", user="rev")
    shown = shop("cr", "comments", "shop/orders", cr_id, user="vic").out
    assert "rev on A1:amount" in shown and "net [or] gross?" in shown and "asks for changes" in shown
    stands = shop("cr", "standing", "shop/orders", cr_id)
    assert (stands.code, "rev asked for changes: net, please" in stands.out) == (0, True)
    (_, wish) = shop("cr", "comments", "shop/orders", cr_id, "--json").json
    assert shop("cr", "resolve-comment", "shop/orders", cr_id, wish["comment_id"], user="con").code == 5
    assert shop("cr", "resolve-comment", "shop/orders", cr_id, wish["comment_id"], user="rev").code == 0
    assert "You can approve it." in shop("cr", "standing", "shop/orders", cr_id).out


def test_the_checks_are_written_to_a_page(shop: Oreo, in_review: InReview, tmp_path: Path):
    cr_id = in_review(warning=True)
    file = tmp_path / "checks.html"
    assert shop("cr", "checks", "shop/orders", cr_id, "--report", str(file)).code == 0
    assert WARNING in file.read_text()
    assert shop("cr", "checks", "shop/orders", cr_id, "--report", str(tmp_path / "no" / "x.html")).code == 2


def test_reverting_what_was_not_merged_is_a_matter_of_state(shop: Oreo, in_review: InReview):
    assert shop("cr", "revert", "shop/orders", in_review(), user="con").code == 4
