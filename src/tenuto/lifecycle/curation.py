"""Carrying out what fading and the curator decided, in one transaction, with a report.

The plan is made on what was read before; when it is applied each memory is read again, and what changed meanwhile
(pinned, reinforced, forgotten) is left alone. Nothing is deleted: an archived memory keeps its history and comes back,
a fold names its originals and they name the fold."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import numpy as np

from tenuto.deps import Deps
from tenuto.errors import EmbedderError, TenutoError
from tenuto.lifecycle import curate as decide
from tenuto.lifecycle import fade, sentence_kinds
from tenuto.lifecycle.curate import Plan
from tenuto.lifecycle.write import index, tell
from tenuto.ports import Reader, Transaction, Vectors, Where
from tenuto.recall.entry import embedding_text
from tenuto.recall.nearest import Near
from tenuto.records.base import evolve
from tenuto.records.conversation import Message, Role, SessionState
from tenuto.records.memory import (
    RECALLED,
    Entity,
    EntityMerge,
    Evidence,
    Memory,
    MergeStatus,
    Status,
    Todo,
    TodoStatus,
    Trust,
    Version,
)
from tenuto.records.operations import EntryKind, Job
from tenuto.text.words import packed

FIRST_LOOK = 5000
"""Memories that the first run looks at: the most recently changed."""
LOOKED_AT = 400
"""Memories that a later run looks at: what changed since the last, beside what resembles it or may have faded."""
COMPARED = 400
"""Memories that one run compares with all the others."""
NEIGHBOURS = 6
"""Memories that each of them is compared with by meaning, and as many by words."""
NAMES = 500
"""Entities, the most mentioned ones, whose names are compared."""
SAID = 500
"""Messages since the last run that are searched for what was done."""
_RECALLED = Where("status", "in", [str(status) for status in RECALLED])


@dataclass(frozen=True, slots=True)
class CurateReport:
    """What a run did, or would do."""

    user: str
    dry_run: bool
    plan: Plan
    applied: int = 0
    left_alone: int = 0

    def counts(self) -> dict[str, int]:
        return {
            "folds": len(self.plan.folds),
            "folded": sum(len(fold.members) for fold in self.plan.folds),
            "archived": len(self.plan.archives),
            "promoted": len(self.plan.promotions),
            "todos_done": sum(move.status is TodoStatus.DONE for move in self.plan.todos),
            "todos_expired": sum(move.status is TodoStatus.EXPIRED for move in self.plan.todos),
            "merges_proposed": len(self.plan.merges),
        }


def curate(deps: Deps, user: str, *, dry_run: bool = False) -> CurateReport:
    """Look at what changed, decide, and (without ``dry_run``) do it."""
    now = deps.clock()
    planned = plan(deps, user, now)
    if dry_run:
        return CurateReport(user, True, planned)
    with deps.store.writing(user) as tx:
        applied, left = _apply(deps, tx, planned, now)
        shared = tx.get(SessionState, "") or SessionState(id="")
        count = tx.count(Memory, _RECALLED)
        tx.put(evolve(shared, curator_last_run_at=now, curator_memory_count=count, curator_last_error=None))
        report = CurateReport(user, False, planned, applied, left)
        if planned:
            counts: dict[str, Any] = {"applied": applied, "left_alone": left, **report.counts()}
            tell(deps, tx, "memory.curated", ("user", user), now, **counts)
    return report


def on_curate(deps: Deps, user: str, jobs: list[Job]) -> None:
    """The handler of ``curate`` jobs. A failure is on the job's row and in the session state."""
    try:
        curate(deps, user)
    except TenutoError as error:
        with deps.store.writing(user) as tx:
            shared = tx.get(SessionState, "") or SessionState(id="")
            tx.put(evolve(shared, curator_last_error=f"{error.code}: {error.message}"[:300]))
        raise


def on_fade(deps: Deps, user: str, jobs: list[Job]) -> None:
    """The handler of ``fade`` jobs: only the archiving of what has faded."""
    now = deps.clock()
    with deps.store.reading(user) as reader:
        faded = tuple(fade.plan(_unimportant(reader, deps), now, deps.policy.fading))
    if faded:
        with deps.store.writing(user) as tx:
            applied, left = _apply(deps, tx, Plan(archives=faded), now)
            tell(deps, tx, "memory.faded", ("user", user), now, archived=applied, left_alone=left)


