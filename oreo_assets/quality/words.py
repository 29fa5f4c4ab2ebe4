"""What a check expects and what it saw, in words a reviewer reads without knowing Great Expectations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..model.spec import Expectation
from .outcomes import as_text

_LISTED = 10


def expected_words(expectation_type: str, arguments: dict[str, Any]) -> str:
    """`amount is at least 0`; for rarer types the call itself."""
    phrase = _PHRASES.get(expectation_type)
    try:
        said = phrase(arguments) if phrase else ""
    except (KeyError, TypeError):
        # A malformed declaration still deserves a line; the check itself will say what is wrong with it.
        said = ""
    if not said:
        return f"{expectation_type}({', '.join(f'{k}={_say(v)}' for k, v in arguments.items())})"
    if arguments.get("mostly") not in (None, 1):
        said += f" in at least {float(arguments['mostly']):.6g} of the rows"
    if arguments.get("row_condition"):
        said += f", where {_say(arguments['row_condition'])}"
    return said


def declared_words(declared: Expectation) -> str:
    """`expected_words` of an expectation as declared."""
    said = expected_words(declared.type, declared.arguments)
    return f"{said}, or no worse than in main now" if declared.relative else said


def rows_words(failing: int, total: int) -> str:
    """What a check of single rows saw."""
    if total == 0:
        return "no rows to check"
    if failing == 0:
        return f"all {total:,} rows meet it" if total != 1 else "the only row meets it"
    return f"{failing:,} of {total:,} rows do not meet it" if failing != 1 else f"1 of {total:,} rows does not meet it"


def value_words(result: dict[str, Any]) -> str:
    """What a check of the whole saw: Great Expectations' observed value."""
    parts = []
    if result.get("partial_unexpected_list"):
        parts.append(f"not expected: {_say(result['partial_unexpected_list'])}")
    if result.get("partial_missing_list"):
        parts.append(f"missing: {_say(result['partial_missing_list'])}")
    if parts:
        return "; ".join(parts)
    if "observed_value" not in result:
        return ""
    if result["observed_value"] is not None:
        return f"observed {_say(result['observed_value'])}"
    # Checks of distinct values report only what differs, so here nothing observed means nothing wrong.
    return "nothing unexpected" if "unexpected_count" in result else "no value (null)"


def _say(value: Any) -> str:
    if isinstance(value, (list, tuple, set, frozenset)):
        items = sorted(value, key=str) if isinstance(value, (set, frozenset)) else list(value)
        shown = ", ".join(_say(v) for v in items[:_LISTED])
        return shown + (f" and {len(items) - _LISTED:,} more" if len(items) > _LISTED else "")
    if isinstance(value, dict):
        return ", ".join(f"{k}: {_say(v)}" for k, v in value.items())
    return "null" if value is None else str(as_text(value))


def _range(a: dict[str, Any]) -> str:
    low, high = a.get("min_value"), a.get("max_value")
    above = f"greater than {_say(low)}" if a.get("strict_min") else f"at least {_say(low)}"
    below = f"less than {_say(high)}" if a.get("strict_max") else f"at most {_say(high)}"
    if low is None and high is None:
        raise KeyError("min_value")
    if low is None:
        return below
    if high is None:
        return above
    if a.get("strict_min") or a.get("strict_max"):
        return f"{above} and {below}"
    return f"between {_say(low)} and {_say(high)}"


def _of_column(what: str) -> Callable[[dict[str, Any]], str]:
    return lambda a: f"the {what} of {a['column']} is {_range(a)}"


_PHRASES: dict[str, Callable[[dict[str, Any]], str]] = {
    "expect_column_values_to_not_be_null": lambda a: f"{a['column']} is never null",
    "expect_column_values_to_be_null": lambda a: f"{a['column']} is always null",
    "expect_column_values_to_be_between": lambda a: f"{a['column']} is {_range(a)}",
    "expect_column_values_to_be_in_set": lambda a: f"{a['column']} is one of {_say(a['value_set'])}",
    "expect_column_values_to_not_be_in_set": lambda a: f"{a['column']} is none of {_say(a['value_set'])}",
    "expect_column_values_to_be_unique": lambda a: f"{a['column']} is unique",
    "expect_compound_columns_to_be_unique": lambda a: f"{_say(a['column_list'])} are unique together",
    "expect_column_values_to_match_regex": lambda a: f"{a['column']} matches {a['regex']}",
    "expect_column_values_to_not_match_regex": lambda a: f"{a['column']} does not match {a['regex']}",
    "expect_column_value_lengths_to_equal": lambda a: f"{a['column']} is {a['value']} characters long",
    "expect_column_value_lengths_to_be_between": lambda a: f"the length of {a['column']} is {_range(a)}",
    "expect_column_values_to_be_of_type": lambda a: f"{a['column']} is of type {a['type_']}",
    "expect_column_values_to_be_in_type_list": lambda a: f"the type of {a['column']} is one of {_say(a['type_list'])}",
    "expect_column_pair_values_a_to_be_greater_than_b": lambda a: (
        f"{a['column_A']} is {'at least' if a.get('or_equal') else 'greater than'} {a['column_B']}"
    ),
    "expect_column_pair_values_to_be_equal": lambda a: f"{a['column_A']} equals {a['column_B']}",
    "expect_multicolumn_sum_to_equal": lambda a: f"{_say(a['column_list'])} add up to {_say(a['sum_total'])}",
    "expect_column_distinct_values_to_be_in_set": lambda a: (
        f"the distinct values of {a['column']} are among {_say(a['value_set'])}"
    ),
    "expect_column_min_to_be_between": _of_column("smallest value"),
    "expect_column_max_to_be_between": _of_column("largest value"),
    "expect_column_mean_to_be_between": _of_column("mean"),
    "expect_column_median_to_be_between": _of_column("median"),
    "expect_column_sum_to_be_between": _of_column("sum"),
    "expect_column_stdev_to_be_between": _of_column("standard deviation"),
    "expect_column_unique_value_count_to_be_between": _of_column("number of distinct values"),
    "expect_column_proportion_of_unique_values_to_be_between": _of_column("fraction of distinct values"),
    "expect_column_proportion_of_non_null_values_to_be_between": _of_column("fraction of values that are not null"),
    "expect_column_to_exist": lambda a: f"there is a column {a['column']}",
    "expect_table_row_count_to_equal": lambda a: f"the number of rows is {_say(a['value'])}",
    "expect_table_row_count_to_be_between": lambda a: f"the number of rows is {_range(a)}",
    "expect_table_columns_to_match_set": lambda a: f"the columns are {_say(a['column_set'])}",
    "unexpected_rows_expectation": lambda a: f"no row comes back from {a['unexpected_rows_query']}",
}
