"""What a session came to: the record that is written when it closes, without a model.

Full the first time, incremental after: the next record is made of the one before and only the new messages, so a
session that goes on for a year costs what is new and not what is old. To make that possible a record carries its best
lines with their scores and the tally of its feelings (``working``): merging two parts is choosing the best of both, and
adding up.

The record is structured (one_liner, what_mattered, open_loops, commitments, people, tone) and told four ways: a
headline, an arc from early to late, a first-person diary of the persona, and thinking highlights where messages carry
``thinking``.

What would break it: giving it messages that it has seen. The caller's watermark decides what is new.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from tenuto.lifecycle import cues
from tenuto.lifecycle.affect import Deltas, Tally, deltas, feel, tally, tone
from tenuto.lifecycle.lines import Line, choose, in_order, lowest_trust, score, shorten, speaker_of, split, told
from tenuto.records.conversation import Message, Role
from tenuto.records.memory import Trust
from tenuto.text.words import tokens

RULES = "rules"
MATTERED = 5
LISTED = 5
KEPT_LINES = 24
KEY_POINTS = 8
HIGHLIGHTS = 5
HEADLINE_LENGTH = 110
ONE_LINER_LENGTH = 180


@dataclass(frozen=True, slots=True)
class Point:
    """A key point that is not written yet."""

    type: str
    content: str
    valence: float
    weight: float
    message_id: str | None = None
    trust: Trust = Trust.INFERRED


@dataclass(frozen=True, slots=True)
class Record:
    """The whole record of a session so far. ``points`` are those of the new messages only."""

    one_liner: str
    what_mattered: tuple[str, ...]
    open_loops: tuple[str, ...]
    commitments: tuple[str, ...]
    people: tuple[str, ...]
    tone: str
    headline: str
    detailed_summary: str
    diary_entry: str
    thinking_highlights: tuple[dict[str, str], ...]
    points: tuple[Point, ...]
    deltas: Deltas
    tally: Tally
    trust: Trust
    made_by: str = RULES
    candidates: tuple[dict[str, Any], ...] = ()
    axes: dict[str, float] = field(default_factory=dict)
    """What the session as a whole does to axes that the persona defined; only a model moves them."""
    working: dict[str, Any] = field(default_factory=dict)

    def structured(self) -> dict[str, Any]:
        """What the session summary keeps beside its text."""
        return {
            "one_liner": self.one_liner,
            "what_mattered": list(self.what_mattered),
            "open_loops": list(self.open_loops),
            "commitments": list(self.commitments),
            "people": list(self.people),
            "tone": self.tone,
            "axes": self.axes,
            "working": self.working,
        }


def classify(
    messages: Sequence[Message],
    prior: dict[str, Any] | None = None,
    *,
    persona: str | None = None,
    known: Iterable[str] = (),
) -> Record:
    """The record of a session. ``messages`` are the new ones, ``prior`` the ``structured`` part of the record before.

    ``known`` are the names of the user's people, places, orgs and projects.
    """
    before = _read(prior)
    lines = score(split(messages))
    kept = in_order(choose([*before.lines, *lines], KEPT_LINES))
    total = before.tally + tally(messages)
    loops = _open_loops(before.loops, lines)
    promises = _unique([*before.commitments, *(_promise(line) for line in lines if cues.is_commitment(line.text))])
    texts = [message.content for message in told(messages)]
    named = [name for text in texts for sentence in cues.sentences(text) for name in cues.person_names(sentence)]
    talkers = {speaker_of(message).casefold() for message in messages}
    found = [name for name in cues.people(texts, [*known, *named]) if not _is_talker(name, talkers)]
    people = _unique([*before.people, *found])[: 2 * LISTED]
    best = choose(kept, MATTERED)
    phases = _phases(before.phases, lines)
    highlights = (*before.highlights, *_highlights(messages))[-HIGHLIGHTS:]
    headline = _headline(best, messages)
    return Record(
        one_liner=shorten(_say(best[0]), ONE_LINER_LENGTH) if best else headline,
        what_mattered=tuple(_say(line) for line in best),
        open_loops=tuple(loops[-LISTED:]),
        commitments=tuple(promises[-LISTED:]),
        people=tuple(people),
        tone=tone(total),
        headline=headline,
        detailed_summary=_arc(phases) or headline,
        diary_entry=_diary(best, promises, loops, people, tone(total)),
        thinking_highlights=highlights,
        points=tuple(_points(lines)),
        deltas=deltas(total),
        tally=total,
        trust=lowest_trust(kept) if kept else Trust.EXTERNAL,
        axes=dict((prior or {}).get("axes") or {}),
        working={
            "lines": [line.to_plain() for line in kept],
            "phases": [[line.to_plain() for line in phase] for phase in phases],
            "tally": total.to_plain(),
            "highlights": list(highlights),
            "persona": persona or "",
        },
    )


@dataclass(frozen=True, slots=True)
class _Before:
    lines: tuple[Line, ...] = ()
    phases: tuple[tuple[Line, ...], ...] = ()
    tally: Tally = field(default_factory=Tally)
    loops: tuple[str, ...] = ()
    commitments: tuple[str, ...] = ()
    people: tuple[str, ...] = ()
    highlights: tuple[dict[str, str], ...] = ()


def _read(prior: dict[str, Any] | None) -> _Before:
    if not prior:
        return _Before()
    working = prior.get("working") or {}
    return _Before(
        lines=tuple(Line.from_plain(plain) for plain in working.get("lines", ())),
        phases=tuple(tuple(Line.from_plain(plain) for plain in phase) for phase in working.get("phases", ())),
        tally=Tally.from_plain(working.get("tally")),
        loops=tuple(prior.get("open_loops", ())),
        commitments=tuple(prior.get("commitments", ())),
        people=tuple(prior.get("people", ())),
        highlights=tuple(working.get("highlights", ())),
    )


def _is_talker(name: str, talkers: set[str]) -> bool:
    return any(talker.startswith(name.casefold()) for talker in talkers)


def _say(line: Line) -> str:
    return f"{line.who}: {line.text}"


def _promise(line: Line) -> str:
    return f"{line.who}: {shorten(line.text, 160)}"


def _unique(texts: Iterable[str]) -> list[str]:
    """Without repetition; of two that say the same words the later stands, in the later's place."""
    found: dict[frozenset[str], str] = {}
    for text in texts:
        key = frozenset(tokens(text)) or frozenset([text])
        found.pop(key, None)
        found[key] = text
    return list(found.values())


