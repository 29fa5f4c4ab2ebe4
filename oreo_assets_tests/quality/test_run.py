from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from oreo_assets.model.states import Severity
from oreo_assets.quality.frames import FAILING_ROWS_KEPT
from oreo_assets.quality.outcomes import CheckOutcome, CheckStatus, Scope, Verdict
from oreo_assets.quality.run import validate

from .samples import by_name, order, orders, orders_spec

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

KNOWN = {"type": "expect_column_values_to_not_be_null", "column": "order_id"}
POSITIVE = {
    "type": "expect_column_values_to_be_between",
    "column": "amount",
    "min_value": 0,
    "name": "positive",
}
UNIQUE = {"type": "expect_column_values_to_be_unique", "column": "order_id", "name": "one_each"}


def test_a_suite_that_all_rows_meet_passes(spark: SparkSession) -> None:
    spec = orders_spec(KNOWN, POSITIVE, UNIQUE)
    outcomes = validate(spec, orders(spark, [order(1), order(2)]))
    assert [o.name for o in outcomes] == spec.check_names
    assert all(o.status is CheckStatus.PASSED and not o.failing for o in outcomes)
    assert outcomes[1].expected == "amount is at least 0"
    assert outcomes[1].observed == "all 2 rows meet it"
    assert outcomes[1].element_count == 2
    assert not Verdict.of(outcomes, spec.check_names).blocks


def test_failing_rows_come_back_with_row_id_key_and_value(spark: SparkSession) -> None:
    frame = orders(spark, [order(1), order(2, amount="-1.50"), order(3, amount="-2.00"), order(4, amount=None)])
    (outcome,) = validate(orders_spec(POSITIVE), frame)
    assert outcome.status is CheckStatus.FAILED
    assert [(r.row_id, r.key, r.values) for r in outcome.failing] == [
        ("r00002", {"order_id": "o2"}, {"amount": "-1.50"}),
        ("r00003", {"order_id": "o3"}, {"amount": "-2.00"}),
    ]
    assert outcome.failing_total == 2
    assert not outcome.capped
    assert outcome.observed == "2 of 4 rows do not meet it"


def test_failing_rows_are_capped_and_say_so_while_the_count_is_true(spark: SparkSession) -> None:
    frame = orders(spark, (order(n, amount="-1") for n in range(FAILING_ROWS_KEPT + 5)))
    (outcome,) = validate(orders_spec(POSITIVE), frame)
    assert outcome.failing_total == FAILING_ROWS_KEPT + 5
    assert len(outcome.failing) == FAILING_ROWS_KEPT
    assert outcome.capped


def test_a_key_of_several_columns_is_returned_whole_even_when_the_check_is_on_it(spark: SparkSession) -> None:
    spec = orders_spec(
        {"type": "expect_column_values_to_be_between", "column": "line", "min_value": 1, "name": "from_one"},
        {
            "type": "expect_compound_columns_to_be_unique",
            "column_list": ["order_id", "line"],
            "name": "pairs",
        },
        key=["order_id", "line"],
    )
    outcomes = by_name(validate(spec, orders(spark, [order(1, line=0), order(2), order(3, order_id="o2")])))
    assert [r.key for r in outcomes["from_one"].failing] == [{"order_id": "o1", "line": 0}]
    assert [r.values for r in outcomes["from_one"].failing] == [{"line": "0"}]
    assert {r.row_id for r in outcomes["pairs"].failing} == {"r00002", "r00003"}


def test_a_failed_fatal_check_blocks_and_a_failed_warning_does_not(spark: SparkSession) -> None:
    frame = orders(spark, [order(1, amount="-1")])
    warned = validate(orders_spec(POSITIVE | {"severity": "warning"}), frame)
    verdict = Verdict.of(warned)
    assert (verdict.failed_warning, verdict.failed_fatal, verdict.blocks) == (1, 0, False)
    verdict = Verdict.of(validate(orders_spec(POSITIVE), frame))
    assert (verdict.failed_warning, verdict.failed_fatal, verdict.blocks) == (0, 1, True)


