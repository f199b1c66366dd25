"""Who is asking the proxy, and for whom: two small questions that a server answers from its key store.

Alone, the proxy knows at most one key. Without a key it serves this machine only: requests must name a loopback host
and come from no web page of another origin, so that a page in a browser cannot reach the memory by rebinding a name.
"""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol
from urllib.parse import urlsplit

from starlette.requests import Request

from tenuto.errors import Denied, InputError

VENDORS = {"api.openai.com": "openai", "api.anthropic.com": "anthropic"}
"""Whose key an upstream takes; every other one takes the key that a person keeps as ``own``."""
LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Credential:
    """What a request may do. ``forward_key``: the client's own key belongs to the upstream and is passed on."""

    forward_key: bool = False


class Access(Protocol):
    """Both raise :class:`tenuto.errors.Denied` (or what the server's own error handler knows)."""

    async def enter(self, request: Request) -> Credential:
        """Let the request in. Asked before a byte of its body is read."""

    async def whose(self, request: Request, field: str | None) -> str:
        """The user whose memory is meant; ``field`` is the one that the body names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Alone:
    """A proxy of its own. ``key``: the one that clients must send; without it, this machine only.

    ``acts_for_users``: requests may name the user, in the field ``user`` or the header ``Tenuto-User``.
    """

    user: str | None
    key: str | None = None
    acts_for_users: bool = False

    async def enter(self, request: Request) -> Credential:
        if self.key is None:
            _check_this_machine(request.headers)
            return Credential(forward_key=True)
        if not hmac.compare_digest((key_of(request.headers) or "").encode(), self.key.encode()):
            raise Denied("The key is missing or wrong: send it as 'Authorization: Bearer …'.", code="key_refused")
        return Credential()

    async def whose(self, request: Request, field: str | None) -> str:
        named = request.headers.get("tenuto-user") or field
        user = named if named and self.acts_for_users else self.user
        if user is None:
            raise InputError(
                "Whose memory? Name the user in the field 'user' or the header Tenuto-User.", code="user_missing"
            )
        return user


def vendor_of(upstream: str) -> str:
    """Under which name people keep their own key for an upstream: a vendor's key goes to that vendor alone."""
    return VENDORS.get(_host(upstream) or "", "own")


def key_of(headers: Mapping[str, str]) -> str | None:
    """The key that a client sent, in OpenAI's or in Anthropic's way."""
    scheme, _, token = headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer" and token.strip():
        return token.strip()
    return headers.get("x-api-key") or None


def _check_this_machine(headers: Mapping[str, str]) -> None:
    if _host(f"//{headers.get('host', '')}") not in LOOPBACK:
        raise Denied("Without a key this proxy serves its own machine only.", code="host_refused")
    origin = headers.get("origin")
    if origin is not None and _host(origin) not in LOOPBACK:
        raise Denied(f"Requests from pages of {origin} are not served.", code="origin_refused")


def _host(address: str) -> str | None:
    try:
        return urlsplit(address).hostname
    except ValueError:
        return None
