"""`relative: main` on real Spark: the result of a merge against main as it is now."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from oreo_assets.quality.known import check_expectations
from oreo_assets.quality.outcomes import CheckOutcome, CheckStatus, Scope
from oreo_assets.quality.run import validate

from .samples import order, orders, orders_spec

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

POSITIVE = {"type": "expect_column_values_to_be_between", "column": "amount", "min_value": 0, "name": "it"}
PASSED, FAILED, ERROR = CheckStatus.PASSED, CheckStatus.FAILED, CheckStatus.ERROR


def amounts(*values: str | None) -> list[tuple[Any, ...]]:
    return [order(number, amount=value) for number, value in enumerate(values)]


def judge(
    spark: SparkSession, expectation: dict[str, Any], main: list[tuple[Any, ...]], result: list[tuple[Any, ...]]
) -> CheckOutcome:
    """The one relative expectation, where the last row of the result is the one that changes."""
    table = orders(spark, result)
    spec = orders_spec({**expectation, "relative": "main"})
    (outcome,) = validate(spec, orders(spark, result[-1:]), table=table, before=orders(spark, main))
    return outcome


@pytest.mark.parametrize(
    ("main", "result", "status", "observed"),
    [
        (
            ("1", "-1", "-1", "1"),
            ("1", "1", "-1", "1"),
            PASSED,
            "1 of 4 rows does not meet it; in main now 2 of 4 rows do not meet it: no worse",
        ),
        (
            ("1", "-1"),
            ("1", "-1", "1", "-1"),
            PASSED,
            "2 of 4 rows do not meet it; in main now 1 of 2 rows does not meet it: no worse",
        ),
        (
            ("1", "-1", "-1", "1"),
            ("1", "-1", "-1", "1", "-1"),
            FAILED,
            "3 of 5 rows do not meet it; in main now 2 of 4 rows do not meet it: worse",
        ),
        (
            ("1", "1"),
            ("1", "1", "-1"),
            FAILED,
            "1 of 3 rows does not meet it; in main now all 2 rows meet it: worse",
        ),
        (("1", "-1"), ("1", "1"), PASSED, "all 2 rows meet it"),
    ],
    ids=["better", "equal share", "worse", "main has none", "repaired"],
)
def test_rows_are_compared_by_the_share_that_fails(
    spark: SparkSession, main: tuple[str, ...], result: tuple[str, ...], status: CheckStatus, observed: str
) -> None:
    outcome = judge(spark, POSITIVE, amounts(*main), amounts(*result))
    assert (outcome.status, outcome.observed, outcome.scope) == (status, observed, Scope.TABLE)
    assert outcome.observed_before is not None
    assert outcome.observed_before in observed or status is PASSED
    assert outcome.expected == "amount is at least 0, or no worse than in main now"
    assert outcome.blocks is (status is FAILED)


def test_the_rows_of_the_result_that_fail_are_named_even_if_it_is_no_worse(spark: SparkSession) -> None:
    outcome = judge(spark, POSITIVE, amounts("-1", "-1", "1"), amounts("1", "-1", "1"))
    assert outcome.status is PASSED
    assert [r.row_id for r in outcome.failing] == ["r00001"]


MEAN = {"type": "expect_column_mean_to_be_between", "column": "amount", "min_value": 10, "max_value": 20, "name": "it"}
ROW_COUNT = {"type": "expect_table_row_count_to_equal", "value": 3, "name": "it"}
QUANTILES = {
    "type": "expect_column_quantile_values_to_be_between",
    "column": "weight",
    "quantile_ranges": {"quantiles": [0.1, 0.9], "value_ranges": [[1, 2], [None, 4]]},
    "name": "it",
}
QUERY = {
    "type": "unexpected_rows_expectation",
    "unexpected_rows_query": "SELECT * FROM {batch} WHERE amount < 0",
    "name": "it",
}


@pytest.mark.parametrize(
    ("expectation", "main", "result", "status"),
    [
        (MEAN, amounts("5"), amounts("6"), PASSED),
        (MEAN, amounts("5"), amounts("5", "5"), PASSED),
        (MEAN, amounts("5"), amounts("4"), FAILED),
        (MEAN, amounts("5"), amounts("25"), PASSED),
        (MEAN, amounts("5"), amounts("25.01"), FAILED),
        (MEAN, amounts("15"), amounts("21"), FAILED),
        (MEAN, amounts("10") + amounts("11"), amounts("9.99"), FAILED),
        (MEAN | {"min_value": 10, "strict_min": True}, amounts("10"), amounts("10", "10"), PASSED),
        (MEAN | {"min_value": 10, "strict_min": True}, amounts("11"), amounts("10"), FAILED),
        (ROW_COUNT, amounts("1"), amounts("1", "1"), PASSED),
        (ROW_COUNT, amounts("1", "1"), amounts("1", "1", "1", "1"), PASSED),
        (ROW_COUNT, amounts("1", "1"), amounts("1"), FAILED),
        (QUANTILES, [order(1, weight=7.0)], [order(1, weight=6.0)], PASSED),
        (QUANTILES, [order(1, weight=7.0)], [order(1, weight=8.0)], FAILED),
        (QUANTILES, [order(1, weight=0.5)], [order(1, weight=0.5), order(2, weight=5.0)], FAILED),
        (QUERY, amounts("-1", "-2"), amounts("-1", "1"), PASSED),
        (QUERY, amounts("-1", "1"), amounts("-1", "-2", "1", "1", "1"), FAILED),
    ],
)
def test_values_are_compared_by_how_far_they_lie_outside_their_bounds(
    spark: SparkSession,
    expectation: dict[str, Any],
    main: list[tuple[Any, ...]],
    result: list[tuple[Any, ...]],
    status: CheckStatus,
) -> None:
    outcome = judge(spark, expectation, main, result)
    assert (outcome.status, outcome.error) == (status, None), outcome.observed


def test_dates_have_a_distance_too(spark: SparkSession) -> None:
    from datetime import date

    latest = {"type": "expect_column_max_to_be_between", "column": "ordered_on", "max_value": "2024-01-01"}
    june, july = [order(1, ordered_on=date(2024, 6, 1))], [order(1, ordered_on=date(2024, 7, 1))]
    assert judge(spark, latest, july, june).status is PASSED
    outcome = judge(spark, latest, june, july)
    assert outcome.status is FAILED
    assert "2024-07-01" in outcome.observed
    assert "2024-06-01" in (outcome.observed_before or "")


@pytest.mark.parametrize(
    ("main", "result", "status"),
    [
        ("abx", "abx", PASSED),
        ("abxy", "abx", PASSED),
        ("abx", "aby", FAILED),
        ("abx", "ax", FAILED),
        ("ax", "abx", PASSED),
        ("ab", "abx", FAILED),
    ],
)
def test_sets_are_no_worse_if_nothing_else_is_unexpected_or_missing(
    spark: SparkSession, main: str, result: str, status: CheckStatus
) -> None:
    exactly = {"type": "expect_column_distinct_values_to_equal_set", "column": "status", "value_set": ["a", "b"]}
    frames = [[order(n, status=letter) for n, letter in enumerate(word)] for word in (main, result)]
    outcome = judge(spark, exactly, *frames)
    assert (outcome.status, outcome.error) == (status, None), outcome.observed


def test_what_has_no_distance_is_no_worse_only_if_it_is_the_same(spark: SparkSession) -> None:
    usual = {"type": "expect_column_most_common_value_to_be_in_set", "column": "status", "value_set": ["paid"]}
    lost, gone = [order(1, status="lost")], [order(1, status="gone")]
    assert judge(spark, usual, lost, [order(1, status="lost"), order(2, status="lost")]).status is PASSED
    assert judge(spark, usual, lost, gone).status is FAILED
    assert judge(spark, usual, lost, [order(1, status="paid")]).status is PASSED


@pytest.mark.parametrize("expectation", [POSITIVE, MEAN, ROW_COUNT], ids=["rows", "value", "count"])
def test_against_an_empty_main_a_check_is_judged_like_any_other(
    spark: SparkSession, expectation: dict[str, Any]
) -> None:
    bad = judge(spark, expectation, [], amounts("-1", "-1"))
    assert (bad.status, bad.observed_before) == (FAILED, "main has no rows")
    good = judge(spark, expectation, [], amounts("15", "15", "15"))
    assert (good.status, good.observed_before) == (PASSED, "main has no rows")


def test_without_main_a_relative_check_is_judged_like_any_other(spark: SparkSession) -> None:
    spec = orders_spec({**POSITIVE, "relative": "main"})
    frame = orders(spark, amounts("1", "-1"))
    (outcome,) = validate(spec, frame, table=frame)
    assert (outcome.status, outcome.observed_before) == (FAILED, None)


def test_an_error_on_either_side_blocks(spark: SparkSession) -> None:
    spec = orders_spec({**POSITIVE, "relative": "main", "severity": "info"})
    whole = orders(spark, amounts("1"))
    lacking = whole.drop("amount")
    (in_main,) = validate(spec, whole, table=whole, before=lacking)
    assert (in_main.status, in_main.blocks) == (ERROR, True)
    assert (in_main.error or "").startswith("in main now: ")
    (in_result,) = validate(spec, whole, table=lacking, before=whole)
    assert (in_result.status, in_result.blocks) == (ERROR, True)
    assert "amount" in (in_result.error or "")


def test_a_relative_check_spoils_no_other(spark: SparkSession) -> None:
    other = {"type": "expect_column_values_to_not_be_null", "column": "status", "name": "other"}
    spec = orders_spec({**POSITIVE, "relative": "main"}, other)
    rows, main = orders(spark, [order(9, status=None)]), orders(spark, amounts("-1"))
    relative, absolute = validate(spec, rows, table=main.union(rows), before=main)
    assert (relative.status, relative.element_count) == (PASSED, 2)
    assert (absolute.status, absolute.scope, absolute.observed_before) == (FAILED, Scope.ROWS, None)


def test_what_main_was_survives_json_and_older_records_lack_it(spark: SparkSession) -> None:
    outcome = judge(spark, POSITIVE, amounts("-1"), amounts("-1"))
    carried = json.loads(json.dumps(outcome.as_json(), allow_nan=False))
    assert CheckOutcome.from_json(carried) == outcome
    assert outcome.without_rows()["observed_before"] == "1 of 1 rows does not meet it"
    del carried["observed_before"]
    assert CheckOutcome.from_json(carried).observed_before is None


def test_checks_of_the_declaration_itself_cannot_be_relative() -> None:
    spec = orders_spec(
        {"type": "expect_column_to_exist", "column": "amount", "relative": "main"},
        {"type": "expect_table_column_count_to_equal", "value": 6, "relative": "main"},
        {**POSITIVE, "relative": "main"},
    )
    problems = check_expectations(spec)
    assert [p.split(":")[0] for p in problems] == ["expectations[0]", "expectations[1]"]
    assert all("cannot be relative to main" in p for p in problems)


def test_missing_values_are_named(spark: SparkSession) -> None:
    exactly = {"type": "expect_column_distinct_values_to_equal_set", "column": "status", "value_set": ["a", "b"]}
    (outcome,) = validate(orders_spec(exactly), orders(spark, [order(1, status="a")]))
    assert (outcome.status, outcome.observed) == (FAILED, "missing: b")


def test_people_see_what_main_is_now(spark: SparkSession) -> None:
    import io

    import dagster as dg
    from rich.console import Console

    from oreo_assets.cli.cr_checks import show_checks
    from oreo_assets.defs.metadata import check_result

    outcome = judge(spark, POSITIVE, amounts("-1", "1"), amounts("1", "1"))
    metadata = check_result(outcome, dg.AssetKey(["p", "d", "staging"]), "folder").metadata
    assert metadata["main_now"].value == "1 of 2 rows does not meet it"
    shown = io.StringIO()
    show_checks(Console(file=shown, width=200), [outcome], rows=0)
    assert "main now: 1 of 2 rows does not meet it" in shown.getvalue()
