"""What a transaction did, as the body of a link of the audit log: tables, counts and ids, never content.

Ids are written only where the engine mints them itself; an entity's id is a name, a workflow's may be the caller's own
words. Counts are complete, the list of ids is not: it stops at :data:`IDS`.
"""

from __future__ import annotations

import re
import secrets
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import msgspec

from tenuto.ports import Vault
from tenuto.records.audit import Chain, Link, plain_sign, signed_bytes
from tenuto.records.base import from_micros

IDS = 20
"""Ids in one link."""
MINTED = frozenset({
    "messages", "sessions", "summaries", "key_points", "memories", "todos", "entity_merges", "artifacts", "imports",
    "user_merges", "api_keys",
})  # fmt: skip
UNSAID = frozenset({"replays"})
"""Answers kept for repeated requests: nothing that is remembered."""
_ID = re.compile(r"[a-z]{2,8}_[0-9a-z]{8,22}")


@dataclass(slots=True)
class Changes:
    """Counts of what was written and removed."""

    changed: dict[str, int] = field(default_factory=dict)
    removed: dict[str, int] = field(default_factory=dict)
    ids: dict[str, None] = field(default_factory=dict)
    unsaid: bool = False
    """Whether something was written that the log does not tell of."""

    def put(self, table: str, id: str = "") -> None:
        self._count(self.changed, table, id)

    def remove(self, table: str, id: str = "") -> None:
        self._count(self.removed, table, id)

    def _count(self, counts: dict[str, int], table: str, id: str) -> None:
        if table in UNSAID:
            self.unsaid = True
            return
        counts[table] = counts.get(table, 0) + 1
        if table in MINTED and len(self.ids) < IDS and _ID.fullmatch(id):
            self.ids[id] = None

    def __bool__(self) -> bool:
        return bool(self.changed or self.removed)

    def body(self, more: dict[str, Any] | None = None) -> str:
        said: dict[str, Any] = {"changed": self.changed, "removed": self.removed, "ids": list(self.ids)}
        return written({name: value for name, value in said.items() if value} | (more or {}))


def written(said: dict[str, Any]) -> str:
    return msgspec.json.encode(said, order="sorted").decode()


def new_subject() -> str:
    """A name for a user that says nothing about them."""
    return secrets.token_hex(12)


def next_link(
    vault: Vault | None, subject: str, n: int, head: str, at: datetime, actor: str, verb: str, body: str
) -> Link:
    """The link after the one with the hash ``head``."""
    data = signed_bytes(head, subject, n, at, actor, verb, body)
    made = plain_sign(data) if vault is None else vault.sign(data)
    return Link(n=n, at=at, actor=actor, verb=verb, body=body, hash=made.hex())


def to_chain(row: tuple[Any, ...]) -> Chain:
    holder, subject, count, head = row
    return Chain(holder=holder, subject=subject, count=count, head=head)


def to_link(row: tuple[Any, ...]) -> Link:
    n, at, actor, verb, body, hash_ = row
    return Link(n=n, at=from_micros(at), actor=actor, verb=verb, body=body, hash=bytes(hash_).hex())
