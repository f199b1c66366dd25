"""One candidate becomes durable: what is known about it is read, reconcile decides, the result is written and indexed.

Everything here happens inside one transaction of the user, whose writers wait for each other; the slot is unique in the
database all the same, and whoever comes second is told. Used by the background job and by the direct verbs alike, so
there is one way in.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

import numpy as np

from tenuto.deps import Deps
from tenuto.ingest import quarantine
from tenuto.ingest.candidate import Candidate
from tenuto.ingest.extract.exchange import Ending
from tenuto.ingest.neighbours import Nearby
from tenuto.ingest.reconcile.decide import Decision, reconcile
from tenuto.ingest.reconcile.ended import ended, ended_by
from tenuto.ingest.reconcile.opposed import OPPOSITE
from tenuto.ingest.reconcile.retire import Known
from tenuto.language.echoes import echoes
from tenuto.language.mentions import SELF
from tenuto.ports import Transaction, Vectors, Where
from tenuto.recall.entry import Indexed, kind_of, make_entry
from tenuto.records.base import evolve
from tenuto.records.conversation import Message
from tenuto.records.memory import RECALLED, Domain, Entity, Memory, PinKind, Status, Trust
from tenuto.records.operations import Act, EntryKind, Event, Job, WriteResult

NEAR = 12
"""Closest memories that a candidate is compared with."""
BESIDE = 24
"""Memories of the same key that are looked at, the latest first."""
UNSAID = 64
"""Latest memories that a change is held against: all while there are no vectors, else those of the same subject."""
NO_ROOM = "not pinned, because all {} pins are set by hand: unpin one, or raise the setting memory.pins"
LIVE = (*RECALLED, Status.CANDIDATE)


@dataclass(slots=True)
class Writing:
    """One transaction under way, with what it wrote so far."""

    deps: Deps
    tx: Transaction
    now: datetime
    channel: str | None = None
    persona: str | None = None
    vectors: dict[str, Vectors] = field(default_factory=dict)
    nearby: Nearby | None = None
    unembedded: bool = False
    paces: dict[str, quarantine.Pace] = field(default_factory=dict)

    def event(self, kind: str, subject_kind: str, subject_id: str, *, actor: str = "user", **data: Any) -> None:
        """Tell what happened. Events carry no content."""
        self.tx.put(
            Event(
                id=self.deps.ids("evt", self.now),
                kind=kind,
                at=self.now,
                subject_kind=subject_kind,
                subject_id=subject_id,
                actor=actor,
                channel=self.channel,
                persona=self.persona,
                data=data,
            )
        )

    def index(self, record: Indexed, vector: Vectors | None) -> None:
        """Put a record into the index; without a vector it is embedded later."""
        packed = None if vector is None else np.asarray(vector, dtype="<f2").tobytes()
        model = None if vector is None else self.deps.embedder.model
        self.tx.index(make_entry(record, self.deps.vault.index_key(self.tx.user), vector=packed, model=model))
        self.unembedded = self.unembedded or vector is None
        if self.nearby is not None:
            self.nearby.own[kind_of(record), record.id] = vector

    def near(self, kind: EntryKind, vector: Vectors, limit: int) -> list[tuple[str, float]]:
        """The closest entries of a kind: out of the index in memory where there is a view of it."""
        if self.nearby is not None:
            return self.nearby.find(self.tx, kind, vector, limit)
        return self.tx.nearest(kind, vector, self.deps.embedder.model, limit)

    def finish(self) -> None:
        """Ask for the vectors that are missing."""
        if self.unembedded:
            self.tx.add(
                Job(
                    id=self.deps.ids("job", self.now),
                    kind="embed",
                    created_at=self.now,
                    run_at=self.now,
                    dedupe="embed",
                )
            )


def settle(
    writing: Writing, candidate: Candidate, vector: Vectors | None, *, guard_echo: bool = False
) -> tuple[WriteResult, Memory | None]:
    """Write one candidate; what came of it, and the memory that holds it now."""
    candidate = _standing(writing, candidate)
    flood = _flood(writing, candidate)
    if flood:
        candidate = _held(candidate)
    known = _known(writing, candidate, vector)
    calibration = writing.deps.embedder.calibration
    if guard_echo:
        echo = next(
            (
                one
                for one in known
                if echoes(candidate.content, one.memory.content, one.similarity, calibration.reinforce)
            ),
            None,
        )
        if echo is not None:
            return _refused(candidate, f"an echo of {echo.memory.content!r}", echo.memory.id), None
    ids, now = writing.deps.ids, writing.now
    decision = reconcile(
        candidate,
        known,
        id=ids("mem", now),
        spare_id=ids("mem", now),
        now=now,
        calibration=calibration,
        policy=writing.deps.policy.memory,
    )
    result, memory = _write(writing, candidate, decision, vector)
    if result.act is Act.INSERTED and candidate.source in writing.paces:
        writing.paces[candidate.source].said.append(candidate.at)
    if flood and result.act is Act.INSERTED and memory is not None:
        writing.event("memory.quarantined", "memory", memory.id, actor="system", reason="rate")
        result = replace(result, reason=quarantine.REASON)
    return result, memory


ENDED_AMONG = 400
"""Latest memories that an ending is held against."""


def retire_ended(writing: Writing, endings: Iterable[Ending], message: Message) -> list[WriteResult]:
    """Close what a message says is over, without a successor."""
    results: list[WriteResult] = []
    for ending in endings:
        live = Where("status", "in", [status.value for status in RECALLED])
        known = writing.tx.find(Memory, live, order="-updated_at", limit=ENDED_AMONG)
        mine = [one for one in known if one.persona in (None, message.persona)]
        for memory in ended_by(ending, mine, message.at):
            writing.tx.put(ended(memory, message.at, writing.now))
            writing.event("memory.ended", "memory", memory.id, made_by="reader")
            results.append(
                WriteResult(
                    act=Act.SUPERSEDED,
                    reason=f"over: {ending.text!r}",
                    subject_id=memory.id,
                    content=memory.content,
                    made_by="reader",
                )
            )
    return results


def _flood(writing: Writing, candidate: Candidate) -> bool:
    """Whether the candidate's source has brought too much lately; see :mod:`tenuto.ingest.quarantine`."""
    policy, now, tx = writing.deps.policy.quarantine, writing.now, writing.tx
    if candidate.trust in quarantine.NEVER or candidate.status is Status.CANDIDATE:
        return False
    of_source, began = Where("source", "=", candidate.source), now - policy.window

    def latest(most: int) -> list[datetime]:
        found = tx.find(Memory, of_source, Where("created_at", ">", began), order="-created_at", limit=2 * most)
        return [quarantine.said_at(one) for one in found]

    pace = writing.paces.get(candidate.source)
    if pace is None:
        pace = writing.paces[candidate.source] = quarantine.Pace(latest(policy.least))
    if quarantine.close_by(pace.said, candidate.at, policy) < policy.least:
        return False
    if pace.most is None:
        since = Where("created_at", ">", now - policy.history), Where("created_at", "<=", began)
        pace.most = quarantine.most(tx.find(Memory, of_source, *since), policy)
        pace.said = latest(pace.most)
    return quarantine.close_by(pace.said, candidate.at, policy) >= pace.most


