"""The plain vault: nothing is sealed. Encryption at rest puts another one in its place."""

from __future__ import annotations

from hashlib import blake2b

from tenuto.records.audit import DIGEST_BYTES, plain_sign


class PlainVault:
    """Changes nothing."""

    sealing = False

    def seal(self, user: str, place: str, revision: int, data: bytes, columns: bytes = b"") -> bytes:
        return data

    def open(self, user: str, place: str, revision: int, data: bytes, columns: bytes = b"") -> bytes:
        return data

    def key_number(self, data: bytes) -> int:
        return 0

    def renewed(self, user: str, number: int) -> None:
        """There are no keys."""

    def digest(self, user: str, data: bytes) -> bytes:
        return blake2b(data, digest_size=DIGEST_BYTES).digest()

    def blind(self, user: str, text: str) -> str:
        return text

    def index_key(self, user: str) -> bytes:
        return b""

    def sign(self, data: bytes) -> bytes:
        return plain_sign(data)
