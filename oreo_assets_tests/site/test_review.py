"""Deciding on a change request, as a person does it."""

from __future__ import annotations

from typing import Any

import pytest

from oreo_assets.catalog.users import EVERYWHERE, Actor
from oreo_assets.model.states import Role
from oreo_assets.workflow import comments, review

from .conftest import Site

pytestmark = pytest.mark.browser

ANYBODY = Actor("anybody", {EVERYWHERE: Role.VIEWER})


def test_a_reviewer_acknowledges_the_warning_and_approves_with_the_keyboard_alone(site: Site, visit: Any):
    cr_id = site.in_review(unusual=True)
    page = visit("chloe", site.address(cr_id))
    approve = page.get_by_role("button", name="Approve")
    approve.wait_for()
    assert approve.is_disabled()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the content"
    _tab_to(page, "Why usual_amount is acceptable")
    page.keyboard.type("The customer confirmed it.")
    page.wait_for_function("!document.querySelector('#decide button.main').disabled")
    _tab_to(page, "Approve")
    page.keyboard.press("Enter")
    page.get_by_text("It is approved and moves on by itself.").wait_for()
    (given,) = _card(site, cr_id)["approvals"]
    assert (given["approver"], given["acknowledged"]) == ("chloe", {"usual_amount": "The customer confirmed it."})


def test_a_viewer_cannot_approve_and_reads_why(site: Site, visit: Any):
    page = visit("eva", site.address(site.in_review()))
    approve = page.get_by_role("button", name="Approve")
    approve.wait_for()
    assert approve.is_disabled()
    assert "it takes the role reviewer, and eva is viewer there" in page.locator("#why-not").inner_text()
    assert page.get_by_role("button", name="Reject").count() == 0
    assert page.get_by_label("Comment", exact=True).count() == 0


def test_its_author_cannot_approve_and_reads_why(site: Site, visit: Any):
    page = visit("chloe", site.address(site.in_review(author="chloe")))
    page.locator("#why-not").get_by_text("cannot approve it as well").wait_for()
    assert page.get_by_role("button", name="Approve").is_disabled()


def test_of_two_reviewers_the_second_sees_the_first_and_a_late_click_is_told(site: Site, visit: Any):
    cr_id = site.in_review()
    first, second = (visit(name, site.address(cr_id)) for name in ("chloe", "dmitri"))
    second.get_by_role("button", name="Approve").wait_for()
    first.get_by_role("button", name="Approve").click()
    first.get_by_text("It is approved and moves on by itself.").wait_for()
    second.get_by_role("button", name="Approve").click()
    second.locator("#said").get_by_text("only one that is in review can be approved").wait_for()
    second.get_by_text("Meanwhile: approved, approved by chloe").wait_for()
    second.get_by_role("button", name="Show it as it is now").click()
    second.get_by_text("1 of 1 approvals").wait_for()
    assert [a["approver"] for a in _card(site, cr_id)["approvals"]] == ["chloe"]


def test_what_was_staged_anew_meanwhile_is_not_approved_by_an_old_page(site: Site, visit: Any):
    from oreo_assets.catalog.models import ChangeRequest

    cr_id = site.in_review()
    page = visit("chloe", site.address(cr_id))
    page.get_by_role("button", name="Approve").wait_for()
    with site.team.ws.catalog.write() as tx:
        tx.get_one(ChangeRequest, cr_id).content_hash = "f" * 64
    page.get_by_role("button", name="Approve").click()
    page.locator("#said").get_by_text("changed after you looked at it.").wait_for()
    assert _card(site, cr_id)["approvals"] == []


def test_changes_are_requested_and_taken_back(site: Site, visit: Any):
    cr_id = site.in_review()
    page = visit("chloe", site.address(cr_id))
    page.get_by_role("button", name="Request changes").click()
    page.get_by_label("What should be changed?").fill("The amounts lack tax.")
    page.get_by_role("button", name="Send to the author").click()
    page.locator("#comments").get_by_text("The amounts lack tax.").wait_for()
    other = visit("dmitri", site.address(cr_id))
    other.locator("#why-not").get_by_text("chloe asked for changes").wait_for()
    page.locator("#comments").get_by_role("button", name="Take back").click()
    page.locator("#comments").get_by_text("settled by chloe").wait_for()
    other.reload()
    other.get_by_role("button", name="Approve").click()
    other.get_by_text("It is approved and moves on by itself.").wait_for()


def test_it_is_rejected_only_with_a_reason(site: Site, visit: Any):
    cr_id = site.in_review()
    page = visit("chloe", site.address(cr_id))
    page.get_by_role("button", name="Reject", exact=True).click()
    page.get_by_role("button", name="Reject it").click()
    page.locator("#said").get_by_text("A rejection needs a reason.").wait_for()
    page.get_by_label("Why is it rejected?").fill("Wrong month.")
    page.get_by_role("button", name="Reject it").click()
    page.get_by_text("Rejected: Wrong month.").wait_for()
    assert _card(site, cr_id)["state"] == "rejected"


def test_to_reject_rows_they_are_ticked_first(site: Site, visit: Any):
    cr_id = site.in_review(site.order(), site.order())
    page = visit("chloe", site.address(cr_id))
    page.get_by_role("button", name="Reject the ticked rows").click()
    page.get_by_label("Why are these rows rejected?").fill("Not ours.")
    page.get_by_role("button", name="Reject these rows").click()
    page.locator("#said").get_by_text("No row is ticked.").wait_for()