def _held(candidate: Candidate) -> Candidate:
    marks = {**candidate.metadata, quarantine.MARK: "rate"}
    return replace(candidate, status=Status.CANDIDATE, pin=None, should_do=None, metadata=marks)


def _standing(writing: Writing, candidate: Candidate) -> Candidate:
    """The candidate about the entity that stands, where the one it names was merged into another."""
    id, seen = candidate.subject, {candidate.subject}
    while id != SELF and (entity := writing.tx.get(Entity, id)) is not None and entity.merged_into:
        if entity.merged_into in seen:
            break
        id = entity.merged_into
        seen.add(id)
    return candidate if id == candidate.subject else replace(candidate, subject=id)


def _write(
    writing: Writing, candidate: Candidate, decision: Decision, vector: Vectors | None
) -> tuple[WriteResult, Memory | None]:
    tx, subject = writing.tx, decision.subject
    unpinned = False
    for given in decision.put:
        memory = _within_pins(writing, given)
        unpinned = unpinned or (given.pinned and not memory.pinned)
        if memory.created_at == writing.now and tx.get(Memory, memory.id) is None:
            if not tx.add(memory):
                return _refused(candidate, "another writer was first", None, Act.DUPLICATE), None
        else:
            tx.put(memory)
        if subject is not None and memory.id == subject.id:
            subject = memory
    if subject is not None and decision.reworded and decision.put:
        writing.index(subject, vector)
        if vector is not None:
            writing.vectors[subject.id] = vector
    if decision.contradiction is not None:
        writing.index(decision.contradiction, None)
        writing.event("memory.contradiction", "memory", decision.contradiction.id)
    result = decision.result
    if unpinned:
        result = replace(result, reason=f"{result.reason}; {NO_ROOM.format(writing.deps.policy.memory.pins)}")
    if result.act is not Act.DUPLICATE and result.subject_id:
        writing.event(
            f"memory.{result.act}", "memory", result.subject_id, previous=result.previous_id, made_by=result.made_by
        )
    return result, subject


