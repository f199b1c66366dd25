"""Where the key-encryption key comes from: a file that only its owner may read, or the environment.

A provider hands out numbered keys of 32 bytes: the newest wraps, older ones only unwrap until everything was wrapped
anew. Keep the file outside of the data directory and its backups; whoever has both reads everything, whoever loses it
loses everything.
"""

from __future__ import annotations

import base64
import binascii
import json
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

from tenuto.errors import SettingError, VaultError

KEY_BYTES = 32


class KeyProvider(Protocol):
    """Key-encryption keys by version."""

    def keys(self) -> dict[int, bytes]:
        """All versions; the largest number is the current one."""

    def rotate(self) -> int:
        """Add a new version; its number."""

    def retire(self, before: int) -> None:
        """Destroy the versions below ``before``."""

    def withdraw(self) -> None:
        """Leave no key behind that was made just now and belongs to nothing."""


class FileKeys:
    """Keys in a JSON file of mode 0600, written anew as a whole and synced before the old one goes."""

    def __init__(self, path: str | os.PathLike[str], *, create: bool = False) -> None:
        self.path = Path(path)
        self._made = create and not self.path.exists()
        if self._made:
            self._write({1: secrets.token_bytes(KEY_BYTES)})

    def keys(self) -> dict[int, bytes]:
        try:
            mode = self.path.stat().st_mode
            text = self.path.read_text(encoding="ascii")
        except OSError as error:
            raise VaultError(
                f"The key file {self.path} cannot be read ({error.strerror}): put it back from its recovery copy. "
                "Without it what is sealed cannot be read.",
                code="key_missing",
            ) from error
        if mode & 0o077:
            raise VaultError(
                f"The key file {self.path} can be read by others: run chmod 600 on it.", code="key_exposed"
            )
        try:
            found = {int(version): base64.b64decode(key, validate=True) for version, key in json.loads(text).items()}
        except (ValueError, AttributeError, binascii.Error):
            raise VaultError(f"{self.path} is not a key file of Tenuto.", code="key_wrong") from None
        if not found or any(len(key) != KEY_BYTES for key in found.values()):
            raise VaultError(f"{self.path} holds no key of {KEY_BYTES} bytes.", code="key_wrong")
        return found

    def rotate(self) -> int:
        found = self.keys()
        version = max(found) + 1
        self._write({**found, version: secrets.token_bytes(KEY_BYTES)})
        return version

    def retire(self, before: int) -> None:
        found = self.keys()
        self._write({version: key for version, key in found.items() if version >= before})

    def withdraw(self) -> None:
        if self._made:
            self.path.unlink(missing_ok=True)

    def copy_to(self, path: Path) -> None:
        """A recovery copy, for a place that is not this machine."""
        with _told(path):
            self._put(path.with_name(path.name + ".new"), path, self.path.read_bytes())

    def _write(self, keys: dict[int, bytes]) -> None:
        text = json.dumps({str(version): base64.b64encode(key).decode() for version, key in keys.items()})
        temporary = self.path.with_name(self.path.name + ".new")
        with _told(self.path):
            self._put(temporary, self.path, text.encode("ascii"))
            directory = os.open(self.path.parent, os.O_RDONLY)
            try:
                os.fsync(directory)
            finally:
                os.close(directory)

    def _put(self, temporary: Path, path: Path, data: bytes) -> None:
        """All of it at its place, or nothing."""
        try:
            _write_private(temporary, data)
            temporary.replace(path)
        except OSError:
            temporary.unlink(missing_ok=True)
            raise


class FixedKeys:
    """One key handed over by the caller, such as from the environment or a key service. Rotation is the caller's."""

    def __init__(self, key: bytes, version: int = 1) -> None:
        if len(key) != KEY_BYTES:
            raise VaultError(f"The key has {len(key)} bytes and needs {KEY_BYTES}.", code="key_wrong")
        self._keys = {version: key}

    def keys(self) -> dict[int, bytes]:
        return dict(self._keys)

    def rotate(self) -> int:
        raise VaultError(
            "This key comes from outside: rotate it there, and open the store with both.", code="key_fixed"
        )

    def retire(self, before: int) -> None:
        """Nothing is kept here."""

    def withdraw(self) -> None:
        """Nothing is kept here."""


def provider(spec: str, secret: str | None = None) -> tuple[KeyProvider, Path]:
    """``file:PATH`` or ``env:PATH-OF-RING`` (with the key itself in ``TENUTO_KEY``) → the provider and its keyring."""
    scheme, mark, rest = spec.partition(":")
    if mark and scheme == "file" and rest:
        path = Path(rest).expanduser()
        if not path.parent.is_dir():
            raise SettingError(f"The directory {path.parent} of the key file does not exist.")
        ring = path.with_name(path.name + ".ring")
        return FileKeys(path, create=not ring.exists()), ring
    if mark and scheme == "env" and rest:
        if secret is None:
            raise VaultError("TENUTO_KEY is not set: it must hold 32 bytes in base64.", code="key_missing")
        try:
            return FixedKeys(base64.b64decode(secret, validate=True)), Path(rest).expanduser()
        except binascii.Error:
            raise VaultError("TENUTO_KEY is not base64.", code="key_wrong") from None
    raise SettingError(f"'{spec}' is not a key setting: use file:PATH, or env:PATH-OF-THE-KEYRING with TENUTO_KEY set.")


@contextmanager
def _told(path: Path) -> Iterator[None]:
    """The system's errors as ours."""
    try:
        yield
    except OSError as error:
        raise VaultError(
            f"{path} cannot be written ({error.strerror}): make room, check its rights, try again.",
            code="key_unwritable",
        ) from error


def _write_private(path: Path, data: bytes) -> None:
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(handle, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
