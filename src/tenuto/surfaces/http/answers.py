"""How results travel: records as JSON, pages with a cursor, entity tags for conditional requests."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import blake2b
from typing import Any, Generic, TypeVar

import msgspec
from pydantic import BaseModel, ConfigDict
from starlette.requests import Request
from starlette.responses import Response

from tenuto.surfaces.http.problems import Refused

T = TypeVar("T")
_ENCODER = msgspec.json.Encoder(decimal_format="string")


def encode(value: Any) -> bytes:
    """JSON of records, enums and times."""
    return _ENCODER.encode(value)


def answer(value: Any, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    """A JSON response."""
    return Response(encode(value), status, headers, media_type="application/json")


def etag(body: bytes) -> str:
    return f'"{blake2b(body, digest_size=12).hexdigest()}"'


def conditional(request: Request, response: Response) -> Response:
    """A tag on every readable answer; 304 where the caller has it already."""
    if request.method not in ("GET", "HEAD") or response.status_code != 200 or not hasattr(response, "body"):
        return response
    tag = etag(bytes(response.body))
    known = request.headers.get("if-none-match")
    if known is not None and (
        known.strip() == "*" or tag in [one.strip().removeprefix("W/") for one in known.split(",")]
    ):
        return Response(status_code=304, headers={"ETag": tag})
    response.headers["ETag"] = tag
    return response


def match(request: Request, current: Callable[[], Any]) -> None:
    """``If-Match``: change only what the caller has seen."""
    wanted = request.headers.get("if-match")
    if wanted is None or wanted.strip() == "*":
        return
    if etag(encode(current())) not in [one.strip() for one in wanted.split(",")]:
        raise Refused(412, "changed_meanwhile", "It has changed since you read it: read it again, then decide.")


class Listed(BaseModel, Generic[T]):
    """Some rows, and the cursor of the next page; ``null`` at the end."""

    items: list[T]
    next: str | None = None


class Problem(BaseModel):
    """RFC 9457. ``code`` is stable and meant for programs."""

    model_config = ConfigDict(extra="allow")

    type: str
    title: str
    status: int
    code: str
    detail: str


def problems(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The error responses of a route, for OpenAPI."""
    content = {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}}
    return {status: {"description": DESCRIPTIONS[status], "content": content} for status in statuses}


DESCRIPTIONS = {
    304: "Not modified",
    400: "The request cannot be read",
    401: "No key, or one that does not hold",
    403: "The key may not do this",
    404: "There is no such thing for this user",
    409: "It exists and says otherwise, or is at work",
    412: "It has changed since it was read",
    413: "The body is too large",
    415: "The body is not JSON",
    421: "This server does not answer to that host name",
    422: "Something in the request cannot be taken",
    429: "Too many requests; Retry-After says when to come back",
    500: "Something went wrong here",
    502: "A provider did not answer",
    503: "Busy for now; try again",
    507: "No space left",
}

__all__ = ["Listed", "Problem", "answer", "conditional", "encode", "etag", "match", "problems"]
