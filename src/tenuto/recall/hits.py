"""From a record to a candidate, and from a ranked candidate to a hit with its reasons. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from tenuto.recall.entry import Indexed, kind_of
from tenuto.recall.gate import Admitted
from tenuto.recall.scoring import Scored
from tenuto.records.conversation import KeyPoint, Message, Summary
from tenuto.records.memory import Evidence, Memory, Todo
from tenuto.records.operations import EntryKind
from tenuto.records.recall import Candidate, Hit, Why


def as_said(message: Message, cosine: float | None, parts: dict[str, float]) -> Candidate:
    """All that the scorer may look at of a message."""
    return Candidate(
        kind=EntryKind.MESSAGE,
        id=message.id,
        at=message.at,
        text=message.content,
        role=str(message.role),
        cosine=cosine,
        parts=parts,
        importance=message.importance,
    )


def as_candidate(
    record: Memory | Summary | KeyPoint | Todo,
    text: str,
    at: datetime,
    cosine: float | None,
    parts: dict[str, float],
    strength: float = 1.0,
) -> Candidate:
    """The same of what was distilled, of which ``text`` passed the gate; ``at`` is when it was said."""
    memory = record if isinstance(record, Memory) else None
    return Candidate(
        kind=kind_of(record),
        id=record.id,
        at=at,
        text=text,
        cosine=cosine,
        parts=parts,
        importance=record.weight if isinstance(record, KeyPoint) else record.importance,
        pinned=memory.pinned if memory else False,
        reinforcements=memory.reinforcements if memory else 0,
        strength=strength,
        valence=record.valence if isinstance(record, (Memory, KeyPoint)) else 0.0,
        arousal=memory.arousal if memory else 0.0,
        entities=record.entities if isinstance(record, (Memory, Todo)) else (),
        sources=evidence_ids(record),
    )


def evidence_ids(record: Indexed) -> tuple[str, ...]:
    """The messages that a record rests on."""
    if isinstance(record, Message):
        return (record.id,)
    if isinstance(record, (Memory, Todo)):
        return tuple(dict.fromkeys(one.message_id for one in record.evidence if one.message_id))
    if isinstance(record, KeyPoint) and record.message_id:
        return record.messages or (record.message_id,)
    return ()


def evidence(record: Indexed, sources: Mapping[str, Message]) -> tuple[Evidence, ...]:
    """The same with dates."""
    if isinstance(record, (Memory, Todo)):
        return record.evidence
    return tuple(_said(sources[id]) for id in evidence_ids(record) if id in sources)


def _said(message: Message) -> Evidence:
    return Evidence(
        message_id=message.id,
        at=message.at,
        session_id=message.session_id,
        channel=message.channel,
        trust=message.trust,
    )


def as_hit(
    one: Scored,
    admitted: Admitted[Any],
    profile: str,
    sources: Mapping[str, Message],
    matched: tuple[str, ...],
    notes: tuple[str, ...],
    text: str | None = None,
    place: tuple[int, int] | None = None,
    until: datetime | None = None,
) -> Hit:
    """What the caller gets. ``message_id`` is the caller's own id of the first message that it rests on."""
    record: Indexed = admitted.record
    message = first = record if isinstance(record, Message) else None
    if message is None:
        first = next((sources[id] for id in evidence_ids(record) if id in sources), None)
    return Hit(
        text=admitted.text,
        score=one.score,
        why=Why(
            profile=profile,
            parts=one.parts,
            formula=one.formula,
            rule=admitted.rule,
            evidence=(_said(message),) if message else evidence(record, sources),
            matched=matched,
            notes=notes,
        ),
        kind=one.candidate.kind,
        id=record.id,
        at=one.candidate.at,
        message_id=(first.external_id or first.id) if first else None,
        speaker=message.speaker if message else None,
        role=str(message.role) if message else None,
        persona=record.persona,
        session_id=record.session_id,
        importance=one.candidate.importance,
        passage=text,
        place=place,
        until=until,
        mark=admitted.mark,
    )


def passage(messages: Sequence[Admitted[Message]]) -> str:
    """Messages that follow each other, each with its time and speaker."""
    said = [one.record for one in messages]
    return "\n".join(f"[{one.at:%Y-%m-%d %H:%M}] {one.speaker or one.role}: {one.content}" for one in said)
