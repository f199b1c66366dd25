"""What a model should read now: the compiled context, with a receipt for every block.

``stable`` is the part that does not change between the turns of a session, ``volatile`` the part that does. A
provider's prompt cache serves the longest common prefix of two requests, so everything volatile comes after everything
stable: system text, then the turns of this session in the order they were said, then what belongs to this turn alone,
then the message. Putting anything that changes in front of something that does not would break that.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, ClassVar

from tenuto.records.base import OneLine


@dataclass(frozen=True, slots=True, kw_only=True)
class Included:
    """One whole thing that is in the context. ``kind`` and ``id`` name the record that it came from."""

    kind: str
    id: str
    text: str
    tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Dropped:
    """One whole thing that is not in the context, and why."""

    kind: str
    id: str
    tokens: int
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """The receipt of one block: what it says, what it costs, what was left out."""

    name: str
    label: str
    stable: bool
    text: str = ""
    tokens: int = 0
    items: tuple[Included, ...] = ()
    dropped: tuple[Dropped, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageWithImportance:
    """A message as other programs know it."""

    id: str
    session_id: str
    role: str
    text: str
    model_id: str | None
    token_usage: int | None
    created_at: datetime
    importance_score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class SemanticPin:
    """A pin as other programs know it."""

    id: str
    session_id: str | None
    content: str
    source_message_id: str | None
    importance_score: float
    pin_type: str
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationSummary:
    """A summary as other programs know it."""

    id: str
    session_id: str | None
    summary: str
    message_count: int
    start_message_id: str | None
    end_message_id: str | None
    importance_score: float
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryContext:
    """What of the context is messages, pins and summaries, and how many tokens these take."""

    recentMessages: tuple[MessageWithImportance, ...] = ()
    semanticPins: tuple[SemanticPin, ...] = ()
    summaries: tuple[ConversationSummary, ...] = ()
    totalTokens: int = 0


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Context(OneLine):
    """The compiled context. ``tokens`` counts ``messages``; ``notes`` says what was degraded, in words."""

    _line: ClassVar[tuple[str, ...]] = ("tokens", "budget", "session_id")
    stable: str
    volatile: str
    turns: tuple[Mapping[str, str], ...]
    """The turns of this session that are replayed, oldest first."""
    fresh: str
    """What belongs to this turn alone: ``volatile`` without the turns and without the message."""
    message: str | None
    merged: str | None
    """``fresh`` and ``message`` as one text, for interfaces that take one system text only."""
    blocks: tuple[Block, ...]
    tokens: int
    budget: int
    answer: int
    """Tokens that are left for the answer."""
    session_id: str | None = None
    """The session that the message belongs to, once it has one."""
    anchor: str = ""
    """The id of the session before: the same from a session's first turn to its last, even before it is stored."""
    notes: tuple[str, ...] = ()
    memory: MemoryContext = field(default_factory=MemoryContext)

    def memory_context(self) -> MemoryContext:
        """The same as recent messages, pins and summaries, for programs that put their own prompt together."""
        return self.memory

    @property
    def messages(self) -> list[dict[str, Any]]:
        """Ready for a chat interface: system text, turns, this turn's notes, the message itself last."""
        found: list[dict[str, Any]] = [{"role": "system", "content": self.stable}] if self.stable else []
        found += [dict(turn) for turn in self.turns]
        if self.fresh:
            found.append({"role": "system", "content": self.fresh})
        if self.message is not None:
            found.append({"role": "user", "content": self.message})
        return found

    def for_openai(self, *, single_system: bool = False) -> list[dict[str, Any]]:
        """``messages`` for an OpenAI-compatible interface.

        With ``single_system`` this turn's notes travel inside the last user message: some local chat templates refuse
        a system message that is not the first.
        """
        if not single_system:
            return self.messages
        found: list[dict[str, Any]] = [{"role": "system", "content": self.stable}] if self.stable else []
        found += [dict(turn) for turn in self.turns]
        if self.merged is not None:
            found.append({"role": "user", "content": self.merged})
        return found

    def for_anthropic(self) -> dict[str, Any]:
        """``system`` and ``messages`` for Anthropic's interface, with two cache marks: after the stable text and after
        the last turn that was already said."""
        mark = {"type": "ephemeral"}
        system = [{"type": "text", "text": self.stable, "cache_control": mark}] if self.stable else []
        turns = _alternating([*self.turns])
        if turns and turns[-1]["content"]:
            turns[-1]["content"][-1]["cache_control"] = mark
        last = [{"type": "text", "text": text} for text in (self.fresh, self.message) if text]
        if last:
            if turns and turns[-1]["role"] == "user":
                turns[-1]["content"] += last
            else:
                turns.append({"role": "user", "content": last})
        if turns and turns[0]["role"] != "user":
            turns.insert(0, {"role": "user", "content": [{"type": "text", "text": "(The conversation goes on.)"}]})
        return {"system": system, "messages": turns}

    def block(self, name: str) -> Block | None:
        """The block with this name."""
        return next((block for block in self.blocks if block.name == name), None)

    def __str__(self) -> str:
        return "\n\n".join(part for part in (self.stable, self.volatile) if part)


def _alternating(turns: list[Mapping[str, str]]) -> list[dict[str, Any]]:
    """Turns in which nobody speaks twice in a row, as Anthropic's interface wants them."""
    found: list[dict[str, Any]] = []
    for turn in turns:
        part = {"type": "text", "text": turn["content"]}
        if found and found[-1]["role"] == turn["role"]:
            found[-1]["content"].append(part)
        else:
            found.append({"role": turn["role"], "content": [part]})
    return found
