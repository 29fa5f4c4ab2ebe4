"""Where a change request stands, what is said about it, and that an approval never disagrees with either."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from deltalake import CommitProperties, write_deltalake

from oreo_assets.catalog import audit
from oreo_assets.catalog.change_requests import get_change_request, transition
from oreo_assets.catalog.users import Actor
from oreo_assets.model.commit import CommitMetadata
from oreo_assets.model.errors import NotAllowedError, NotFoundError, OreoError, StateError, UsageError
from oreo_assets.model.states import CRState, Role
from oreo_assets.workflow import review
from oreo_assets.workflow.comments import comment, list_comments, request_changes, resolve_comment
from oreo_assets.workflow.revert import revert
from oreo_assets.workflow.standing import WARNINGS_OPEN, Standing, standing
from oreo_assets.workflow.workspace import Workspace

from ..cli.conftest import Oreo, _shop_template, in_review, oreo, shop  # noqa: F401 - fixtures
from ..cli.lake_without_spark import ORDERS, WARNING, rows

REF = ORDERS.ref
VIC, CON, REV, RIA, ADA = (
    Actor(name, {"*": role})
    for name, role in (
        ("vic", Role.VIEWER),
        ("con", Role.CONTRIBUTOR),
        ("rev", Role.REVIEWER),
        ("ria", Role.REVIEWER),
        ("ada", Role.ADMIN),
    )
)
InReview = Callable[..., str]


@pytest.fixture
def ws(shop: Oreo) -> Workspace:  # noqa: F811
    return Workspace.open(shop.settings)


def _stand(ws: Workspace, actor: Actor, cr_id: str, acks: dict[str, str] | None = None) -> Standing:
    """What standing says; and approving says the same."""
    found = standing(ws, actor, REF, cr_id, acks)
    if found.reasons:
        with pytest.raises(OreoError) as refused:
            review.approve(ws, actor, REF, cr_id, acks)
        assert refused.value.message == found.reasons[0].message
    return found


def test_a_second_person_may_approve_and_then_it_is_said_so(ws: Workspace, in_review: InReview):  # noqa: F811
    cr_id = in_review()
    found = _stand(ws, REV, cr_id)
    assert (found.can_approve, found.reasons, found.commits, found.approvals_needed) == (True, (), 0, 1)
    review.approve(ws, REV, REF, cr_id)
    after = standing(ws, REV, REF, cr_id)
    assert (after.state, after.approvals, after.approved_by_me) == (CRState.APPROVED, 1, True)
    assert not after.can_approve


def test_all_reasons_are_given_at_once(ws: Workspace, in_review: InReview):  # noqa: F811
    cr_id = in_review(warning=True)
    found = _stand(ws, CON, cr_id)
    said = " ".join(reason.message for reason in found.reasons)
    assert "takes the role reviewer" in said
    assert "con sent" in said
    assert WARNING in said
    assert len(found.reasons) == 3


def test_warnings_speak_against_it_until_each_has_a_reason(ws: Workspace, in_review: InReview):  # noqa: F811
    cr_id = in_review(warning=True)
    found = _stand(ws, REV, cr_id)
    assert ([r.code for r in found.reasons], found.warnings) == ([WARNINGS_OPEN], (WARNING,))
    assert found.lacks_only_acknowledgement
    assert _stand(ws, REV, cr_id, {WARNING: "   "}).reasons
    assert _stand(ws, REV, cr_id, {WARNING: "a refund"}).can_approve


def test_what_ended_or_was_checked_by_other_rules_cannot_be_approved(ws: Workspace, in_review: InReview):  # noqa: F811
    refused = _stand(ws, REV, in_review(fatal=True))
    assert ["is refused" in reason.message for reason in refused.reasons] == [True]
    cr_id = in_review()
    with ws.catalog.write() as tx:
        get_change_request(tx, REF, cr_id).suite_hash = "other"
    write_deltalake(ws.layout(REF).staging(cr_id), rows(("A9", "1.00")), mode="append")
    stale = _stand(ws, REV, cr_id)
    assert [reason.code for reason in stale.reasons] == ["stale_approval", "stale_approval"]


def test_how_main_moved_is_told_in_commits_and_rows(ws: Workspace, in_review: InReview):  # noqa: F811
    cr_id = in_review()
    main = ws.layout(REF).main
    write_deltalake(main, rows(), mode="append")  # no change request's: it moves no rows
    told = CommitMetadata("co_2", "cr_other", "con", mode="upsert").to_json()
    write_deltalake(
        main,
        rows(("A1", "1.00"), ("A2", None), ("A4", "8.00")),
        mode="overwrite",
        commit_properties=CommitProperties(custom_metadata={"userMetadata": told}),
    )
    found = _stand(ws, REV, cr_id)
    assert (found.base_version, found.main_version, found.commits) == (1, 3, 1)
    # Both changed the amount of A1, and both inserted A4 with another amount.
    assert (found.rows_overlapping, found.conflicts, found.capped) == (2, 2, False)
    assert found.can_approve
    page = review.review_diff(ws, VIC, REF, cr_id, in_conflict=True)
    assert [row["row_id"] for row in page.rows] == ["A1", "A4"]


def test_rows_that_failed_a_check_are_shown_and_an_unknown_check_named(ws: Workspace, in_review: InReview):  # noqa: F811
    cr_id = in_review(warning=True)
    page = review.review_diff(ws, VIC, REF, cr_id, check=WARNING)
    assert ([row["row_id"] for row in page.rows], page.sampled) == (["A1"], False)
    assert review.review_diff(ws, VIC, REF, cr_id, check="not_null").rows == ()
    with pytest.raises(UsageError, match="no check 'nope'"):
        review.review_diff(ws, VIC, REF, cr_id, check="nope")


def test_comments_hang_on_the_whole_a_row_or_a_cell(ws: Workspace, in_review: InReview):  # noqa: F811
    cr_id = in_review()
    comment(ws, CON, REF, cr_id, " Is this October? ")
    comment(ws, REV, REF, cr_id, "new?", row_id="A4")
    cell = comment(ws, REV, REF, cr_id, "net?", row_id="A1", column="amount")
    found = list_comments(ws, VIC, REF, cr_id)
    places = [(c.author, c.text, c.row_id, c.column) for c in found]
    assert places == [
        ("con", "Is this October?", None, None),
        ("rev", "new?", "A4", None),
        ("rev", "net?", "A1", "amount"),
    ]
    assert [c.text for c in list_comments(ws, VIC, REF, cr_id, after=found[0].comment_id, limit=1)] == ["new?"]
    settled = resolve_comment(ws, CON, REF, cr_id, cell.comment_id)
    assert (settled.is_open, settled.resolved_by) == (False, "con")
    assert resolve_comment(ws, REV, REF, cr_id, cell.comment_id).resolved_by == "con"
    actions = [event.action for event in audit.events(ws.catalog, REF) if event.subject == cr_id]
    assert (actions.count("comment.added"), actions.count("comment.resolved")) == (3, 1)
    assert audit.verify(ws.catalog).intact


@pytest.mark.parametrize(
    ("options", "error", "said"),
    [
        ({"text": "  "}, UsageError, "nothing said"),
        ({"text": "x" * 10_001}, UsageError, "too many"),
        ({"text": "x", "row_id": "nope"}, NotFoundError, "row 'nope'"),
        ({"text": "x", "row_id": "A1", "column": "nope"}, UsageError, "no column 'nope'"),
        ({"text": "x", "column": "amount"}, UsageError, "Which cell"),
    ],
)
def test_a_comment_on_nothing_is_refused(
    ws: Workspace,
    in_review: InReview,  # noqa: F811
    options: dict[str, str],
    error: type[OreoError],
    said: str,
):
    cr_id = in_review()
    with pytest.raises(error, match=said):
        comment(ws, CON, REF, cr_id, **options)
    assert list_comments(ws, CON, REF, cr_id) == []


def test_a_viewer_reads_comments_and_writes_none(ws: Workspace, in_review: InReview):  # noqa: F811
    cr_id = in_review()
    with pytest.raises(NotAllowedError):
        comment(ws, VIC, REF, cr_id, "hello")
    with pytest.raises(NotAllowedError):
        request_changes(ws, CON, REF, cr_id, "mine")


def test_requested_changes_block_everybody_until_they_are_taken_back(ws: Workspace, in_review: InReview):  # noqa: F811
    cr_id = in_review()
    wish = request_changes(ws, REV, REF, cr_id, "The amounts are gross")
    found = _stand(ws, RIA, cr_id)
    assert [reason.code for reason in found.reasons] == ["changes_requested"]
    assert "rev asked for changes: The amounts are gross" in found.reasons[0].message
    assert [c.comment_id for c in found.changes_requested] == [wish.comment_id]
    with pytest.raises(NotAllowedError):
        resolve_comment(ws, CON, REF, cr_id, wish.comment_id)
    resolve_comment(ws, REV, REF, cr_id, wish.comment_id)
    assert _stand(ws, RIA, cr_id).can_approve


def test_who_asked_for_changes_may_approve_after_all(ws: Workspace, in_review: InReview):  # noqa: F811
    cr_id = in_review()
    request_changes(ws, REV, REF, cr_id, "The amounts are gross")
    assert _stand(ws, REV, cr_id).can_approve
    assert review.approve(ws, REV, REF, cr_id).state is CRState.APPROVED
    (wish,) = list_comments(ws, VIC, REF, cr_id)
    assert wish.resolved_by == "rev"
    with pytest.raises(StateError, match="while it is in review"):
        request_changes(ws, RIA, REF, cr_id, "too late")


def test_a_wish_for_changes_ends_when_something_else_is_staged(ws: Workspace, in_review: InReview):  # noqa: F811
    cr_id = in_review()
    request_changes(ws, REV, REF, cr_id, "The amounts are gross")
    with ws.catalog.write() as tx:
        cr = get_change_request(tx, REF, cr_id)
        transition(tx, cr, CRState.STAGED, actor="system", staging_version=1)
        transition(tx, cr, CRState.CHECKED, actor="system")
        transition(tx, cr, CRState.IN_REVIEW, actor="system")
    assert standing(ws, RIA, REF, cr_id).changes_requested == ()


def test_only_what_was_merged_is_reverted(ws: Workspace, in_review: InReview):  # noqa: F811
    with pytest.raises(StateError, match="only one that was merged"):
        revert(ws, CON, REF, in_review())
