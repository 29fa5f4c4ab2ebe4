"""Which expectations speak of single rows, and which of the table as a whole."""

from __future__ import annotations

import re

from .outcomes import Scope

# These ask each row a question that the row alone can answer.
_ROW_TYPES = re.compile(
    r"expect_(column_values|column_value_lengths|column_pair_values|multicolumn|select_column_values)_"
)
# These are asked of each row too, but the answer depends on the other rows.
_ROW_TYPES_OF_THE_WHOLE = frozenset(
    {
        "expect_column_values_to_be_unique",
        "expect_column_values_to_be_increasing",
        "expect_column_values_to_be_decreasing",
        "expect_column_values_to_not_be_outliers",
    }
)
_ABOUT_DECLARATION = frozenset(
    {
        "expect_column_to_exist",
        "expect_column_type_to_be",
        "expect_column_values_to_be_of_type",
        "expect_column_values_to_be_in_type_list",
    }
)


def scope_of(expectation_type: str) -> Scope:
    """Where an expectation belongs when both the changed rows and the resulting table are at hand.

    Everything that is not plainly about single rows counts as being about the table: uniqueness, counts,
    aggregates, distributions, SQL queries. Judged on the changed rows alone, those would be wrong.
    """
    if expectation_type in _ROW_TYPES_OF_THE_WHOLE or not _ROW_TYPES.match(expectation_type):
        return Scope.TABLE
    return Scope.ROWS


def can_be_relative(expectation_type: str) -> bool:
    """Whether main can be better or worse at it: columns and their types are declared, not sent."""
    return not (is_about_columns(expectation_type) or expectation_type in _ABOUT_DECLARATION)


def is_about_columns(expectation_type: str) -> bool:
    """Whether it speaks of which columns there are, rather than of what is in them."""
    return expectation_type.startswith("expect_table_column")
