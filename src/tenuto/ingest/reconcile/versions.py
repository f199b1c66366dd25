"""How a memory changes: made, reinforced, superseded, filed as history. Each returns a new value; nothing is lost."""

from __future__ import annotations

import math
from datetime import datetime

from tenuto.ingest.candidate import Candidate
from tenuto.policy import MemoryPolicy
from tenuto.records.base import evolve
from tenuto.records.memory import TRUST_ORDER, Domain, Epistemic, Evidence, Kind, Memory, Proactive, Status, Version


def reinforced(memory: Memory, candidate: Candidate, policy: MemoryPolicy, now: datetime) -> Memory:
    """The memory with one more piece of evidence: surer, weightier, never twice the same weight for the same words.

    Importance gains ``importance_per_doubling`` each time the number of tellings doubles, up to the ceiling, so that a
    fact told fifty times outranks one told once, and telling it on and on does not outrank an allergy.
    """
    told = memory.reinforcements + 1
    gain = policy.importance_per_doubling * (math.log2(told + 1) - math.log2(told))
    ceiling = max(policy.importance_ceiling, memory.importance)
    trust = max(memory.trust, candidate.trust, key=TRUST_ORDER.index)
    status = memory.status if memory.status is Status.CONFIRMED else Status.REINFORCED
    return evolve(
        memory,
        evidence=bounded((*memory.evidence, evidence_of(candidate)), policy.evidence_kept),
        confidence=round(memory.confidence + policy.confidence_gain * (1 - memory.confidence), 4),
        importance=round(min(ceiling, max(memory.importance, candidate.importance) + gain), 2),
        reinforcements=told,
        last_reinforced_at=max(memory.last_reinforced_at or candidate.at, candidate.at),
        status=status,
        trust=trust,
        pinned=memory.pinned or candidate.pin is not None,
        pin_kind=memory.pin_kind or candidate.pin,
        should_do=candidate.should_do or memory.should_do,
        proactive_use=candidate.proactive or memory.proactive_use,
        updated_at=now,
    )


def bounded(evidence: tuple[Evidence, ...], most: int) -> tuple[Evidence, ...]:
    """The first piece and the latest ones."""
    return evidence if len(evidence) <= most else (evidence[0], *evidence[-(most - 1) :])


def as_history(candidate: Candidate, id: str, now: datetime, holder: Memory) -> Memory:
    """An older value that arrives late: kept as history, not as what is true now."""
    fresh = memory_of(candidate, id, now)
    return evolve(
        fresh,
        slot=None,
        status=Status.DEPRECATED,
        valid_to=holder.valid_from or asserted_at(holder),
        superseded_by=holder.id,
        pinned=False,
        pin_kind=None,
    )


def asserted_at(memory: Memory) -> datetime:
    """When it was last said."""
    return max((evidence.at for evidence in memory.evidence), default=memory.created_at)


def superseded(memory: Memory, *, by: Memory, now: datetime) -> Memory:
    """The old value: true until the new one began, kept with its history, its slot free."""
    until = by.valid_from or by.created_at
    if memory.valid_from is not None and until < memory.valid_from:
        until = max(memory.valid_from, asserted_at(by))
    version = Version(
        at=now,
        content=memory.content,
        status=memory.status,
        reason=f"superseded by {by.id}",
        changed={
            "pinned": memory.pinned,
            "pin_kind": memory.pin_kind.value if memory.pin_kind else None,
            "slot": memory.slot,
        },
    )
    return evolve(
        memory,
        status=Status.DEPRECATED,
        slot=None,
        valid_to=until,
        superseded_by=by.id,
        pinned=False,
        pin_kind=None,
        updated_at=now,
        history=(*memory.history, version),
    )


def evidence_of(candidate: Candidate) -> Evidence:
    return Evidence(
        message_id=candidate.message_id,
        at=candidate.at,
        quote=candidate.quote,
        session_id=candidate.session_id,
        channel=candidate.channel,
        trust=candidate.trust,
    )


def memory_of(candidate: Candidate, id: str, now: datetime) -> Memory:
    """The memory that a candidate becomes."""
    marks = {
        name: "1"
        for name, on in (("ends", candidate.ends), ("negated", candidate.negated), ("single", candidate.single))
        if on
    }
    return Memory(
        id=id,
        content=candidate.content,
        domain=candidate.domain,
        kind=candidate.kind,
        created_at=now,
        updated_at=now,
        key=candidate.key,
        slot=candidate.slot,
        attribute=candidate.attribute,
        value=candidate.value,
        entities=candidate.entities,
        label=candidate.label,
        status=candidate.status,
        persona=candidate.persona,
        importance=candidate.importance,
        confidence=candidate.confidence,
        epistemic=candidate.epistemic,
        time_scope=candidate.time_scope,
        sensitivity=candidate.sensitivity,
        trust=candidate.trust,
        source=candidate.source,
        surface=candidate.surface,
        made_by=candidate.made_by,
        session_id=candidate.session_id,
        evidence=(evidence_of(candidate),),
        pinned=candidate.pin is not None,
        pin_kind=candidate.pin,
        pin_session_id=candidate.pin_session_id,
        proactive_use=candidate.proactive or Proactive.ONLY_WHEN_RELEVANT,
        should_do=candidate.should_do,
        retrieval_keywords=candidate.keywords,
        valence=candidate.valence,
        arousal=candidate.arousal,
        valid_from=candidate.valid_from or candidate.at,
        valid_to=candidate.valid_to,
        happens_at=candidate.happens_at,
        metadata={**candidate.metadata, **marks, **({"rule": candidate.rule} if candidate.rule else {})},
    )


def contradiction_of(memory: Memory, fresh: Memory, candidate: Candidate, id: str, now: datetime) -> Memory:
    """The note that two statements contradict each other; it keeps the lower trust of the two."""
    trust = min(fresh.trust, memory.trust, key=TRUST_ORDER.index)
    return Memory(
        id=id,
        content=f"Two statements contradict each other: {memory.content!r} and {fresh.content!r}",
        domain=Domain.EVIDENCE,
        kind=Kind.CONTRADICTION,
        created_at=now,
        updated_at=now,
        key=f"{Domain.EVIDENCE}|{'|'.join(memory.key.split('|')[1:3])}|{Kind.CONTRADICTION}|",
        slot=f"{candidate.persona or ''}|contradiction|{memory.id}|{fresh.id}",
        entities=tuple(dict.fromkeys((*memory.entities, *fresh.entities))),
        label=fresh.label,
        persona=candidate.persona,
        importance=max(6.0, min(9.0, max(memory.importance, fresh.importance))),
        confidence=0.7,
        epistemic=Epistemic.SYSTEM_GENERATED,
        trust=trust,
        source=candidate.source,
        surface=candidate.surface,
        made_by=candidate.made_by,
        session_id=candidate.session_id,
        evidence=(evidence_of(candidate),),
        valid_from=candidate.at,
        derived_from=(memory.id, fresh.id),
    )
