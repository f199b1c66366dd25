"""The lines of a context under way, each sentence once, and what every renderer needs. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, tzinfo

from tenuto.context.assemble import Line
from tenuto.context.templates import Templates
from tenuto.policy import Policy
from tenuto.recall.gate import Gate
from tenuto.records.base import micros
from tenuto.records.context import Dropped
from tenuto.records.memory import Memory

SAYS_THE_SAME = "says the same as another line"
ANSWERING = frozenset({"relevant", "news", "marked"})
"""Blocks that follow the message; the others stay the same while a session lasts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """What every renderer needs, and the moment that the stable blocks are seen from."""

    templates: Templates
    fence: str
    zone: tzinfo
    start: datetime
    now: datetime
    policy: Policy
    tokens: int
    """Of the whole context, without those that are kept for the answer."""
    unasked: Gate
    """What may stand in a context whatever the message is."""
    asked: Gate
    """What may answer the message."""
    here: Gate
    """What may be replayed of the talk that is going on."""
    before: Gate
    """What may be shown of the talk before; what came from outside is fenced there, too."""
    over: Gate
    """What may stand there although it is done."""
    question: tuple[Memory, ...] = ()
    """What the person asked to have forgotten and has not confirmed."""

    def gate(self, block: str) -> Gate:
        """The gate of a block."""
        if block in ANSWERING:
            return self.asked
        return {"recent": self.here, "earlier": self.before, "wins": self.over}.get(block, self.unasked)


@dataclass(slots=True)
class Sheet:
    """The lines so far; a record that was offered once is not offered again."""

    lines: dict[str, list[Line]] = field(default_factory=dict)
    dropped: dict[str, list[Dropped]] = field(default_factory=dict)
    seen: set[tuple[str, str]] = field(default_factory=set)
    said: set[str] = field(default_factory=set)

    def put_aside(self, block: str, kind: str, id: str, why: str) -> None:
        self.dropped.setdefault(block, []).append(Dropped(kind=kind, id=id, tokens=0, why=why))

    def repeats(self, text: str) -> bool:
        """Whether a sentence stands there already."""
        return sentence_of(text) in self.said

    def offer(self, block: str, kind: str, id: str, text: str, at: datetime | None = None, content: str = "") -> None:
        key, words = (kind, id), sentence_of(content)
        if key in self.seen:
            return
        self.seen.add(key)
        if words and words in self.said:
            self.put_aside(block, kind, id, SAYS_THE_SAME)
            return
        if words:
            self.said.add(words)
        position = micros(at) if at is not None else 0
        self.lines.setdefault(block, []).append(Line(kind=kind, id=id, text=text, position=position))


def sentence_of(text: str) -> str:
    """The words of a sentence, whoever said it, however it ends and whatever was added in brackets."""
    said = text
    for _ in range(2):  # "They told me: …", "Still open: User: …"
        who, colon, rest = said.partition(": ")
        said = rest if colon and who.count(" ") < 3 else said
    bare = said.partition(" (")[0] if said.endswith(")") else said
    return " ".join(bare.casefold().strip(" .!?…“”\"'").split())
