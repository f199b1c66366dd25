"""What a model proposed, checked. Total: every answer becomes candidates or reasons, never an exception of its own.

The model gains nothing by its word. A quote must stand in the message, in a sentence that the rules read as a
statement; the content's words and numbers must come from that message; a single-valued or life-critical attribute
counts only where a rule reads the same in the quote. Trust, status, pins and the subject's key are written by code.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from tenuto.ingest import times
from tenuto.ingest.affect import affect
from tenuto.ingest.candidate import Candidate, numbers
from tenuto.ingest.changes import change
from tenuto.ingest.entities import EMPTY, SELF, Registry, mentions
from tenuto.ingest.extraction import Speaker
from tenuto.ingest.facts import Fact, facts
from tenuto.ingest.importance import memory_importance
from tenuto.ingest.lexicon import Lexicon
from tenuto.ingest.sentences import Sentence, Speech, read, straighten
from tenuto.ingest.wording import clauses_of, span
from tenuto.records.conversation import Message, Role
from tenuto.records.memory import Domain, Epistemic, Kind, PinKind, Status, Trust
from tenuto.text.words import tokens

LARGEST = 256 * 1024
"""Characters of an answer that are parsed."""
MOST = 200
"""Proposals of one answer that are looked at."""
LONGEST = 400
"""Characters of one proposed memory."""
GROUNDED = 0.6
"""Share of a memory's words that must be in its message."""
KINDS = (
    "fact",
    "preference",
    "relationship",
    "habit",
    "trajectory",
    "project",
    "constraint",
    "boundary",
    "somatic_affective",
)
FREE = ("like", "dislike", "goal", "pet", "language", "education", "hobby")
"""Many-valued attributes that a model may name by itself."""

SCHEMA: dict[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "required": ["memories"],
    "properties": {
        "memories": {
            "type": "array",
            "items": {
                "type": "object",
                "additionalProperties": False,
                "required": [
                    "message",
                    "quote",
                    "content",
                    "kind",
                    "attribute",
                    "value",
                    "about",
                    "importance",
                    "confidence",
                ],
                "properties": {
                    "message": {"type": "integer"},
                    "quote": {"type": "string"},
                    "content": {"type": "string"},
                    "kind": {"type": "string", "enum": list(KINDS)},
                    "attribute": {"type": ["string", "null"]},
                    "value": {"type": ["string", "null"]},
                    "about": {"type": "string"},
                    "importance": {"type": "number"},
                    "confidence": {"type": "number"},
                },
            },
        }
    },
}


class Unusable(Exception):
    """The answer as a whole cannot be read; the message says why, in words that a model can act on."""


class Proposal(msgspec.Struct, forbid_unknown_fields=False):
    """One proposed memory, of the right types."""

    message: int
    quote: str
    content: str
    kind: str = "fact"
    attribute: str | None = None
    value: str | None = None
    about: str = "self"
    importance: float = 5.0
    confidence: float = 0.5


@dataclass(frozen=True, slots=True)
class Refused:
    """A proposal that was thrown away, and why."""

    content: str
    reason: str
    message: int | None = None


def parse(text: str) -> tuple[list[Proposal], list[Refused]]:
    """The proposals in an answer, and those of the wrong shape.

    Raises :class:`Unusable` when there is nothing to read.
    """
    if not text.strip():
        raise Unusable("the answer is empty")
    if len(text) > LARGEST:
        raise Unusable(f"the answer has more than {LARGEST:,} characters")
    try:
        data = msgspec.json.decode(_json_part(text))
    except (msgspec.DecodeError, RecursionError, UnicodeEncodeError) as error:
        raise Unusable(f"the answer is not valid JSON: {error}") from None
    rows = data.get("memories") if isinstance(data, dict) else data
    if not isinstance(rows, list):
        raise Unusable("the answer has no list 'memories'")
    good, bad = [], []
    for row in rows[:MOST]:
        try:
            good.append(msgspec.convert(row, Proposal))
        except msgspec.ValidationError as error:
            bad.append(Refused(content=str(row)[:120], reason=f"of the wrong shape: {error}"))
    return good, bad


def _json_part(text: str) -> bytes:
    """The outermost object or list, without fences and chatter around it."""
    starts = [position for position in (text.find("{"), text.find("[")) if position >= 0]
    if not starts:
        raise Unusable("the answer holds no JSON")
    start = min(starts)
    end = max(text.rfind("}"), text.rfind("]"))
    if end < start:
        raise Unusable("the JSON of the answer is cut off")
    return text[start : end + 1].encode("utf-8")


@dataclass(frozen=True, slots=True)
class Source:
    """One message that a proposal may come from, read once."""

    message: Message
    speaker: Speaker
    sentences: tuple[Sentence, ...]
    words: frozenset[str]
    numbers: frozenset[str]

    @classmethod
    def of(cls, message: Message, speaker: Speaker) -> Source:
        text = message.content
        return cls(message, speaker, tuple(read(text)), frozenset(tokens(text)), numbers(text))


def candidate(
    proposal: Proposal, sources: Sequence[Source], name: str, lexicons: Sequence[Lexicon], registry: Registry = EMPTY
) -> Candidate | Refused:
    """A checked candidate, or why not."""
    if not 1 <= proposal.message <= len(sources):
        return Refused(proposal.content[:120], f"there is no message {proposal.message}")
    source = sources[proposal.message - 1]
    reason = _objection(proposal, source)
    if reason:
        return Refused(proposal.content[:200], reason, proposal.message)
    subject = _subject(proposal.about, source, registry)
    if subject is None:
        return Refused(proposal.content[:200], f"{proposal.about!r} is not in the message", proposal.message)
    return _made(proposal, source, subject, name, lexicons, registry)


