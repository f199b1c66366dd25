"""What the engine itself keeps: index entries, jobs, events, receipts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from datetime import datetime
from enum import StrEnum
from typing import Any, ClassVar

from tenuto.records.base import OneLine, micros


class EntryKind(StrEnum):
    """What recall can find."""

    MEMORY = "memory"
    MESSAGE = "message"
    KEY_POINT = "key_point"
    SUMMARY = "summary"
    TODO = "todo"


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """What search sees of one kept thing: who said it and when, its words as hashed tokens, its vector.

    ``tokens`` is a packed array of unsigned 64-bit little-endian token hashes with repetition, in order. ``vector`` is
    packed float16, one vector behind the other where a long text has several passages, or ``None`` until it was
    embedded by ``model``. ``links`` names the messages that it came from.
    """

    kind: EntryKind
    id: str
    at: datetime
    seq: int = 0
    persona: str | None = None
    session_id: str | None = None
    role: str = ""
    speaker: str = ""
    tokens: bytes = b""
    vector: bytes | None = None
    model: str | None = None
    links: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryRows:
    """Many entries as columns of equal length: how an index reads them, without an object for each.

    ``at`` is in microseconds, ``links`` are joined by spaces, an absent ``model`` is the empty string.
    """

    seq: Sequence[int]
    kind: Sequence[str]
    id: Sequence[str]
    at: Sequence[int]
    persona: Sequence[str | None]
    session_id: Sequence[str | None]
    role: Sequence[str]
    speaker: Sequence[str]
    links: Sequence[str]
    model: Sequence[str]
    tokens: Sequence[bytes]
    vector: Sequence[bytes | None]

    def __len__(self) -> int:
        return len(self.id)

    def chosen(self, places: Sequence[int]) -> EntryRows:
        """Some of the rows, in the order of ``places``."""
        return EntryRows(**{part.name: [getattr(self, part.name)[place] for place in places] for part in fields(self)})

    @staticmethod
    def of(entries: Sequence[Entry]) -> EntryRows:
        return EntryRows(
            seq=[entry.seq for entry in entries],
            kind=[entry.kind.value for entry in entries],
            id=[entry.id for entry in entries],
            at=[micros(entry.at) for entry in entries],
            persona=[entry.persona for entry in entries],
            session_id=[entry.session_id for entry in entries],
            role=[entry.role for entry in entries],
            speaker=[entry.speaker for entry in entries],
            links=[" ".join(entry.links) for entry in entries],
            model=[entry.model or "" for entry in entries],
            tokens=[entry.tokens for entry in entries],
            vector=[entry.vector for entry in entries],
        )


REMOVALS_KEPT = 1000
"""Removals of index entries that a user's log keeps, the newest. An index that missed more of them is made anew."""


class JobStatus(StrEnum):
    PENDING = "pending"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """An intention that a worker carries out. ``fence`` grows with every lease; a stale worker's result is refused."""

    id: str
    kind: str
    created_at: datetime
    run_at: datetime
    user_id: str = ""
    status: JobStatus = JobStatus.PENDING
    dedupe: str | None = None
    lease_until: datetime | None = None
    fence: int = 0
    attempts: int = 0
    finished_at: datetime | None = None
    payload: dict[str, Any] = field(default_factory=dict)
    error: str | None = None
    result: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """What happened, in order, per user. Carries no content: whoever may read it looks the subject up."""

    id: str
    kind: str
    at: datetime
    subject_kind: str
    subject_id: str
    seq: int = 0
    actor: str = "user"
    channel: str | None = None
    persona: str | None = None
    data: dict[str, Any] = field(default_factory=dict)


class Act(StrEnum):
    """What a write did."""

    INSERTED = "inserted"
    REINFORCED = "reinforced"
    UPGRADED = "upgraded"
    SUPERSEDED = "superseded"
    DUPLICATE = "duplicate"
    REJECTED = "rejected"


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteResult:
    """What one candidate came to, and why."""

    act: Act
    reason: str
    subject_kind: str = "memory"
    subject_id: str | None = None
    content: str = ""
    previous_id: str | None = None
    made_by: str = "rules"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Receipt(OneLine):
    """What ``observe`` returns at once. ``results`` fills when the background work on the message is done."""

    _line: ClassVar[tuple[str, ...]] = ("id", "act", "message_id", "settled")
    id: str
    message_id: str
    session_id: str
    at: datetime
    act: Act = Act.INSERTED
    importance: float = 5.0
    settled: bool = False
    results: tuple[WriteResult, ...] = ()
    notes: tuple[str, ...] = ()
    mentioned: tuple[str, ...] | None = None
    """Ids of the entities that it was counted to mention; ``None`` until it is settled."""
