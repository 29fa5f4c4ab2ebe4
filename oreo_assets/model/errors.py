"""Named errors. Each says what happened, what to do next, and whether a retry may help.

The faces translate them: the CLI to exit codes, the API to status codes, Dagster to a failed step.
"""

from __future__ import annotations

from enum import IntEnum


class ExitCode(IntEnum):
    """What `oreo` exits with; part of the interface that scripts rely on."""

    DONE = 0
    DEFECT = 1
    USAGE = 2
    REFUSED = 3
    CONFLICT = 4
    NOT_ALLOWED = 5
    NOT_FOUND = 6
    BAD_FILE = 7
    UNAVAILABLE = 8


class OreoError(Exception):
    """The base of every error we raise on purpose."""

    code = "defect"
    exit_code = ExitCode.DEFECT
    http_status = 500
    retryable = False

    def __init__(self, message: str, remedy: str = "", **details: object) -> None:
        super().__init__(message)
        self.message = message
        self.remedy = remedy
        self.details = details

    def as_json(self) -> dict[str, object]:
        body: dict[str, object] = {
            "code": self.code,
            "message": self.message,
            "remedy": self.remedy,
            "retryable": self.retryable,
        }
        if self.details:
            body["details"] = self.details
        return {"error": body}

    def __str__(self) -> str:
        return f"{self.message}\n{self.remedy}" if self.remedy else self.message


class UsageError(OreoError):
    """The call itself is wrong: a bad id, a malformed filter, a dataset file with a mistake."""

    code = "usage"
    exit_code = ExitCode.USAGE
    http_status = 422


class SpecError(UsageError):
    """A dataset file does not say what a dataset file must say."""

    code = "bad_dataset_file"


class RefusedError(OreoError):
    """Checks, constraints or an incompatible schema stand against it."""

    code = "refused"
    exit_code = ExitCode.REFUSED
    http_status = 422


class StateError(OreoError):
    """The thing is not in a state that allows this: not approved, stale, already merged."""

    code = "wrong_state"
    exit_code = ExitCode.CONFLICT
    http_status = 409


class StaleApprovalError(StateError):
    """What is staged is no longer what was approved."""

    code = "stale_approval"


class ConflictError(StateError):
    """Main moved, and the same rows changed on both sides."""

    code = "conflict"


class NotAllowedError(OreoError):
    """Who asks may not do this."""

    code = "not_allowed"
    exit_code = ExitCode.NOT_ALLOWED
    http_status = 403


class NotSignedInError(NotAllowedError):
    """No token, or one nobody knows."""

    code = "not_signed_in"
    http_status = 401


class NotFoundError(OreoError):
    """There is no such thing."""

    code = "not_found"
    exit_code = ExitCode.NOT_FOUND
    http_status = 404


class BadFileError(OreoError):
    """The file that was sent cannot be taken as it is."""

    code = "bad_file"
    exit_code = ExitCode.BAD_FILE
    http_status = 422


class UnavailableError(OreoError):
    """Something needed is not there right now."""

    code = "unavailable"
    exit_code = ExitCode.UNAVAILABLE
    http_status = 503
    retryable = True


class BusyError(UnavailableError):
    """Somebody else holds the lease."""

    code = "busy"


class DefectError(OreoError):
    """An invariant of ours does not hold. Never expected; always worth a report."""


def error_of(code: str, message: str, remedy: str = "") -> OreoError:
    """The error that goes by a code, for where only its words came back (from a run of Dagster)."""
    kinds = [OreoError]
    for kind in kinds:
        if kind.code == code:
            return kind(message, remedy)
        kinds += kind.__subclasses__()
    return DefectError(message, remedy)
