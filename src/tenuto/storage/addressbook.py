"""One address over SQL: who holds it, and the challenges that were sent to it. Writers of the same address queue."""

from __future__ import annotations

from hashlib import blake2b

import msgspec

from tenuto.ports import Vault
from tenuto.records.base import micros
from tenuto.records.identity import Challenge
from tenuto.storage import queries
from tenuto.storage.engine import Connection
from tenuto.storage.tables import place as sealed_place


def place_of(vault: Vault, channel: str, address: str) -> str:
    """What stands for the address in the tables: itself, or in a sealed store a hash under the store's own key."""
    key, text = vault.index_key(""), f"{channel}:{address}"
    return blake2b(text.encode(), key=key, digest_size=24).hexdigest() if key else text


class SqlAddress:
    """Bound to one address and one transaction."""

    def __init__(self, connection: Connection, dialect: str, vault: Vault, place: str, now: int) -> None:
        self._connection = connection
        self._sql = queries.load(dialect)
        self._vault = vault
        self._place = place
        self._now = now
        if "lock_address" in self._sql:
            connection.rows(self._sql["lock_address"], {"place": self._place})

    def holder(self) -> str | None:
        rows = self._connection.rows(self._sql["address_holder"], {"place": self._place})
        return rows[0][0] if rows else None

    def hold(self, user: str) -> None:
        self._connection.change(self._sql["hold_address"], {"place": self._place, "user": user, "now": self._now})

    def release(self) -> None:
        self._connection.change(self._sql["release_address"], {"place": self._place})

    def challenges(self) -> list[Challenge]:
        found = []
        for user, id, body in self._connection.rows(self._sql["list_challenges"], {"place": self._place}):
            plain = self._vault.open(user, sealed_place("challenges", id), 0, bytes(body))
            found.append(msgspec.json.decode(plain, type=Challenge))
        return found

    def put(self, challenge: Challenge) -> None:
        body = msgspec.json.encode(challenge)
        values = {
            "place": self._place,
            "id": challenge.id,
            "user": challenge.user_id,
            "created_at": micros(challenge.created_at),
            "body": self._vault.seal(challenge.user_id, sealed_place("challenges", challenge.id), 0, body),
        }
        self._connection.change(self._sql["put_challenge"], values)

    def drop(self, *ids: str) -> None:
        for id in ids:
            self._connection.change(self._sql["drop_challenge"], {"place": self._place, "id": id})
