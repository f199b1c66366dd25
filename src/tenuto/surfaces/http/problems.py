"""Errors as ``application/problem+json`` (RFC 9457): a stable ``code`` for programs, words for people.

The core knows nothing of HTTP; this is the only place where an error becomes a status. What is not ours becomes a 500
that says nothing about itself: its words could hold content.
"""

from __future__ import annotations

from typing import Any

import msgspec
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from tenuto import errors

STATUS: dict[type[errors.TenutoError], int] = {
    errors.TenutoError: 500,
    errors.InputError: 422,
    errors.NotFound: 404,
    errors.Conflict: 409,
    errors.Denied: 403,
    errors.ProviderError: 502,
    errors.StoreError: 500,
    errors.StoreClosed: 503,
    errors.StoreBusy: 503,
    errors.StoreFull: 507,
    errors.NotWritable: 500,
}
"""The status of an error: of its own class, or of the nearest one above it."""

CODES = {400: "bad_request", 404: "no_such_route", 405: "method_not_allowed", 413: "body_too_large"}
MEDIA = "application/problem+json"


class Refused(HTTPException):
    """The surface itself says no, before any verb is called."""

    def __init__(self, status: int, code: str, detail: str, headers: dict[str, str] | None = None) -> None:
        super().__init__(status, detail, headers or {})
        self.code = code


def status_of(error: errors.TenutoError) -> int:
    return next(STATUS[cls] for cls in type(error).__mro__ if cls in STATUS)


def problem(status: int, code: str, detail: str, headers: dict[str, str] | None = None, **more: Any) -> Response:
    """One error as a response."""
    body = {"type": f"urn:tenuto:error:{code}", "title": code.replace("_", " "), "status": status, "code": code}
    content = msgspec.json.encode({**body, "detail": detail, **more})
    return Response(content, status, headers, media_type=MEDIA)


def from_error(error: errors.TenutoError) -> Response:
    """One of our errors as a response."""
    status = status_of(error)
    headers = {"Retry-After": "1"} if error.retry and status == 503 else {}
    more = {"needed": error.needed} if isinstance(error, errors.BudgetTooSmall) else {}
    return problem(status, error.code, error.message, headers, retry=error.retry, **more)


def from_refusal(refused: Refused) -> Response:
    return problem(refused.status_code, refused.code, refused.detail, dict(refused.headers or {}))


async def on_error(_: Request, error: Exception) -> Response:
    """The one handler of everything that a route may raise."""
    if isinstance(error, errors.TenutoError):
        return from_error(error)
    if isinstance(error, Refused):
        return from_refusal(error)
    if isinstance(error, RequestValidationError):
        return problem(
            422, "invalid_request", "The request is not of the form that this route takes.", errors=_where(error)
        )
    if isinstance(error, HTTPException):
        code = CODES.get(error.status_code, "http_error")
        return problem(error.status_code, code, str(error.detail), dict(error.headers or {}))
    return problem(500, "internal", "Something went wrong here. The request can be repeated; nothing was half written.")


def _where(error: RequestValidationError) -> list[dict[str, Any]]:
    """Where and why, without repeating what was sent."""
    found = []
    for one in error.errors():
        found.append({"at": [str(part) for part in one["loc"]], "why": one["msg"]})
    return found[:20]
