"""`relative: main`: a check that fails only if the merge would make things worse than they are now.

Such a check, of rows or of the whole, is judged on the table that the merge would give, and on main as it is.
It passes if the result meets it. If not, it still passes if main does not meet it either and is at least as
far off:

- checks of single rows: the share of rows that do not meet it is no larger (an equal share is no worse);
- values with bounds (mean, row count, quantiles, rows of a SQL query): no value lies further outside its bounds;
- sets of values: nothing is unexpected or missing that is not so in main;
- all others: what is observed is the same.

A main without rows meets nothing and fails nothing: then the check is judged like any other. An error on
either side says nothing about the rows, so it blocks.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from decimal import Decimal
from fractions import Fraction
from typing import Any

from ..model.spec import Expectation
from .ge import QUERY_TYPE, Answer
from .outcomes import CheckOutcome, CheckStatus, json_safe

EMPTY_MAIN = "main has no rows"
# Sums of floating point numbers differ a little with the order of the rows; that is not worse.
_ROUNDING = Fraction(1, 10**12)


@dataclass(frozen=True)
class Finding:
    """An outcome, and the raw answer it was made of."""

    outcome: CheckOutcome
    answer: Answer


def on_empty_main(now: Finding) -> CheckOutcome:
    return replace(now.outcome, observed_before=EMPTY_MAIN)


def against_main(declared: Expectation, now: Finding, before: Finding) -> CheckOutcome:
    """The outcome on the result of the merge, in the light of what main is now."""
    outcome, seen = now.outcome, before.outcome.observed
    if outcome.status is CheckStatus.ERROR:
        return outcome
    if before.outcome.status is CheckStatus.ERROR:
        return replace(
            outcome,
            status=CheckStatus.ERROR,
            error=f"in main now: {before.outcome.error}",
            observed_before=seen,
        )
    if outcome.status is CheckStatus.PASSED:
        return replace(outcome, observed_before=seen)
    no_worse = before.outcome.status is CheckStatus.FAILED and _no_worse(declared, now.answer, before.answer)
    return replace(
        outcome,
        status=CheckStatus.PASSED if no_worse else CheckStatus.FAILED,
        observed=f"{outcome.observed}; in main now {seen}: {'no worse' if no_worse else 'worse'}",
        observed_before=seen,
    )


def _no_worse(declared: Expectation, now: Answer, before: Answer) -> bool:
    """Whether two failures are such that the first is at most as bad as the second."""
    if now.is_by_row and before.is_by_row:
        return _share(now) <= _share(before)
    ours, theirs = (_distances(declared, answer.result) for answer in (now, before))
    if ours and theirs:
        return all(a.outside <= b.outside + a.slack for a, b in zip(ours, theirs, strict=True))
    if "unexpected_count" in now.result or "missing_count" in now.result:
        return all(_is_within(now.result, before.result, kind) for kind in ("unexpected", "missing"))
    return _same(now.result.get("observed_value"), before.result.get("observed_value"))


def _share(answer: Answer) -> Fraction:
    return Fraction(int(answer.result["unexpected_count"] or 0), int(answer.result["element_count"] or 0) or 1)


@dataclass(frozen=True)
class _Distance:
    """How far a value lies outside its bounds; on a bound that is not allowed, 0."""

    outside: Fraction
    slack: Fraction


def _distances(declared: Expectation, result: dict[str, Any]) -> list[_Distance] | None:
    """One for each bounded value; None if there are no bounds or a value has no distance, as text or null."""
    observed = result.get("observed_value")
    values = observed.get("values", []) if isinstance(observed, dict) else [observed]
    bounds = _bounds(declared)
    if len(values) != len(bounds):
        return None
    found = [_distance(value, *pair) for value, pair in zip(values, bounds, strict=True)]
    known = [d for d in found if d is not None]
    return known if len(known) == len(found) else None


def _distance(observed: Any, low: Any, high: Any) -> _Distance | None:
    value, floor, ceiling = _number(observed), _number(low), _number(high)
    if value is None or (floor is None) != (low is None) or (ceiling is None) != (high is None):
        return None
    below = Fraction(0) if floor is None else floor - value
    above = Fraction(0) if ceiling is None else value - ceiling
    return _Distance(max(below, above, Fraction(0)), abs(value) * _ROUNDING)


def _bounds(declared: Expectation) -> list[tuple[Any, Any]]:
    arguments = declared.arguments
    if declared.type == QUERY_TYPE:
        return [(None, 0)]
    if "quantile_ranges" in arguments:
        return [(low, high) for low, high in arguments["quantile_ranges"]["value_ranges"]]
    if declared.type.endswith("_to_equal"):
        return [(arguments.get("value"), arguments.get("value"))]
    if declared.type.endswith("_to_be_less_than"):
        return [(None, arguments.get("threshold"))]
    if "min_value" in arguments or "max_value" in arguments:
        return [(arguments.get("min_value"), arguments.get("max_value"))]
    return []


def _number(value: Any) -> Fraction | None:
    """Numbers exactly, moments as seconds; anything else has no distance."""
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value)
        except ValueError:
            return None
    if isinstance(value, date) and not isinstance(value, datetime):
        value = datetime(value.year, value.month, value.day)
    if isinstance(value, datetime):
        moment = value if value.tzinfo else value.replace(tzinfo=UTC)
        return Fraction(str(moment.timestamp()))
    try:
        return Fraction(value if isinstance(value, (int, Decimal)) else str(value))
    except (ValueError, TypeError, OverflowError):
        return None  # nan and the infinities


def _is_within(now: dict[str, Any], before: dict[str, Any], kind: str) -> bool:
    """Whether all values of a kind are among those of main.

    Only some of them may have been listed; then nothing but the same list will do.
    """
    count, values = f"{kind}_count", f"partial_{kind}_list"
    ours, theirs = (_texts(result.get(values)) for result in (now, before))
    if len(ours) < (now.get(count) or 0) or len(theirs) < (before.get(count) or 0):
        return now.get(count) == before.get(count) and ours == theirs
    return ours <= theirs


def _texts(values: Any) -> set[str]:
    return {repr(json_safe(v)) for v in values or ()}


def _same(now: Any, before: Any) -> bool:
    if isinstance(now, (list, tuple, set)) and isinstance(before, (list, tuple, set)):
        return sorted(map(repr, json_safe(list(now)))) == sorted(map(repr, json_safe(list(before))))
    return json_safe(now) == json_safe(before)
