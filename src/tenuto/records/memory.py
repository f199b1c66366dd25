"""What is known: memories with their evidence and versions, entities, todos, and the persona's state."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, ClassVar

from tenuto.records.base import OneLine


class Domain(StrEnum):
    """Whom or what a memory is about."""

    PROFILE = "profile"
    PEOPLE = "people"
    PROJECT = "project"
    AGENT = "agent"
    RELATIONAL = "relational"
    EVIDENCE = "evidence"


class Kind(StrEnum):
    """What kind of thing is known."""

    FACT = "fact"
    PREFERENCE = "preference"
    RELATIONSHIP = "relationship"
    FRICTION = "friction"
    HABIT = "habit"
    TRAJECTORY = "trajectory"
    SOMATIC_AFFECTIVE = "somatic_affective"
    INTERPRETIVE_FRAME = "interpretive_frame"
    PROJECT = "project"
    BOUNDARY = "boundary"
    COMMITMENT = "commitment"
    RITUAL = "ritual"
    SHARED_CONCEPT = "shared_concept"
    RECURRING_SUBJECT = "recurring_subject"
    CONTRADICTION = "contradiction"
    STYLE_ADJUSTMENT = "style_adjustment"
    VOICE_NOTE = "voice_note"
    CONSTRAINT = "constraint"
    CONTEXT_NOTE = "context_note"
    BRIEF = "brief"
    RESUME_GUIDANCE = "resume_guidance"
    CONTINUATION = "continuation"
    OTHER = "other"


class Status(StrEnum):
    """Where a memory is in its life. ``docs/memory-states.md`` draws the moves."""

    CANDIDATE = "candidate"
    CONFIRMED = "confirmed"
    ACTIVE = "active"
    REINFORCED = "reinforced"
    REVISED = "revised"
    DEPRECATED = "deprecated"
    FORGOTTEN = "forgotten"
    ARCHIVED = "archived"


RECALLED = (Status.CONFIRMED, Status.ACTIVE, Status.REINFORCED, Status.REVISED)
"""The statuses that recall reads."""


class Trust(StrEnum):
    """Whose word it is, written by code and never by a model. From most to least trusted."""

    OPERATOR = "operator"
    USER_CONFIRMED = "user_confirmed"
    USER_STATED = "user_stated"
    INFERRED = "inferred"
    EXTERNAL = "external"


TRUST_ORDER = (Trust.EXTERNAL, Trust.INFERRED, Trust.USER_STATED, Trust.USER_CONFIRMED, Trust.OPERATOR)


class Epistemic(StrEnum):
    EXPLICIT = "explicit"
    INFERRED = "inferred"
    CO_CREATED = "co_created"
    ASSISTANT_REFLECTION = "assistant_reflection"
    SYSTEM_GENERATED = "system_generated"


class TimeScope(StrEnum):
    MOMENTARY = "momentary"
    SESSION = "session"
    ACTIVE_PROJECT = "active_project"
    ONGOING = "ongoing"
    HISTORICAL = "historical"
    DEPRECATED = "deprecated"


class Sensitivity(StrEnum):
    """Described, never a gate."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"


class Proactive(StrEnum):
    """May it be brought up? Apart from whether it may be recalled."""

    YES = "yes"
    ONLY_WHEN_RELEVANT = "only_when_relevant"
    NO = "no"


class PinKind(StrEnum):
    MANUAL = "manual"
    AUTO = "auto"
    CODE = "code"
    CONCEPT = "concept"
    SYSTEM = "system"


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """Why a memory is believed: the message, when it was said, and the words."""

    message_id: str | None
    at: datetime
    quote: str | None = None
    session_id: str | None = None
    channel: str | None = None
    trust: Trust = Trust.USER_STATED


