"""What a key may do: pure decisions, the only place where rights are worked out.

A request needs one :class:`Need`; a key meets it or not. The user that is acted on comes from the key wherever the key
is bound to one, so naming another user's id can only ever be refused.

    need      none   read key        user key   app key   admin key
    public    yes    yes             yes        yes       yes
    read      401    own or any      own        any       any
    write     401    no              own        any       any
    app       401    no              no         yes       yes
    admin     401    no              no         no        yes
"""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from hashlib import sha256

from tenuto.errors import Denied, InputError
from tenuto.records.access import ApiKey, KeyKind, KeyScope


class Need(StrEnum):
    """What a route or a tool asks of the caller."""

    PUBLIC = "public"
    READ = "read"
    WRITE = "write"
    APP = "app"
    ADMIN = "admin"


ALLOWS: dict[KeyScope, frozenset[Need]] = {
    KeyScope.ADMIN: frozenset(Need),
    KeyScope.APP: frozenset({Need.PUBLIC, Need.READ, Need.WRITE, Need.APP}),
    KeyScope.USER: frozenset({Need.PUBLIC, Need.READ, Need.WRITE}),
    KeyScope.READ: frozenset({Need.PUBLIC, Need.READ}),
}


def digest(secret: str) -> str:
    """What is kept of a secret. 256 random bits need no salt and no slow hash."""
    return sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def usable(key: ApiKey, now: datetime) -> bool:
    """Not revoked and not expired."""
    return key.revoked_at is None and (key.expires_at is None or now < key.expires_at)


def subject_of(key: ApiKey, named: str | None) -> str:
    """The user that a request is about: the key's own, else the one that the request names."""
    if key.subject is not None:
        if named is not None and named != key.subject:
            raise Denied("This key belongs to another user.", code="other_user")
        return key.subject
    if named is None:
        raise InputError(
            "This key is for many users: name one in the path, or with the header Tenuto-User.", code="user_missing"
        )
    return named


def permit(key: ApiKey, need: Need) -> None:
    """Raises unless the key's scope covers the need. A one-time link opens nothing but the page."""
    if key.kind is KeyKind.LINK or need not in ALLOWS[key.scope]:
        raise Denied(f"A key with scope '{key.scope}' may not do this: it needs '{need}'.", code="scope_too_small")


def check_role(key: ApiKey, role: str) -> None:
    """Trust follows the credential: whoever acts for one user says what that user or a client may say, never more."""
    if role == "system" and Need.APP not in ALLOWS[key.scope]:
        raise Denied(
            f"A key with scope '{key.scope}' may not speak as 'system': say it as 'user', 'assistant' or 'tool', "
            "or use an app's key.",
            code="role_too_high",
        )


def check_new(scope: KeyScope, subject: str | None) -> None:
    """A user key names its user; admin and app keys name none."""
    if scope is KeyScope.USER and subject is None:
        raise InputError("A key with scope 'user' names its user.", code="key_needs_user")
    if scope in (KeyScope.ADMIN, KeyScope.APP) and subject is not None:
        raise InputError(f"A key with scope '{scope}' is for every user and names none.", code="key_has_user")


def check_mint(parent: ApiKey, scope: KeyScope) -> None:
    """An app mints tokens for one user at a time, never for itself."""
    permit(parent, Need.APP)
    if scope not in (KeyScope.USER, KeyScope.READ):
        raise Denied("A token is for one user: its scope is 'user' or 'read'.", code="scope_too_small")
