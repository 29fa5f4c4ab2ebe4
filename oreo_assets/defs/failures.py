"""Our errors as Dagster's: the step fails with the sentence that says what to do."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import dagster as dg

from ..model.errors import OreoError, error_of


@contextmanager
def told_to_dagster() -> Iterator[None]:
    """An error that a retry will not cure fails the step at once; others may be tried again."""
    try:
        yield
    except OreoError as error:
        raise dg.Failure(
            description=f"{error.message} {error.remedy}".strip(),
            metadata={"code": error.code, "message": error.message, "remedy": error.remedy},
            allow_retries=error.retryable,
        ) from error


def from_dagster(metadata: Mapping[str, dg.MetadataValue]) -> OreoError | None:
    """The error that `told_to_dagster` put into a failure's metadata."""
    told = {name: str(value.value) for name, value in metadata.items()}
    if "code" not in told:
        return None
    return error_of(told["code"], told["message"], told["remedy"])
