from __future__ import annotations

import json
from dataclasses import replace
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path

import pytest

from oreo_assets.model.errors import NotFoundError
from oreo_assets.model.states import Severity
from oreo_assets.quality.documents import RunFacts, full, summary
from oreo_assets.quality.outcomes import (
    CheckOutcome,
    CheckStatus,
    FailingRow,
    Scope,
    Verdict,
    as_text,
    json_safe,
)
from oreo_assets.quality.store import read_run, write_run

FAILED = CheckOutcome(
    name="positive",
    type="expect_column_values_to_be_between",
    severity=Severity.WARNING,
    status=CheckStatus.FAILED,
    scope=Scope.ROWS,
    expected="amount is at least 0",
    observed="1 of 2 rows does not meet it",
    failing_total=1,
    failing=(FailingRow("r1", {"order_id": "ö1", "line": 1}, {"amount": "-1.00", "note": None}),),
    element_count=2,
    kwargs={"column": "amount", "min_value": 0},
)
PASSED = replace(FAILED, name="known", status=CheckStatus.PASSED, failing=(), failing_total=0)
ERRED = replace(PASSED, name="erred", status=CheckStatus.ERROR, severity=Severity.INFO, error="no such column")
FACTS = RunFacts(
    run_id="val_1",
    dataset="pr_1/orders",
    change_request_id="cr_1",
    staging_version=3,
    content_hash="c0ffee",
    suite_hash="beef",
    ge_version="1.24.1",
    started="2024-01-01T00:00:00+00:00",
    finished="2024-01-01T00:00:01+00:00",
)


@pytest.mark.parametrize("outcome", [FAILED, PASSED, ERRED])
def test_an_outcome_survives_json(outcome: CheckOutcome) -> None:
    assert CheckOutcome.from_json(json.loads(json.dumps(outcome.as_json(), allow_nan=False))) == outcome


def test_values_that_json_does_not_know_are_told_apart() -> None:
    values = [
        Decimal("1.10"),
        float("nan"),
        float("inf"),
        date(2024, 1, 2),
        datetime(2024, 1, 2, 3),
        {2, 1},
        b"\x01",
    ]
    assert json_safe(values) == ["1.10", "nan", "inf", "2024-01-02", "2024-01-02T03:00:00", [1, 2], "01"]
    assert (as_text(None), as_text(True), as_text(Decimal("0.00"))) == (None, "true", "0.00")


def test_a_verdict_counts_by_severity_and_blocks_on_errors() -> None:
    assert not Verdict.of([FAILED, PASSED]).blocks
    verdict = Verdict.of([FAILED, PASSED, ERRED])
    assert (verdict.passed, verdict.failed_warning, verdict.failed_info, verdict.errored) == (1, 1, 1, 1)
    assert verdict.blocks
    assert Verdict.from_json(json.loads(json.dumps(verdict.as_json()))) == verdict


def test_a_declared_check_without_an_outcome_blocks() -> None:
    verdict = Verdict.of([PASSED], declared=["known", "forgotten"])
    assert (verdict.missing, verdict.failed_fatal, verdict.blocks) == (("forgotten",), 1, True)


def test_a_run_is_read_back_as_it_was_written(tmp_path: Path) -> None:
    outcomes = (FAILED, PASSED)
    verdict = Verdict.of(outcomes)
    folder = tmp_path / "audit" / "validation_runs" / "val_1"
    write_run(folder, summary(FACTS, outcomes, verdict), full(FACTS, outcomes, verdict))
    write_run(folder, summary(FACTS, outcomes, verdict), full(FACTS, outcomes, verdict))
    assert sorted(p.name for p in folder.iterdir()) == ["full.json", "summary.json"]
    run = read_run(folder)
    assert (run.facts, run.verdict, run.outcomes) == (FACTS, verdict, outcomes)
    assert run.summary["suite_hash"] == "beef"
    assert [c["failing_total"] for c in run.summary["checks"]] == [1, 0]
    assert all("failing" not in c for c in run.summary["checks"])


def test_a_run_without_its_summary_is_not_a_run(tmp_path: Path) -> None:
    write_run(tmp_path, {}, {})
    (tmp_path / "summary.json").unlink()
    with pytest.raises(NotFoundError):
        read_run(tmp_path)
