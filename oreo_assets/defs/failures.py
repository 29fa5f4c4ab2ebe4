"""Our errors as Dagster's: the step fails with the sentence that says what to do."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import dagster as dg

from ..model.errors import OreoError


@contextmanager
def told_to_dagster() -> Iterator[None]:
    """An error that a retry will not cure fails the step at once; others may be tried again."""
    try:
        yield
    except OreoError as error:
        raise dg.Failure(
            description=f"{error.message} {error.remedy}".strip(),
            metadata={"code": error.code, "remedy": error.remedy},
            allow_retries=error.retryable,
        ) from error