def _objection(proposal: Proposal, source: Source) -> str | None:
    quote, content = flat(proposal.quote), proposal.content.strip()
    if len(tokens(quote)) < 1 or len(quote) < 6 or quote not in flat(source.message.content):
        return "its quote is not in the message"
    within = [one for one in source.sentences if flat(one.text) in quote or quote in flat(one.text)]
    if not any(one.speech is Speech.STATEMENT and not one.reported_by for one in within):
        return f"its quote is no statement but {within[0].speech.value if within else 'not the speaker`s own words'}"
    if not content or len(content) > LONGEST or "\n" in content:
        return "its content is empty, too long or more than one line"
    if proposal.kind not in KINDS:
        return f"unknown kind {proposal.kind[:40]!r}"
    said = set(tokens(content))
    if not said or len(said & source.words) < GROUNDED * len(said):
        return "its words are not in the message"
    if not numbers(content) <= source.numbers | _dates(source):
        return "it holds a number that is not in the message"
    return None


def _dates(source: Source) -> frozenset[str]:
    found = times.find(source.message.content, source.message.at)
    days = [source.message.at, *(when.start for when in found)]
    return frozenset(
        part for day in days for part in (str(day.year), str(day.month), str(day.day), f"{day:%m}", f"{day:%d}")
    )


def flat(text: str) -> str:
    """A quote as it is compared: straight, lower case, one space, no closing marks."""
    return " ".join(straighten(text).casefold().split()).strip(" .!,\"'")


def _subject(about: str, source: Source, registry: Registry) -> tuple[str, Domain, str | None] | None:
    speaker = source.speaker
    if about.strip().casefold() in (
        "self",
        "i",
        "me",
        "user",
        "the user",
        "speaker",
        "",
        (speaker.name or "self").casefold(),
    ):
        return speaker.subject, speaker.domain, speaker.name
    if not set(tokens(about)) & source.words:
        return None
    spoken = about if about[:1].isupper() or about.lower().startswith(("my ", "our ")) else f"my {about}"
    found = [one for one in mentions(spoken, registry) if one.type == "person"]
    return (found[0].id, Domain.PEOPLE, found[0].label) if found else None


def _made(
    proposal: Proposal,
    source: Source,
    subject: tuple[str, Domain, str | None],
    name: str,
    lexicons: Sequence[Lexicon],
    registry: Registry,
) -> Candidate:
    message = source.message
    id, domain, label = subject
    fact = _agreed(proposal)
    attribute = fact.attribute if fact else proposal.attribute if proposal.attribute in FREE else None
    outside = message.trust is Trust.EXTERNAL or message.role is not Role.USER
    valence, arousal = affect(proposal.quote)
    found = times.find(proposal.quote, message.at)
    begin, end, happens = span(proposal.quote, found, message.at, ends=bool(fact and fact.rule.ends))
    moved = change(straighten(proposal.quote))
    pinned = bool(fact and fact.rule.pin and not fact.negated and not fact.rule.ends and not outside)
    base = fact.rule.importance if fact else max(1.0, min(7.0, _finite(proposal.importance, 5.0)))
    named = [one.id for one in mentions(proposal.content, registry) if one.id != SELF]
    content = proposal.content.strip().rstrip(".")
    return Candidate(
        content=f"{source.speaker.name}: {content}"
        if source.speaker.name and not content.startswith(source.speaker.name)
        else content,
        domain=domain,
        kind=fact.rule.kind if fact else Kind(proposal.kind),
        at=message.at,
        subject=id,
        attribute=attribute,
        value=fact.value if fact else proposal.value[:120] if proposal.value and attribute else None,
        single=bool(fact and fact.rule.single),
        ends=bool(fact and (fact.rule.ends or fact.negated)),
        negated=bool(fact and fact.negated),
        change=moved is not None,
        changed_weakly=bool(moved and moved.weak),
        changed_from=moved.before if moved else None,
        entities=tuple(dict.fromkeys([*([id] if id != SELF else []), *named]))[:50],
        label=label,
        importance=10.0 if pinned else memory_importance(base, content, arousal, lexicons, known=fact is not None),
        confidence=round(min(0.9, max(0.3, _finite(proposal.confidence, 0.5))), 2),
        epistemic=Epistemic.EXPLICIT,
        trust=Trust.EXTERNAL if outside else message.trust,
        status=Status.CANDIDATE if outside else Status.ACTIVE,
        source=message.source,
        surface=message.channel,
        made_by=f"model:{name}",
        rule="proposed",
        session_id=message.session_id,
        message_id=message.id,
        channel=message.channel,
        quote=proposal.quote,
        pin=PinKind.AUTO if pinned else None,
        valence=valence,
        arousal=arousal,
        valid_from=begin,
        valid_to=end,
        happens_at=happens,
    )


def _agreed(proposal: Proposal) -> Fact | None:
    """The rule that reads the proposed attribute in the quote, too."""
    if not proposal.attribute:
        return None
    for clause in clauses_of(straighten(proposal.quote)):
        for fact in facts(clause.text):
            if fact.attribute == proposal.attribute:
                return fact
    return None


def _finite(value: float, fallback: float) -> float:
    return value if value == value and abs(value) != float("inf") else fallback


_SPACES = re.compile(r"\s+")


def one_line(text: str) -> str:
    """A message as one line for the prompt."""
    return _SPACES.sub(" ", text).strip()
