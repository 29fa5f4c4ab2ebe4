from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from oreo_assets.quality.known import check_expectations, ge_version, known_type, known_types

from .samples import orders_spec


def test_good_expectations_have_no_problems() -> None:
    spec = orders_spec(
        {"type": "expect_column_values_to_not_be_null", "column": "order_id", "description": "ids are known"},
        {"type": "expect_column_values_to_be_between", "column": "amount", "min_value": 0, "mostly": 0.95},
        {"type": "expect_compound_columns_to_be_unique", "column_list": ["order_id", "row_id"]},
        {"type": "expect_column_values_to_be_increasing", "column": "line"},
        {"type": "expect_table_columns_to_match_set", "column_set": ["anything"]},
        {"type": "unexpected_rows_expectation", "unexpected_rows_query": "SELECT * FROM {batch}"},
    )
    assert check_expectations(spec) == []


@pytest.mark.parametrize(
    ("expectation", "problem"),
    [
        (
            {"type": "expect_column_values_to_not_be_nul", "column": "order_id"},
            "has no usable type expect_column_values_to_not_be_nul; did you mean expect_column_values_to_not_be_null",
        ),
        (
            {"type": "expect_column_values_to_match_like_pattern", "column": "status", "like_pattern": "a%"},
            "expect_column_values_to_match_like_pattern does not run on Spark",
        ),
        (
            {"type": "expect_column_values_to_be_between", "column": "amount", "minvalue": 0, "max_value": 1},
            "expect_column_values_to_be_between has no argument 'minvalue'; did you mean min_value",
        ),
        (
            {"type": "expect_column_values_to_be_in_set", "column": "status"},
            "expect_column_values_to_be_in_set needs the argument 'value_set'",
        ),
        (
            {"type": "expect_column_values_to_not_be_null", "column": "ammount"},
            "the dataset has no column 'ammount'; did you mean amount?",
        ),
        (
            {"type": "expect_compound_columns_to_be_unique", "column_list": ["order_id", "nr"]},
            "the dataset has no column 'nr'",
        ),
        (
            {"type": "expect_column_values_to_be_between", "column": "amount"},
            "expect_column_values_to_be_between needs 'min_value' or 'max_value', or both",
        ),
        (
            {"type": "expect_column_values_to_not_be_null", "column": "status", "mostly": 95},
            "'mostly' is a fraction from 0 to 1, not 95",
        ),
        (
            {"type": "unexpected_rows_expectation", "unexpected_rows_query": "SELECT * FROM orders"},
            "'unexpected_rows_query' must read from {batch}, the rows to check",
        ),
        (
            {"type": "expect_column_values_to_not_be_null", "column": "status", "result_format": "BASIC"},
            "expect_column_values_to_not_be_null has no argument 'result_format'",
        ),
    ],
)
def test_a_problem_names_the_expectation_and_what_is_wrong(expectation: dict[str, Any], problem: str) -> None:
    good = {"type": "expect_column_values_to_not_be_null", "column": "order_id"}
    problems = check_expectations(orders_spec(good, expectation))
    assert len(problems) == 1
    assert problems[0].startswith("expectations[1]: ")
    assert problem in problems[0]


def test_the_types_and_their_arguments_come_from_the_wheel() -> None:
    assert "expect_column_values_to_be_between" in known_types()
    between = known_type("expect_column_values_to_be_between")
    assert between is not None
    assert between.required == ("column",)
    assert {"column", "min_value", "max_value", "mostly", "row_condition"} <= (between.arguments or set())
    assert ge_version()[0].isdigit()


def test_checking_a_dataset_file_does_not_load_great_expectations_or_spark() -> None:
    code = (
        "import sys; from oreo_assets_tests.quality.samples import orders_spec;"
        "from oreo_assets.quality.known import check_expectations;"
        "import oreo_assets.quality.run, oreo_assets.quality.constraints, oreo_assets.quality.store;"
        "check_expectations(orders_spec({'type': 'expect_column_to_exist', 'column': 'status'}));"
        "sys.exit(','.join(m for m in ('great_expectations', 'pyspark', 'pandas') if m in sys.modules) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