_LOOP_WORDS = frozenset(tokens("still need have waiting thinking looking not sure know wonder figure decide yet must"))
"""Words that say that something is open, not what."""


def _open_loops(before: Sequence[str], lines: Sequence[Line]) -> list[str]:
    """What was left open: said so, or asked by the user near the end and followed by nobody else's word."""
    said = [_promise(line) for line in lines if cues.is_open(line.text)]
    answered = max((line.seq for line in lines if not line.by_user), default=-1)
    asked = [_promise(line) for line in lines if line.by_user and line.sort == "question" and line.seq > answered]
    asked = [text for text in asked if not cues.is_small_talk(text)]
    settled = [frozenset(tokens(line.text)) for line in lines if cues.says_done(line.text)]
    kept = []
    for loop in before:
        words = frozenset(tokens(loop.partition(": ")[2] or loop)) - _LOOP_WORDS
        if not any(words and len(words & done) / len(words) >= 0.6 for done in settled):
            kept.append(loop)
    return _unique([*kept, *said, *asked])


def _phases(before: Sequence[Sequence[Line]], lines: Sequence[Line]) -> list[list[Line]]:
    """Early, middle, late: two lines each. What was late before moves to the middle when more comes."""
    if before:
        early, middle, late = (list(part) for part in (*before, [], [], [])[:3])
        return [early, in_order(choose([*middle, *late], 3)), in_order(choose(lines, 2, floor=0.2) or late[:1])]
    if len(lines) < 6:
        return [in_order(choose(lines, 3, floor=0.2)), [], []]
    third = len(lines) // 3
    parts = (lines[:third], lines[third : 2 * third], lines[2 * third :])
    return [in_order(choose(part, 2, floor=0.2)) for part in parts]


