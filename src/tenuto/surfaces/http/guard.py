"""What every request meets first: host, origin, size, key. Written as plain ASGI, so that nothing is read before it.

    host      must be one of ours: a page of another site that points its own name at 127.0.0.1 gets nothing
    origin    where a browser sends one, it must be ours; there is no CORS, so no other site can read an answer
    body      refused by its length at once, counted while it arrives, and given only so much time
    key       Authorization: Bearer …, or the cookie of a signed-in browser; a wrong one ends the request here
    csrf      a browser's cookie alone changes nothing: the form's token must come with it

Failed keys are counted per address, so guessing is slow; an address that sends too much is told to wait.
"""

from __future__ import annotations

import asyncio
import hmac
import re
from collections.abc import Iterable
from datetime import timedelta
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import urlsplit

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tenuto.access.door import Door
from tenuto.acting import acting
from tenuto.policy import ServerPolicy
from tenuto.providers.limits import Bucket, Limiter
from tenuto.records.access import ApiKey, KeyKind
from tenuto.surfaces.http.problems import Refused, from_refusal
from tenuto.surfaces.http.routing import too_many, wait

COOKIE = "tenuto"
SAFE = ("GET", "HEAD", "OPTIONS")
CSRF_HEADER = "x-csrf-token"
SURFACES = {"api": "api", "mcp": "mcp", "v1": "proxy"}
UPLOADS = re.compile(r"/api/users/[^/]+/imports(?:/estimate)?")
"""Where files are sent to."""
LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
UNAUTHORISED = {"WWW-Authenticate": 'Bearer realm="tenuto", error="invalid_token"'}
HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-store",
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; "
        "connect-src 'self'; manifest-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
}

Sent = dict[str, list[str]]
_RAW = [(name.lower().encode(), value.encode()) for name, value in HEADERS.items()]


def csrf_token(secret: str) -> str:
    """What a form of a signed-in browser carries: follows from the cookie, but another site cannot read either."""
    return hmac.new(secret.encode(), b"tenuto form", "sha256").hexdigest()


class Guard:
    """``hosts``: the names that this server answers to, without ports."""

    def __init__(
        self, app: ASGIApp, *, door: Door, policy: ServerPolicy, limiter: Limiter, hosts: Iterable[str]
    ) -> None:
        self.app = app
        self._door = door
        self._policy = policy
        self._limiter = limiter
        self._hosts = frozenset(host.lower() for host in hosts)
        self._by_address = Bucket(policy.address_rate, policy.address_burst)
        self._by_failure = Bucket(policy.failure_rate, policy.failure_burst)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self.app(scope, receive, send)
            return
        headers = _sent(scope)
        state: dict[str, Any] = scope.setdefault("state", {})
        state.update(key=None, secret=None, csrf=None, user=None, counted=False)
        hardened = _hardened(send)
        allowance = self._allowance(scope)
        try:
            self._check_host(headers)
            self._check_origin(scope, headers)
            self._check_length(headers, allowance[0])
            await self._check_address(scope)
            await self._authenticate(scope, headers, state)
            self._check_csrf(scope, headers, state)
        except Refused as refused:
            await from_refusal(refused)(scope, receive, hardened)
            return
        with acting(_actor(scope, state["key"])):
            await self.app(scope, _Body(receive, *allowance).receive, hardened)

    def _check_host(self, headers: Sent) -> None:
        hosts = headers.get("host", ())
        if len(hosts) != 1 or _name(hosts[0]) not in self._hosts:
            raise Refused(
                421, "host_refused", "This server does not answer to that host name: see 'tenuto serve --name'."
            )

    def _check_origin(self, scope: Scope, headers: Sent) -> None:
        """Same origin, down to the port; a link that is followed from elsewhere may only read a page."""
        navigation = scope["method"] in SAFE and _first(headers, "sec-fetch-mode") == "navigate"
        origins = headers.get("origin", ())
        if origins and not (len(origins) == 1 and _same_origin(origins[0], headers["host"][0])):
            raise Refused(403, "origin_refused", "Requests from other sites are not answered.")
        if _first(headers, "sec-fetch-site", "same-origin") not in ("same-origin", "none") and not navigation:
            raise Refused(403, "origin_refused", "Requests from other sites are not answered.")

    def _check_length(self, headers: Sent, most: int) -> None:
        length = _first(headers, "content-length", "0")
        if not length.isascii() or not length.isdigit() or int(length) > most:
            raise Refused(413, "body_too_large", f"A body has at most {most:,} bytes.")

    def _allowance(self, scope: Scope) -> tuple[int, timedelta]:
        """(bytes, time) that a body may have. A file to import may have more: its route keeps none of it in memory."""
        if scope["method"] == "POST" and UPLOADS.fullmatch(scope["path"]):
            return self._policy.upload_bytes, self._policy.upload_wait
        return self._policy.body_bytes, self._policy.body_wait

    async def _check_address(self, scope: Scope) -> None:
        seconds = await wait(self._limiter, [(f"address:{_address(scope)}", self._by_address)])
        if seconds > 0:
            raise too_many(seconds)

    async def _authenticate(self, scope: Scope, headers: Sent, state: dict[str, Any]) -> None:
        secret, by_cookie = _presented(headers)
        if secret is None:
            return
        key = self._door.remembered(secret) or await asyncio.to_thread(self._door.look_up, secret)
        if key is not None and _fits(key, by_cookie):
            state.update(key=key, secret=secret, csrf=csrf_token(secret) if by_cookie else None)
            return
        if by_cookie:
            return
        seconds = await wait(self._limiter, [(f"failures:{_address(scope)}", self._by_failure)])
        if seconds > 0:
            raise too_many(seconds)
        raise Refused(401, "key_invalid", "This key is unknown, expired or revoked.", UNAUTHORISED)

    def _check_csrf(self, scope: Scope, headers: Sent, state: dict[str, Any]) -> None:
        """Forms bring the token in their body (checked by the page); scripts bring it in a header."""
        if state["csrf"] is None or scope["method"] in SAFE or _is_form(headers):
            return
        if not hmac.compare_digest(_first(headers, CSRF_HEADER).encode(), state["csrf"].encode()):
            raise Refused(403, "csrf_missing", "A signed-in browser sends its form token with every change.")