@pytest.mark.parametrize(
    ("broken", "said"),
    [
        ({"type": "expect_column_values_to_not_be_null", "column": "nope"}, "nope"),
        ({"type": "expect_column_values_to_be_between", "column": "amount"}, "min_value"),
        ({"type": "expect_column_values_to_be_between", "column": "status", "min_value": 0}, "StringType"),
        ({"type": "expect_nothing_of_the_kind"}, "expect_nothing_of_the_kind"),
        (
            {"type": "expect_column_values_to_be_between", "column": "amount", "min_value": 0}
            | {"row_condition": "amount >", "condition_parser": "spark"},
            "PARSE_SYNTAX_ERROR",
        ),
    ],
    ids=["missing column", "bad argument", "wrong type", "unknown type", "bad condition"],
)
def test_an_expectation_that_errs_blocks_at_any_severity_and_spoils_no_other(
    spark: SparkSession, broken: dict[str, Any], said: str
) -> None:
    spec = orders_spec(broken | {"name": "broken", "severity": "info"}, KNOWN, POSITIVE)
    outcomes = by_name(validate(spec, orders(spark, [order(1, amount="-1")])))
    erred = outcomes.pop("broken")
    assert erred.status is CheckStatus.ERROR
    assert erred.severity is Severity.INFO
    assert said in (erred.error or "")
    assert "\n" not in (erred.error or "")
    assert erred.blocks
    assert [o.status for o in outcomes.values()] == [CheckStatus.PASSED, CheckStatus.FAILED]
    verdict = Verdict.of([erred])
    assert (verdict.failed_info, verdict.errored, verdict.blocks) == (1, 1, True)


def test_a_frame_that_cannot_be_read_raises_instead_of_blaming_the_checks(spark: SparkSession) -> None:
    from pyspark.errors import PySparkException

    frame = orders(spark, [order(1)]).selectExpr("*", "raise_error('gone') AS lost").where("lost IS NULL")
    with pytest.raises(PySparkException, match="gone"):
        validate(orders_spec(KNOWN), frame)


def test_no_rows_meet_every_check_of_single_rows(spark: SparkSession) -> None:
    spec = orders_spec(KNOWN, POSITIVE, UNIQUE)
    outcomes = validate(spec, orders(spark, []))
    assert all(o.status is CheckStatus.PASSED for o in outcomes)
    assert {o.observed for o in outcomes} == {"no rows to check"}


def test_uniqueness_is_judged_on_the_resulting_table_when_there_is_one(spark: SparkSession) -> None:
    rows = orders(spark, [order(2, order_id="o1", amount="-1")])
    table = rows.union(orders(spark, [order(1, amount="-5")]))
    spec = orders_spec(UNIQUE, POSITIVE)
    assert [o.scope for o in validate(spec, rows)] == [Scope.ROWS, Scope.ROWS]
    alone, together = validate(spec, rows)[0], by_name(validate(spec, rows, table=table))
    assert alone.status is CheckStatus.PASSED
    assert together["one_each"].scope is Scope.TABLE
    assert {r.row_id for r in together["one_each"].failing} == {"r00001", "r00002"}
    assert together["positive"].scope is Scope.ROWS
    assert [r.row_id for r in together["positive"].failing] == ["r00002"]


def test_rows_within_the_tolerance_are_shown_though_the_check_passes(spark: SparkSession) -> None:
    frame = orders(spark, [order(1, amount="-1"), *(order(n) for n in range(2, 11))])
    (outcome,) = validate(orders_spec(POSITIVE | {"mostly": 0.9}), frame)
    assert outcome.status is CheckStatus.PASSED
    assert [r.row_id for r in outcome.failing] == ["r00001"]
    assert outcome.expected == "amount is at least 0 in at least 0.9 of the rows"


def test_checks_of_the_columns_do_not_see_row_id(spark: SparkSession) -> None:
    names = [c.name for c in orders_spec().columns]
    spec = orders_spec({"type": "expect_table_columns_to_match_ordered_list", "column_list": names})
    (outcome,) = validate(spec, orders(spark, [order(1)]))
    assert outcome.status is CheckStatus.PASSED


def test_a_sql_expectation_returns_its_rows_with_keys(spark: SparkSession) -> None:
    spec = orders_spec(
        {
            "type": "unexpected_rows_expectation",
            "unexpected_rows_query": "SELECT * FROM {batch} WHERE amount < 0",
        }
    )
    (outcome,) = validate(spec, orders(spark, [order(1), order(2, amount="-1")]))
    assert outcome.status is CheckStatus.FAILED
    assert outcome.failing_total == 1
    assert [(r.row_id, r.key) for r in outcome.failing] == [("r00002", {"order_id": "o2"})]