def _arc(phases: Sequence[Sequence[Line]]) -> str:
    named = [(name, phase) for name, phase in zip(("Early", "Then", "Late"), phases, strict=False) if phase]
    if len(named) == 1:
        return " ".join(_say(line) for line in named[0][1])
    return "\n".join(f"{name}: " + " ".join(_say(line) for line in phase) for name, phase in named)


def _headline(best: Sequence[Line], messages: Sequence[Message]) -> str:
    if best:
        return shorten(best[0].text, HEADLINE_LENGTH)
    first = next((message for message in messages if message.content.strip()), None)
    return shorten(" ".join(first.content.split()), HEADLINE_LENGTH) if first else "Nothing was said"


_FELT = {
    "joyful": "It was a happy talk.",
    "positive": "It was a good talk.",
    "warm": "It felt warm between us.",
    "distressed": "They were in distress, and I want to be gentle next time.",
    "heavy": "Something weighed on them.",
    "tense": "There was tension, and part of it may be mine.",
    "mixed": "They had mixed feelings.",
}


def _diary(
    best: Sequence[Line], promises: Sequence[str], loops: Sequence[str], people: Sequence[str], quality: str
) -> str:
    """The persona's own note, in the first person, of nothing but what was said."""
    parts = []
    theirs = [line for line in best if line.by_user][:2]
    if theirs:
        parts.append("They told me: " + " ".join(f"“{line.text}”" for line in theirs))
    elif best:
        parts.append(f"We spoke: “{best[0].text}”")
    if people:
        parts.append("We spoke of " + ", ".join(people[:3]) + ".")
    if quality in _FELT:
        parts.append(_FELT[quality])
    if promises:
        parts.append(f"To hold on to: {promises[-1]}")
    if loops:
        parts.append(f"Still open: {loops[-1]}")
    return " ".join(parts) or "We spoke briefly."


def _highlights(messages: Sequence[Message]) -> list[dict[str, str]]:
    """What the model thought and did not say: the best sentence of each ``thinking`` that its answer does not
    repeat."""
    found = []
    asked = ""
    for message in sorted(messages, key=lambda message: (message.at, message.seq)):
        if message.role is Role.USER:
            asked = message.content
        if not message.thinking or message.role is not Role.ASSISTANT:
            continue
        said = frozenset(tokens(message.content))
        ranked = sorted(
            cues.sentences(message.thinking)[:100], key=lambda sentence: (-_unsaid(sentence, said), sentence)
        )
        if ranked and _unsaid(ranked[0], said) > 0.3:
            found.append({"moment": shorten(asked or speaker_of(message), 120), "thought": shorten(ranked[0], 240)})
    return found[-HIGHLIGHTS:]


def _unsaid(sentence: str, said: frozenset[str]) -> float:
    """How much of a thought is new against what was said, and how much there is of it."""
    words = frozenset(tokens(sentence))
    if len(words) < 4:
        return 0.0
    perceives = 0.2 if abs(feel(sentence).valence) >= 0.2 or cues.names(sentence) else 0.0
    return len(words - said) / len(words) * min(1.0, len(words) / 8) + perceives


def _points(lines: Sequence[Line]) -> list[Point]:
    most = min(KEY_POINTS, max(1, len(lines) // 2))
    return [
        Point(
            line.sort,
            _say(line),
            feel(line.text).valence,
            round(min(10.0, max(line.importance, 1.0) * 0.5 + line.score * 5), 2),
            line.message_id,
            lowest_trust([line]),
        )
        for line in choose(lines, most, floor=0.35)
    ]
