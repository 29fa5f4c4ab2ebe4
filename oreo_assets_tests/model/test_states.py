from __future__ import annotations

from oreo_assets.model.states import NEXT, CRState, Role


def test_every_state_has_its_successors_and_main_is_reached_in_one_way_only():
    assert set(NEXT) == set(CRState)
    assert [s for s, after in NEXT.items() if CRState.MERGED in after] == [CRState.MERGING]
    assert [s for s, after in NEXT.items() if CRState.MERGING in after] == [CRState.APPROVED]
    assert [s for s, after in NEXT.items() if CRState.APPROVED in after] == [CRState.IN_REVIEW, CRState.MERGING]


def test_a_change_request_that_ended_is_not_open():
    ended = {s for s in CRState if not s.is_open}
    assert ended == {
        CRState.MERGED,
        CRState.CLOSED,
        CRState.REFUSED,
        CRState.REJECTED,
        CRState.WITHDRAWN,
        CRState.EXPIRED,
    }


def test_roles_include_the_ones_before_them():
    assert Role.ADMIN.includes(Role.VIEWER)
    assert Role.REVIEWER.includes(Role.REVIEWER)
    assert not Role.CONTRIBUTOR.includes(Role.REVIEWER)
