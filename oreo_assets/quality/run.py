"""Running a dataset's suite on rows: one outcome per expectation, whatever happens."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..model.spec import ROW_ID, DatasetSpec, Expectation
from .frames import FAILING_ROWS_KEPT, failing_row, kept, key_columns
from .ge import QUERY_TYPE, Answer, ask
from .outcomes import CheckOutcome, CheckStatus, FailingRow, Scope, json_safe
from .scopes import is_about_columns, scope_of
from .suites import BoundExpectation, bind_suite
from .words import expected_words, rows_words, value_words

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def validate(
    spec: DatasetSpec,
    rows: DataFrame,
    *,
    table: DataFrame | None = None,
    keep: int = FAILING_ROWS_KEPT,
) -> tuple[CheckOutcome, ...]:
    """Run every expectation of the spec, and say what each found, in the spec's order.

    `rows` are the changed rows as they will be after the merge. Where `table`, the table that the merge would
    give, is passed too, expectations about the table as a whole run on it. An expectation that errs becomes
    an outcome that blocks; only a frame that cannot be read at all raises: that is no fault of the rows.
    """
    bound = bind_suite(spec)
    whole = [b for b in bound if table is not None and scope_of(b.declared.type) is Scope.TABLE]
    single = [b for b in bound if b not in whole]
    outcomes: dict[str, CheckOutcome] = {}
    if single:
        with kept(rows) as frame:
            outcomes |= _run(spec, frame, Scope.ROWS, keep, single)
    if whole and table is not None:
        # Not cached: its owner knows how large it is, and scans of the few columns needed are cheap.
        outcomes |= _run(spec, table, Scope.TABLE, keep, whole)
    return tuple(outcomes[b.name] for b in bound)


def _run(
    spec: DatasetSpec, frame: DataFrame, scope: Scope, keep: int, suite: Sequence[BoundExpectation]
) -> dict[str, CheckOutcome]:
    """Expectations about the columns themselves see them as declared, without the row_id that Oreo adds."""
    about_columns = [b for b in suite if is_about_columns(b.declared.type) and ROW_ID not in spec.column_names]
    others = [b for b in suite if b not in about_columns]
    outcomes = _Pass(spec, frame, scope, keep).outcomes(others)
    if about_columns:
        outcomes |= _Pass(spec, frame.drop(ROW_ID), scope, keep).outcomes(about_columns)
    return outcomes


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

    def outcomes(self, suite: Sequence[BoundExpectation]) -> dict[str, CheckOutcome]:
        runnable = [b for b in suite if b.built is not None]
        counted = ask(self.frame, runnable, {"result_format": "BASIC", "partial_unexpected_count": 0})
        if any(answer.error for answer in counted.values()):
            self.frame.limit(1).collect()
        detailed = self._details([b for b in runnable if not counted[b.name].error], counted)
        return {
            b.name: self._outcome(b.declared, counted.get(b.name, Answer(error=b.problem)), detailed.get(b.name))
            for b in suite
        }

    def _details(self, suite: Sequence[BoundExpectation], counted: dict[str, Answer]) -> dict[str, Answer]:
        queries = [b for b in suite if b.declared.type == QUERY_TYPE and not counted[b.name].success]
        mapped = [b for b in suite if counted[b.name].result.get("unexpected_count")]
        if not queries and not mapped:
            return {}
        # SUMMARY limits the rows on the server, where COMPLETE would fetch all of them; a SQL expectation
        # gives its rows only in COMPLETE, and limits them by itself.
        by_row = {
            "result_format": "SUMMARY",
            "partial_unexpected_count": self.keep,
            "unexpected_index_column_names": key_columns(self.spec, self.frame),
        }
        return ask(self.frame, mapped, by_row) | ask(self.frame, queries, {"result_format": "COMPLETE"})

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
            expected=expected_words(declared.type, declared.arguments),
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
