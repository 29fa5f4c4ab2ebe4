"""A validation run as a page to read: self-contained, for light and dark, and with everything escaped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from ..model.states import Severity
from .documents import RunDocuments, RunFacts
from .outcomes import CheckOutcome, CheckStatus, Scope, Verdict
from .report_style import STYLE

SHOWN_ROWS = 200
_ORDER = (Severity.FATAL, Severity.WARNING, Severity.INFO)


def render_report(run: RunDocuments, change_request_url: str | None = None) -> str:
    """The whole page. It loads nothing and runs nothing, so it can be kept as a file and sent to anybody."""
    facts, verdict = run.facts, run.verdict
    bad = sorted((o for o in run.outcomes if o.status is not CheckStatus.PASSED), key=_weight)
    good = [o for o in run.outcomes if o.status is CheckStatus.PASSED]
    parts = [
        _head(facts, verdict, change_request_url),
        _counts(verdict),
        *(_missing(verdict)),
        _section("What failed", [_failed(o) for o in bad]) if bad else "",
        _section("What passed", [_passed(good)]) if good else "",
        _section("What was checked", [_facts(facts)]),
    ]
    title = f"{facts.dataset} · {facts.change_request_id} · checks"
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f"<title>{escape(title)}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<main>\n"
        + "\n".join(part for part in parts if part)
        + "\n</main>\n</body>\n</html>\n"
    )


def _weight(outcome: CheckOutcome) -> tuple[bool, int, str]:
    return (not outcome.blocks, _ORDER.index(outcome.severity), outcome.name)


def _head(facts: RunFacts, verdict: Verdict, url: str | None) -> str:
    kind, word = ("bad", "Blocked") if verdict.blocks else ("good", "Let through")
    if not verdict.blocks and verdict.failed_warning:
        kind, word = "warn", "Let through, with warnings"
    cr = f"<code>{escape(facts.change_request_id)}</code>"
    linked = f'<a href="{escape(url)}">{cr}</a>' if url else cr
    return (
        f'<header><p class="kicker">Validation report</p><h1>{escape(facts.dataset)}</h1>'
        f'<p class="sub">Change request {linked}, checked {escape(_moment(facts.finished))}</p>'
        f'<p class="verdict {kind}">{word}</p></header>'
    )


def _counts(verdict: Verdict) -> str:
    tiles = [
        ("passed", verdict.passed, "good" if verdict.passed else ""),
        ("failed, fatal", verdict.failed_fatal, "bad" if verdict.failed_fatal else ""),
        ("failed, warning", verdict.failed_warning, "warn" if verdict.failed_warning else ""),
        ("failed, info", verdict.failed_info, "info" if verdict.failed_info else ""),
    ]
    if verdict.errored:
        tiles.append(("of them erred", verdict.errored, "bad"))
    shown = "".join(f'<div class="tile {kind}"><b>{n:,}</b><span>{word}</span></div>' for word, n, kind in tiles)
    return f'<div class="tiles">{shown}</div>'


def _missing(verdict: Verdict) -> list[str]:
    if not verdict.missing:
        return []
    names = ", ".join(f"<code>{escape(name)}</code>" for name in verdict.missing)
    return [f'<p class="note bad">No result came from {names}. A check without a result blocks.</p>']


def _section(title: str, parts: Iterable[str]) -> str:
    return f"<section><h2>{escape(title)}</h2>{''.join(parts)}</section>"


def _failed(outcome: CheckOutcome) -> str:
    erred = outcome.status is CheckStatus.ERROR
    kind = "bad" if outcome.blocks else "warn" if outcome.severity is Severity.WARNING else "info"
    word = "erred" if erred else str(outcome.severity)
    told = [("Expected", outcome.expected)]
    if outcome.observed:
        told.append(("Found", outcome.observed))
    if outcome.observed_before is not None:
        told.append(("On main now", outcome.observed_before))
    if outcome.error:
        told.append(("Error", outcome.error))
    told.append(("Looked at", _scope(outcome)))
    return (
        f'<article class="check {kind}"><h3><code>{escape(outcome.name)}</code> '
        f'<span class="badge {kind}">{word}</span></h3>{_pairs(told)}{_rows(outcome)}</article>'
    )


def _rows(outcome: CheckOutcome) -> str:
    if not outcome.failing:
        return ""
    shown = outcome.failing[:SHOWN_ROWS]
    keys = list(dict.fromkeys(name for row in shown for name in row.key))
    values = list(dict.fromkeys(name for row in shown for name in row.values if name not in keys))
    lines = [
        [row.row_id, *(row.key.get(name) for name in keys), *(row.values.get(name) for name in values)] for row in shown
    ]
    total = outcome.failing_total
    cut = "" if total <= len(shown) else f", the first {len(shown):,} shown"
    kept = f" {len(outcome.failing):,} of them were kept." if outcome.capped and total > len(outcome.failing) else ""
    summary = f"{total:,} failing row{'s' * (total != 1)}{cut}."
    is_open = " open" if len(shown) <= 20 else ""
    return (
        f"<details{is_open}><summary>{summary}{kept}</summary>"
        f'<div class="wide">{_table(["row_id", *keys, *values], lines)}</div></details>'
    )


def _passed(outcomes: Sequence[CheckOutcome]) -> str:
    lines = [[o.name, str(o.severity), o.expected, o.observed] for o in outcomes]
    return f'<div class="wide">{_table(["check", "severity", "expected", "found"], lines)}</div>'


def _facts(facts: RunFacts) -> str:
    return _pairs(
        [
            ("Run", facts.run_id),
            ("Staged version", str(facts.staging_version)),
            ("Content hash", facts.content_hash),
            ("Suite hash", facts.suite_hash),
            ("Started", _moment(facts.started)),
            ("Finished", _moment(facts.finished)),
            ("Great Expectations", facts.ge_version),
        ]
    )


def _pairs(pairs: Iterable[tuple[str, str]]) -> str:
    shown = "".join(f"<dt>{escape(name)}</dt><dd>{escape(value)}</dd>" for name, value in pairs)
    return f"<dl>{shown}</dl>"


def _table(names: Sequence[str], lines: Iterable[Sequence[object]]) -> str:
    head = "".join(f"<th>{escape(name)}</th>" for name in names)
    body = "".join(f"<tr>{''.join(map(_cell, line))}</tr>" for line in lines)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _cell(value: object) -> str:
    return '<td class="null">null</td>' if value is None else f"<td>{escape(str(value))}</td>"


def _scope(outcome: CheckOutcome) -> str:
    what = "the table as it would be" if outcome.scope is Scope.TABLE else "the rows that change"
    return what if outcome.element_count is None else f"{what} ({outcome.element_count:,} values)"


def _moment(text: str) -> str:
    """ISO 8601 in UTC, as people read it."""
    return f"{text[:19].replace('T', ' ')} UTC" if len(text) >= 19 and text[10] == "T" else text
