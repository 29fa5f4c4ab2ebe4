"""Validation reports: everything that was found, nothing that a browser would run."""

from __future__ import annotations

import re
from html.parser import HTMLParser

from oreo_assets.model.states import Severity
from oreo_assets.quality import documents
from oreo_assets.quality.documents import RunDocuments, RunFacts
from oreo_assets.quality.outcomes import CheckOutcome, CheckStatus, FailingRow, Scope, Verdict
from oreo_assets.quality.reports import SHOWN_ROWS, render_report

EVIL = "<script>alert('x')</script>\"><img src=x onerror=alert(1)>"
FACTS = RunFacts("vr_1", "shop/orders", "cr_1", 3, "a" * 64, "b" * 64, "1.5", "2026-03-01T12:00:00+00:00", "now")


def _run(*outcomes: CheckOutcome, declared: tuple[str, ...] = ()) -> RunDocuments:
    verdict = Verdict.of(outcomes, declared)
    return RunDocuments(documents.summary(FACTS, outcomes, verdict), documents.full(FACTS, outcomes, verdict))


def _check(name: str, severity: Severity, status: CheckStatus, *failing: FailingRow, **more: object) -> CheckOutcome:
    return CheckOutcome(name, "x", severity, status, Scope.ROWS, "expected", "found", len(failing), failing, **more)


class _Tags(HTMLParser):
    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}

    def handle_data(self, data: str) -> None:
        self.text += data


def test_a_report_shows_every_check_with_its_failing_rows():
    row = FailingRow("A1", {"order_id": "A1"}, {"amount": "-5.00", "note": None})
    page = render_report(
        _run(
            _check("never_negative", Severity.WARNING, CheckStatus.FAILED, row, observed_before="2 rows"),
            _check("has_a_mail", Severity.INFO, CheckStatus.ERROR, error="no such column"),
            _check("not_null", Severity.FATAL, CheckStatus.PASSED),
            declared=("forgotten",),
        )
    )
    shown = _Tags(page).text
    for word in (
        "never_negative",
        "A1",
        "-5.00",
        "null",
        "2 rows",
        "no such column",
        "not_null",
        "forgotten",
        "Blocked",
    ):
        assert word in shown


def test_what_stands_in_cells_and_names_is_only_ever_text():
    row = FailingRow(EVIL, {EVIL: EVIL}, {"amount": EVIL})
    page = render_report(_run(_check(EVIL, Severity.FATAL, CheckStatus.FAILED, row, error=EVIL)), f"/cr/{EVIL}")
    found = _Tags(page)
    assert found.text.count(EVIL) >= 5
    assert not found.tags & {"script", "img", "iframe", "link", "object", "form"}
    assert not {name for name in found.attributes if name.startswith("on") or name == "src"}


def test_a_report_loads_nothing():
    page = render_report(_run(_check("c", Severity.FATAL, CheckStatus.PASSED)))
    assert not re.search(r"https?://|@import|url\(", page)


def test_rows_that_are_not_shown_are_told():
    rows = [FailingRow(f"A{i}", {}, {}) for i in range(SHOWN_ROWS + 50)]
    outcome = _check("c", Severity.WARNING, CheckStatus.FAILED, *rows, capped=True)
    page = _Tags(render_report(_run(CheckOutcome(**{**outcome.__dict__, "failing_total": 9000})))).text
    assert f"9,000 failing rows, the first {SHOWN_ROWS} shown. {SHOWN_ROWS + 50} of them were kept." in page
    assert f"A{SHOWN_ROWS - 1}" in page and f"A{SHOWN_ROWS}" not in page