@dataclass(frozen=True, slots=True, kw_only=True)
class Version:
    """What a memory was before a change, and why it changed."""

    at: datetime
    content: str
    status: Status
    reason: str
    changed: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Memory(OneLine):
    """One durable thing known.

    ``key`` is ``domain|entity_type|slug|kind|attribute``. ``slot`` is unique for a user while the memory is current:
    a single-valued attribute occupies its key, a many-valued one its key and its words, so that the database itself
    refuses the second copy. ``None`` frees the slot.
    """

    _line: ClassVar[tuple[str, ...]] = ("id", "status", "content")
    id: str
    content: str
    domain: Domain
    kind: Kind
    created_at: datetime
    updated_at: datetime
    key: str = ""
    slot: str | None = None
    attribute: str | None = None
    value: str | None = None
    entities: tuple[str, ...] = ()
    label: str | None = None
    status: Status = Status.ACTIVE
    persona: str | None = None
    importance: float = 5.0
    confidence: float = 0.5
    epistemic: Epistemic = Epistemic.INFERRED
    time_scope: TimeScope = TimeScope.ONGOING
    sensitivity: Sensitivity = Sensitivity.LOW
    trust: Trust = Trust.INFERRED
    source: str = "conversation"
    surface: str = "api"
    made_by: str = "rules"
    session_id: str | None = None
    evidence: tuple[Evidence, ...] = ()
    reinforcements: int = 0
    last_reinforced_at: datetime | None = None
    pinned: bool = False
    pin_kind: PinKind | None = None
    pin_session_id: str | None = None
    proactive_use: Proactive = Proactive.ONLY_WHEN_RELEVANT
    should_do: str | None = None
    should_not_do: str | None = None
    retrieval_conditions: str | None = None
    do_not_use_when: str | None = None
    retrieval_keywords: tuple[str, ...] = ()
    valence: float = 0.0
    arousal: float = 0.0
    stability: float = 1.0
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    happens_at: datetime | None = None
    supersedes: str | None = None
    superseded_by: str | None = None
    derived_from: tuple[str, ...] = ()
    history: tuple[Version, ...] = ()
    metadata: dict[str, Any] = field(default_factory=dict)


def first_said(memory: Memory) -> datetime:
    """When a memory was said first."""
    return min((one.at for one in memory.evidence), default=memory.created_at)


def said_at(memory: Memory) -> datetime:
    """When a memory was said last."""
    return max((one.at for one in memory.evidence), default=memory.created_at)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Entity(OneLine):
    """A person, place, org or project. ``id`` is ``type:slug``."""

    _line: ClassVar[tuple[str, ...]] = ("id", "label", "mentions")
    id: str
    type: str
    label: str
    created_at: datetime
    updated_at: datetime
    aliases: tuple[str, ...] = ()
    mentions: int = 0
    last_mentioned_at: datetime | None = None
    merged_into: str | None = None
    relation: str | None = None
    trust: Trust = Trust.USER_STATED


class MergeStatus(StrEnum):
    PROPOSED = "proposed"
    APPLIED = "applied"
    REFUSED = "refused"
    UNDONE = "undone"


@dataclass(frozen=True, slots=True, kw_only=True)
class EntityMerge:
    """Two entities that may be one: proposed, applied, refused or undone, with what is needed to undo it."""

    id: str
    duplicate: str
    into: str
    confidence: float
    reason: str
    status: MergeStatus
    created_at: datetime
    decided_at: datetime | None = None
    moved: tuple[str, ...] = ()
    rekeyed: tuple[str, ...] = ()
    """Memories about the duplicate whose key now names the other."""
    retired: tuple[str, ...] = ()
    """Memories that gave way, because both had a value for the same thing."""


class TodoKind(StrEnum):
    COMMITMENT = "commitment"
    HABIT = "habit"
    THREAD = "thread"
    FRICTION = "friction"
    REMINDER = "reminder"
    TASK = "task"


class TodoStatus(StrEnum):
    OPEN = "open"
    DONE = "done"
    EXPIRED = "expired"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Todo(OneLine):
    """Something to do or to come back to. Belongs to a persona. ``by`` is who owes it: user or assistant."""

    _line: ClassVar[tuple[str, ...]] = ("id", "status", "content", "due")
    id: str
    kind: TodoKind
    content: str
    created_at: datetime
    updated_at: datetime
    status: TodoStatus = TodoStatus.OPEN
    slot: str | None = None
    persona: str | None = None
    by: str = "user"
    due: datetime | None = None
    recurrence: str | None = None
    importance: float = 5.0
    completed_at: datetime | None = None
    completions: tuple[datetime, ...] = ()
    session_id: str | None = None
    entities: tuple[str, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    trust: Trust = Trust.USER_STATED
    source: str = "conversation"
    made_by: str = "rules"


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentState:
    """The persona's axes towards this user. ``id`` is the persona's name, or the empty string."""

    id: str
    axes: dict[str, float]
    updated_at: datetime
    outreach: bool = False
    last_outreach_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StateChange:
    """One change of the axes, kept so that the user can read how the state came about."""

    id: str
    persona: str | None
    at: datetime
    deltas: dict[str, float]
    axes: dict[str, float]
    reason: str
    session_id: str | None = None
