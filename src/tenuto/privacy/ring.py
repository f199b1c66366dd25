"""The keyring: every user's data keys, wrapped, in a file of its own beside its own backup.

Separate from the data on purpose: destroying a user's row here makes everything that was ever sealed for that user
unreadable, in the database, its log and every backup of it.
"""

from __future__ import annotations

import secrets
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import apsw
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from tenuto.errors import VaultError
from tenuto.privacy.keys import KEY_BYTES, KeyProvider

NONCE_BYTES = 12
INDEX = 0
"""The version number under which a user's index key is kept: it never rotates, so that stand-ins stay comparable."""
SCHEMA = """
CREATE TABLE IF NOT EXISTS ring (id TEXT NOT NULL PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS converting (id TEXT NOT NULL PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS data_keys (
    user_id TEXT NOT NULL, version INTEGER NOT NULL, wrapped_with INTEGER NOT NULL, wrapped BLOB NOT NULL,
    PRIMARY KEY (user_id, version)) WITHOUT ROWID;
"""


class Keyring:
    """Data keys of all users, wrapped by the provider's newest key."""

    def __init__(self, path: Path, provider: KeyProvider) -> None:
        self.path = path
        self._provider = provider
        self._lock = threading.RLock()
        self.made = not path.exists()
        """Whether there was none before."""
        try:
            self._db = apsw.Connection(str(path))
            self._db.set_busy_timeout(20_000)
            for pragma in ("journal_mode = WAL", "synchronous = FULL", "secure_delete = ON"):
                self._db.execute(f"PRAGMA {pragma}").fetchall()
            self._db.execute(SCHEMA)
            self._db.execute(
                "INSERT INTO ring SELECT ? WHERE NOT EXISTS (SELECT 1 FROM ring)", (secrets.token_hex(16),)
            )
            self.id = str(self._rows("SELECT id FROM ring")[0][0])
        except apsw.Error as error:
            damaged = isinstance(error, (apsw.NotADBError, apsw.CorruptError))
            help = "put it back from its copy" if damaged else "make room, check its rights, try again"
            raise VaultError(
                f"The keyring {path} cannot be opened ({error}): {help}.", code="ring_unreadable"
            ) from error
        path.chmod(0o600)

    def get(self, user: str) -> dict[int, bytes]:
        """A user's data keys by version, :data:`INDEX` included; empty for a user without any."""
        with self._lock, self._told():
            rows = self._rows("SELECT version, wrapped_with, wrapped FROM data_keys WHERE user_id = ?", user)
        keys = self._provider.keys() if rows else {}
        return {version: self._unwrap(keys, user, version, by, wrapped) for version, by, wrapped in rows}

    def create(self, user: str) -> dict[int, bytes]:
        """Give a user their first keys; whoever comes second gets the first one's."""
        with self._lock, self._told(), self._db:
            if not self._db.execute("SELECT 1 FROM data_keys WHERE user_id = ? LIMIT 1", (user,)).fetchall():
                for version in (INDEX, 1):
                    self._put(user, version, secrets.token_bytes(KEY_BYTES))
        return self.get(user)

    def add_version(self, user: str) -> int:
        """A new data key for what is written from now on. Processes that do it at once get one each."""
        with self._lock, self._told():
            self._db.execute("BEGIN IMMEDIATE")
            try:
                newest = self._rows("SELECT max(version) FROM data_keys WHERE user_id = ?", user)[0][0]
                if newest is None:
                    raise VaultError(f"There is no key for user {user!r} in {self.path}.", code="key_missing")
                self._put(user, newest + 1, secrets.token_bytes(KEY_BYTES))
                self._db.execute("COMMIT")
            except BaseException:
                self._db.execute("ROLLBACK")
                raise
        return int(newest) + 1

    def drop_versions(self, user: str, before: int) -> None:
        """Destroy data keys that nothing is sealed with any more."""
        with self._lock, self._told():
            sql = "DELETE FROM data_keys WHERE user_id = ? AND version > ? AND version < ?"
            self._db.execute(sql, (user, INDEX, before))
            self._scrub()

    def destroy(self, user: str) -> bool:
        """Destroy all of a user's keys, for good; whether there were any."""
        with self._lock, self._told():
            before = self._db.total_changes()
            self._db.execute("DELETE FROM data_keys WHERE user_id = ?", (user,))
            self._scrub()
            return self._db.total_changes() > before

    def users(self) -> list[str]:
        with self._lock, self._told():
            return [row[0] for row in self._rows("SELECT DISTINCT user_id FROM data_keys ORDER BY user_id")]

    def rewrap(self) -> int:
        """Rotate the key-encryption key and wrap every data key with the new one; how many."""
        with self._lock, self._told():
            newest = self._provider.rotate()
            keys, count = self._provider.keys(), 0
            with self._db:
                rows = self._rows("SELECT user_id, version, wrapped_with, wrapped FROM data_keys")
                for user, version, by, wrapped in rows:
                    self._put(user, version, self._unwrap(keys, user, version, by, wrapped))
                    count += 1
            self._scrub()
            self._provider.retire(newest)
            return count

    @property
    def converting(self) -> bool:
        """Whether the store is being sealed, so that it may hold plain rows. Kept here and not beside the rows: whoever
        can write to the database must not be able to say so."""
        with self._lock, self._told():
            return bool(self._rows("SELECT 1 FROM converting"))

    def set_converting(self, converting: bool) -> None:
        with self._lock, self._told():
            self._db.execute("DELETE FROM converting")
            if converting:
                self._db.execute("INSERT INTO converting VALUES (?)", (self.id,))

    def close(self) -> None:
        with self._lock, suppress(apsw.Error):
            self._db.close()

    def withdraw(self) -> None:
        """Leave nothing behind of a keyring that was made just now and belongs to nothing."""
        self.close()
        for ending in ("", "-wal", "-shm") if self.made else ():
            Path(f"{self.path}{ending}").unlink(missing_ok=True)
        self._provider.withdraw()

    @contextmanager
    def _told(self) -> Iterator[None]:
        """SQLite's errors as ours."""
        try:
            yield
        except apsw.Error as error:
            raise VaultError(
                f"The keyring {self.path} cannot be read or written ({error}): make room, check its rights, try again.",
                code="ring_failed",
            ) from error

    def _rows(self, sql: str, *values: str) -> list[tuple[Any, ...]]:
        return self._db.execute(sql, values).fetchall()

    def _put(self, user: str, version: int, key: bytes) -> None:
        keys = self._provider.keys()
        newest = max(keys)
        nonce = secrets.token_bytes(NONCE_BYTES)
        wrapped = nonce + AESGCM(keys[newest]).encrypt(nonce, key, self._bound(user, version, newest))
        self._db.execute("INSERT OR REPLACE INTO data_keys VALUES (?, ?, ?, ?)", (user, version, newest, wrapped))

    def _unwrap(self, keys: dict[int, bytes], user: str, version: int, by: int, wrapped: bytes) -> bytes:
        try:
            return AESGCM(keys[by]).decrypt(
                wrapped[:NONCE_BYTES], wrapped[NONCE_BYTES:], self._bound(user, version, by)
            )
        except (KeyError, InvalidTag) as error:
            raise VaultError(
                f"The keyring {self.path} was not wrapped with this key: use the key file that belongs to it.",
                code="key_wrong",
            ) from error

    def _bound(self, user: str, version: int, by: int) -> bytes:
        return "\x1f".join(("tenuto data key", self.id, user, str(version), str(by))).encode()

    def _scrub(self) -> None:
        self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
