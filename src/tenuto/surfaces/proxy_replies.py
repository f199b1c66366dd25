"""What the proxy reads of a request, and what it says itself: errors in the words of the wire format."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import httpx
import msgspec
from starlette.requests import Request
from starlette.responses import Response

from tenuto.errors import Denied, InputError, TenutoError

READ = frozenset({"messages", "system", "user", "metadata", "model"})
"""Fields of a request that are looked at."""
DROPPED_REQUEST = frozenset(
    ("host", "content-length", "connection", "keep-alive", "transfer-encoding", "te", "trailer", "upgrade",
     "proxy-authorization", "cookie", "accept-encoding", "expect")
)  # fmt: skip
"""Headers of a request that belong to its connection, or to this server."""
KEYS = frozenset({"authorization", "x-api-key"})
OURS = "tenuto-"
DROPPED_ANSWER = frozenset(
    (
        "content-length",
        "content-encoding",
        "connection",
        "keep-alive",
        "transfer-encoding",
        "trailer",
        "upgrade",
        "set-cookie",
        "server",
        "date",
    )
)
"""Headers of the upstream's answer that belong to its connection, not to the answer."""


def refusal(dialect: str, error: TenutoError) -> Response:
    """An error of the proxy itself, in the words of the wire format."""
    status = 413 if error.code == "body_too_large" else 401 if error.code == "key_refused" else 400
    if isinstance(error, Denied) and status == 400:
        status = 403
    return _error(dialect, status, error.message, error.code)


def unreachable(dialect: str, error: httpx.HTTPError) -> Response:
    """The upstream did not answer: say so, and that the message was kept. Which one it is, is the operator's affair."""
    late = isinstance(error, httpx.TimeoutException)
    what = "did not answer in time" if late else "cannot be reached"
    message = f"The upstream {what}; what you said is kept. Try again."
    return _error(dialect, 504 if late else 502, message, "upstream_timeout" if late else "upstream_unreachable")


def _error(dialect: str, status: int, message: str, code: str) -> Response:
    if dialect == "anthropic":
        body: dict[str, Any] = {"type": "error", "error": {"type": code, "message": message}}
    else:
        body = {"error": {"message": message, "type": "tenuto", "param": None, "code": code}}
    return Response(msgspec.json.encode(body), status, media_type="application/json")


async def body_of(request: Request, most: int) -> bytes:
    parts, size = [], 0
    async for part in request.stream():
        size += len(part)
        if size > most:
            raise InputError(f"The request is larger than {most:,} bytes.", code="body_too_large")
        parts.append(part)
    return b"".join(parts)


async def json_body(request: Request, most: int) -> dict[str, Any]:
    """The request: what is read of it decoded, everything else byte for byte as the client wrote it."""
    try:
        raw = msgspec.json.decode(await body_of(request, most), type=dict[str, msgspec.Raw])
        return {name: msgspec.json.decode(value) if name in READ else value for name, value in raw.items()}
    except (msgspec.MsgspecError, UnicodeDecodeError):
        raise InputError("The body is not a JSON object.", code="body_invalid") from None


def decode(content: bytes) -> Any:
    try:
        return msgspec.json.decode(content)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None


def anthropic_user(body: Mapping[str, Any]) -> Any:
    metadata = body.get("metadata")
    return metadata.get("user_id") if isinstance(metadata, Mapping) else None


def answer_headers(response: httpx.Response) -> dict[str, str]:
    return {k: v for k, v in response.headers.items() if k not in DROPPED_ANSWER}


def request_headers(request: Request, key: str | None, *, forward_key: bool, anthropic: bool) -> dict[str, str]:
    """What the upstream gets to see of a request's headers: with ``key``, or with the client's own where it may."""
    dropped = DROPPED_REQUEST | (KEYS if key is not None or not forward_key else set())
    kept = {k: v for k, v in request.headers.items() if k not in dropped and not k.startswith(OURS)}
    kept["accept-encoding"] = "identity"
    if key is not None:
        kept |= {"x-api-key": key} if anthropic else {"authorization": f"Bearer {key}"}
    return kept
