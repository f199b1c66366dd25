"""Who is asking, and for whom: a small resolver that a server replaces by its key store.

Alone, the proxy knows at most one key. Without a key it serves this machine only: requests must name a loopback host
and come from no web page of another origin, so that a page in a browser cannot reach the memory by rebinding a name.
"""

from __future__ import annotations

import hmac
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from tenuto.errors import Denied

LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Credential:
    """What a key allows. ``acts_for_users``: the request may name the user whose memory is meant."""

    user: str | None
    acts_for_users: bool = False
    forward_key: bool = False
    """The client's own key belongs to the upstream and is passed on."""


Resolver = Callable[[Mapping[str, str]], Credential]
"""From the request's headers (lower-case names) to what it may do. Raises :class:`tenuto.errors.Denied`."""


def key_of(headers: Mapping[str, str]) -> str | None:
    """The key that a client sent, in OpenAI's or in Anthropic's way."""
    scheme, _, token = headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer" and token.strip():
        return token.strip()
    return headers.get("x-api-key") or None


def one_key(key: str, *, user: str | None, acts_for_users: bool) -> Resolver:
    """One key for everybody who knows it."""

    def resolve(headers: Mapping[str, str]) -> Credential:
        given = key_of(headers) or ""
        if not hmac.compare_digest(given.encode(), key.encode()):
            raise Denied("The key is missing or wrong: send it as 'Authorization: Bearer …'.", code="key_refused")
        return Credential(user=user, acts_for_users=acts_for_users)

    return resolve


def this_machine(*, user: str | None, acts_for_users: bool) -> Resolver:
    """No key: for a proxy that listens on loopback. The client's key is the upstream's."""

    def resolve(headers: Mapping[str, str]) -> Credential:
        if _host(f"//{headers.get('host', '')}") not in LOOPBACK:
            raise Denied("Without a key this proxy serves its own machine only.", code="host_refused")
        origin = headers.get("origin")
        if origin is not None and _host(origin) not in LOOPBACK:
            raise Denied(f"Requests from pages of {origin} are not served.", code="origin_refused")
        return Credential(user=user, acts_for_users=acts_for_users, forward_key=True)

    return resolve


def _host(address: str) -> str | None:
    try:
        return urlsplit(address).hostname
    except ValueError:
        return None