def _refused(candidate: Candidate, reason: str, id: str | None, act: Act = Act.REJECTED) -> WriteResult:
    return WriteResult(act=act, reason=reason, subject_id=id, content=candidate.content, made_by=candidate.made_by)


def _known(writing: Writing, candidate: Candidate, vector: Vectors | None) -> list[Known]:
    """What stands beside a candidate: its slot, its key, the opposite attribute, and what is near in meaning.

    What has no attribute shares its key with half of everything, so there only meaning tells.
    """
    tx = writing.tx
    live = Where("status", "in", [status.value for status in LIVE])
    found: dict[str, Memory] = {}
    if (slot := candidate.slot) is not None:
        found |= _by_id(tx.find(Memory, Where("slot", "=", slot), limit=2))
    if candidate.attribute is not None or vector is None:
        found |= _by_id(tx.find(Memory, Where("key", "=", candidate.key), live, order="-updated_at", limit=BESIDE))
    if candidate.attribute in OPPOSITE:
        key = candidate.key.rsplit("|", 1)[0] + "|" + OPPOSITE[candidate.attribute]
        found |= _by_id(tx.find(Memory, Where("key", "=", key), live, order="-updated_at", limit=BESIDE))
    if candidate.change and (candidate.attribute or "").startswith("medication"):
        found |= _by_id(tx.find(Memory, Where("pinned", "=", True), live, order="-updated_at", limit=BESIDE))
    if candidate.replaces:
        about = (
            Where("domain", "=", Domain.PROFILE)
            if candidate.subject == SELF
            else Where("entities", "has", candidate.subject)
        )
        found |= _by_id(tx.find(Memory, about, live, order="-updated_at", limit=UNSAID))
    near: dict[str, float] = {}
    if vector is not None:
        near = dict(writing.near(EntryKind.MEMORY, vector, NEAR))
        near |= {id: float(vector @ other) for id, other in writing.vectors.items()}
        missing = [id for id in near if id not in found]
        found |= {id: memory for id, memory in tx.get_many(Memory, missing).items() if memory.status in LIVE}
    elif candidate.change:
        found |= _by_id(tx.find(Memory, live, order="-updated_at", limit=UNSAID))
    return [Known(memory, near.get(id, 0.0)) for id, memory in found.items()]


def _by_id(memories: Iterable[Memory]) -> dict[str, Memory]:
    return {memory.id: memory for memory in memories}


def room_for_pin(writing: Writing, memory: Memory) -> bool:
    """Whether a pin finds room; where there is none, the least important automatic pin is taken off for it.

    Pins of a session are counted for that session, the others for the user.
    """
    found = writing.tx.find(Memory, Where("pinned", "=", True), Where("status", "in", RECALLED))
    beside = [one for one in found if one.id != memory.id and one.pin_session_id == memory.pin_session_id]
    if len(beside) < writing.deps.policy.memory.pins:
        return True
    automatic = [one for one in beside if one.pin_kind is PinKind.AUTO]
    if not automatic:
        return False
    least = min(automatic, key=lambda one: (one.importance, one.reinforcements, one.updated_at))
    writing.tx.put(evolve(least, pinned=False, pin_kind=None, pin_session_id=None, updated_at=writing.now))
    writing.event("memory.unpinned", "memory", least.id, actor="system", reason="cap")
    return True


def _within_pins(writing: Writing, memory: Memory) -> Memory:
    """An automatic pin that finds no room is none; what is pinned by hand is checked where it is pinned."""
    if not memory.pinned:
        return memory
    before = writing.tx.get(Memory, memory.id)
    if before is not None and before.pinned:
        return memory
    if memory.pin_kind is PinKind.AUTO and not room_for_pin(writing, memory):
        return evolve(memory, pinned=False, pin_kind=None, pin_session_id=None)
    return evolve(memory, importance=max(memory.importance, writing.deps.policy.memory.pin_importance))


def lowest_trust(memories: Iterable[Memory], order: tuple[Trust, ...]) -> Trust:
    """What is derived keeps the lowest trust of its sources."""
    return min((memory.trust for memory in memories), key=order.index, default=Trust.INFERRED)
