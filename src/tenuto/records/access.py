"""Who may use the server: keys, and the answers kept for repeated requests.

Everything that opens the server is one kind of row: a key that an operator made, a short token that an app minted for
one user, a signed-in browser, a one-time link. Only the hash of the secret is kept.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class KeyScope(StrEnum):
    """What a key may do. From most to least."""

    ADMIN = "admin"
    """Everything, keys included."""
    APP = "app"
    """Every user's memory, and short tokens for one of them."""
    USER = "user"
    """One user's memory."""
    READ = "read"
    """Reading only: one user's memory where the key names a user, else every user's."""


class KeyKind(StrEnum):
    KEY = "key"
    TOKEN = "token"
    BROWSER = "browser"
    LINK = "link"


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiKey:
    """One way in. ``subject`` is the user that it is bound to; ``parent`` the key that made it."""

    id: str
    name: str
    scope: KeyScope
    digest: str
    created_at: datetime
    kind: KeyKind = KeyKind.KEY
    subject: str | None = None
    parent: str | None = None
    expires_at: datetime | None = None
    revoked_at: datetime | None = None
    last_used_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Replay:
    """The answer to a request with an idempotency key. ``status`` 0: the first request is still at work."""

    id: str
    at: datetime
    request: str
    """A hash of what was asked: the same key with another request is refused."""
    status: int = 0
    media_type: str = "application/json"
    body: str = ""
