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

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from tenuto.lifecycle import sentence_kinds, told
from tenuto.lifecycle.ranked_sentences import (
    Line,
    choose,
    in_order,
    lowest_trust,
    score,
    shorten,
    speaker_of,
    split,
)
from tenuto.lifecycle.ranked_sentences import told as without_outside
from tenuto.lifecycle.session_affect import Deltas, Tally, deltas, feel, tally, tone
from tenuto.records.conversation import Message, Role, SourcedLine
from tenuto.records.memory import TRUST_ORDER, Trust
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
    messages: tuple[str, ...] = ()


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
    lines: tuple[SourcedLine, ...] = ()
    """All of it line by line, each with what it rests on."""

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
    promises = _unique([*before.commitments, *(line for line in lines if sentence_kinds.is_commitment(line.text))])
    people = _people(before.people, messages, known)
    best = choose(kept, MATTERED)
    phases = _phases(before.phases, lines)
    highlights = (*before.highlights, *_highlights(messages))[-HIGHLIGHTS:]
    headline = _headline(best, messages)
    mattered, loops, promises = best, loops[-LISTED:], promises[-LISTED:]
    diary = _diary(best, promises, loops, people, tone(total))
    sourced = _sourced(headline, mattered, loops, promises, phases, diary, highlights)
    return Record(
        one_liner=told.one(sourced, told.ONE_LINER),
        what_mattered=tuple(_say(line) for line in mattered),
        open_loops=tuple(_promise(line) for line in loops),
        commitments=tuple(_promise(line) for line in promises),
        people=tuple(people),
        tone=tone(total),
        headline=headline.text,
        detailed_summary=told.arc(sourced) or headline.text,
        diary_entry=" ".join(line.text for line in diary),
        thinking_highlights=tuple({name: one[name] for name in ("moment", "thought")} for one in highlights),
        points=tuple(_points(lines)),
        deltas=deltas(total),
        tally=total,
        trust=lowest_trust(kept) if kept else Trust.EXTERNAL,
        axes=dict((prior or {}).get("axes") or {}),
        working={
            "lines": [line.to_plain() for line in kept],
            "phases": [[line.to_plain() for line in phase] for phase in phases],
            "loops": [line.to_plain() for line in loops],
            "promises": [line.to_plain() for line in promises],
            "people": {name: list(ids) for name, ids in people.items()},
            "tally": total.to_plain(),
            "highlights": list(highlights),
            "persona": persona or "",
        },
        lines=sourced,
    )


def _sourced(
    headline: SourcedLine,
    mattered: Sequence[Line],
    loops: Sequence[Line],
    promises: Sequence[Line],
    phases: Sequence[Sequence[Line]],
    diary: Sequence[SourcedLine],
    highlights: Sequence[dict[str, str]],
) -> tuple[SourcedLine, ...]:
    """The whole record line by line, each part under its name."""
    first = mattered[0].sourced(told.ONE_LINER, shorten(_say(mattered[0]), ONE_LINER_LENGTH)) if mattered else None
    thoughts = [
        SourcedLine(
            text=one["thought"], messages=tuple(id for id in (one.get("by"), one.get("on")) if id), part=told.HIGHLIGHT
        )
        for one in highlights
    ]
    return (
        headline,
        first or replace(headline, part=told.ONE_LINER),
        *(line.sourced(told.MATTERED, _say(line)) for line in mattered),
        *(line.sourced(told.LOOP, _promise(line)) for line in loops),
        *(line.sourced(told.PROMISE, _promise(line)) for line in promises),
        *(line.sourced(part) for part, phase in zip(told.ARC, phases, strict=False) for line in phase),
        *diary,
        *(line for line in thoughts if line.messages),
    )


def _people(
    before: Mapping[str, Sequence[str]], messages: Sequence[Message], known: Iterable[str]
) -> dict[str, list[str]]:
    """Who was spoken of, and in which messages; those who talk are nobody's topic."""
    spoken = without_outside(messages)
    texts = [message.content for message in spoken]
    named = [
        name
        for text in texts
        for sentence in sentence_kinds.sentences(text)
        for name in sentence_kinds.person_names(sentence)
    ]
    talkers = {speaker_of(message).casefold() for message in messages}
    found = {name: list(ids) for name, ids in before.items()}
    for name in sentence_kinds.people(texts, [*known, *named]):
        if not _is_talker(name, talkers):
            wanted = name.casefold()
            ids = [message.id for message in spoken if wanted in message.content.casefold()]
            found[name] = list(dict.fromkeys([*found.get(name, ()), *ids]))[-LISTED:]
    return dict(list(found.items())[: 2 * LISTED])


@dataclass(frozen=True, slots=True)
class _Before:
    lines: tuple[Line, ...] = ()
    phases: tuple[tuple[Line, ...], ...] = ()
    tally: Tally = field(default_factory=Tally)
    loops: tuple[Line, ...] = ()
    commitments: tuple[Line, ...] = ()
    people: dict[str, list[str]] = field(default_factory=dict)
    highlights: tuple[dict[str, str], ...] = ()


