"""Sentences with a weight: what every extractive summary is made of.

A sentence's score, 0–1, adds up what can be seen of it:

    0.30 × importance of its message / 10
  + 0.25 × centrality     cosine between its words and all words, weighed by log(1 + count): what the talk is about
  + 0.25 × substance      names, numbers and times, and being a fact, decision, commitment, boundary or feeling
  + 0.10 × length         full between 40 and 200 characters
  + 0.10 × the user's own words (0.04 for the assistant)
  − 0.35 for small talk, − 0.15 below 25 characters, − 0.15 for a question, − 0.10 for praise and agreement

and the best are taken one by one, each losing what it shares with those already taken, then put back in order of time.
All of it is linear in the number of sentences, and the same input gives the same summary.

What would break it: content from outside. Messages that are external or tool output are left out while there is
anything else, so that a forwarded mail neither speaks in a summary nor drags its trust down."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from tenuto.lifecycle import sentence_kinds
from tenuto.records.base import from_micros, micros
from tenuto.records.conversation import Message, Role, SourcedLine
from tenuto.records.memory import TRUST_ORDER, Trust
from tenuto.text import patterns
from tenuto.text.words import tokens

_SUBSTANCE = {
    "boundary": 1.0,
    "decision": 0.9,
    "commitment": 0.8,
    "feeling": 0.7,
    "preference": 0.7,
    "fact": 0.6,
    "open_loop": 0.6,
}
_CONCRETE = patterns.compile(
    r"\d|\b(?:yesterday|tomorrow|tonight|last|next|ago|since|monday|tuesday|wednesday|thursday|friday"
    r"|saturday|sunday|january"
    r"|february|march|april|june|july|august|september|october|november|december|years?|months?|weeks?)\b",
    "i",
)
_PRAISE = patterns.compile(
    r"^(?:wow|yeah|well|hey|oh)?[\s,!]*(?:\w+, )?(?:you(?:'re|r| are|'ve| have)|i (?:totally "
    r"|completely )?agree|that'?s)\b",
    "i",
)
WORTHY = 0.35
"""Score from which a line is worth its place."""
LONGEST_LINE = 240
"""Characters of one sentence in a summary; longer ones are cut at a word."""


@dataclass(frozen=True, slots=True)
class Line:
    """One sentence, who said it, and where."""

    text: str
    who: str
    message_id: str
    seq: int
    at: datetime
    importance: float = 5.0
    by_user: bool = True
    sort: str = "note"
    score: float = 0.0
    trust: Trust = Trust.USER_STATED
    place: int = 0
    """Which sentence of its message it is."""

    def to_plain(self) -> dict[str, Any]:
        plain: dict[str, Any] = {
            name: getattr(self, name) for name in ("text", "who", "message_id", "seq", "importance", "sort", "place")
        }
        return plain | {
            "at": micros(self.at),
            "score": round(self.score, 4),
            "by_user": self.by_user,
            "trust": str(self.trust),
        }

    def sourced(self, part: str = "", text: str | None = None) -> SourcedLine:
        """The line as a derived text keeps it."""
        told = self.text if text is None else text
        trust = lowest_trust([self])
        return SourcedLine(text=told, messages=(self.message_id,), part=part, who=self.who, trust=trust)

    @classmethod
    def from_plain(cls, value: dict[str, Any]) -> Line:
        return cls(**{**value, "at": from_micros(value["at"]), "trust": Trust(value["trust"])})


def speaker_of(message: Message) -> str:
    """Who speaks, as a summary names them."""
    if message.speaker:
        return message.speaker
    if message.role is Role.ASSISTANT:
        return message.persona or "Assistant"
    return str(message.role).capitalize()


def told(messages: Sequence[Message]) -> list[Message]:
    """The messages that a summary may speak from: of people, and not from outside while there is anything else."""
    spoken = [message for message in messages if message.role in (Role.USER, Role.ASSISTANT)] or list(messages)
    return [message for message in spoken if message.trust is not Trust.EXTERNAL] or spoken


def lowest_trust(lines: Iterable[Line], start: Trust = Trust.INFERRED) -> Trust:
    """What is derived keeps the lowest trust of what it comes from, and a summary is at best inferred."""
    return min([start, *(line.trust for line in lines)], key=TRUST_ORDER.index)


def shorten(text: str, length: int) -> str:
    """At most ``length`` characters, cut at a word, with an ellipsis where something was left out."""
    if len(text) <= length:
        return text
    cut = text[: max(0, length - 1)]
    space = cut.rfind(" ")
    return (cut[:space] if space > length // 2 else cut).rstrip(" ,;:-") + "…"


def split(messages: Sequence[Message]) -> list[Line]:
    """The unscored sentences of the messages, in order of time."""
    found = []
    for message in sorted(told(messages), key=lambda message: (message.at, message.seq)):
        for place, sentence in enumerate(sentence_kinds.sentences(message.content)[:200]):
            found.append(
                Line(
                    shorten(sentence, LONGEST_LINE),
                    speaker_of(message),
                    message.id,
                    message.seq,
                    message.at,
                    message.importance,
                    message.role is Role.USER,
                    sentence_kinds.sort_of(sentence),
                    trust=message.trust,
                    place=place,
                )
            )
    return found


def score(lines: Sequence[Line]) -> list[Line]:
    """The same lines with their score against one another."""
    listed = [Counter(tokens(line.text)) for line in lines]
    everything: Counter[str] = Counter()
    for bag in listed:
        everything.update(bag)
    weight = {word: math.log1p(count) for word, count in everything.items()}
    size = math.sqrt(sum(value * value for value in weight.values())) or 1.0
    return [replace(line, score=_score(line, bag, weight, size)) for line, bag in zip(lines, listed, strict=True)]


def _score(line: Line, bag: Counter[str], weight: dict[str, float], size: float) -> float:
    length = math.sqrt(sum(count * count for count in bag.values())) or 1.0
    central = min(1.0, 2.0 * sum(count * weight[word] for word, count in bag.items()) / (length * size))
    named = min(2, len(sentence_kinds.names(line.text))) * 0.15 + (0.25 if _CONCRETE.search(line.text) else 0.0)
    substance = min(1.0, _SUBSTANCE.get(line.sort, 0.2) + named)
    fits = min(len(line.text) / 40, 1.0) * (1.0 if len(line.text) <= 200 else 0.7)
    value = (
        0.30 * line.importance / 10 + 0.25 * central + 0.25 * substance + 0.10 * fits + (0.10 if line.by_user else 0.04)
    )
    if sentence_kinds.is_small_talk(line.text):
        value -= 0.35
    if line.sort == "question":
        value -= 0.15
    if len(line.text) < 25:
        value -= 0.15
    if _PRAISE.search(line.text):
        value -= 0.10
    return round(max(0.0, min(1.0, value)), 4)


def choose(lines: Sequence[Line], most: int, *, floor: float = 0.0, redundancy: float = 0.6) -> list[Line]:
    """The best lines, best first, each new one losing ``redundancy`` × what it shares with one already taken."""
    pool = sorted((line for line in lines if line.score >= floor), key=lambda line: (-line.score, line.at, line.seq))[
        :400
    ]
    bags = {id(line): frozenset(tokens(line.text)) for line in pool}
    lost = dict.fromkeys(bags, 0.0)
    taken: list[Line] = []
    while pool and len(taken) < most:
        best = max(pool, key=lambda line: line.score - redundancy * lost[id(line)])
        pool.remove(best)
        if taken and lost[id(best)] >= 0.95:
            continue
        taken.append(best)
        for line in pool:
            lost[id(line)] = max(lost[id(line)], _overlap(bags[id(line)], bags[id(best)]))
    return taken


def _overlap(one: frozenset[str], other: frozenset[str]) -> float:
    smaller = min(len(one), len(other))
    return len(one & other) / smaller if smaller else 0.0


def in_order(lines: Iterable[Line]) -> list[Line]:
    return sorted(lines, key=lambda line: (line.at, line.seq, line.place))


def render(lines: Sequence[Line]) -> str:
    """``Ana: …`` once per run of the same speaker, sentences joined by spaces."""
    parts: list[str] = []
    who: str | None = None
    for line in lines:
        parts.append(line.text if line.who == who else f"{line.who}: {line.text}")
        who = line.who
    return " ".join(parts)


def pack(lines: Sequence[Line], length: int, most: int = 12, *, floor: float = WORTHY) -> list[Line]:
    """As many of the best lines as fit into ``length`` characters when rendered, in order of time.

    Lines below ``floor`` only fill in where nothing reaches it.
    """
    kept: list[Line] = []
    for line in choose(lines, 4 * most, floor=floor) or choose(lines, 2):
        trial = in_order([*kept, line])
        if len(render(trial)) <= length:
            kept = trial
        elif not kept:
            room = length - len(f"{line.who}: ")
            kept = [replace(line, text=shorten(line.text, room))] if room > 10 else []
        if len(kept) >= most:
            break
    return kept
