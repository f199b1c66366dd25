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
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import urlsplit

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tenuto.access.authenticate import Door
from tenuto.call_context import acting
from tenuto.policy import ServerPolicy
from tenuto.providers.limits import Bucket, Limiter
from tenuto.records.access import ApiKey, KeyKind
from tenuto.surfaces.http.problems import Refused, from_refusal
from tenuto.surfaces.http.routing import too_many, wait

COOKIE = "tenuto"
SAFE = ("GET", "HEAD", "OPTIONS")
CSRF_HEADER = b"x-csrf-token"
SURFACES = {"api": "api", "mcp": "mcp", "v1": "proxy"}
UPLOADS = re.compile(r"/api/users/[^/]+/imports(?:/estimate)?")
"""Where files are sent to."""
LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
UNAUTHORISED = {"WWW-Authenticate": 'Bearer realm="tenuto", error="invalid_token"'}

LONGEST_LENGTH = 20
"""Digits."""
ONCE = frozenset({b"host", b"origin", b"authorization"})
"""Headers that nobody sends twice for a good reason."""

Sent = dict[bytes, bytes]


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
        self._limiter = limiter
        self._hosts = frozenset(host.lower() for host in hosts)
        self._body = (policy.body_bytes, policy.body_wait.total_seconds())
        self._upload = (policy.upload_bytes, policy.upload_wait.total_seconds())
        self._by_address = Bucket(policy.address_rate, policy.address_burst)
        self._by_failure = Bucket(policy.failure_rate, policy.failure_burst)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self.app(scope, receive, send)
            return
        sent = _sent(scope["headers"])
        state: dict[str, Any] = scope.setdefault("state", {})
        state.update(key=None, secret=None, csrf=None, user=None)
        most, seconds = self._allowance(scope)
        try:
            self._check_host(sent)
            self._check_origin(scope, sent)
            self._check_length(sent, most)
            await self._count("address", scope, self._by_address)
            await self._authenticate(scope, sent, state)
            self._check_csrf(scope, sent, state)
        except Refused as refused:
            await from_refusal(refused)(scope, receive, send)
            return
        with acting(_actor(scope, state["key"])):
            await self.app(scope, _Body(receive, most, seconds).receive, send)

    def _check_host(self, sent: Sent) -> None:
        if _name(sent.get(b"host", b"")) not in self._hosts:
            raise Refused(
                421, "host_refused", "This server does not answer to that host name: see 'tenuto serve --name'."
            )

    def _check_origin(self, scope: Scope, sent: Sent) -> None:
        """Same origin, down to the port; a link that is followed from elsewhere may only read a page."""
        origin, site = sent.get(b"origin"), sent.get(b"sec-fetch-site", b"none")
        navigation = scope["method"] in SAFE and sent.get(b"sec-fetch-mode") == b"navigate"
        if origin is not None and not _same_origin(origin.decode("latin-1"), sent[b"host"].decode("latin-1")):
            raise Refused(403, "origin_refused", "Requests from other sites are not answered.")
        if site not in (b"same-origin", b"none") and not navigation:
            raise Refused(403, "origin_refused", "Requests from other sites are not answered.")

    def _check_length(self, sent: Sent, most: int) -> None:
        length = sent.get(b"content-length", b"0")
        if not length.isdigit() or len(length) > LONGEST_LENGTH or int(length) > most:
            raise Refused(413, "body_too_large", f"A body has at most {most:,} bytes.")

    def _allowance(self, scope: Scope) -> tuple[int, float]:
        """(bytes, seconds) that a body may have. A file to import may have more: its route keeps none in memory."""
        if scope["method"] == "POST" and "/imports" in scope["path"] and UPLOADS.fullmatch(scope["path"]):
            return self._upload
        return self._body

    async def _count(self, what: str, scope: Scope, bucket: Bucket) -> None:
        client = scope.get("client")
        seconds = await wait(self._limiter, [(f"{what}:{client[0] if client else 'unknown'}", bucket)])
        if seconds > 0:
            raise too_many(seconds)

    async def _authenticate(self, scope: Scope, sent: Sent, state: dict[str, Any]) -> None:
        secret, by_cookie = _presented(sent)
        if secret is None:
            return
        key = self._door.remembered(secret) or await asyncio.to_thread(self._door.look_up, secret)
        if key is not None and _fits(key, by_cookie):
            state.update(key=key, secret=secret, csrf=csrf_token(secret) if by_cookie else None)
            return
        if by_cookie:
            return
        await self._count("failures", scope, self._by_failure)
        raise Refused(401, "key_invalid", "This key is unknown, expired or revoked.", UNAUTHORISED)

    def _check_csrf(self, scope: Scope, sent: Sent, state: dict[str, Any]) -> None:
        """The page's own forms bring the token in their body, which the page checks; all else brings it in a header."""
        if state["csrf"] is None or scope["method"] in SAFE:
            return
        if _is_form(sent) and scope["path"].split("/", 2)[1] not in SURFACES:
            return
        if not hmac.compare_digest(sent.get(CSRF_HEADER, b""), state["csrf"].encode()):
            raise Refused(403, "csrf_missing", "A signed-in browser sends its form token with every change.")


class _Body:
    """Hands on the body, and stops at too much of it or too slow a one."""

    def __init__(self, receive: Receive, most: int, seconds: float) -> None:
        self._receive = receive
        self._left = most
        self._limit = most
        self._deadline = asyncio.get_running_loop().time() + seconds
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


def _sent(headers: Iterable[tuple[bytes, bytes]]) -> Sent:
    """The request's headers by name: what came first under it. What must come once and came twice is nothing of use."""
    given = list(headers)
    sent = dict(reversed(given))
    if len(sent) != len(given):
        for name in sent.keys() & ONCE:
            sent[name] = b", ".join(value for one, value in given if one == name)
    return sent


def _presented(sent: Sent) -> tuple[str | None, bool]:
    """(secret, came as a cookie). A header wins over a cookie; anything but one clean header is no secret."""
    if b"authorization" in sent:
        kind, _, secret = sent[b"authorization"].decode("latin-1").partition(" ")
        return (secret.strip() if kind.lower() == "bearer" else "malformed"), False
    if b"cookie" not in sent:
        return None, True
    try:
        morsel = SimpleCookie(sent[b"cookie"].decode("latin-1")).get(COOKIE)
    except CookieError:
        return None, True
    return (morsel.value if morsel else None), True


def _fits(key: ApiKey, by_cookie: bool) -> bool:
    """A browser's secret works only as a cookie, every other one only as a header; a link works as neither."""
    return key.kind is not KeyKind.LINK and (key.kind is KeyKind.BROWSER) == by_cookie


def _name(host: bytes) -> str:
    """A Host header without its port, in lower case; something else entirely where it is malformed."""
    whole = host.decode("latin-1").lower()
    name, mark, port = whole.rpartition(":")
    if mark and port.isdigit() and not (name.startswith("[") ^ name.endswith("]")):
        return name
    return whole


def _same_origin(origin: str, host: str) -> bool:
    try:
        parts = urlsplit(origin)
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and parts.netloc.lower() == host.lower() and origin.count("/") == 2


def _is_form(sent: Sent) -> bool:
    return sent.get(b"content-type", b"").partition(b";")[0].strip().lower() == b"application/x-www-form-urlencoded"
