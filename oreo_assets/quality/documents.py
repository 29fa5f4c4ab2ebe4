"""The two documents that a validation run leaves behind, and the facts that bind them to their rows."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from .outcomes import CheckOutcome, Verdict, json_safe

FORMAT = 1


@dataclass(frozen=True)
class RunFacts:
    """What exactly was validated, by which suite, when. Times are ISO 8601 in UTC."""

    run_id: str
    dataset: str
    change_request_id: str
    staging_version: int
    content_hash: str
    suite_hash: str
    ge_version: str
    started: str
    finished: str


@dataclass(frozen=True)
class RunDocuments:
    """A run as it is kept: `summary` for lists and gates, `full` with the failing rows."""

    summary: dict[str, Any]
    full: dict[str, Any]

    def as_json(self) -> dict[str, Any]:
        """The full document in the words that scripts rely on."""
        told = {name: value for name, value in self.full.items() if name != "run_id"}
        return {"validation_run_id": self.full["run_id"], **told}

    @property
    def facts(self) -> RunFacts:
        return RunFacts(**{name: self.full[name] for name in RunFacts.__dataclass_fields__})

    @property
    def verdict(self) -> Verdict:
        return Verdict.from_json(self.summary["verdict"])

    @property
    def outcomes(self) -> tuple[CheckOutcome, ...]:
        return tuple(CheckOutcome.from_json(check) for check in self.full["checks"])


def summary(facts: RunFacts, outcomes: Iterable[CheckOutcome], verdict: Verdict) -> dict[str, Any]:
    """The run in short: every check with its counts, no rows."""
    return _document(facts, verdict, [o.without_rows() for o in outcomes])


def full(facts: RunFacts, outcomes: Iterable[CheckOutcome], verdict: Verdict) -> dict[str, Any]:
    """The run with the failing rows that were kept."""
    return _document(facts, verdict, [o.as_json() for o in outcomes])


def _document(facts: RunFacts, verdict: Verdict, checks: list[dict[str, Any]]) -> dict[str, Any]:
    return json_safe({"format": FORMAT, **asdict(facts), "verdict": verdict.as_json(), "checks": checks})
