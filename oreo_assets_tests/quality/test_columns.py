"""Which columns checks read: only those have to be looked up in main for a file that leaves them out."""

from __future__ import annotations

from oreo_assets.quality.constraints import columns_constrained
from oreo_assets.quality.run import columns_looked_at

from .samples import orders_spec

NOT_NULL = {"type": "expect_column_values_to_not_be_null", "column": "amount"}
PAIR = {"type": "expect_column_pair_values_to_be_equal", "column_A": "status", "column_B": "order_id"}
COUNT = {"type": "expect_table_row_count_to_be_between", "min_value": 1}


def test_checks_of_rows_read_the_columns_they_name_and_checks_of_the_table_none_of_the_row():
    assert columns_looked_at(orders_spec(NOT_NULL, PAIR, COUNT)) == {"amount", "status", "order_id"}


def test_a_check_with_a_condition_of_its_own_may_read_any_column():
    conditional = NOT_NULL | {
        "name": "paid",
        "row_condition": 'col("status") == "paid"',
        "condition_parser": "great_expectations",
    }
    assert columns_looked_at(orders_spec(NOT_NULL, conditional)) is None


def test_constraints_read_what_their_code_names_and_not_what_is_in_quotes_or_comments():
    spec = orders_spec(constraints={"one": "AMOUNT > 0 OR `line` = 1", "two": "length('status') > 0 -- weight"})
    assert columns_constrained(spec) == {"amount", "line", "order_id"}
