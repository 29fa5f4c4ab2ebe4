"""What the checks say, by severity; a click shows the rows that fail."""

from __future__ import annotations

from collections.abc import Sequence

from ....model.errors import NotFoundError
from ....model.states import Severity
from ....quality.outcomes import CheckOutcome, CheckStatus
from ....workflow import review
from ..elements import button, el, link, section, table
from ..notices import empty, notice
from ..words import count, grouped, sign
from .reviewing import Reviewing

_ROWS = 10
_ORDER = (Severity.FATAL, Severity.WARNING, Severity.INFO)


async def draw(on: Reviewing) -> None:
    with section("Verdict", anchor="verdict", flush=True):
        try:
            run = await on.visit.ask(review.checks, on.ref, on.cr_id)
        except NotFoundError:
            empty("Not checked yet.", "The checks run when its rows are staged.")
            return
        with el("div", "o-controls soft small"):
            link("The whole report", f"/reports/{on.ref.project}/{on.ref.dataset}/{run.facts.run_id}")
            el("span", "", " · run ")
            el("code", "", run.facts.run_id)
        outcomes = run.outcomes
        failed = [o for severity in _ORDER for o in outcomes if _failed(o) and o.severity is severity]
        passed = [o for o in outcomes if not _failed(o)]
        _missing(run.verdict.missing)
        for outcome in failed:
            _check(on, outcome)
        if not failed and not run.verdict.missing:
            with el("div", "o-check"):
                sign("passed")
                el("b", "", f"All {grouped(len(passed))} checks passed.")
        if passed:
            _passed(on, passed, "Show them" if not failed else f"{count(len(passed), 'check')} passed")


def _failed(outcome: CheckOutcome) -> bool:
    return outcome.status is not CheckStatus.PASSED


def _missing(names: Sequence[str]) -> None:
    if names:
        notice("bad", f"No result from {', '.join(names)}.", "A check that says nothing blocks. Have it checked again.")


def _check(on: Reviewing, outcome: CheckOutcome) -> None:
    with el("div", "o-check"):
        sign(str(outcome.severity) if _failed(outcome) else "passed")
        with el("div", "o-row"):
            el("b", "wrap", outcome.name)
            told = "erred" if outcome.status is CheckStatus.ERROR else "failed" if _failed(outcome) else "passed"
            el("span", "soft small", f"{outcome.severity}, {told}")
        if outcome.failing_total:
            _failing_rows(on, outcome)
        with el("dl", "detail"):
            _pair("Expected", outcome.expected)
            _pair("Found", outcome.error or outcome.observed)
            if outcome.observed_before is not None:
                _pair("On main now", outcome.observed_before)
            _pair("Looked at", "the rows that change" if outcome.scope == "rows" else "the table after the merge")
        if outcome.failing:
            _first_rows(outcome)


def _failing_rows(on: Reviewing, outcome: CheckOutcome) -> None:
    async def show() -> None:
        if on.show_failing:
            await on.show_failing(outcome.name)
        else:
            on.failing_wanted = outcome.name

    button(f"Show {count(outcome.failing_total, 'failing row')}", show, "small")


def _first_rows(outcome: CheckOutcome) -> None:
    names = list(dict.fromkeys(name for row in outcome.failing[:_ROWS] for name in row.values))
    with el("details", "o-fold more"):
        shown = len(outcome.failing[:_ROWS])
        some = "Failing rows" if shown == outcome.failing_total else f"The first {shown} failing rows"
        el("summary", "", some)
        with table("row_id", *names, caption=f"Rows that fail {outcome.name}"):
            for row in outcome.failing[:_ROWS]:
                with el("tr"):
                    el("td", "wrap", row.row_id)
                    for name in names:
                        value = row.values.get(name)
                        el("td", "soft" if value is None else "wrap", "null" if value is None else value)


def _pair(name: str, text: str) -> None:
    with el("div"):
        el("dt", "", name)
        el("dd", "wrap", text)


def _passed(on: Reviewing, passed: Sequence[CheckOutcome], words: str) -> None:
    with el("details"):
        el("summary", "", words)
        for outcome in passed:
            _check(on, outcome)
