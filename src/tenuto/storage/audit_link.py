"""What a transaction did, as the body of a link of the audit log: tables, counts and digests of rows, never content.

A row is listed by its id only where the engine mints ids itself; an entity's id is a name, a workflow's may be the
caller's own words: such a row is listed by its revision, a random number. A row that is gone is listed with "".
"""

from __future__ import annotations

import re
import secrets
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import msgspec

from tenuto import call_context
from tenuto.ports import Vault
from tenuto.records.audit import Chain, Link, plain_sign, signed_bytes
from tenuto.records.base import from_micros

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
    rows: dict[str, dict[str, str]] = field(default_factory=dict)
    """By table and name: the digest of each row as it is now, empty for one that is gone."""
    listed: bool = False
    """Whether every row of the user is among them."""
    unsaid: bool = False
    """Whether something was written that the log does not tell of."""

    def put(self, table: str, times: int = 1) -> None:
        self._count(self.changed, table, times)

    def remove(self, table: str) -> None:
        self._count(self.removed, table, 1)

    def set_row(self, table: str, name: str, digest: str) -> None:
        self.rows.setdefault(table, {})[name] = digest

    def _count(self, counts: dict[str, int], table: str, times: int) -> None:
        if table in UNSAID:
            self.unsaid = True
            return
        counts[table] = counts.get(table, 0) + times

    def __bool__(self) -> bool:
        return bool(self.changed or self.removed)

    def said(self, witnessed: list[tuple[str, str, str]]) -> list[tuple[str, str, str]]:
        """The links to write, as actor, verb and body: this one and those that were asked for. A user's row that came
        to be with nothing else is told first."""
        own = (*call_context.current(call_context.WRITE), self.body())
        if self:
            return [*witnessed, own]
        return [own, *witnessed] if self.rows else witnessed

    def body(self) -> str:
        said: dict[str, Any] = {"changed": self.changed, "removed": self.removed, "rows": self.rows}
        said["listed"] = self.listed
        return written({name: value for name, value in said.items() if value})


def row_name(table: str, id: str, revision: int) -> str:
    """Under which name a row is listed."""
    return id if minted(table, id) else str(revision)


def minted(table: str, id: str) -> bool:
    """Whether an id was made by the engine, so that it says nothing."""
    return table in MINTED and _ID.fullmatch(id) is not None


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
