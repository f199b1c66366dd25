"""Making, finding, using and taking back keys. Kept in the store, in the operator's own space, as hashes.

The operator's space is the user with the empty name: no caller can name it (names are never empty) and no listing of
users shows it. A key is looked up by the hash of what was presented, so comparing takes no time that depends on the
secret.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from tenuto.access import decide
from tenuto.deps import Deps
from tenuto.errors import InputError, NotFound
from tenuto.ports import Where
from tenuto.providers.system import new_secret
from tenuto.records.access import ApiKey, KeyKind, KeyScope
from tenuto.records.base import evolve
from tenuto.text import clean

OPERATOR = ""
PREFIX = {KeyKind.KEY: "tnk", KeyKind.TOKEN: "tnt", KeyKind.BROWSER: "tnb", KeyKind.LINK: "tnl"}


def create(
    deps: Deps,
    *,
    name: str,
    scope: str,
    user: str | None = None,
    lifetime: timedelta | None = None,
    kind: KeyKind = KeyKind.KEY,
    parent: str | None = None,
) -> tuple[ApiKey, str]:
    """A new key and its secret, which is shown this once and never kept."""
    limits, now = deps.policy.limits, deps.clock()
    key = ApiKey(
        id=deps.ids("key", now),
        name=clean.name(name, limits, what="key's name"),
        scope=_scope(scope),
        digest="",
        created_at=now,
        kind=kind,
        subject=clean.optional_name(user, limits, what="user id"),
        parent=parent,
        expires_at=_expiry(now, lifetime),
    )
    decide.check_new(key.scope, key.subject)
    secret = new_secret(PREFIX[kind])
    key = evolve(key, digest=decide.digest(secret))
    with deps.store.writing(OPERATOR) as tx:
        tx.put(key)
    return key, secret


def find(deps: Deps, secret: str) -> ApiKey | None:
    """The usable key behind a secret, or ``None``."""
    with deps.store.reading(OPERATOR) as reader:
        found = reader.find(ApiKey, Where("digest", "=", decide.digest(secret)), limit=1)
    return found[0] if found and decide.usable(found[0], deps.clock()) else None


def exchange(deps: Deps, secret: str, lifetime: timedelta) -> tuple[ApiKey, str] | None:
    """A one-time link becomes a signed-in browser; the second try finds nothing."""
    now = deps.clock()
    fresh = new_secret(PREFIX[KeyKind.BROWSER])
    with deps.store.writing(OPERATOR) as tx:
        found = tx.find(ApiKey, Where("digest", "=", decide.digest(secret)), limit=1)
        if not found or found[0].kind is not KeyKind.LINK or not decide.usable(found[0], now):
            return None
        link = found[0]
        key = ApiKey(
            id=deps.ids("key", now),
            name=link.name,
            scope=link.scope,
            digest=decide.digest(fresh),
            created_at=now,
            kind=KeyKind.BROWSER,
            subject=link.subject,
            parent=link.parent,
            expires_at=now + lifetime,
        )
        tx.remove(ApiKey, link.id)
        tx.put(key)
    return key, fresh


def listing(deps: Deps, *, user: str | None = None, kinds: tuple[KeyKind, ...] = (KeyKind.KEY,)) -> list[ApiKey]:
    """Keys, newest first: the operator's by default; with ``kinds`` tokens, browsers and links too."""
    where = [Where("kind", "in", [kind.value for kind in kinds])]
    if user is not None:
        where.append(Where("subject", "=", user))
    with deps.store.reading(OPERATOR) as reader:
        return reader.find(ApiKey, *where, order="-created_at")


def revoke(deps: Deps, id: str) -> ApiKey:
    """Take a key back, and everything that it made."""
    now = deps.clock()
    with deps.store.writing(OPERATOR) as tx:
        key = tx.get(ApiKey, id)
        if key is None:
            raise NotFound(f"There is no key {id!r}: 'tenuto keys list' shows them.", code="key_not_found")
        children = tx.find(ApiKey, Where("parent", "=", id))
        revoked = [evolve(one, revoked_at=one.revoked_at or now) for one in (key, *children)]
        tx.put(*revoked)
    return revoked[0]


def touch(deps: Deps, id: str) -> None:
    """Note that a key was used."""
    with deps.store.writing(OPERATOR) as tx:
        key = tx.get(ApiKey, id)
        if key is not None:
            tx.put(evolve(key, last_used_at=deps.clock()))


def sweep(deps: Deps) -> int:
    """Delete tokens, browsers and links that have expired; how many."""
    short = [kind.value for kind in KeyKind if kind is not KeyKind.KEY]
    with deps.store.writing(OPERATOR) as tx:
        over = tx.ids(ApiKey, Where("kind", "in", short), Where("expires_at", "<", deps.clock()))
        return tx.remove(ApiKey, *sorted(over)) if over else 0


def drop_user(deps: Deps, user: str) -> int:
    """Delete every key that is bound to a user, for good; how many."""
    with deps.store.writing(OPERATOR) as tx:
        bound = tx.ids(ApiKey, Where("subject", "=", user))
        return tx.remove(ApiKey, *sorted(bound)) if bound else 0


def _scope(name: str) -> KeyScope:
    try:
        return KeyScope(name)
    except ValueError:
        raise InputError(f"Unknown scope {name!r}: use one of {', '.join(KeyScope)}.", code="scope_unknown") from None


def _expiry(now: datetime, lifetime: timedelta | None) -> datetime | None:
    if lifetime is None:
        return None
    if lifetime <= timedelta(0):
        raise InputError("A key's lifetime is longer than nothing.", code="lifetime_invalid")
    try:
        return now + lifetime
    except OverflowError:
        raise InputError("A key's lifetime ends after the year 9999.", code="lifetime_invalid") from None
