"""Datasets at a glance, read without Spark."""

from __future__ import annotations

from pathlib import Path

import pytest

from oreo_assets.catalog.users import Actor
from oreo_assets.model.errors import NotAllowedError
from oreo_assets.model.states import Role
from oreo_assets.workflow.overview import checked_runs, overview, statistics, waits_for

from ..site.plausible import ADMIN, Team, make

CHLOE = Actor("chloe", {"shop": Role.REVIEWER})


@pytest.fixture(scope="module")
def team(tmp_path_factory: pytest.TempPathFactory) -> Team:
    return make(Path(tmp_path_factory.mktemp("team")))


def test_rows_over_time_are_counted_back_from_what_each_commit_says(team: Team):
    orders = next(h for h in overview(team.ws, ADMIN) if h.ref == team.spec.ref)
    assert [(c.version, c.rows) for c in orders.row_counts] == [(0, 0), (1, 120), (2, 200), (3, 200), (4, 200)]
    assert orders.row_count == 200
    assert orders.last and orders.last.metadata and orders.last.metadata.author == "chloe"
    assert (orders.open_change_requests, orders.in_review) == (3, 1)


def test_only_projects_that_the_actor_has_a_role_in_are_told_of(team: Team):
    assert {h.ref.project for h in overview(team.ws, CHLOE)} == {"shop"}
    with pytest.raises(NotAllowedError):
        checked_runs(team.ws, Actor("lars", {"logistics": Role.ADMIN}), team.spec.ref)


def test_what_waits_for_a_reviewer_is_what_others_sent(team: Team):
    in_review, conflicted = (team.change_requests[name] for name in ("in_review", "conflicted"))
    told = {w.change_request["change_request_id"]: w.wanted for w in waits_for(team.ws, CHLOE)}
    assert told == {in_review: "review", conflicted: "settle conflicts"}
    author = waits_for(team.ws, Actor("ben", {"shop": Role.REVIEWER}))
    assert [w.change_request["change_request_id"] for w in author] == [conflicted]
    assert waits_for(team.ws, Actor("eva", {"shop": Role.VIEWER})) == []


def test_the_runs_of_a_dataset_say_which_check_failed_when(team: Team):
    runs = checked_runs(team.ws, CHLOE, team.spec.ref)
    refused = next(r for r in runs if r.change_request_id == team.change_requests["refused"])
    assert refused.blocks and refused.statuses["known_status"] == "failed"
    assert refused.severities["known_status"] == "fatal"


def test_statistics_are_those_of_main_as_of_a_version(team: Team):
    now = {c.name: c for c in statistics(team.ws, CHLOE, team.spec.ref)}
    assert (now["amount"].rows, now["amount"].null_percent) == (200, 0)
    assert now["order_id"].greatest == "O-100200"
    before = {c.name: c for c in statistics(team.ws, CHLOE, team.spec.ref, version=1)}
    assert before["order_id"].greatest == "O-100120"
