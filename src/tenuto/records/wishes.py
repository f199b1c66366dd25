"""What a person asked of memory itself, kept for as long as it stands."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class WishKind(StrEnum):
    """``forget``: out of every reading; ``silence``: not brought up, yet known when it is asked for by name."""

    FORGET = "forget"
    SILENCE = "silence"


@dataclass(frozen=True, slots=True, kw_only=True)
class StandingWish:
    """One wish of the person: what it names, and what it holds back by id."""

    id: str
    kind: WishKind
    created_at: datetime
    """When it was said."""
    active: bool = True
    about: str = ""
    """What it is about, in the person's words; empty where only ids are meant ("forget that")."""
    names: tuple[str, ...] = ()
    """Other names of whom it is about."""
    lasting: bool = False
    """Whether it also holds for what is said after it."""
    messages: tuple[str, ...] = ()
    memories: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()
    message_id: str | None = None
    """The message that speaks the wish; it is not shown again, also when the wish was lifted."""
    persona: str | None = None
    quote: str = ""
    lifted_at: datetime | None = None
