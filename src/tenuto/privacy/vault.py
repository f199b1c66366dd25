"""The vault that seals: AES-256-GCM under a data key per user.

    sealed = mark, key version, nonce, ciphertext and tag
    bound to: format, user, place (table, row, column), revision, key version, and the plain columns beside it

A value that is moved to another row, column, user or revision, or changed by a bit, does not open; nor does one whose
row says something else than when it was sealed. Values that must be compared but not read (memory keys, entity ids,
word tokens) are replaced by keyed hashes. A store that was sealed as a whole refuses plain values: otherwise whoever
can write to the database could plant them.

Earlier releases did not bind the columns. What they sealed opens until their user's rows are listed (:mod:`listing`):
that gives the user a new data key and destroys the old one, so there is nothing left that could be put back. The two
forms have different keys, so neither can be taken for the other.
"""

from __future__ import annotations

import hmac
import secrets
import threading
from collections import OrderedDict
from dataclasses import dataclass
from hashlib import blake2b, sha256

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from tenuto.errors import VaultError
from tenuto.privacy.ring import INDEX, NONCE_BYTES, Keyring
from tenuto.records.audit import DIGEST_BYTES, KEYED

MARK, OLD_MARK = b"\xf5T\x02", b"\xf5T\x01"
"""Never the beginning of JSON or UTF-8 text. The old one: sealed by an earlier release, without the columns."""
HEAD = len(MARK) + 4
OPERATOR = ""
"""Whose rows and keys are the store's own."""
CACHED = 4096
"""Users whose keys are kept in memory."""


@dataclass(frozen=True, slots=True)
class _Keys:
    current: int
    content: dict[int, AESGCM]
    old_content: dict[int, AESGCM]
    rows: bytes
    blind: bytes
    index: bytes
    audit: bytes


class SealedVault:
    """Seals with the keys of a keyring. ``converting`` also opens what is still plain."""

    sealing = True

    def __init__(self, ring: Keyring, *, converting: bool = False) -> None:
        self.ring = ring
        self.converting = converting
        self._cache: OrderedDict[str, _Keys] = OrderedDict()
        self._lock = threading.Lock()
        self._nobody = secrets.token_bytes(32)

    def seal(self, user: str, place: str, revision: int, data: bytes, columns: bytes = b"") -> bytes:
        keys = self._keys(user, create=True)
        nonce = secrets.token_bytes(NONCE_BYTES)
        bound = _bound(user, place, revision, keys.current, columns)
        return MARK + keys.current.to_bytes(4, "big") + nonce + keys.content[keys.current].encrypt(nonce, data, bound)

    def open(self, user: str, place: str, revision: int, data: bytes, columns: bytes = b"") -> bytes:
        old = data.startswith(OLD_MARK)
        if not old and not data.startswith(MARK):
            if self.converting:
                return data
            raise VaultError(f"{_name(place)} is not sealed although this store is: it was changed.", code="tampered")
        version = int.from_bytes(data[len(MARK) : HEAD], "big")
        keys = self._keys(user)
        if version not in keys.content:
            self.forget(user)
            keys = self._keys(user)
        nonce, ciphertext = data[HEAD : HEAD + NONCE_BYTES], data[HEAD + NONCE_BYTES :]
        try:
            if old:
                return keys.old_content[version].decrypt(nonce, ciphertext, _old_bound(user, place, revision, version))
            return keys.content[version].decrypt(nonce, ciphertext, _bound(user, place, revision, version, columns))
        except (KeyError, InvalidTag, ValueError) as error:
            raise VaultError(
                f"{_name(place)} does not open: it was changed or moved. Put it back from a backup, or erase its user.",
                code="tampered",
            ) from error

    def key_number(self, data: bytes) -> int:
        return int.from_bytes(data[len(MARK) : HEAD], "big") if data.startswith((MARK, OLD_MARK)) else 0

    def renewed(self, user: str, number: int) -> None:
        """Another process may have given the user a new key: what it dropped must not be used again."""
        with self._lock:
            if user in self._cache and self._cache[user].current < number:
                del self._cache[user]

    def digest(self, user: str, data: bytes) -> bytes:
        return blake2b(data, key=self._keys(user, create=True).rows, digest_size=DIGEST_BYTES).digest()

    def blind(self, user: str, text: str) -> str:
        key = self._blind_key(user)
        return blake2b(text.encode("utf-8", "surrogatepass"), key=key, digest_size=24).hexdigest()

    def _blind_key(self, user: str) -> bytes:
        """A user without keys has no rows either: any stand-in does, and asking must not make keys."""
        try:
            return self._keys(user).blind
        except VaultError as error:
            if error.code != "key_missing" or self.ring.get(user):
                raise
            return self._nobody

    def index_key(self, user: str) -> bytes:
        return self._keys(user, create=True).index

    def sign(self, data: bytes) -> bytes:
        """Keyed with the operator's own key: it outlives every user, and never rotates."""
        return KEYED + hmac.new(self._keys(OPERATOR, create=True).audit, data, sha256).digest()

    def forget(self, user: str) -> None:
        """Drop what is cached of a user's keys."""
        with self._lock:
            self._cache.pop(user, None)

    def _keys(self, user: str, *, create: bool = False) -> _Keys:
        with self._lock:
            if user in self._cache:
                self._cache.move_to_end(user)
                return self._cache[user]
        found = self.ring.get(user) or (self.ring.create(user) if create else {})
        if not found:
            raise VaultError(
                f"There is no key for user {user!r} in {self.ring.path}: it was destroyed, or this is an old copy.",
                code="key_missing",
            )
        keys = _derived(found)
        with self._lock:
            self._cache[user] = keys
            while len(self._cache) > CACHED:
                self._cache.popitem(last=False)
        return keys


def _derived(found: dict[int, bytes]) -> _Keys:
    versions = {version: key for version, key in found.items() if version != INDEX}
    return _Keys(
        current=max(versions),
        content={version: AESGCM(_subkey(key, "content 2")) for version, key in versions.items()},
        old_content={version: AESGCM(_subkey(key, "content")) for version, key in versions.items()},
        rows=_subkey(found[INDEX], "rows"),
        blind=_subkey(found[INDEX], "blind"),
        index=_subkey(found[INDEX], "index"),
        audit=_subkey(found[INDEX], "audit"),
    )


def _subkey(key: bytes, purpose: str) -> bytes:
    return HKDF(algorithm=SHA256(), length=32, salt=None, info=f"tenuto {purpose}".encode()).derive(key)


def _bound(user: str, place: str, revision: int, version: int, columns: bytes) -> bytes:
    said = "\x1e".join(("tenuto seal 2", user, place, str(revision), str(version))).encode("utf-8", "surrogatepass")
    return b"%d\x1e%b%b" % (len(said), said, columns)


def _old_bound(user: str, place: str, revision: int, version: int) -> bytes:
    return "\x1e".join(("tenuto seal 1", user, place, str(revision), str(version))).encode("utf-8", "surrogatepass")


def _name(place: str) -> str:
    return " ".join(place.split("\x1f")[:2])
