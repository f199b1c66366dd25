"""The audit log: who changed or read what, and when; never what it says.

Every user has a chain of links. A link's hash covers the link before it, so that nothing in the middle can be changed,
taken out or put in without every later hash being wrong:

    hash = sign(hash before, subject, number, time, actor, verb, body)      lengths written before each part

``subject`` is a random name that stands for the user. The user's row holds the only way from one to the other; it goes
with the user, and the chain stays and can still be verified. ``sign`` is SHA-256, or keyed where the store has keys.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import msgspec

from tenuto.records.base import micros

ERASE = "erase"
"""The verb of the last link of a chain whose user is gone, and of its entry in the operator's chain."""
GONE = "\x1f"
"""Before the subject, in place of a user's id, once the user is erased. No user's id holds this character."""
PLAIN, KEYED = b"\x00", b"\x01"
"""The first byte of a hash: how it was made."""
DIGEST_BYTES = 16
"""Of the digest of a row."""
SHOWN_IDS = 20
"""Ids that an entry shows."""
PROFILE = "users", "profile"
"""Table and name of the user's own row where rows are listed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """One link as it is kept. ``body`` is JSON, exactly as it was hashed."""

    n: int
    at: datetime
    actor: str
    verb: str
    body: str
    hash: str


@dataclass(frozen=True, slots=True)
class ListedRow:
    """A row as the audit log lists it. ``name`` is its id, or its revision where an id would tell something."""

    table: str
    name: str
    digest: str
    """Empty for a row that does not open."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Chain:
    """Where a chain stands. ``holder`` is the user's id, or stands for it once the user is gone (not ``live``)."""

    holder: str
    subject: str
    count: int = 0
    head: str = ""
    live: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditEntry:
    """What a link says. A reading has no changes; ``times`` is how often it was done since the entry before."""

    n: int
    at: datetime
    actor: str
    verb: str
    changed: dict[str, int] = field(default_factory=dict)
    removed: dict[str, int] = field(default_factory=dict)
    ids: tuple[str, ...] = ()
    times: int = 1
    note: dict[str, Any] = field(default_factory=dict)
    hash: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditReport:
    """What a verification found. ``problems`` is empty when every chain holds."""

    at: datetime
    chains: int
    links: int
    problems: tuple[str, ...] = ()
    keyed: bool = False
    """Whether the hashes are keyed: then nobody without the keyring can make new ones."""

    @property
    def ok(self) -> bool:
        return not self.problems


@dataclass(frozen=True, slots=True)
class AuditEnd:
    """Where a chain stands: the number of its links and the hash of the last."""

    n: int
    hash: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditHead:
    """Where every chain stands, by its subject: to be kept somewhere else."""

    at: datetime
    chains: dict[str, AuditEnd]
    digest: str = ""


def signed_bytes(before: str, subject: str, n: int, at: datetime, actor: str, verb: str, body: str) -> bytes:
    """What a link's hash is made over."""
    parts = (before, subject, str(n), str(micros(at)), actor, verb, body)
    encoded = [part.encode("utf-8", "surrogatepass") for part in parts]
    return b"tenuto audit 1" + b"".join(len(part).to_bytes(4, "big") + part for part in encoded)


def plain_sign(data: bytes) -> bytes:
    return PLAIN + hashlib.sha256(data).digest()


def entry_of(link: Link) -> AuditEntry:
    """A link, read."""
    try:
        said = msgspec.json.decode(link.body, type=dict[str, Any])
        rows, _ = said.pop("rows", {}), said.pop("listed", None)
        given = {name: said.pop(name) for name in ("changed", "removed", "ids", "times") if name in said}
        if rows:
            given["ids"] = [name for named in rows.values() for name in named if "_" in name][:SHOWN_IDS]
        plain = {"n": link.n, "at": link.at, "actor": link.actor, "verb": link.verb, "hash": link.hash, "note": said}
        return msgspec.convert(plain | given, type=AuditEntry)
    except msgspec.MsgspecError:
        return AuditEntry(
            n=link.n, at=link.at, actor=link.actor, verb=link.verb, hash=link.hash, note={"unreadable": True}
        )


def head_digest(chains: dict[str, AuditEnd]) -> str:
    """One short value for all chains together."""
    lines = "\n".join(f"{subject} {end.n} {end.hash}" for subject, end in sorted(chains.items()))
    return hashlib.sha256(lines.encode("utf-8", "surrogatepass")).hexdigest()
