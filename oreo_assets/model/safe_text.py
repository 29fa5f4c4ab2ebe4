"""Text that somebody else wrote, made fit for where it is shown: a terminal, a list of files, a spreadsheet."""

from __future__ import annotations

import re
from typing import Any

from .errors import UsageError

MAX_FILE_NAME = 200
# Control characters command a terminal, and bidirectional marks make it show something else than what is there.
# Line breaks and tabs are neither. Half a surrogate pair is no text at all.
UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
_FORMULA_SIGNS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?\Z", re.ASCII)


def check_text(text: str, what: str) -> str:
    """The text itself if it is one; bytes of another encoding are none, and no database takes them."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise UsageError(f"The {what} is not text in UTF-8.", "Type it anew.") from error
    return text


def for_terminal(text: str) -> str:
    """The text with what a terminal would obey instead of show written as an escape, such as \\x1b."""
    return UNSAFE.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def for_one_line(text: str) -> str:
    """The same for a name or a path, which has no line breaks to keep."""
    return for_terminal(text).replace("\n", "\\n").replace("\t", "\\t")


def for_file_list(given: str) -> str:
    """What a sender calls a file: its last part, printable and not too long. Empty if nothing is left.

    Only ever shown: what a file is called decides nothing but its ending.
    """
    last = re.split(r"[/\\]", given)[-1]
    name = "".join(c for c in last if c.isprintable()).strip()
    if len(name) <= MAX_FILE_NAME:
        return name
    stem, dot, ending = name.rpartition(".")
    return f"{stem[: MAX_FILE_NAME - 2 - len(ending)]}…{dot}{ending}"[:MAX_FILE_NAME]


def for_spreadsheet(value: Any) -> Any:
    """A value for a CSV or Excel file that people open: text that a spreadsheet would run as a formula is quoted.

    Numbers stay numbers, also where they came as text: -5 is no formula. Everything Oreo writes for a
    spreadsheet goes through here; what it keeps itself (Delta, Parquet, JSON) never does.
    """
    if not isinstance(value, str) or not value.lstrip(" \u00a0").startswith(_FORMULA_SIGNS):
        return value
    return value if _NUMBER.match(value) else f"'{value}"
