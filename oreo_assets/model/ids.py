"""Ids, checked once at the edge, so that no layer below has to ask whether one can name a path."""

from __future__ import annotations

import re
import secrets
import time
from dataclasses import dataclass

from .errors import UsageError

ID_PATTERN = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}\Z")
_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"


def check_id(value: str, what: str = "id") -> str:
    """The id itself if it is one, else an error that says what an id looks like."""
    if not isinstance(value, str) or not ID_PATTERN.match(value):
        shown = repr(value if len(str(value)) <= 80 else f"{str(value)[:77]}…")
        raise UsageError(
            f"{shown} is not a valid {what}.",
            "Use 1 to 64 of a-z, 0-9, _ and -, beginning with a letter or digit.",
        )
    return value


def new_id(prefix: str) -> str:
    """A new id that sorts by time: 9 characters of milliseconds, 6 of chance."""
    millis = int(time.time() * 1000)
    clock = ""
    for _ in range(9):
        millis, digit = divmod(millis, 32)
        clock = _ALPHABET[digit] + clock
    chance = "".join(secrets.choice(_ALPHABET) for _ in range(6))
    return f"{prefix}_{clock}{chance}"


@dataclass(frozen=True, order=True)
class DatasetRef:
    """A dataset's full name, written `project/dataset` wherever a person reads or types it."""

    project: str
    dataset: str

    def __post_init__(self) -> None:
        check_id(self.project, "project id")
        check_id(self.dataset, "dataset id")

    @classmethod
    def parse(cls, text: str) -> DatasetRef:
        project, slash, dataset = text.partition("/")
        if not slash:
            raise UsageError(
                f"{text!r} does not name a dataset.",
                "Write it as PROJECT/DATASET, for example pr_1001/ds_3201.",
            )
        return cls(project, dataset)

    @property
    def slug(self) -> str:
        """The name where a slash is not to be had (Dagster jobs, lock files)."""
        return f"{self.project}__{self.dataset}"

    def __str__(self) -> str:
        return f"{self.project}/{self.dataset}"
