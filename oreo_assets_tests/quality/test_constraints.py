from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from oreo_assets.model.errors import SpecError
from oreo_assets.model.states import Severity
from oreo_assets.quality.constraints import NOT_NULL, check_constraints, validate_constraint_sql
from oreo_assets.quality.outcomes import CheckStatus

from .samples import by_name, order, orders, orders_spec

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_a_row_breaks_a_constraint_that_is_false_or_null_for_it(spark: SparkSession) -> None:
    spec = orders_spec(constraints={"positive": "amount > 0", "dated": "ordered_on IS NOT NULL"})
    frame = orders(spark, [order(1), order(2, amount="-1.00"), order(3, amount=None)])
    outcomes = by_name(check_constraints(spec, frame))
    broken = outcomes["constraint__positive"]
    assert broken.status is CheckStatus.FAILED
    assert broken.severity is Severity.FATAL
    assert broken.expected == "amount > 0"
    assert [(r.row_id, r.key, r.values) for r in broken.failing] == [
        ("r00002", {"order_id": "o2"}, {"amount": "-1.00"}),
        ("r00003", {"order_id": "o3"}, {"amount": None}),
    ]
    assert outcomes["constraint__dated"].status is CheckStatus.PASSED
    assert outcomes[NOT_NULL].status is CheckStatus.PASSED


def test_nulls_in_columns_that_may_not_have_them_are_one_outcome_with_rows(spark: SparkSession) -> None:
    frame = orders(spark, [order(1), order(2, order_id=None)])
    (outcome,) = check_constraints(orders_spec(), frame)
    assert (outcome.name, outcome.status, outcome.failing_total) == (NOT_NULL, CheckStatus.FAILED, 1)
    assert [(r.row_id, r.values) for r in outcome.failing] == [("r00002", {"order_id": None})]
    assert outcome.expected == "order_id is never null"


def test_violating_rows_are_capped_for_each_constraint(spark: SparkSession) -> None:
    spec = orders_spec(constraints={"dear": "amount > 100", "heavy": "weight > 100"})
    frame = orders(spark, [order(n, weight=1.0 if n < 3 else 101.0) for n in range(10)])
    outcomes = by_name(check_constraints(spec, frame, keep=4))
    dear, heavy = outcomes["constraint__dear"], outcomes["constraint__heavy"]
    assert (dear.failing_total, [r.row_id for r in dear.failing], dear.capped) == (
        10,
        ["r00000", "r00001", "r00002", "r00003"],
        True,
    )
    assert (heavy.failing_total, len(heavy.failing), heavy.capped) == (3, 3, False)


def test_a_constraint_that_fails_on_a_row_errs_alone(spark: SparkSession) -> None:
    spec = orders_spec(constraints={"numbered": "CAST(status AS INT) > 0", "positive": "amount > 0"})
    outcomes = by_name(check_constraints(spec, orders(spark, [order(1)])))
    assert outcomes["constraint__numbered"].status is CheckStatus.ERROR
    assert "CAST_INVALID_INPUT" in (outcomes["constraint__numbered"].error or "")
    assert outcomes["constraint__numbered"].blocks
    assert outcomes["constraint__positive"].status is CheckStatus.PASSED


def test_a_dataset_without_constraints_has_no_outcomes(spark: SparkSession) -> None:
    spec = orders_spec(columns=[{"name": "order_id", "type": "string"}])
    assert check_constraints(spec, orders(spark, [order(1)])) == ()


@pytest.mark.parametrize(
    "text",
    [
        "amount > 0",
        "status IN ('open', 'select (from) -- everything')",
        "extract(year FROM ordered_on) >= 2020 -- it's recent",
        "(weight + line) > 0 AND (amount IS NOT NULL OR status = 'draft')",
        "status RLIKE '^[a-z]+$'",
    ],
)
def test_a_row_expression_is_a_constraint(spark: SparkSession, text: str) -> None:
    validate_constraint_sql(orders_spec(constraints={"fine": text}), spark)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("amount >", "PARSE_SYNTAX_ERROR"),
        ("prise > 0", "prise"),
        ("amount + 1", "not true or false"),
        ("amount > (SELECT 1)", "subquery"),
        ("order_id IN (\n VALUES ('a'))", "subquery"),
        ("rand() > 0.5", "chance"),
        ("ordered_on <= current_date()", "current_date()"),
        ("ordered_on <= current_date", "current_date"),
        ("sum(amount) > 0", "sum"),
        ("row_number() OVER (ORDER BY amount) > 1", "window functions"),
        ("explode(array(true))", "GENERATOR"),
        ("amount > 0) OR (true", "PARSE_SYNTAX_ERROR"),
        (" ", "empty"),
    ],
)
def test_anything_else_is_refused_by_name(spark: SparkSession, text: str, said: str) -> None:
    with pytest.raises(SpecError) as caught:
        validate_constraint_sql(orders_spec(constraints={"good": "amount > 0", "bad": text}), spark)
    assert caught.value.message.startswith("constraints.bad: ")
    assert said in caught.value.message


def test_a_column_may_bear_the_name_of_a_function(spark: SparkSession) -> None:
    columns = [{"name": "user", "type": "string"}, {"name": "values", "type": "int"}]
    spec = orders_spec(columns=columns, key=["user"], constraints={"fine": "user = 'me' AND (values > 1)"})
    validate_constraint_sql(spec, spark)
