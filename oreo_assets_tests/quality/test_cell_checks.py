"""What a single value decides about an expectation, without Great Expectations and without other rows."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pytest

from oreo_assets.model.spec import Expectation
from oreo_assets.quality.cell_checks import NotJudgedError, judge, meets


def expect(kind: str, **arguments: Any) -> Expectation:
    return Expectation.model_validate({"type": f"expect_column_{kind}", "column": "c", **arguments})


@pytest.mark.parametrize(
    ("expectation", "good", "bad"),
    [
        (expect("values_to_not_be_null"), "", None),
        (expect("values_to_be_null"), None, 0),
        (expect("values_to_be_between", min_value=0, max_value=10), Decimal("10.00"), Decimal("10.01")),
        (expect("values_to_be_between", min_value=0, strict_min=True), 1, 0),
        (expect("values_to_be_between", max_value=1.5), 1.5, 1.6),
        (expect("values_to_be_between", min_value="2026-01-01"), date(2026, 1, 1), date(2025, 12, 31)),
        (
            expect("values_to_be_between", max_value="2026-01-01"),
            datetime(2026, 1, 1, tzinfo=UTC),
            datetime(2026, 1, 1, 1, tzinfo=UTC),
        ),
        (expect("values_to_be_between", min_value="b"), "b", "a"),
        (expect("values_to_be_in_set", value_set=[1, "2"]), 2, 3),
        (expect("values_to_be_in_set", value_set=["open"]), "open", "Open"),
        (expect("values_to_not_be_in_set", value_set=["x"]), "y", "x"),
        (expect("values_to_match_regex", regex="^A[0-9]+$"), "A12", "B12"),
        (expect("values_to_not_match_regex", regex="[<>]"), "plain", "<b>"),
        (expect("values_to_match_regex_list", regex_list=["^a", "z$"]), "abc", "bcd"),
        (expect("values_to_match_regex_list", regex_list=["^a", "z$"], match_on="all"), "az", "ab"),
        (expect("values_to_not_match_regex_list", regex_list=["^a", "z$"]), "bcd", "abc"),
        (expect("value_lengths_to_be_between", min_value=2, max_value=3), "abc", "a"),
        (expect("value_lengths_to_equal", value=2), "DE", "DEU"),
        (expect("values_to_match_strftime_format", strftime_format="%Y-%m"), "2026-01", "2026-13"),
    ],
    ids=lambda value: value.check_name if isinstance(value, Expectation) else "",
)
def test_a_value_meets_an_expectation_or_does_not(expectation: Expectation, good: Any, bad: Any):
    assert meets(expectation, good)
    assert not meets(expectation, bad)


def test_nulls_meet_everything_that_is_not_about_nulls():
    assert meets(expect("values_to_be_between", min_value=0), None)
    assert meets(expect("values_to_be_in_set", value_set=["a"]), None)


@pytest.mark.parametrize(
    "expectation",
    [
        expect("values_to_be_unique"),
        expect("mean_to_be_between", min_value=0),
        expect("values_to_be_between", min_value=0, mostly=0.9),
        expect("values_to_be_between", min_value=0, row_condition="a > 1", condition_parser="spark"),
        expect("values_to_be_between", min_value=0, relative="main"),
        expect("values_to_be_between", min_value="abc"),
        expect("values_to_match_regex", regex="("),
        expect("value_lengths_to_equal", value=2),
    ],
    ids=lambda e: e.check_name,
)
def test_what_takes_more_than_the_value_is_said_to_be_not_judged(expectation: Expectation):
    with pytest.raises(NotJudgedError):
        meets(expectation, Decimal("-1"))
    verdict = judge([expectation], Decimal("-1"))
    assert (verdict.failed, verdict.not_judged) == ((), (expectation.check_name,))


def test_a_verdict_names_each_failed_check_with_its_severity_and_in_words():
    checks = [expect("values_to_be_between", min_value=0, severity="warning"), expect("values_to_not_be_null")]
    (failed,) = judge(checks, Decimal("-1")).failed
    assert (failed.check, failed.severity, failed.expected) == ("values_to_be_between__c", "warning", "c is at least 0")
