"""What was said, and what stands for it: messages, sessions, summaries, key points."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, ClassVar

from tenuto.records.base import OneLine
from tenuto.records.memory import Trust


class Role(StrEnum):
    """Who speaks: the user, the assistant (a persona), the system, or a tool whose output is quoted."""

    USER = "user"
    ASSISTANT = "assistant"
    SYSTEM = "system"
    TOOL = "tool"


class SessionStatus(StrEnum):
    OPEN = "open"
    CLOSED = "closed"


class SummaryKind(StrEnum):
    ROLLING = "rolling"
    RANGE = "range"
    SESSION = "session"
    TOPIC = "topic"
    SPINE = "spine"
    PROFILE = "profile"
    BRIEF = "brief"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Message(OneLine):
    """One thing said. Never edited. ``seq`` is the order of arrival, ``at`` the time it was said."""

    _line: ClassVar[tuple[str, ...]] = ("id", "role", "at", "content")
    id: str
    session_id: str
    role: Role
    content: str
    at: datetime
    channel: str
    persona: str | None = None
    seq: int = 0
    importance: float = 5.0
    external_id: str | None = None
    speaker: str | None = None
    thinking: str | None = None
    model: str | None = None
    trust: Trust = Trust.USER_STATED
    source: str = "conversation"
    tokens: int | None = None
    metadata: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Session(OneLine):
    """A run of messages of one user with one persona. The second half is written when it is closed and classified."""

    _line: ClassVar[tuple[str, ...]] = ("id", "status", "started_at", "turn_count", "headline")
    id: str
    persona: str | None
    channel: str
    started_at: datetime
    last_activity_at: datetime
    status: SessionStatus = SessionStatus.OPEN
    ended_at: datetime | None = None
    end_type: str | None = None
    external_id: str | None = None
    name: str | None = None
    """What the person or the application calls it."""
    turn_count: int = 0
    resumes: str | None = None
    channels: tuple[str, ...] = ()
    headline: str | None = None
    detailed_summary: str | None = None
    diary_entry: str | None = None
    thinking_highlights: tuple[dict[str, str], ...] = ()
    semantic_context: dict[str, Any] | None = None
    classified_turns: int = 0
    classified_by: str | None = None
    mood_delta: float = 0.0
    connection_delta: float = 0.0
    attunement_delta: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionState:
    """What survives sessions for one user and persona. ``id`` is the persona's name, or the empty string."""

    id: str
    message_count: int = 0
    last_interaction: datetime | None = None
    last_user_message: str | None = None
    last_stamped_at: datetime | None = None
    """The time that the store's clock last gave to a message; times that a caller gave do not count."""
    sessions_since_profile: int = 0
    messages_since_spine: int = 0
    summarised_until_seq: int = 0
    curator_last_run_at: datetime | None = None
    curator_memory_count: int = 0
    curator_last_error: str | None = None
    rolling_last_attempt_at: datetime | None = None
    rolling_last_success_at: datetime | None = None
    rolling_last_error: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SourcedLine:
    """One line of a derived text, with the ids of the messages and memories that it rests on."""

    text: str
    messages: tuple[str, ...] = ()
    memories: tuple[str, ...] = ()
    part: str = ""
    """The part of the text that it belongs to, such as a heading, the headline or the diary."""
    who: str = ""
    """Who said it, where a line is somebody's words."""
    persona: str | None = None
    """The persona that alone may read it; ``None`` where the text has no other reader anyway, or all may."""
    trust: Trust = Trust.INFERRED
    computed: bool = False
    """Code computed it (a count, a date, a mood) and it tells nothing that anybody said."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Summary(OneLine):
    """Text that stands for many messages. A newer version is a new row that names the one it replaces."""

    _line: ClassVar[tuple[str, ...]] = ("id", "kind", "message_count", "content")
    id: str
    kind: SummaryKind
    content: str
    created_at: datetime
    made_by: str
    persona: str | None = None
    session_id: str | None = None
    topic: str | None = None
    version: int = 1
    replaces: str | None = None
    current: bool = True
    start_message_id: str | None = None
    end_message_id: str | None = None
    start_seq: int = 0
    end_seq: int = 0
    message_count: int = 0
    importance: float = 5.0
    compression: float | None = None
    structured: dict[str, Any] = field(default_factory=dict)
    trust: Trust = Trust.INFERRED
    lines: tuple[SourcedLine, ...] = ()
    """The text line by line; empty in rows of the time before, whose text rests on every message of its range."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class KeyPoint(OneLine):
    """One weighted thing worth keeping from a session. ``weight`` is 0–10, ``valence`` −1…1."""

    _line: ClassVar[tuple[str, ...]] = ("id", "type", "content")
    id: str
    session_id: str
    type: str
    content: str
    created_at: datetime
    persona: str | None = None
    valence: float = 0.0
    weight: float = 5.0
    message_id: str | None = None
    messages: tuple[str, ...] = ()
    """All messages that it rests on, where that is more than one."""
    resolved: bool = False
    trust: Trust = Trust.INFERRED