def plan(deps: Deps, user: str, now: datetime) -> Plan:
    """What the curator would do now."""
    with deps.store.reading(user) as reader:
        since = (reader.get(SessionState, "") or SessionState(id="")).curator_last_run_at
        new = () if since is None else (Where("updated_at", ">", since),)
        limit = FIRST_LOOK if since is None else LOOKED_AT
        memories = reader.find(Memory, _RECALLED, *new, order="-updated_at", limit=limit)
        unimportant = _unimportant(reader, deps)
        todos = reader.find(Todo, Where("status", "=", TodoStatus.OPEN), order="created_at", limit=1000)
        said = _said(reader, since)
        entities = _named(reader, since)
        decided = [(one.duplicate, one.into) for one in reader.find(EntityMerge, limit=5000)] if entities else []
    similar, sharing = _similar(deps, user, memories[:COMPARED])
    memories = _with_neighbours(
        deps, user, [*memories, *unimportant], {*sharing, *(id for pair in similar for id in pair)}
    )
    return decide.plan(
        memories,
        similar,
        todos,
        said,
        entities,
        decided,
        threshold=deps.embedder.calibration.upgrade,
        now=now,
        policy=deps.policy,
        since=since,
    )


def _unimportant(reader: Reader, deps: Deps) -> list[Memory]:
    """What may have faded so far that it is archived."""
    least = Where("importance", "<=", deps.policy.fading.archive_importance)
    return reader.find(Memory, _RECALLED, least, order="importance", limit=FIRST_LOOK)


def _named(reader: Reader, since: datetime | None) -> list[Entity]:
    """The entities whose names are compared; none where none is new."""
    if since is not None and not reader.count(Entity, Where("updated_at", ">", since)):
        return []
    return reader.find(Entity, order="-mentions", limit=NAMES)


def _with_neighbours(deps: Deps, user: str, memories: list[Memory], near_ids: Iterable[str]) -> list[Memory]:
    """The memories, each once, and those that resemble them."""
    known = {memory.id: memory for memory in memories}
    with deps.store.reading(user) as reader:
        near = reader.get_many(Memory, sorted(set(near_ids) - set(known)))
    known |= {id: memory for id, memory in near.items() if memory.status in RECALLED}
    return list(known.values())


def _said(reader: Reader, since: datetime | None) -> list[tuple[datetime, str]]:
    """Sentences of the user since the last run, each with its time. What came from outside proves nothing."""
    where = [Where("role", "=", Role.USER)]
    if since is not None:
        where.append(Where("at", ">=", since - timedelta(days=1)))
    messages = reader.find(Message, *where, order="-at", limit=SAID)
    kept = [message for message in messages if message.trust is not Trust.EXTERNAL]
    return [(message.at, sentence) for message in kept for sentence in sentence_kinds.sentences(message.content)]


def _similar(deps: Deps, user: str, changed: Sequence[Memory]) -> tuple[dict[tuple[str, str], float], set[str]]:
    """The neighbours of what changed: pairs by meaning, and ids by words, which decide alone without vectors."""
    if not changed:
        return {}, set()
    with deps.store.reading(user) as reader:
        index = deps.indexes.fresh(reader, deps.embedder.model, deps.embedder.dimension)
    near = Near.of(index.view(), EntryKind.MEMORY)
    key = deps.vault.index_key(user)
    texts = [np.unique(np.frombuffer(packed(memory.content, key), "<u8").astype(np.uint64)) for memory in changed]
    sharing = {id for found in near.by_words(texts, NEIGHBOURS + 1) for id in found}
    found: dict[tuple[str, str], float] = {}
    for id, vector in _vectors(deps, near, changed).items():
        closest = sorted(near.by_meaning(vector, NEIGHBOURS), key=lambda pair: (-pair[1], pair[0]))
        for other, cosine in closest[:NEIGHBOURS]:
            if other != id and cosine >= deps.embedder.calibration.reinforce:
                found[min(id, other), max(id, other)] = cosine
    return found, sharing


def _vectors(deps: Deps, near: Near, changed: Sequence[Memory]) -> dict[str, Vectors]:
    """The vectors of what changed: those that are at hand, the others from the embedder as far as it answers."""
    held = near.held([memory.id for memory in changed])
    waiting = [memory for memory in changed if memory.id not in held]
    if not waiting:
        return held
    try:
        made = deps.embedder.embed([embedding_text(memory) for memory in waiting])
    except EmbedderError:
        return held
    return held | {memory.id: vector for memory, vector in zip(waiting, made, strict=True)}


# --- applying ---------------------------------------------------------------------------------------------------------


def _apply(deps: Deps, tx: Transaction, planned: Plan, now: datetime) -> tuple[int, int]:
    """(done, left alone because it changed meanwhile)."""
    results = [
        *(_fold(deps, tx, fold, now) for fold in planned.folds),
        *(_archive(deps, tx, faded, now) for faded in planned.archives),
        *(_promote(tx, promotion, now) for promotion in planned.promotions),
        *(_move_todo(tx, move, now) for move in planned.todos),
        *(_propose(deps, tx, merge, now) for merge in planned.merges),
    ]
    return sum(results), len(results) - sum(results)


