"""Structured filters: `col=op.value`. Never SQL text; engines bind the values."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from enum import StrEnum

from .errors import UsageError
from .safe_text import check_text


class Op(StrEnum):
    EQ = "eq"
    NEQ = "neq"
    LT = "lt"
    LTE = "lte"
    GT = "gt"
    GTE = "gte"
    IN = "in"
    LIKE = "like"
    IS = "is"


IS_WORDS = ("null", "notnull", "true", "false")
_HELP = "Write --where COLUMN=OP.VALUE with OP one of " + " ".join(Op) + ", for example amount=gte.100."


@dataclass(frozen=True)
class Filter:
    """One condition on one column. Several are joined by AND."""

    column: str
    op: Op
    values: tuple[str, ...]

    @classmethod
    def parse(cls, text: str) -> Filter:
        check_text(text, "filter")
        column, equals, rest = text.partition("=")
        word, dot, value = rest.partition(".")
        if not equals or not dot or not column:
            raise UsageError(f"{text!r} is not a filter.", _HELP)
        if word not in list(Op):
            raise UsageError(f"{word!r} in {text!r} is not an operator.", _HELP)
        op = Op(word)
        if op is Op.IS and value not in IS_WORDS:
            raise UsageError(f"{value!r} cannot follow `is`.", f"Use one of {', '.join(IS_WORDS)}.")
        return cls(column.strip(), op, _list(value, text) if op is Op.IN else (value,))


@dataclass(frozen=True)
class Order:
    """`col.desc` or `col.asc` or plain `col`."""

    column: str
    descending: bool = False

    @classmethod
    def parse(cls, text: str) -> Order:
        column, dot, direction = text.rpartition(".")
        if not dot:
            return cls(text)
        if direction not in ("asc", "desc") or not column:
            raise UsageError(f"{text!r} is not an order.", "Write COLUMN, COLUMN.asc or COLUMN.desc.")
        return cls(column, direction == "desc")


def _list(value: str, text: str) -> tuple[str, ...]:
    """`a,b`, `(a,b)` or `"a,1",b`: commas inside double quotes belong to the value."""
    inner = value[1:-1] if value.startswith("(") and value.endswith(")") else value
    try:
        rows = list(csv.reader([inner], strict=True)) if inner else []
    except csv.Error as error:
        raise UsageError(f"The list in {text!r} cannot be read: {error}.", _HELP) from error
    if not rows or not rows[0]:
        raise UsageError(f"{text!r} lists nothing.", 'Write at least one value, for example status=in.open,"on hold".')
    return tuple(rows[0])
