"""People's own keys for model providers: sealed before they reach the store, opened only to be used.

AES-256-GCM under a key that the operator keeps outside of the database (a :class:`~tenuto.privacy.keys.KeyProvider`),
whether or not the rest of the store is encrypted. The associated data binds the format, the key's version, the user and
the provider, so a sealed value that is copied to another person or another provider does not open. A plain key exists
as :class:`Secret` alone, which does not print; it is in no log, no error, no event and no export
(``records.workflow.NEVER_EXPORTED``).

What would break it: handing ``Secret.reveal()`` to anything but the provider's client.
"""

from __future__ import annotations

import hmac
import logging
import secrets
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import cast

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from tenuto.deps import Deps
from tenuto.errors import Denied, InputError, NotFound, ProviderError, SettingError
from tenuto.ports import KeyedModel
from tenuto.privacy.keys import KEY_BYTES, KeyProvider
from tenuto.records.base import evolve
from tenuto.records.operations import Event
from tenuto.records.scope import Scope
from tenuto.records.workflow import ModelKey
from tenuto.text import clean

log = logging.getLogger(__name__)

FORMAT = b"tenuto/model-key/1"
VERSION_BYTES = 4
NONCE_BYTES = 12
LONGEST = 4096
"""Characters of a provider's key."""

Probe = Callable[["Secret"], None]
"""Tries a key out with its provider; raises :class:`Denied` for one that is refused."""


class Secret:
    """A plain key that does not show itself."""

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        self._value = value

    def reveal(self) -> str:
        return self._value

    def __repr__(self) -> str:
        return "Secret(…)"

    def __reduce__(self) -> str:
        raise TypeError("A secret is not pickled.")


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyTest:
    """What came of trying a key. ``working`` is ``None`` when the provider could not be reached."""

    provider: str
    working: bool | None
    reason: str


def seal(seals: KeyProvider, user: str, provider: str, secret: Secret, nonce: bytes) -> bytes:
    """The key's version, the nonce and the ciphertext. ``nonce`` is random and used once."""
    version, key = max(seals.keys().items())
    head = version.to_bytes(VERSION_BYTES, "big")
    sealed = AESGCM(_derived(key, b"seal")).encrypt(nonce, secret.reveal().encode(), _bound(head, user, provider))
    return head + nonce + sealed


def unseal(seals: KeyProvider, user: str, provider: str, sealed: bytes) -> Secret:
    """The key, or :class:`Denied` for anything that was not sealed exactly here."""
    head, rest = sealed[:VERSION_BYTES], sealed[VERSION_BYTES:]
    key = seals.keys().get(int.from_bytes(head, "big"))
    try:
        if key is None:
            raise InvalidTag
        cipher = AESGCM(_derived(key, b"seal"))
        plain = cipher.decrypt(rest[:NONCE_BYTES], rest[NONCE_BYTES:], _bound(head, user, provider))
    except (InvalidTag, ValueError):
        raise Denied(
            f"The stored key for '{provider}' does not open with this key file: use the one it was sealed with, or set "
            "the key again.",
            code="key_unreadable",
        ) from None
    return Secret(plain.decode())


def set_key(deps: Deps, scope: Scope, provider: str, key: str) -> ModelKey:
    """Seal and keep a key, in place of an older one."""
    seals = _seals(deps)
    name = clean.name(provider, deps.policy.limits, what="provider")
    if not key.strip() or len(key) > LONGEST or not key.isascii() or not key.isprintable():
        raise InputError(f"A provider's key is 1 to {LONGEST:,} printable ASCII characters.", code="key_invalid")
    secret, now = Secret(key.strip()), deps.clock()
    record = ModelKey(
        id=name,
        sealed=seal(seals, scope.user, name, secret, secrets.token_bytes(NONCE_BYTES)),
        fingerprint=_fingerprint(seals, secret),
        created_at=now,
    )
    with deps.store.writing(scope.user) as tx:
        tx.put(record, _event(deps, scope, "model_key.set", name))
    return record


