"""Asking Great Expectations: a frame and some expectations in, one answer for each out."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from .suites import CHECK_NAME, BoundExpectation, first_line, load_ge

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

QUERY_TYPE = "unexpected_rows_expectation"

# Great Expectations puts the frame of a SQL expectation into a view of one fixed name in the session, so two
# threads that share a session would read each other's rows.
_one_query_at_a_time = threading.Lock()


@dataclass(frozen=True)
class Answer:
    """What Great Expectations said about one expectation."""

    success: bool = False
    result: dict[str, Any] = field(default_factory=dict)
    error: str | None = None

    @property
    def is_by_row(self) -> bool:
        """Whether single rows were judged, rather than a value of the whole."""
        return "unexpected_count" in self.result and "element_count" in self.result


def ask(frame: DataFrame, suite: Sequence[BoundExpectation], result_format: dict[str, Any]) -> dict[str, Answer]:
    """Ask all at once, for few Spark jobs.

    One bad aggregate spoils its whole bundle, so those that erred are asked again in ever smaller groups,
    until each that still errs has done so alone.
    """
    answers = _ask_together(frame, suite, result_format)
    erred = [b for b in suite if answers[b.name].error]
    if not erred or len(suite) == 1:
        return answers
    if len(erred) < len(suite):
        return answers | ask(frame, erred, result_format)
    half = len(erred) // 2
    return ask(frame, erred[:half], result_format) | ask(frame, erred[half:], result_format)


def _ask_together(
    frame: DataFrame, suite: Sequence[BoundExpectation], result_format: dict[str, Any]
) -> dict[str, Answer]:
    if not suite:
        return {}
    answers = {b.name: Answer(error="the expectation gave no result") for b in suite}
    has_query = any(b.declared.type == QUERY_TYPE for b in suite)
    turn: AbstractContextManager[object] = _one_query_at_a_time if has_query else nullcontext()
    try:
        with turn:
            results = _validator(frame).graph_validate(
                configurations=[b.built.configuration for b in suite],
                runtime_configuration={"result_format": dict(result_format), "catch_exceptions": True},
            )
    except Exception as error:  # whatever it is, it becomes an outcome that blocks
        return {b.name: Answer(error=first_line(error)) for b in suite}
    for result in results:
        answers[result.expectation_config.meta[CHECK_NAME]] = Answer(
            bool(result.success), dict(result.result or {}), _raised(result.exception_info)
        )
    return answers


def _validator(frame: DataFrame) -> Any:
    """Great Expectations on this very frame and its session.

    No data context: it would look for a Spark session of its own (and start one where the default differs
    from the frame's), keep stores, and share state between runs in one process.
    """
    load_ge()
    from great_expectations.core.batch import Batch
    from great_expectations.execution_engine import SparkDFExecutionEngine
    from great_expectations.validator.validator import Validator

    engine = SparkDFExecutionEngine(spark=frame.sparkSession, persist=False)
    data: Any = frame  # annotated as a class there, meant as an instance
    validator = Validator(execution_engine=engine, batches=[Batch(data=data)])
    validator.metrics_calculator.show_progress_bars = False
    return validator


def _raised(info: Any) -> str | None:
    """The first exception's first line; Great Expectations nests them by metric, or does not."""
    if not info:
        return None
    infos = [info] if "raised_exception" in info else list(info.values())
    for one in infos:
        if one.get("raised_exception"):
            return first_line(one.get("exception_message") or "the expectation raised an error")
    return None
