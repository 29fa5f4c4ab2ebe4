"""What a check found, and what all of them together mean. Plain values that survive a trip through JSON."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from datetime import date, datetime, time
from decimal import Decimal
from enum import StrEnum
from typing import Any

from ..model.states import Severity


class CheckStatus(StrEnum):
    PASSED = "passed"
    FAILED = "failed"
    ERROR = "error"


class Scope(StrEnum):
    """What a check looked at: the rows that change, or the table as it would be after the merge."""

    ROWS = "rows"
    TABLE = "table"


@dataclass(frozen=True)
class FailingRow:
    """One row that does not meet a check: which it is, and the values the check looked at."""

    row_id: str
    key: dict[str, Any]
    values: dict[str, str | None]

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> FailingRow:
        return cls(data["row_id"], dict(data["key"]), dict(data["values"]))


@dataclass(frozen=True)
class CheckOutcome:
    """The result of one check. `failing` keeps a capped part of the rows, `failing_total` counts them all."""

    name: str
    type: str
    severity: Severity
    status: CheckStatus
    scope: Scope
    expected: str
    observed: str
    failing_total: int = 0
    failing: tuple[FailingRow, ...] = ()
    capped: bool = False
    element_count: int | None = None
    error: str | None = None
    kwargs: dict[str, Any] = field(default_factory=dict)
    observed_before: str | None = None
    """What a check that is relative to main saw there."""

    @property
    def blocks(self) -> bool:
        """A check that erred says nothing about the rows, so it blocks whatever its severity."""
        if self.status is CheckStatus.ERROR:
            return True
        return self.status is CheckStatus.FAILED and self.severity is Severity.FATAL

    def as_json(self) -> dict[str, Any]:
        return json_safe(asdict(self))

    def without_rows(self) -> dict[str, Any]:
        """The outcome for a summary: everything but the failing rows themselves."""
        return {name: value for name, value in self.as_json().items() if name != "failing"}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> CheckOutcome:
        return cls(
            **{
                **data,
                "severity": Severity(data["severity"]),
                "status": CheckStatus(data["status"]),
                "scope": Scope(data["scope"]),
                "failing": tuple(FailingRow.from_json(row) for row in data.get("failing", ())),
            }
        )


@dataclass(frozen=True)
class Verdict:
    """All outcomes together. `failed_*` count failed and erred checks by severity; `missing` gave none."""

    passed: int
    failed_fatal: int
    failed_warning: int
    failed_info: int
    errored: int
    missing: tuple[str, ...]
    blocks: bool

    @classmethod
    def of(cls, outcomes: Iterable[CheckOutcome], declared: Iterable[str] = ()) -> Verdict:
        """The verdict on `outcomes`; a check that is declared and has no outcome counts as failed fatal."""
        done = list(outcomes)
        missing = tuple(sorted(set(declared) - {o.name for o in done}))
        bad = [o for o in done if o.status is not CheckStatus.PASSED]
        failed = {severity: sum(o.severity is severity for o in bad) for severity in Severity}
        return cls(
            passed=len(done) - len(bad),
            failed_fatal=failed[Severity.FATAL] + len(missing),
            failed_warning=failed[Severity.WARNING],
            failed_info=failed[Severity.INFO],
            errored=sum(o.status is CheckStatus.ERROR for o in bad),
            missing=missing,
            blocks=bool(missing) or any(o.blocks for o in bad),
        )

    def as_json(self) -> dict[str, Any]:
        return json_safe(asdict(self))

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Verdict:
        return cls(**{**data, "missing": tuple(data["missing"])})


def json_safe(value: Any) -> Any:
    """The value as JSON can carry it: exact decimals and dates as text, NaN and infinities by name."""
    if isinstance(value, StrEnum):
        return value.value
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, Decimal):
        return str(value)
    if isinstance(value, (date, datetime, time)):
        return value.isoformat()
    if isinstance(value, dict):
        return {str(k): json_safe(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [json_safe(v) for v in value]
    if isinstance(value, (set, frozenset)):
        return sorted((json_safe(v) for v in value), key=str)
    if isinstance(value, (bytes, bytearray)):
        return bytes(value).hex()
    if hasattr(value, "item"):
        return json_safe(value.item())
    return str(value)


def as_text(value: Any) -> str | None:
    """A cell as a reviewer reads it; null stays null."""
    safe = json_safe(value)
    if isinstance(safe, bool):
        return "true" if safe else "false"
    return None if safe is None else str(safe)
