"""Errors in the one documented shape, whatever went wrong and wherever."""

from __future__ import annotations

import logging
import traceback
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException

from ..model.errors import BadFileError, DefectError, OreoError, UsageError
from .answers import Json

logger = logging.getLogger(__name__)

_CODES = {400: "usage", 404: "not_found", 405: "method_not_allowed", 413: "too_large"}
_REMEDIES = {
    404: "See /api/docs for the paths there are.",
    405: "See /api/docs for what this path takes.",
    413: "Send less at once.",
}


class TooLargeError(BadFileError):
    """More was sent than is taken."""

    code = "too_large"
    http_status = 413


def handle_errors(app: FastAPI) -> None:
    app.add_exception_handler(OreoError, _ours)
    app.add_exception_handler(RequestValidationError, _not_as_declared)
    app.add_exception_handler(HTTPException, _of_the_framework)


def error_response(error: OreoError, request_id: str, headers: dict[str, str] | None = None) -> Json:
    """The error as its sender reads it. Of a defect only its words are told: what else it carries is for the log."""
    body = dict(error.as_json()["error"])  # type: ignore[call-overload]
    if error.http_status >= 500 and not error.retryable:
        body.pop("details", None)
    return coded_response(error.http_status, body, request_id, headers)


def coded_response(status: int, body: dict[str, Any], request_id: str, headers: dict[str, str] | None = None) -> Json:
    """An error that is known by its code and words only."""
    extra = dict(headers or {})
    if status == HTTPStatus.UNAUTHORIZED:
        extra["WWW-Authenticate"] = 'Bearer realm="oreo"'
    if status == HTTPStatus.SERVICE_UNAVAILABLE:
        extra["Retry-After"] = "1"
    return Json({"error": {**body, "request_id": request_id}}, status, extra)


def defect_response(error: BaseException, request_id: str) -> Json:
    """An error that nobody foresaw: logged with where it happened, and told without it."""
    log_defect(error)
    told = DefectError(
        "Something went wrong inside Oreo.", f"Tell its operator: request {request_id}, in the API's log."
    )
    return error_response(told, request_id)


def log_defect(error: BaseException) -> None:
    """Where it happened, but not its words: an error of a library may quote a cell of somebody's file."""
    frames = "".join(traceback.format_list(traceback.extract_tb(error.__traceback__)))
    trace = error.details.get("trace") if isinstance(error, OreoError) else None
    inner = "\n".join(line for line in str(trace or "").splitlines() if line.startswith("  File "))
    logger.error("%s\n%s%s", type(error).__name__, frames, inner)
    logger.debug("in its own words: %s", error)


async def _ours(request: Request, error: Exception) -> Json:
    assert isinstance(error, OreoError)
    if error.http_status >= 500 and not error.retryable:
        log_defect(error)
    return error_response(error, request.state.request_id)


async def _not_as_declared(request: Request, error: Exception) -> Json:
    assert isinstance(error, RequestValidationError)
    problems = [
        {"where": ".".join(str(part) for part in problem["loc"]), "problem": str(problem["msg"])}
        for problem in error.errors()[:100]
    ]
    first = problems[0] if problems else {"where": "request", "problem": "not as declared"}
    told = UsageError(
        f"{first['where']}: {first['problem'].rstrip('.')}.",
        "See /api/docs for what is taken.",
        problems=problems,
    )
    return error_response(told, request.state.request_id)


async def _of_the_framework(request: Request, error: Exception) -> Json:
    assert isinstance(error, HTTPException)
    status = error.status_code
    words = f"There is nothing at {request.url.path}." if status == HTTPStatus.NOT_FOUND else f"{error.detail}."
    body = {
        "code": _CODES.get(status, "http_error"),
        "message": words,
        "remedy": _REMEDIES.get(status, ""),
        "retryable": False,
    }
    return coded_response(status, body, request.state.request_id, dict(error.headers or {}))
