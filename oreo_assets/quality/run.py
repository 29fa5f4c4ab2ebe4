"""Running a dataset's suite on rows: one outcome per expectation, whatever happens."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..model.spec import ROW_ID, DatasetSpec, Expectation
from .frames import FAILING_ROWS_KEPT, failing_row, key_columns
from .ge import QUERY_TYPE, Answer, ask
from .outcomes import CheckOutcome, CheckStatus, FailingRow, Scope, json_safe
from .relative import Finding, against_main, on_empty_main
from .scopes import is_about_columns, scope_of
from .suites import BoundExpectation, bind_suite
from .words import declared_words, rows_words, value_words

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def validate(
    spec: DatasetSpec,
    rows: DataFrame,
    *,
    table: DataFrame | None = None,
    before: DataFrame | None = None,
    keep: int = FAILING_ROWS_KEPT,
) -> tuple[CheckOutcome, ...]:
    """Run every expectation of the spec, and say what each found, in the spec's order.

    `rows` are the changed rows as they will be after the merge. Where `table`, the table that the merge would
    give, is passed too, expectations about the table as a whole run on it, and so do those with
    `relative: main`; those also run on `before`, main as it is now (without it, they are judged like any other).
    An expectation that errs becomes an outcome that blocks; only a frame that cannot be read at all raises:
    that is no fault of the rows.
    """
    bound = bind_suite(spec)
    whole = [b for b in bound if table is not None and _is_about_table(b.declared)]
    single = [b for b in bound if b not in whole]
    outcomes: dict[str, CheckOutcome] = {}
    if single:
        outcomes |= _outcomes(_run(spec, rows, Scope.ROWS, keep, single))
    if whole and table is not None:
        found = _run(spec, table, Scope.TABLE, keep, whole)
        outcomes |= _outcomes(found)
        if before is not None:
            outcomes |= _relative(spec, before, [b for b in whole if b.declared.relative], found)
    return tuple(outcomes[b.name] for b in bound)


def about_the_table(spec: DatasetSpec) -> DatasetSpec:
    """The spec with only those expectations that other rows of main can make fail."""
    return spec.model_copy(update={"expectations": [e for e in spec.expectations if _is_about_table(e)]})


def columns_looked_at(spec: DatasetSpec) -> set[str] | None:
    """The columns that checks of single rows read; None if one of them does not say which."""
    single = [e for e in spec.expectations if not _is_about_table(e)]
    if any(e.arguments.keys() & {"row_condition", "condition_parser"} or not _columns(e) for e in single):
        return None
    return {c for e in single for c in _columns(e)}


def _is_about_table(declared: Expectation) -> bool:
    return declared.relative is not None or scope_of(declared.type) is Scope.TABLE


def _relative(
    spec: DatasetSpec, main: DataFrame, suite: Sequence[BoundExpectation], found: dict[str, Finding]
) -> dict[str, CheckOutcome]:
    """Judge what was found on the result of the merge by what main is now."""
    if not suite:
        return {}
    if not main.limit(1).collect():
        return {b.name: on_empty_main(found[b.name]) for b in suite}
    # What is wrong with main now is only counted: its rows are not the ones under review.
    now = _run(spec, main, Scope.TABLE, 0, suite)
    return {b.name: against_main(b.declared, found[b.name], now[b.name]) for b in suite}


def _outcomes(found: dict[str, Finding]) -> dict[str, CheckOutcome]:
    return {name: finding.outcome for name, finding in found.items()}


def _run(
    spec: DatasetSpec, frame: DataFrame, scope: Scope, keep: int, suite: Sequence[BoundExpectation]
) -> dict[str, Finding]:
    """Expectations about the columns themselves see them as declared, without the row_id that Oreo adds."""
    about_columns = [b for b in suite if is_about_columns(b.declared.type) and ROW_ID not in spec.column_names]
    others = [b for b in suite if b not in about_columns]
    found = _Pass(spec, frame, scope, keep).findings(others)
    if about_columns:
        found |= _Pass(spec, frame.drop(ROW_ID), scope, keep).findings(about_columns)
    return found


@dataclass(frozen=True)
class _Pass:
    """Some expectations on one frame.

    They are asked twice, because rows cost a query per expectation: first for counts, bundled into few Spark
    jobs; then for rows, only where there are any.
    """

    spec: DatasetSpec
    frame: DataFrame
    scope: Scope
    keep: int

    def findings(self, suite: Sequence[BoundExpectation]) -> dict[str, Finding]:
        runnable = [b for b in suite if b.built is not None]
        counted = ask(self.frame, runnable, {"result_format": "BASIC", "partial_unexpected_count": 0})
        if any(answer.error for answer in counted.values()):
            self.frame.limit(1).collect()
        detailed = self._details([b for b in runnable if not counted[b.name].error], counted)
        return {
            b.name: self._finding(b.declared, counted.get(b.name, Answer(error=b.problem)), detailed.get(b.name))
            for b in suite
        }

    def _details(self, suite: Sequence[BoundExpectation], counted: dict[str, Answer]) -> dict[str, Answer]:
        queries = [b for b in suite if b.declared.type == QUERY_TYPE and not counted[b.name].success and self.keep]
        mapped = [b for b in suite if self._has_details(counted[b.name])]
        if not queries and not mapped:
            return {}
        # SUMMARY limits the rows on the server, where COMPLETE would fetch all of them; a SQL expectation
        # gives its rows only in COMPLETE, and limits them by itself.
        by_row = {
            "result_format": "SUMMARY",
            "partial_unexpected_count": max(self.keep, 1),
            "unexpected_index_column_names": key_columns(self.spec, self.frame),
        }
        return ask(self.frame, mapped, by_row) | ask(self.frame, queries, {"result_format": "COMPLETE"})

    def _has_details(self, counted: Answer) -> bool:
        """Whether there are rows to name, or (checks of distinct values) values that are too many or missing."""
        if counted.is_by_row:
            return bool(self.keep and counted.result["unexpected_count"])
        return bool(counted.result.get("unexpected_count") or counted.result.get("missing_count"))

    def _finding(self, declared: Expectation, counted: Answer, detailed: Answer | None) -> Finding:
        # The details of a check of the whole are its value; those of a check of rows are only some of the rows.
        whole = detailed if detailed and not detailed.error and not counted.is_by_row else counted
        return Finding(self._outcome(declared, counted, detailed), whole)

    def _outcome(self, declared: Expectation, counted: Answer, detailed: Answer | None) -> CheckOutcome:
        result = counted.result
        total = 0
        if counted.is_by_row:
            total = int(result["unexpected_count"] or 0)
        elif declared.type == QUERY_TYPE:
            total = int(result.get("observed_value") or 0)
        failing = self._failing(declared, detailed)[: self.keep]
        status = CheckStatus.PASSED if counted.success else CheckStatus.FAILED
        if counted.error:
            status, observed = CheckStatus.ERROR, "no result"
        elif counted.is_by_row:
            observed = rows_words(total, result["element_count"])
        else:
            observed = value_words(detailed.result if detailed and not detailed.error else result)
        return CheckOutcome(
            name=declared.check_name,
            type=declared.type,
            severity=declared.severity,
            status=status,
            scope=self.scope,
            expected=declared_words(declared),
            observed=observed,
            failing_total=total,
            failing=failing,
            capped=len(failing) < total,
            element_count=result.get("element_count"),
            error=counted.error,
            kwargs=json_safe(declared.arguments),
        )

    def _failing(self, declared: Expectation, detailed: Answer | None) -> tuple[FailingRow, ...]:
        if detailed is None:
            return ()
        if declared.type == QUERY_TYPE:
            found = detailed.result.get("details", {}).get("unexpected_rows") or []
            rows = [failing_row(self.spec, cells, [c for c in cells if c != ROW_ID]) for cells in found]
        else:
            looked_at = _columns(declared)
            found = detailed.result.get("partial_unexpected_index_list") or []
            rows = [failing_row(self.spec, cells, looked_at) for cells in found]
        return tuple(sorted(rows, key=lambda row: row.row_id))


def _columns(declared: Expectation) -> list[str]:
    arguments = declared.arguments
    one_by_one = [arguments.get(name) for name in ("column", "column_A", "column_B")]
    return [c for c in (arguments.get("column_list") or one_by_one) if c]