def test_a_frame_cached_by_its_owner_stays_cached(spark: SparkSession) -> None:
    frame = orders(spark, [order(1)])
    validate(orders_spec(KNOWN), frame)
    assert not frame.storageLevel.useMemory
    frame.persist()
    validate(orders_spec(KNOWN), frame)
    assert frame.storageLevel.useMemory
    frame.unpersist()


COMMON: list[tuple[str, dict[str, Any], CheckStatus]] = [
    ("expect_column_values_to_be_null", {"column": "status"}, CheckStatus.FAILED),
    ("expect_column_values_to_be_in_set", {"column": "status", "value_set": ["open"]}, CheckStatus.FAILED),
    (
        "expect_column_values_to_not_be_in_set",
        {"column": "status", "value_set": ["lost"]},
        CheckStatus.PASSED,
    ),
    ("expect_column_values_to_match_regex", {"column": "order_id", "regex": "^o[0-9]+$"}, CheckStatus.PASSED),
    ("expect_column_values_to_not_match_regex", {"column": "status", "regex": "^sh"}, CheckStatus.FAILED),
    ("expect_column_value_lengths_to_equal", {"column": "status", "value": 4}, CheckStatus.FAILED),
    ("expect_column_value_lengths_to_be_between", {"column": "status", "max_value": 7}, CheckStatus.PASSED),
    ("expect_column_values_to_be_of_type", {"column": "status", "type_": "StringType"}, CheckStatus.PASSED),
    (
        "expect_column_values_to_be_between",
        {"column": "ordered_on", "min_value": "2024-01-01"},
        CheckStatus.PASSED,
    ),
    (
        "expect_column_pair_values_a_to_be_greater_than_b",
        {"column_A": "amount", "column_B": "weight"},
        CheckStatus.PASSED,
    ),
    (
        "expect_multicolumn_sum_to_equal",
        {"column_list": ["line", "weight"], "sum_total": 2.5},
        CheckStatus.PASSED,
    ),
    (
        "expect_column_distinct_values_to_be_in_set",
        {"column": "status", "value_set": ["open"]},
        CheckStatus.FAILED,
    ),
    ("expect_column_min_to_be_between", {"column": "amount", "min_value": 0}, CheckStatus.PASSED),
    (
        "expect_column_max_to_be_between",
        {"column": "ordered_on", "max_value": "2023-12-31"},
        CheckStatus.FAILED,
    ),
    (
        "expect_column_mean_to_be_between",
        {"column": "weight", "min_value": 1, "max_value": 2},
        CheckStatus.PASSED,
    ),
    ("expect_column_median_to_be_between", {"column": "weight", "min_value": 2}, CheckStatus.FAILED),
    ("expect_column_sum_to_be_between", {"column": "amount", "min_value": 20}, CheckStatus.PASSED),
    ("expect_column_stdev_to_be_between", {"column": "weight", "max_value": 1}, CheckStatus.PASSED),
    (
        "expect_column_quantile_values_to_be_between",
        {"column": "weight", "quantile_ranges": {"quantiles": [0.5], "value_ranges": [[1, 2]]}},
        CheckStatus.PASSED,
    ),
    (
        "expect_column_proportion_of_unique_values_to_be_between",
        {"column": "order_id", "min_value": 1.0},
        CheckStatus.PASSED,
    ),
    (
        "expect_column_unique_value_count_to_be_between",
        {"column": "status", "max_value": 1},
        CheckStatus.FAILED,
    ),
    ("expect_column_to_exist", {"column": "status"}, CheckStatus.PASSED),
    ("expect_table_row_count_to_be_between", {"min_value": 3}, CheckStatus.FAILED),
    ("expect_table_row_count_to_equal", {"value": 2}, CheckStatus.PASSED),
]


def test_the_common_types_run_as_one_suite(spark: SparkSession) -> None:
    spec = orders_spec(*[{"type": kind, **arguments} for kind, arguments, _ in COMMON])
    outcomes = validate(spec, orders(spark, [order(1), order(2, status="shipped")]))
    assert [(o.type, o.status, o.error) for o in outcomes] == [(kind, status, None) for kind, _, status in COMMON]
    assert all(o.expected and not o.expected.startswith("expect_") for o in outcomes if "quantile" not in o.type)
    assert [CheckOutcome.from_json(o.as_json()) for o in outcomes] == list(outcomes)
