"""People's own keys for model providers: sealed before they reach the store, opened only to be used.

AES-256-GCM under a key that the operator keeps outside of the database (a file that only its owner can read). The
associated data binds the format, the user, the provider and the key's own generation, so a sealed value that is copied
to another person or another provider does not open. A plain key exists as :class:`Secret` alone, which does not print;
it is in no log, no error, no event and no export (``records.workflow.NEVER_EXPORTED``).

What would break it: handing ``Secret.reveal()`` to anything but the provider's client.
"""

from __future__ import annotations

import base64
import binascii
import os
import secrets
import stat
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from tenuto.deps import Deps
from tenuto.errors import Denied, InputError, NotFound, ProviderError, SettingError
from tenuto.records.base import evolve
from tenuto.records.operations import Event
from tenuto.records.scope import Scope
from tenuto.records.workflow import ModelKey
from tenuto.text import clean

FORMAT = b"tenuto/model-key/1"
KEY_BYTES = 32
NONCE_BYTES = 12
LONGEST = 4096
"""Characters of a provider's key."""

MasterKey = Callable[[], bytes]
"""Gives the 32 bytes that everything is sealed under; asked each time, so that it need not stay in memory."""
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


def file_key(path: str | os.PathLike[str]) -> MasterKey:
    """A master key from a file that only its owner can read; :func:`make_key_file` makes one."""
    file = Path(path)

    def read() -> bytes:
        try:
            mode = file.stat().st_mode
            text = file.read_text(encoding="ascii")
        except (OSError, UnicodeDecodeError) as error:
            raise SettingError(
                f"The key file {file} cannot be read: make one with tenuto.privacy.model_keys.make_key_file(path)."
            ) from error
        if mode & (stat.S_IRWXG | stat.S_IRWXO):
            raise SettingError(f"The key file {file} can be read by others: chmod 600 {file}.")
        try:
            key = base64.b64decode(text.strip(), validate=True)
        except (binascii.Error, ValueError):
            key = b""
        if len(key) != KEY_BYTES:
            raise SettingError(f"The key file {file} does not hold {KEY_BYTES} bytes in base64.")
        return key

    return read


def make_key_file(path: str | os.PathLike[str]) -> Path:
    """A new random key in a new file (mode 0600). Losing it loses every key sealed under it: keep a copy elsewhere."""
    file = Path(path)
    try:
        handle = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        raise InputError(f"{file} exists already and was left alone.", code="key_file_exists") from None
    with os.fdopen(handle, "w", encoding="ascii") as out:
        out.write(base64.b64encode(secrets.token_bytes(KEY_BYTES)).decode() + "\n")
    return file


def seal(master: bytes, user: str, provider: str, secret: Secret, nonce: bytes) -> bytes:
    """Nonce and ciphertext. ``nonce`` is random and used once."""
    return nonce + AESGCM(_derived(master, b"seal")).encrypt(nonce, secret.reveal().encode(), _bound(user, provider))


def unseal(master: bytes, user: str, provider: str, sealed: bytes) -> Secret:
    """The key, or :class:`Denied` for anything that was not sealed exactly here."""
    try:
        plain = AESGCM(_derived(master, b"seal")).decrypt(
            sealed[:NONCE_BYTES], sealed[NONCE_BYTES:], _bound(user, provider)
        )
    except (InvalidTag, ValueError):
        raise Denied(
            f"The stored key for '{provider}' does not open with this key file: use the one it was sealed with, or set "
            "the key again.",
            code="key_unreadable",
        ) from None
    return Secret(plain.decode())


def set_key(deps: Deps, scope: Scope, provider: str, key: str) -> ModelKey:
    """Seal and keep a key, in place of an older one."""
    master = _master(deps)
    name = clean.name(provider, deps.policy.limits, what="provider")
    if not key.strip() or len(key) > LONGEST or not key.isascii() or not key.isprintable():
        raise InputError(f"A provider's key is 1 to {LONGEST:,} printable ASCII characters.", code="key_invalid")
    secret, now = Secret(key.strip()), deps.clock()
    record = ModelKey(
        id=name,
        sealed=seal(master, scope.user, name, secret, secrets.token_bytes(NONCE_BYTES)),
        fingerprint=sha256(_derived(master, b"fingerprint") + secret.reveal().encode()).hexdigest()[:12],
        created_at=now,
    )
    with deps.store.writing(scope.user) as tx:
        tx.put(record, _event(deps, scope, "model_key.set", name))
    return record


def reveal(deps: Deps, scope: Scope, provider: str) -> Secret:
    """The plain key, for the provider's client alone."""
    with deps.store.reading(scope.user) as reader:
        found = reader.get(ModelKey, provider)
    if found is None:
        raise NotFound(f"There is no key for '{provider[:60]}'.", code="key_unknown")
    return unseal(_master(deps), scope.user, provider, found.sealed)


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


def _master(deps: Deps) -> bytes:
    if deps.master_key is None:
        raise SettingError(
            "Keys of users are only kept sealed, and there is no key to seal them with: name a key file in "
            "TENUTO_MODEL_KEYS (tenuto.privacy.model_keys.make_key_file makes one).",
            code="no_master_key",
        )
    return deps.master_key()


def _derived(master: bytes, use: bytes) -> bytes:
    return HKDF(algorithm=SHA256(), length=KEY_BYTES, salt=None, info=FORMAT + b"/" + use).derive(master)


def _bound(user: str, provider: str) -> bytes:
    return b"\x00".join((FORMAT, b"model_keys", user.encode(), provider.encode()))


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
