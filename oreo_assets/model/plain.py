"""Values as JSON has them: one rule for every face, so that all of them say the same number the same way."""

from __future__ import annotations

import json
import math
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any

from .safe_text import UNSAFE


def plain(value: Any) -> Any:
    """The value as JSON has it. A decimal is a number where a float says exactly the same, else text."""
    if value is None or isinstance(value, (bool, int)):
        return value
    if isinstance(value, str):
        return str(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, Decimal):
        near = float(value)
        return near if math.isfinite(near) and Decimal(repr(near)) == value else str(value)
    if isinstance(value, (date, datetime, time)):
        return value.isoformat()
    if isinstance(value, dict):
        return {str(name): plain(item) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, (bytes, bytearray)):
        return bytes(value).hex()
    return str(value)


def json_bytes(document: Any, indent: int | None = None) -> bytes:
    """One JSON document. What a terminal would obey, and half a surrogate pair, become their JSON escapes."""
    text = json.dumps(plain(document), ensure_ascii=False, allow_nan=False, indent=indent)
    return UNSAFE.sub(lambda found: f"\\u{ord(found[0]):04x}", text).encode("utf-8")