def changed(memory: Memory, now: datetime, reason: str, **changes: Any) -> Memory:
    """The memory with some fields changed and what they were in its history."""
    was = {name: getattr(memory, name) for name in changes if name not in ("history", "metadata")}
    version = Version(at=now, content=memory.content, status=memory.status, reason=reason, changed=was)
    return evolve(memory, **changes, updated_at=max(now, memory.updated_at), history=(*memory.history, version))


def _archived(deps: Deps, tx: Transaction, memory: Memory, reason: str, now: datetime, **also: Any) -> None:
    tx.put(changed(memory, now, reason, status=Status.ARCHIVED, slot=None, **also))
    tx.unindex(EntryKind.MEMORY, memory.id)
    tell(deps, tx, "memory.archived", ("memory", memory.id), now)


def _fold(deps: Deps, tx: Transaction, fold: decide.Fold, now: datetime) -> bool:
    found = tx.get_many(Memory, list(fold.members))
    members = [found[id] for id in fold.members if id in found]
    alive = [memory for memory in members if memory.status in RECALLED and not memory.pinned]
    if len(alive) != len(fold.members):
        return False
    keep = found[fold.keep]
    id = deps.ids("mem", now)
    evidence = _evidence(alive)[-deps.policy.memory.evidence_kept :]
    for memory in alive:
        _archived(deps, tx, memory, f"folded into {id}", now, superseded_by=id)
    folded = evolve(
        keep,
        id=id,
        source=decide.SOURCE,
        trust=decide.lowest_trust(alive).trust,
        created_at=now,
        updated_at=now,
        status=Status.REINFORCED if len(evidence) > 1 else keep.status,
        importance=max(memory.importance for memory in alive),
        confidence=max(memory.confidence for memory in alive),
        reinforcements=sum(memory.reinforcements for memory in alive) + len(alive) - 1,
        last_reinforced_at=max(memory.last_reinforced_at or memory.created_at for memory in alive),
        valid_from=min((m.valid_from for m in alive if m.valid_from), default=None),
        arousal=max(memory.arousal for memory in alive),
        entities=tuple(dict.fromkeys(entity for memory in alive for entity in memory.entities)),
        evidence=evidence,
        derived_from=tuple(memory.id for memory in alive),
        supersedes=None,
        superseded_by=None,
        history=(),
        made_by="rules",
    )
    tx.put(folded)
    index(deps, tx, [folded], now)
    tell(deps, tx, "memory.folded", ("memory", id), now, originals=[memory.id for memory in alive])
    return True


def _evidence(members: Sequence[Memory]) -> tuple[Evidence, ...]:
    listed = sorted((one for memory in members for one in memory.evidence), key=lambda one: one.at)
    return tuple({(one.message_id, one.quote): one for one in listed}.values())


def _archive(deps: Deps, tx: Transaction, faded: fade.Faded, now: datetime) -> bool:
    memory = tx.get(Memory, faded.memory_id)
    if memory is None or not fade.may_archive(memory, deps.policy.fading):
        return False
    if fade.strength(memory, now, deps.policy.fading) >= deps.policy.fading.archive_below:
        return False
    _archived(deps, tx, memory, faded.reason, now)
    return True


def _promote(tx: Transaction, promotion: decide.Promotion, now: datetime) -> bool:
    memory = tx.get(Memory, promotion.memory_id)
    if (
        memory is None
        or memory.status not in RECALLED
        or int(memory.metadata.get(decide.PROMOTED, 0)) >= promotion.doublings
    ):
        return False
    metadata = {**memory.metadata, decide.PROMOTED: promotion.doublings}
    tx.put(changed(memory, now, "used often", importance=promotion.importance, metadata=metadata))
    return True


def _move_todo(tx: Transaction, move: decide.TodoMove, now: datetime) -> bool:
    todo = tx.get(Todo, move.todo_id)
    if todo is None or todo.status is not TodoStatus.OPEN:
        return False
    done = now if move.status is TodoStatus.DONE else None
    tx.put(evolve(todo, status=move.status, completed_at=done, updated_at=max(now, todo.updated_at), slot=None))
    return True


def _propose(deps: Deps, tx: Transaction, merge: decide.MergeProposal, now: datetime) -> bool:
    known = tx.count(EntityMerge, Where("duplicate", "=", merge.duplicate), Where("into", "=", merge.into))
    if known:
        return False
    tx.put(
        EntityMerge(
            id=deps.ids("mrg", now),
            duplicate=merge.duplicate,
            into=merge.into,
            confidence=merge.confidence,
            reason=merge.reason,
            status=MergeStatus.PROPOSED,
            created_at=now,
        )
    )
    return True
