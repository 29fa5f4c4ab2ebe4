"""A dataset's declared expectations as Great Expectations' own objects."""

from __future__ import annotations

import logging
import re
import warnings
from dataclasses import dataclass
from functools import cache
from typing import Any

from ..model.spec import DatasetSpec, Expectation
from ..model.states import Severity

_GE_SEVERITY: dict[Severity, Any] = {
    Severity.FATAL: "critical",
    Severity.WARNING: "warning",
    Severity.INFO: "info",
}
CHECK_NAME = "check_name"
_PYTHON_ERROR = re.compile(r"[\w.]+(Error|Exception): ")


@dataclass(frozen=True)
class BoundExpectation:
    """A declared expectation and what Great Expectations made of it: `built`, or why it could not be."""

    declared: Expectation
    built: Any = None
    problem: str | None = None

    @property
    def name(self) -> str:
        return self.declared.check_name


def bind_suite(spec: DatasetSpec) -> tuple[BoundExpectation, ...]:
    """Every expectation of the spec, in its order. One that cannot be built says so and hinders no other."""
    load_ge()
    return tuple(_bind(expectation) for expectation in spec.expectations)


@cache
def load_ge() -> None:
    """Import Great Expectations (seconds, once per process) and keep its chatter out of our logs."""
    logging.getLogger("great_expectations").setLevel(logging.ERROR)
    for module in ("great_expectations", "pyspark", "marshmallow"):
        warnings.filterwarnings("ignore", module=rf"{module}(\.|\Z)")
    # Raised from inside pydantic, so only the text tells whose they are.
    warnings.filterwarnings("ignore", message=r".*\bGX Core\b", category=DeprecationWarning)
    import great_expectations.execution_engine
    import great_expectations.expectations.core
    import great_expectations.validator.validator  # noqa: F401


def _bind(expectation: Expectation) -> BoundExpectation:
    from great_expectations.exceptions import GreatExpectationsError
    from great_expectations.expectations.registry import get_expectation_impl

    arguments = expectation.arguments
    meta = arguments.pop("meta", None)
    try:
        built = get_expectation_impl(expectation.type)(
            **arguments,
            severity=_GE_SEVERITY[expectation.severity],
            meta={**(meta if isinstance(meta, dict) else {}), CHECK_NAME: expectation.check_name},
        )
    except (GreatExpectationsError, ValueError, TypeError, NotImplementedError) as error:
        return BoundExpectation(expectation, problem=_why(error))
    return BoundExpectation(expectation, built=built)


def _why(error: Exception) -> str:
    """Pydantic's errors begin with a headline that says nothing; the details are what helps."""
    details = getattr(error, "errors", None)
    if callable(details):
        return "; ".join(f"{'.'.join(str(p) for p in d['loc'])}: {d['msg']}" for d in details())
    return first_line(error)


def first_line(error: BaseException | str) -> str:
    """The line of an error worth showing: the first, or the Python exception where Spark only hints at it."""
    lines = [line.strip() for line in str(error).strip().splitlines() if line.strip()]
    if not lines:
        return type(error).__name__
    if "Python worker" in lines[0]:
        return next((line for line in reversed(lines) if _PYTHON_ERROR.match(line)), lines[0])
    return lines[0]
