"""What a person asked of memory itself, kept for as long as it stands."""

from __future__ import annotations

from collections.abc import Sequence
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
    waits_until: datetime | None = None
    """Until when the person may confirm it; nothing is held back before. ``None`` where none is needed, or it was."""
    shown: str = ""
    """The digest of the memories that the question was about."""
    channel: str | None = None
    """Where the confirmation must come from."""
    proposed: bool = False
    """Whether a model asked for it, not the person."""

    def waits(self, now: datetime) -> bool:
        """Whether it can still be confirmed."""
        return self.waits_until is not None and not self.active and self.lifted_at is None and now < self.waits_until

    def concerns(self, persona: str | None) -> bool:
        """Whether the question is this persona's to ask: the one that was told, or any that sees what a model meant."""
        return self.persona == persona or (self.proposed and self.persona is None)


def forget_question(contents: Sequence[str]) -> str:
    """The one short question before something is forgotten."""
    listed = "; ".join(f"“{one}”" for one in contents[:3])
    return f"Should I really forget {listed}{' and more' if len(contents) > 3 else ''}?"
