"""The table at the end of the test run: which fault, at which point, and how it ended."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Line:
    point: str
    fault: str
    outcome: str
    detail: str = ""


LINES: list[Line] = []


def note(point: str, fault: str, outcome: str, detail: str = "") -> None:
    LINES.append(Line(point, fault, outcome, detail))


def render() -> list[str]:
    head = Line("crash point", "fault", "outcome", "how")
    widths = [max(len(getattr(line, name)) for line in [head, *LINES]) for name in ("point", "fault", "outcome")]
    return [
        f"{line.point:{widths[0]}}  {line.fault:{widths[1]}}  {line.outcome:{widths[2]}}  {line.detail}".rstrip()
        for line in [head, *LINES]
    ]
