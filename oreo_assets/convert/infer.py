"""The type of a column that nobody declared, judged by every one of its values.

Safe means: the values can be written back exactly as they came. Leading zeros, a plus sign, blanks, long
digit strings or any mixture make a column text.
"""

from __future__ import annotations

from ..model.types import ColumnType
from .cells import ISO_DATE, ISO_TIME, ISO_ZONE
from .workspace import Workspace

_WHOLE = "0|-?[1-9][0-9]{0,17}"
_DECIMAL = r"-?(0|[1-9][0-9]*)(\.[0-9]+)?"
_TIMESTAMP = f"{ISO_DATE}[T ]{ISO_TIME}{ISO_ZONE}?"
_MAX_DIGITS = 15
_FIRST_ROWS = 2000
_BATCH = 20  # DuckDB plans long lists of expressions slowly


def infer_types(space: Workspace, cells: list[str], lenient: bool) -> list[ColumnType]:
    """A type for each SQL expression in `cells`, judged by the whole table.

    What the first rows rule out need not be asked of the others, so the second pass is a short one.
    """
    types = []
    for at in range(0, len(cells), _BATCH):
        types += _infer_batch(space, cells[at : at + _BATCH], lenient)
    return types


def _infer_batch(space: Workspace, cells: list[str], lenient: bool) -> list[ColumnType]:
    tests = [test for cell in cells for test in _tests(cell)]
    verdicts = list(space.row(f"SELECT {', '.join(tests)} FROM (SELECT * FROM raw LIMIT {_FIRST_ROWS})"))
    undecided = [i for i, verdict in enumerate(verdicts) if verdict is not False]
    if undecided:
        answers = space.row(f"SELECT {', '.join(tests[i] for i in undecided)} FROM raw")
        for i, answer in zip(undecided, answers, strict=True):
            verdicts[i] = answer
    width = len(tests) // len(cells)
    return [ColumnType(_pick(verdicts[i : i + width], lenient)) for i in range(0, len(verdicts), width)]


def _tests(cell: str) -> list[str]:
    """Whether all values are of a kind; NULL where there are no values."""
    digits = f"length(ltrim(replace(ltrim({cell}, '-'), '.', ''), '0')) <= {_MAX_DIGITS}"
    day = f"(regexp_full_match({cell}, '{ISO_DATE}') AND TRY_CAST({cell} AS DATE) >= '0001-01-01')"
    # A timestamp column of a spreadsheet shows midnight as a bare date.
    moment = (
        f"(regexp_full_match({cell}, '{_TIMESTAMP}') AND TRY_CAST(left({cell}, 10) AS DATE) >= '0001-01-01'"
        rf" AND NOT regexp_matches({cell}, '\.[0-9]{{6}}[0-9]*[1-9]'))"
    )
    kinds = (
        f"regexp_full_match({cell}, '{_WHOLE}')",
        f"regexp_full_match({cell}, '{_DECIMAL}') AND {digits}",
        day,
        moment,
        f"{day} OR {moment}",
        f"lower({cell}) IN ('true', 'false')",
    )
    return [f"bool_and(coalesce({kind}, false)) FILTER (WHERE {cell} <> '')" for kind in kinds]


def _pick(verdicts: list[bool | None], lenient: bool) -> str:
    whole, decimal, day, moment, day_or_moment, boolean = verdicts
    if whole:
        return "bigint"
    if decimal:
        return "double"
    if day:
        return "date"
    if moment or (lenient and day_or_moment):
        return "timestamp"
    return "boolean" if boolean else "string"