def reveal(deps: Deps, scope: Scope, provider: str) -> Secret:
    """The plain key, for the provider's client alone."""
    found = own(deps, scope, provider)
    if found is None:
        raise NotFound(f"There is no key for '{provider[:60]}'.", code="key_unknown")
    return found


def own(deps: Deps, scope: Scope, provider: str) -> Secret | None:
    """The person's key for a provider, or ``None`` if they keep none."""
    with deps.store.reading(scope.user) as reader:
        found = reader.get(ModelKey, provider)
    return None if found is None else unseal(_seals(deps), scope.user, provider, found.sealed)


def with_own_key(deps: Deps, user: str) -> Deps:
    """The same, with the store's model paid for by this person where they keep a key for it.

    For work in the background. A key that does not open is not made up for with the operator's: no model is asked
    then, and the rules do the work.
    """
    chosen = deps.model or deps.unpaid_model
    provider = getattr(chosen, "key_provider", None)
    if provider is None or deps.model_key_seals is None:
        return deps
    try:
        found = own(deps, Scope(user=user), provider)
    except Denied as error:
        log.warning("going on without a model: %s", error.code)
        return replace(deps, model=None)
    return deps if found is None else replace(deps, model=cast(KeyedModel, chosen).with_key(found.reveal()))


def keys(deps: Deps, scope: Scope) -> list[ModelKey]:
    """Which providers have a key, when it was set and last tested; never the key."""
    with deps.store.reading(scope.user) as reader:
        return reader.find(ModelKey)


def remove_key(deps: Deps, scope: Scope, provider: str) -> bool:
    """Delete a key for good; ``False`` if there was none."""
    with deps.store.writing(scope.user) as tx:
        removed = tx.remove(ModelKey, provider) > 0
        if removed:
            tx.put(_event(deps, scope, "model_key.removed", provider))
    return removed


def test_key(deps: Deps, scope: Scope, provider: str, probe: Probe) -> KeyTest:
    """Try the stored key out and write down whether it works. No error of the provider is passed on as it is."""
    secret = reveal(deps, scope, provider)
    working: bool | None = True
    reason = "The provider accepts the key."
    try:
        probe(secret)
    except Denied:
        working, reason = False, "The provider refuses the key."
    except ProviderError:
        working, reason = None, "The provider could not be reached: try again later."
    with deps.store.writing(scope.user) as tx:
        found = tx.get(ModelKey, provider)
        if found is not None and working is not None:
            tx.put(evolve(found, tested_at=deps.clock(), working=working))
    return KeyTest(provider=provider, working=working, reason=reason)


test_key.__test__ = False  # type: ignore[attr-defined]  # a verb, not a test


def _seals(deps: Deps) -> KeyProvider:
    if deps.model_key_seals is None:
        raise SettingError(
            "Keys of users are only kept sealed, and there is nothing to seal them with: set "
            "TENUTO_MODEL_KEYS=file:PATH to a file outside of the data directory; it is made if it is not there.",
            code="no_key_file",
        )
    return deps.model_key_seals


def _fingerprint(seals: KeyProvider, secret: Secret) -> str:
    """Tells two keys apart, and nothing about either."""
    newest = max(seals.keys().items())[1]
    return hmac.new(_derived(newest, b"fingerprint"), secret.reveal().encode(), "sha256").hexdigest()[:12]


def _derived(key: bytes, use: bytes) -> bytes:
    return HKDF(algorithm=SHA256(), length=KEY_BYTES, salt=None, info=FORMAT + b"/" + use).derive(key)


def _bound(version: bytes, user: str, provider: str) -> bytes:
    return b"\x00".join((FORMAT, b"model_keys", version.hex().encode(), user.encode(), provider.encode()))


def _event(deps: Deps, scope: Scope, kind: str, provider: str) -> Event:
    now = deps.clock()
    return Event(
        id=deps.ids("evt", now),
        kind=kind,
        at=now,
        subject_kind="model_key",
        subject_id=provider,
        channel=scope.channel,
        persona=scope.persona,
    )
