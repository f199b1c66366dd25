"""The plain vault: nothing is sealed. Encryption at rest puts another one in its place."""

from __future__ import annotations

from tenuto.records.audit import plain_sign


class PlainVault:
    """Changes nothing."""

    sealing = False

    def seal(self, user: str, place: str, revision: int, data: bytes) -> bytes:
        return data

    def open(self, user: str, place: str, revision: int, data: bytes) -> bytes:
        return data

    def blind(self, user: str, text: str) -> str:
        return text

    def index_key(self, user: str) -> bytes:
        return b""

    def sign(self, data: bytes) -> bytes:
        return plain_sign(data)