def _read(prior: dict[str, Any] | None) -> _Before:
    if not prior:
        return _Before()
    working = prior.get("working") or {}
    return _Before(
        lines=tuple(Line.from_plain(plain) for plain in working.get("lines", ())),
        phases=tuple(tuple(Line.from_plain(plain) for plain in phase) for phase in working.get("phases", ())),
        tally=Tally.from_plain(working.get("tally")),
        loops=tuple(Line.from_plain(plain) for plain in working.get("loops", ())),
        commitments=tuple(Line.from_plain(plain) for plain in working.get("promises", ())),
        people={name: list(ids) for name, ids in (working.get("people") or {}).items()},
        highlights=tuple(working.get("highlights", ())),
    )


def _is_talker(name: str, talkers: set[str]) -> bool:
    return any(talker.startswith(name.casefold()) for talker in talkers)


def _say(line: Line) -> str:
    return f"{line.who}: {line.text}"


def _promise(line: Line) -> str:
    return f"{line.who}: {shorten(line.text, 160)}"


def _unique(lines: Iterable[Line]) -> list[Line]:
    """Without repetition; of two that say the same words the later stands, in the later's place."""
    found: dict[frozenset[str], Line] = {}
    for line in lines:
        key = frozenset(tokens(line.text)) or frozenset([line.text])
        found.pop(key, None)
        found[key] = line
    return list(found.values())


_LOOP_WORDS = frozenset(tokens("still need have waiting thinking looking not sure know wonder figure decide yet must"))
"""Words that say that something is open, not what."""


def _open_loops(before: Sequence[Line], lines: Sequence[Line]) -> list[Line]:
    """What was left open: said so, or asked by the user near the end and followed by nobody else's word."""
    said = [line for line in lines if sentence_kinds.is_open(line.text)]
    answered = max((line.seq for line in lines if not line.by_user), default=-1)
    asked = [line for line in lines if line.by_user and line.sort == "question" and line.seq > answered]
    asked = [line for line in asked if not sentence_kinds.is_small_talk(line.text)]
    settled = [frozenset(tokens(line.text)) for line in lines if sentence_kinds.says_done(line.text)]
    kept = []
    for loop in before:
        words = frozenset(tokens(loop.text)) - _LOOP_WORDS
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


def _headline(best: Sequence[Line], messages: Sequence[Message]) -> SourcedLine:
    if best:
        return best[0].sourced(told.HEADLINE, shorten(best[0].text, HEADLINE_LENGTH))
    first = next((message for message in messages if message.content.strip()), None)
    if first is None:
        return SourcedLine(text="Nothing was said", part=told.HEADLINE, computed=True)
    text = shorten(" ".join(first.content.split()), HEADLINE_LENGTH)
    trust = min((Trust.INFERRED, first.trust), key=TRUST_ORDER.index)
    return SourcedLine(text=text, messages=(first.id,), part=told.HEADLINE, trust=trust)


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
    best: Sequence[Line],
    promises: Sequence[Line],
    loops: Sequence[Line],
    people: Mapping[str, Sequence[str]],
    quality: str,
) -> list[SourcedLine]:
    """The persona's own note, in the first person, of nothing but what was said."""
    part, found = told.DIARY, list[SourcedLine]()
    theirs = [line for line in best if line.by_user][:2]
    if theirs:
        found += [line.sourced(part, f"They told me: “{line.text}”") for line in theirs]
    elif best:
        found.append(best[0].sourced(part, f"We spoke: “{best[0].text}”"))
    found += [
        SourcedLine(text=f"We spoke of {name}.", messages=tuple(ids), part=part)
        for name, ids in list(people.items())[:3]
    ]
    if quality in _FELT:
        found.append(SourcedLine(text=_FELT[quality], part=part, computed=True))
    if promises:
        found.append(promises[-1].sourced(part, f"To hold on to: {_promise(promises[-1])}"))
    if loops:
        found.append(loops[-1].sourced(part, f"Still open: {_promise(loops[-1])}"))
    return found or [SourcedLine(text="We spoke briefly.", part=part, computed=True)]


def _highlights(messages: Sequence[Message]) -> list[dict[str, str]]:
    """What the model thought and did not say: the best sentence of each ``thinking`` that its answer does not
    repeat."""
    found = []
    asked, on = "", ""
    for message in sorted(messages, key=lambda message: (message.at, message.seq)):
        if message.role is Role.USER:
            asked, on = message.content, message.id
        if not message.thinking or message.role is not Role.ASSISTANT:
            continue
        said = frozenset(tokens(message.content))
        ranked = sorted(
            sentence_kinds.sentences(message.thinking)[:100], key=lambda sentence: (-_unsaid(sentence, said), sentence)
        )
        if ranked and _unsaid(ranked[0], said) > 0.3:
            thought = {"moment": shorten(asked or speaker_of(message), 120), "thought": shorten(ranked[0], 240)}
            found.append({**thought, "by": message.id, "on": on})
    return found[-HIGHLIGHTS:]


def _unsaid(sentence: str, said: frozenset[str]) -> float:
    """How much of a thought is new against what was said, and how much there is of it."""
    words = frozenset(tokens(sentence))
    if len(words) < 4:
        return 0.0
    perceives = 0.2 if abs(feel(sentence).valence) >= 0.2 or sentence_kinds.names(sentence) else 0.0
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