def test_a_click_on_a_failed_check_shows_the_rows_that_fail_it(site: Site, visit: Any):
    bad, good = site.order(), site.order()
    page = visit("chloe", site.address(site.in_review(bad, good, unusual=True)))
    grid = page.locator("#rows")
    grid.get_by_text("2 of 2 rows").wait_for()
    page.get_by_role("button", name="Show 1 failing row").click()
    grid.get_by_text("1 of 1 row", exact=True).wait_for()
    assert grid.get_by_text(bad["row_id"]).count() and not grid.get_by_text(good["row_id"]).count()
    page.get_by_role("button", name="Remove the filter: fails usual_amount").click()
    grid.get_by_text("2 of 2 rows").wait_for()


def test_a_long_change_is_read_page_by_page(site: Site, visit: Any):
    page = visit("chloe", site.address(site.in_review(*(site.order() for _ in range(130)))))
    grid = page.locator("#rows")
    grid.get_by_text("100 of 130 rows").wait_for()
    grid.get_by_role("button", name="More rows").click()
    grid.get_by_text("130 of 130 rows").wait_for()
    assert grid.get_by_role("button", name="More rows").count() == 0


def test_rows_are_filtered_by_value_and_a_value_that_does_not_fit_is_told(site: Site, visit: Any):
    rows = [site.order(status="open"), site.order(status="paid")]
    page = visit("chloe", site.address(site.in_review(*rows)))
    grid = page.locator("#rows")
    grid.get_by_text("Filter by value").click()
    _choose(page, grid, "Column", "status")
    grid.get_by_label("Value").fill("paid")
    grid.get_by_role("button", name="Add filter").click()
    grid.get_by_text("1 of 1 row", exact=True).wait_for()
    _choose(page, grid, "Column", "amount")
    grid.get_by_label("Value").fill("lots")
    grid.get_by_role("button", name="Add filter").click()
    grid.get_by_role("alert").wait_for()
    assert "lots" in grid.get_by_role("alert").inner_text()


def test_a_cell_is_commented_on(site: Site, visit: Any):
    row = site.order()
    cr_id = site.in_review(row)
    page = visit("dmitri", site.address(cr_id))
    page.locator("#rows .ag-cell[col-id=c4]").first.click()
    page.locator("#comments").get_by_text(f"row {row['row_id']}, column amount").wait_for()
    page.get_by_label("Comment", exact=True).fill("With tax?")
    page.locator("#comments").get_by_role("button", name="Comment").click()
    page.locator("#comments").get_by_text("With tax?").wait_for()
    (said,) = comments.list_comments(site.team.ws, ANYBODY, site.team.spec.ref, cr_id)
    assert (said.row_id, said.column, said.text) == (row["row_id"], "amount", "With tax?")


def test_conflicts_are_settled_cell_by_cell(site: Site, visit: Any):
    cr_id = site.team.change_requests["conflicted"]
    page = visit("ben", site.address(cr_id))
    conflicts = page.locator("#conflicts")
    conflicts.get_by_text("0 of 5 chosen").wait_for()
    conflicts.get_by_role("button", name="Settle and check again").click()
    conflicts.get_by_text("Not settled:").wait_for()
    conflicts.get_by_role("button", name="Take all from main").click()
    conflicts.get_by_text("5 of 5 chosen").wait_for()
    conflicts.get_by_label("this change request").first.check()
    conflicts.get_by_role("button", name="Settle and check again").click()
    page.get_by_text("It is converted and moves on by itself.").wait_for()
    assert _card(site, cr_id)["state"] == "converted"


def test_a_page_follows_what_moves_by_itself(site: Site, visit: Any):
    from oreo_assets.catalog.change_requests import transition
    from oreo_assets.catalog.models import ChangeRequest
    from oreo_assets.model.states import CRState

    cr_id = site.team.change_requests["converted"]
    page = visit("ben", site.address(cr_id))
    page.get_by_text("It is converted and moves on by itself.").wait_for()
    with site.team.ws.catalog.write() as tx:
        transition(tx, tx.get_one(ChangeRequest, cr_id), CRState.FAILED, actor="system", reason="the disk is full")
    page.get_by_text("Failed: the disk is full").wait_for()
    page.get_by_role("button", name="Try again").wait_for()


def test_a_merged_one_says_its_version_and_commit_and_can_be_reverted(site: Site, visit: Any):
    cr_id = site.team.change_requests["merged"]
    card = _card(site, cr_id)
    page = visit("chloe", site.address(cr_id))
    merged = page.locator("#decide")
    merged.get_by_role("link", name=f"version {card['merged_version']}").wait_for()
    assert card["commit_id"] in merged.inner_text()
    merged.get_by_role("button", name="Revert").click()
    page.get_by_text(f"Revert of {cr_id}").first.wait_for()
    assert page.get_by_role("link", name=cr_id).is_visible()


def _card(site: Site, cr_id: str) -> dict[str, Any]:
    return review.show(site.team.ws, ANYBODY, site.team.spec.ref, cr_id)


def _tab_to(page: Any, label: str) -> None:
    """Press Tab until the element of that name has the focus, as somebody without a mouse would."""
    for _ in range(200):
        page.keyboard.press("Tab")
        found = page.evaluate(
            "(() => { const at = document.activeElement;"
            " return at.getAttribute('aria-label') || at.labels?.[0]?.textContent || at.textContent; })()"
        )
        if (found or "").strip() == label:
            return
    raise AssertionError(f"{label} cannot be reached with Tab")


def _choose(page: Any, within: Any, label: str, option: str) -> None:
    within.get_by_label(label, exact=True).click()
    page.get_by_role("option", name=option, exact=True).click()
