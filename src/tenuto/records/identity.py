"""Proof that somebody holds an address, and the journal of two users who became one."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any


class Purpose(StrEnum):
    """What a challenge proves the address for. A code sent for one purpose is worth nothing for another."""

    LINK = "link"
    MERGE = "merge"


@dataclass(frozen=True, slots=True, kw_only=True)
class Challenge:
    """A secret that was sent to an address. Only hashes are kept; ``user_id`` is who asked."""

    id: str
    user_id: str
    channel: str
    address: str
    purpose: Purpose
    salt: str
    code_hash: str
    token_hash: str
    created_at: datetime
    expires_at: datetime
    tries: int = 0
    used_at: datetime | None = None
    spent_at: datetime | None = None
    """When what it proved was done; a proof serves once."""


MERGED_INTO = "merged_into"
"""Setting of a user at rest: the id of the one whom they were joined to."""


class UserMergeStatus(StrEnum):
    STARTED = "started"
    DONE = "done"
    UNDONE = "undone"


@dataclass(frozen=True, slots=True, kw_only=True)
class UserMerge:
    """Two users who turned out to be one. Kept with the user who stays; ``other`` keeps their rows, at rest.

    ``added`` names what was copied, by table; ``parts`` counts the journal's pages that hold what was there before.
    """

    id: str
    other: str
    status: UserMergeStatus
    created_at: datetime
    until: int = 0
    """The user's number when the merge was done: what has a larger one came after it."""
    addresses: tuple[str, ...] = ()
    added: dict[str, int] = field(default_factory=dict)
    undone_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MergePart:
    """One page of a merge's journal. ``kind``: ``before`` (rows of the user who stays, as they were) or ``added``."""

    id: str
    merge_id: str
    kind: str
    rows: tuple[dict[str, Any], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """What a courier carries to an address: the code, the token for a link, and words that say what it is for."""

    channel: str
    address: str
    purpose: Purpose
    code: str
    token: str
    text: str
    expires_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class MergePlan:
    """What a merge would do, shown before it is done. ``digest`` binds the confirmation to what was shown."""

    user: str
    other: str
    channel: str
    address: str
    challenge_id: str
    counts: dict[str, int]
    """Records of the other user, by table."""
    conflicts: tuple[str, ...]
    """Single-valued things that both say differently, and what would hold then."""
    addresses: tuple[str, ...]
    digest: str