class _Body:
    """Hands on the body, and stops at too much of it or too slow a one."""

    def __init__(self, receive: Receive, most: int, wait: timedelta) -> None:
        self._receive = receive
        self._left = most
        self._limit = most
        self._deadline = asyncio.get_running_loop().time() + wait.total_seconds()
        self._over = False

    async def receive(self) -> Message:
        if self._over:
            return await self._receive()
        try:
            async with asyncio.timeout_at(self._deadline):
                message = await self._receive()
        except TimeoutError:
            raise Refused(408, "body_too_slow", "The body did not arrive in time.", {"Connection": "close"}) from None
        if message["type"] == "http.request":
            self._left -= len(message.get("body", b""))
            self._over = not message.get("more_body", False)
            if self._left < 0:
                raise Refused(
                    413, "body_too_large", f"A body has at most {self._limit:,} bytes.", {"Connection": "close"}
                )
        return message


def _actor(scope: Scope, key: ApiKey | None) -> str:
    """Who it is, for the audit log: which door, and which key. Never a user's id or a secret."""
    first = scope["path"].split("/", 2)[1]
    return f"{SURFACES.get(first, 'page')}:{key.id if key is not None else 'nobody'}"


def _hardened(send: Send) -> Send:
    async def hardened(message: Message) -> None:
        if message["type"] == "http.response.start":
            given = list(message.get("headers", ()))
            present = {name.lower() for name, _ in given}
            message = {**message, "headers": [*given, *(one for one in _RAW if one[0] not in present)]}
        await send(message)

    return hardened


def _sent(scope: Scope) -> Sent:
    """The request's headers by name, each with all that was sent under it."""
    sent: Sent = {}
    for name, value in scope["headers"]:
        sent.setdefault(name.decode("latin-1"), []).append(value.decode("latin-1"))
    return sent


def _first(headers: Sent, name: str, otherwise: str = "") -> str:
    return headers[name][0] if name in headers else otherwise


def _presented(headers: Sent) -> tuple[str | None, bool]:
    """(secret, came as a cookie). A header wins over a cookie; anything but one clean header is no secret."""
    given = headers.get("authorization", ())
    if given:
        kind, _, secret = given[0].partition(" ")
        return (secret.strip() if len(given) == 1 and kind.lower() == "bearer" else "malformed"), False
    if "cookie" not in headers:
        return None, True
    try:
        morsel = SimpleCookie(headers["cookie"][0]).get(COOKIE)
    except CookieError:
        return None, True
    return (morsel.value if morsel else None), True


def _fits(key: ApiKey, by_cookie: bool) -> bool:
    """A browser's secret works only as a cookie, every other one only as a header; a link works as neither."""
    return key.kind is not KeyKind.LINK and (key.kind is KeyKind.BROWSER) == by_cookie


def _name(host: str) -> str:
    """A Host header without its port, in lower case; something else entirely where it is malformed."""
    name, mark, port = host.lower().rpartition(":")
    if mark and port.isdigit() and not (name.startswith("[") ^ name.endswith("]")):
        return name
    return host.lower()


def _same_origin(origin: str, host: str) -> bool:
    parts = urlsplit(origin)
    return parts.scheme in ("http", "https") and parts.netloc.lower() == host.lower() and origin.count("/") == 2


def _is_form(headers: Sent) -> bool:
    return _first(headers, "content-type").partition(";")[0].strip().lower() == "application/x-www-form-urlencoded"


def _address(scope: Scope) -> str:
    client = scope.get("client")
    return str(client[0]) if client else "unknown"
