"""SQL constraints and not-null columns: what Delta enforces at commit, reported beforehand with the rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..lake.sql import quote_spark
from ..model.errors import SpecError
from ..model.spec import NOT_NULL, DatasetSpec, constraint_check
from ..model.states import Severity
from .constraint_sql import columns_in, problem_with
from .frames import FAILING_ROWS_KEPT, failing_row, key_columns
from .outcomes import CheckOutcome, CheckStatus, Scope
from .suites import first_line
from .words import rows_words

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def check_constraints(spec: DatasetSpec, rows: DataFrame, *, keep: int = FAILING_ROWS_KEPT) -> tuple[CheckOutcome, ...]:
    """One outcome per constraint, and one for all columns declared not nullable. All are fatal.

    As in Delta, a row violates a constraint that is not true for it: false or null.
    """
    rules = _rules(spec)
    if not rules:
        return ()
    return _check_together(spec, rows, rules, keep)


def columns_constrained(spec: DatasetSpec) -> set[str]:
    """The columns that decide whether a row breaks a constraint."""
    return {c for rule in _rules(spec) for c in rule.looked_at}


def validate_constraint_sql(spec: DatasetSpec, spark: SparkSession) -> None:
    """Refuse constraints that cannot be checked row by row: bad SQL, subqueries, chance or the clock."""
    problems = [
        f"constraints.{name}: {problem}"
        for name, text in spec.constraints.items()
        if (problem := problem_with(text, spec, spark))
    ]
    if problems:
        raise SpecError("\n".join(problems), "Write each as a true-or-false expression over the dataset's own columns.")


@dataclass(frozen=True)
class _Rule:
    """A condition that must be true for each row. `broken` is SQL that is true where it is not."""

    name: str
    type: str
    expected: str
    broken: str
    looked_at: list[str]
    kwargs: dict[str, Any]


def _rules(spec: DatasetSpec) -> list[_Rule]:
    rules = [
        _Rule(
            name=constraint_check(name),
            type="constraint",
            expected=text.strip(),
            broken=f"NOT coalesce(({text}\n), false)",
            looked_at=columns_in(text, spec),
            kwargs={"expression": text},
        )
        for name, text in spec.constraints.items()
    ]
    required = [c.name for c in spec.columns if not c.nullable]
    if required:
        rules.append(
            _Rule(
                name=NOT_NULL,
                type="not_null",
                expected=f"{', '.join(required)} {'is' if len(required) == 1 else 'are'} never null",
                broken=" OR ".join(f"{quote_spark(c)} IS NULL" for c in required),
                looked_at=required,
                kwargs={"columns": required},
            )
        )
    return rules


def _check_together(spec: DatasetSpec, rows: DataFrame, rules: Sequence[_Rule], keep: int) -> tuple[CheckOutcome, ...]:
    from pyspark.errors import PySparkException

    try:
        total, counts = _count(rows, rules)
        found = _fetch(spec, rows, [r for r, n in zip(rules, counts, strict=True) if n], keep)
    except PySparkException as error:
        # An expression may fail on a row (overflow, bad cast). It blocks alone, without its neighbours; but
        # rows that cannot be read at all say nothing about any constraint.
        if len(rules) > 1:
            return tuple(o for rule in rules for o in _check_together(spec, rows, [rule], keep))
        rows.limit(1).collect()
        return (_outcome(rules[0], 0, (), None, first_line(error)),)
    return tuple(
        _outcome(rule, count, found.get(rule.name, ()), total) for rule, count in zip(rules, counts, strict=True)
    )


def _count(rows: DataFrame, rules: Sequence[_Rule]) -> tuple[int, list[int]]:
    from pyspark.sql import functions as F

    counts = rows.agg(F.count(F.lit(1)), *[F.expr(f"count_if({rule.broken})") for rule in rules]).collect()[0]
    return counts[0], list(counts[1:])


def _fetch(spec: DatasetSpec, rows: DataFrame, broken: Sequence[_Rule], keep: int) -> dict[str, tuple[Any, ...]]:
    """The violating rows of all broken rules in one job, at most `keep` of each."""
    if not broken:
        return {}
    from pyspark.sql import Window
    from pyspark.sql import functions as F

    keys = key_columns(spec, rows)
    looked_at = sorted({c for rule in broken for c in rule.looked_at} - set(keys))
    names = F.filter(
        F.array(*[F.when(F.expr(rule.broken), F.lit(rule.name)) for rule in broken]), lambda n: n.isNotNull()
    )
    order = Window.partitionBy("__rule").orderBy(*[F.col(quote_spark(c)) for c in keys] or [F.lit(1)])
    found = (
        rows.select(*[F.col(quote_spark(c)) for c in (*keys, *looked_at)], F.explode(names).alias("__rule"))
        .withColumn("__place", F.row_number().over(order))
        .where(F.col("__place") <= keep)
        .orderBy("__rule", "__place")
        .collect()
    )
    rules = {rule.name: rule for rule in broken}
    rows_of: dict[str, list[Any]] = {}
    for row in found:
        cells = row.asDict()
        rule = rules[cells["__rule"]]
        rows_of.setdefault(rule.name, []).append(failing_row(spec, cells, rule.looked_at))
    return {name: tuple(found_rows) for name, found_rows in rows_of.items()}


def _outcome(
    rule: _Rule, count: int, failing: tuple[Any, ...], total: int | None, error: str | None = None
) -> CheckOutcome:
    status = CheckStatus.ERROR if error else CheckStatus.FAILED if count else CheckStatus.PASSED
    return CheckOutcome(
        name=rule.name,
        type=rule.type,
        severity=Severity.FATAL,
        status=status,
        scope=Scope.ROWS,
        expected=rule.expected,
        observed="no result" if total is None else rows_words(count, total),
        failing_total=count,
        failing=failing,
        capped=len(failing) < count,
        element_count=total,
        error=error,
        kwargs=rule.kwargs,
    )
