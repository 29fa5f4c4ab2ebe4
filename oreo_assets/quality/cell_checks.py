"""What a column's expectations say of one value, at once: no Great Expectations, no Spark, no other rows.

Only what a single value decides is judged here. The rest is named as not judged, and is judged when the change
request is checked, as everything is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, date, datetime
from decimal import Decimal, InvalidOperation
from typing import Any

from ..model.spec import DatasetSpec, Expectation
from ..model.states import Severity
from .words import declared_words

_NEEDS_MORE = ("row_condition", "condition_parser")


class NotJudgedError(Exception):
    """This value alone does not decide it."""


@dataclass(frozen=True)
class FailedCheck:
    """An expectation that a value does not meet. The value is kept: a fatal one will block the change request."""

    check: str
    severity: Severity
    expected: str


@dataclass(frozen=True)
class CellVerdict:
    """What the column's expectations say of one value. `not_judged` names those that need more than the value."""

    failed: tuple[FailedCheck, ...] = ()
    not_judged: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        return {"failed": [asdict(f) for f in self.failed], "not_judged": list(self.not_judged)}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> CellVerdict:
        failed = tuple(FailedCheck(f["check"], Severity(f["severity"]), f["expected"]) for f in data["failed"])
        return cls(failed, tuple(data["not_judged"]))


def expectations_of(spec: DatasetSpec, column: str) -> list[Expectation]:
    """Those that look at the column, alone or among others."""
    return [e for e in spec.expectations if column in _columns(e)]


def judge(expectations: Sequence[Expectation], value: Any) -> CellVerdict:
    """The value (as Python has it: Decimal, date, …) against the expectations of its column."""
    failed: list[FailedCheck] = []
    not_judged: list[str] = []
    for expectation in expectations:
        try:
            if not meets(expectation, value):
                failed.append(FailedCheck(expectation.check_name, expectation.severity, declared_words(expectation)))
        except NotJudgedError:
            not_judged.append(expectation.check_name)
    return CellVerdict(tuple(failed), tuple(not_judged))


def meets(expectation: Expectation, value: Any) -> bool:
    """Whether one value meets an expectation. NotJudgedError where it takes more than the value to know."""
    arguments = expectation.arguments
    predicate = _PREDICATES.get(expectation.type)
    tolerant = arguments.get("mostly") not in (None, 1, 1.0)
    if predicate is None or expectation.relative or tolerant or any(arguments.get(a) for a in _NEEDS_MORE):
        raise NotJudgedError
    if value is None and expectation.type not in _OF_NULLS:
        return True  # Great Expectations leaves nulls out of every other check
    try:
        return predicate(value, arguments)
    except (KeyError, TypeError, ValueError, InvalidOperation, re.error) as error:
        raise NotJudgedError from error


def _columns(expectation: Expectation) -> list[str]:
    arguments = expectation.arguments
    named = [arguments.get(name) for name in ("column", "column_A", "column_B")]
    return [c for c in (*named, *(arguments.get("column_list") or ())) if c]


def _between(value: Any, arguments: dict[str, Any]) -> bool:
    low, high = arguments.get("min_value"), arguments.get("max_value")
    if low is not None:
        bound = _like(value, low)
        if value < bound or (arguments.get("strict_min") and value == bound):
            return False
    if high is not None:
        bound = _like(value, high)
        if value > bound or (arguments.get("strict_max") and value == bound):
            return False
    return True


def _in_set(value: Any, arguments: dict[str, Any]) -> bool:
    return any(value == _like(value, item) for item in arguments["value_set"] if item is not None)


def _matches(value: Any, pattern: str) -> bool:
    return re.search(pattern, _text(value)) is not None


def _matches_list(value: Any, arguments: dict[str, Any]) -> bool:
    found = [_matches(value, pattern) for pattern in arguments["regex_list"]]
    return all(found) if arguments.get("match_on") == "all" else any(found)


def _length(value: Any, arguments: dict[str, Any]) -> bool:
    return _between(len(_text(value)), arguments)


def _strftime(value: Any, arguments: dict[str, Any]) -> bool:
    try:
        datetime.strptime(_text(value), arguments["strftime_format"])
    except ValueError:
        return False
    return True


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError("only texts have characters")
    return value


def _like(value: Any, bound: Any) -> Any:
    """The bound as the value's own kind, so that the two can be compared without loss."""
    if isinstance(value, bool):
        if not isinstance(bound, bool):
            raise TypeError("not true or false")
        return bound
    if isinstance(value, (int, Decimal)):
        return Decimal(str(bound))
    if isinstance(value, float):
        return float(bound)
    if isinstance(value, datetime):
        moment = bound if isinstance(bound, datetime) else datetime.fromisoformat(str(bound))
        if (value.tzinfo is None) == (moment.tzinfo is None):
            return moment
        return moment.replace(tzinfo=None) if value.tzinfo is None else moment.replace(tzinfo=UTC)
    if isinstance(value, date):
        return bound if type(bound) is date else date.fromisoformat(str(bound)[:10])
    if isinstance(bound, str):
        return bound
    raise TypeError("nothing to compare with")


_OF_NULLS = {"expect_column_values_to_not_be_null", "expect_column_values_to_be_null"}
_PREDICATES: dict[str, Callable[[Any, dict[str, Any]], bool]] = {
    "expect_column_values_to_not_be_null": lambda v, _: v is not None,
    "expect_column_values_to_be_null": lambda v, _: v is None,
    "expect_column_values_to_be_between": _between,
    "expect_column_values_to_be_in_set": _in_set,
    "expect_column_values_to_not_be_in_set": lambda v, a: not _in_set(v, a),
    "expect_column_values_to_match_regex": lambda v, a: _matches(v, a["regex"]),
    "expect_column_values_to_not_match_regex": lambda v, a: not _matches(v, a["regex"]),
    "expect_column_values_to_match_regex_list": _matches_list,
    "expect_column_values_to_not_match_regex_list": lambda v, a: not any(_matches(v, p) for p in a["regex_list"]),
    "expect_column_value_lengths_to_be_between": _length,
    "expect_column_value_lengths_to_equal": lambda v, a: len(_text(v)) == int(a["value"]),
    "expect_column_values_to_match_strftime_format": _strftime,
}
