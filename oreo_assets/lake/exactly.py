"""Values of filters that mean exactly what they say, and patterns that are matched in one pass."""

from __future__ import annotations

import math
import re
from decimal import Decimal, InvalidOperation

_DATE = r"\d{4}-\d{2}-\d{2}"
_MOMENT = _DATE + r"([T ]\d{2}:\d{2}(:\d{2}(\.\d{1,6})?)?"
_ZONE = r"(Z|[+-]\d{2}(:?\d{2})?)?"
_EXACT_TEXT = {
    "DATE": re.compile(_DATE, re.ASCII),
    "TIMESTAMP": re.compile(_MOMENT + ")?", re.ASCII),
    "TIMESTAMP WITH TIME ZONE": re.compile(_MOMENT + _ZONE + ")?", re.ASCII),
}
_WHOLE = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT")


def is_exact(given: str, found: str, kind: str) -> bool:
    """Whether what DuckDB made of a text is what was meant. It rounds numbers, cuts times, and knows `epoch`."""
    text = given.strip()
    if kind in _WHOLE or kind.startswith("DECIMAL"):
        try:
            return Decimal(text) == Decimal(found)
        except InvalidOperation:
            return False
    if kind in ("FLOAT", "DOUBLE"):
        return math.isfinite(float(found))
    if pattern := _EXACT_TEXT.get(kind):
        return pattern.fullmatch(text) is not None
    return True


def linear_pattern(like: str) -> str | None:
    """A LIKE pattern as a regular expression, where DuckDB would try it in ever more ways; None where it does not.

    With both % and _ in it, a pattern of a few characters can keep DuckDB busy for hours on one long text.
    Its regular expressions take one pass, whatever the pattern.
    """
    if "%" not in like or "_" not in like:
        return None
    return "(?s)" + "".join({"%": ".*", "_": "."}.get(c) or re.escape(c) for c in re.sub("%+", "%", like))
