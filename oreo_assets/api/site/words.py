"""How the site says things: numbers, sizes, times, states, hashes."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from ...model.plain import plain
from ...model.states import CRState
from .elements import Html, el

THIN = "\u202f"
_STATE_WORDS = {
    CRState.RECEIVED: ("received", "busy"),
    CRState.CONVERTED: ("converted", "busy"),
    CRState.STAGED: ("staged", "busy"),
    CRState.CHECKED: ("checked", "busy"),
    CRState.IN_REVIEW: ("in review", "warn"),
    CRState.APPROVED: ("approved", "good"),
    CRState.MERGING: ("merging", "busy"),
    CRState.MERGED: ("merged", "good"),
    CRState.CLOSED: ("merged", "good"),
    CRState.REFUSED: ("refused", "bad"),
    CRState.REJECTED: ("rejected", "bad"),
    CRState.WITHDRAWN: ("withdrawn", ""),
    CRState.CONFLICTED: ("conflicted", "odd"),
    CRState.FAILED: ("failed", "bad"),
    CRState.EXPIRED: ("expired", ""),
}
SIGNS = {
    "inserted": "+",
    "updated": "Δ",
    "deleted": "−",
    "unchanged": "=",
    "conflict": "!",
    "fatal": "F",
    "warning": "W",
    "info": "i",
    "passed": "✓",
}


def grouped(number: int | None) -> str:
    """1 234 567, with thin spaces."""
    return "–" if number is None else f"{number:,}".replace(",", THIN)


def number(value: int | None, classes: str = "") -> Html:
    return el("span", f"num {classes}".strip(), grouped(value))


def compact(value: int | None) -> Html:
    """1.2 M, and the whole number where the reader points at it."""
    text = grouped(value)
    for size, unit in ((10**9, "G"), (10**6, "M"), (10**5, "k")):
        if value is not None and abs(value) >= size:
            text = f"{value / (1000 if unit == 'k' else size):.{0 if unit == 'k' else 1}f}{THIN}{unit}"
            break
    return el("span", "num", text, title=grouped(value))


def count(number_of: int, one: str, many: str = "") -> str:
    """`1 row`, `12 rows`."""
    return f"{grouped(number_of)} {one if number_of == 1 else many or one + 's'}"


def size(number_of_bytes: int | None) -> str:
    if number_of_bytes is None:
        return "–"
    value = float(number_of_bytes)
    for unit in ("B", "kB", "MB", "GB"):
        if value < 1000:
            return f"{value:.0f}{THIN}{unit}" if unit == "B" else f"{value:.1f}{THIN}{unit}"
        value /= 1000
    return f"{value:.1f}{THIN}TB"


def moment(when: datetime | str | None, *, absolute: bool = False) -> Html:
    """A time in the reader's own zone: the browser writes it, from the moment in UTC."""
    if when is None:
        return el("span", "soft", "never")
    iso = when if isinstance(when, str) else when.astimezone(UTC).isoformat()
    return el("time", "num", datetime=iso, data_absolute="" if absolute else None)


def short(text: str | None, length: int = 12) -> Html:
    """The first characters of a hash; all of it where the reader points at it."""
    if not text:
        return el("span", "soft", "–")
    return el("code", "", text if len(text) <= length else f"{text[:length]}…", title=text)


def sign(kind: str) -> Html:
    """A letter or sign in a colour: the colour alone says nothing."""
    return el("span", f"o-sign {kind}", SIGNS[kind], aria_hidden="true")


def state_chip(state: str) -> Html:
    words, kind = _STATE_WORDS[CRState(state)]
    return el("span", f"o-chip {kind}".strip(), words)


def state_words(state: str) -> str:
    return _STATE_WORDS[CRState(state)][0]


def title_of(card: dict[str, Any]) -> str:
    """What a change request is called: the first line of its note."""
    return str(card["note"] or "").strip().partition("\n")[0] or f"{card['mode']} by {card['author']}"


def cell_text(value: Any) -> str | None:
    """A cell as text; null stays null."""
    told = plain(value)
    if told is None or isinstance(told, str):
        return told
    if isinstance(told, bool):
        return "true" if told else "false"
    if isinstance(told, float) and told.is_integer() and abs(told) < 1e15:
        return str(value) if not isinstance(value, float) else f"{told:.0f}"
    return str(value) if not isinstance(told, (dict, list)) else str(told)
