"""What comes in from elsewhere: one parsed thing at a time, and the record of an import as a whole."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from tenuto.records.conversation import Role
from tenuto.records.memory import Domain, Kind, PinKind, Proactive


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """A message as a format's parser found it. ``id`` is unique within the format; ``thread`` groups a conversation.

    ``mine`` tells whether the user wrote it: only then it counts as the user's word before the import is vouched for.
    """

    id: str
    content: str
    role: Role
    at: datetime
    thread: str
    mine: bool
    title: str | None = None
    speaker: str | None = None
    thinking: str | None = None
    model: str | None = None
    channel: str | None = None
    metadata: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Noted:
    """A memory as another memory system kept it. It stays a candidate until the import is vouched for."""

    id: str
    content: str
    at: datetime
    domain: Domain = Domain.PROFILE
    kind: Kind = Kind.FACT
    importance: float = 5.0
    confidence: float = 0.5
    entities: tuple[str, ...] = ()
    pin: PinKind | None = None
    proactive_use: Proactive = Proactive.ONLY_WHEN_RELEVANT
    valence: float = 0.0
    arousal: float = 0.0
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    deprecated: bool = False
    metadata: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Skipped:
    """Something that could not be taken, where it was, and why."""

    where: str
    why: str


Parsed = Said | Noted | Skipped


class ImportStatus(StrEnum):
    RUNNING = "running"
    DONE = "done"
    STOPPED = "stopped"


@dataclass(frozen=True, slots=True, kw_only=True)
class Import:
    """One import: what it read, what came of it, and whether the user has vouched for it.

    ``id`` follows from the user's file, so importing the same one again goes on where it stopped. Its messages and
    memories carry ``source = "import:<id>"``.
    """

    id: str
    format: str
    name: str
    started_at: datetime
    updated_at: datetime
    status: ImportStatus = ImportStatus.RUNNING
    finished_at: datetime | None = None
    vouched_at: datetime | None = None
    messages: int = 0
    memories: int = 0
    duplicates: int = 0
    skipped: int = 0
    skips: tuple[Skipped, ...] = ()
    threads: int = 0
    sessions: int = 0
    oldest: datetime | None = None
    newest: datetime | None = None
    error: str | None = None

    @property
    def source(self) -> str:
        return f"import:{self.id}"
