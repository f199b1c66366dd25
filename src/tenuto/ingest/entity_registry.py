"""The user's entities: counted when mentioned, merged when they are one, and every merge can be taken back.

A merge moves the duplicate's memories over: the standing entity is added to them, and the keys of what was said about
the duplicate now name the other, so that a new statement about either meets the same memory. Where both had a value for
one thing the newer stays. The merge notes what it touched; undoing it takes exactly that back. Merges above
``memory.merge_confidence`` apply themselves; the others wait as proposals.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tenuto.errors import Conflict, NotFound
from tenuto.ingest.known_names import MOST
from tenuto.ingest.merge_entities import came_back, gave_way, newer, rekeyed_to
from tenuto.ingest.reconcile.same_statement import subject_of
from tenuto.ingest.write import Writing
from tenuto.language.mentions import Mention, resolve
from tenuto.language.name_similarity import proposals
from tenuto.language.relations import is_kin_word
from tenuto.ports import Reader, Where
from tenuto.records.base import evolve
from tenuto.records.memory import Entity, EntityMerge, Memory, MergeStatus, Trust

CONTEXT = 40
"""Memories of an entity that tell its context."""


def note(
    writing: Writing, mentions: Iterable[Mention], together: frozenset[tuple[str, str]], trust: Trust
) -> list[str]:
    """Count the mentions of one message, make new entities, and look for names that are one; the ids counted."""
    tx, now = writing.tx, writing.now
    fresh: list[str] = []
    counted: list[str] = []
    for mention in mentions:
        found = tx.get(Entity, mention.id)
        if found is None:
            tx.put(_new(mention, writing, trust))
            fresh.append(mention.id)
            counted.append(mention.id)
            writing.event("entity.created", "entity", mention.id)
            continue
        if trust is Trust.EXTERNAL:
            continue  # what comes from outside names nobody anew
        counted.append(mention.id)
        if found.trust is Trust.EXTERNAL:
            own = _new(mention, writing, trust)
            tx.put(evolve(own, created_at=found.created_at, mentions=found.mentions + 1))
            fresh.append(mention.id)
            continue
        names = {found.label.casefold(), *(alias.casefold() for alias in found.aliases)}
        aliases = [one for one in (mention.alias, mention.label, found.label) if one and one.casefold() not in names]
        if is_kin_word(found.label) and not is_kin_word(mention.label):
            aliases = [*(one for one in aliases if one != mention.label), found.label]
        tx.put(
            evolve(
                found,
                mentions=found.mentions + 1,
                last_mentioned_at=now,
                updated_at=now,
                relation=found.relation or mention.relation,
                label=mention.label if is_kin_word(found.label) and not is_kin_word(mention.label) else found.label,
                aliases=(*found.aliases, *dict.fromkeys(aliases))[:16],
            )
        )
    if fresh:
        _look_for_doubles(writing, fresh, together)
    return counted


def _new(mention: Mention, writing: Writing, trust: Trust) -> Entity:
    alias = (mention.alias,) if mention.alias and mention.alias.casefold() != mention.label.casefold() else ()
    return Entity(
        id=mention.id,
        type=mention.type,
        label=mention.label,
        created_at=writing.now,
        updated_at=writing.now,
        aliases=alias,
        mentions=1,
        last_mentioned_at=writing.now,
        relation=mention.relation,
        trust=trust,
    )


def _look_for_doubles(writing: Writing, fresh: Sequence[str], together: frozenset[tuple[str, str]]) -> None:
    tx, policy = writing.tx, writing.deps.policy.memory
    held = writing.deps.names.held(tx.user)
    known = held.entities if held else {one.id: one for one in tx.find(Entity, order="-mentions", limit=MOST)}
    entities = list({**known, **tx.get_many(Entity, fresh)}.values())
    found = proposals(entities, fresh, {}, together)
    if not found:
        return
    concerned = {entity.id for duplicate, into, _ in found for entity in (duplicate, into)}
    context = {id: _context(tx, id) for id in concerned}
    current = tx.get_many(Entity, sorted(concerned))
    entities = [current.get(one.id, one) for one in entities if one.id in current or one.id not in concerned]
    for duplicate, into, like in proposals(entities, fresh, context, together)[:8]:
        pair = (Where("duplicate", "=", duplicate.id), Where("into", "=", into.id))
        if tx.find(EntityMerge, *pair, limit=1) or (into.id, duplicate.id) in together:
            continue
        merge = EntityMerge(
            id=writing.deps.ids("mrg", writing.now),
            duplicate=duplicate.id,
            into=into.id,
            confidence=like.confidence,
            reason=like.reason,
            status=MergeStatus.PROPOSED,
            created_at=writing.now,
        )
        tx.put(merge)
        writing.event("entity.merge_proposed", "entity_merge", merge.id, actor="system")
        vouched = Trust.EXTERNAL not in (duplicate.trust, into.trust)
        if like.confidence >= policy.merge_confidence and vouched:
            apply_merge(writing, merge, actor="system")


def _context(reader: Reader, id: str) -> frozenset[str]:
    memories = reader.find(Memory, Where("entities", "has", id), order="-updated_at", limit=CONTEXT)
    return frozenset(other for memory in memories for other in memory.entities if other != id)


def apply_merge(writing: Writing, merge: EntityMerge, *, actor: str = "user") -> EntityMerge:
    """Make two entities one."""
    tx, now = writing.tx, writing.now
    if merge.status not in (MergeStatus.PROPOSED, MergeStatus.REFUSED, MergeStatus.UNDONE):
        raise Conflict(f"The merge {merge.id} is already {merge.status}.", code="merge_decided")
    duplicate, into = tx.get(Entity, merge.duplicate), tx.get(Entity, merge.into)
    if duplicate is None or into is None:
        raise NotFound(f"One of the entities of merge {merge.id} is gone.")
    moved = []
    for memory in tx.find(Memory, Where("entities", "has", duplicate.id)):
        if into.id not in memory.entities:
            tx.put(evolve(memory, entities=(*memory.entities, into.id)))
            moved.append(memory.id)
    names = dict.fromkeys((*into.aliases, duplicate.label, *duplicate.aliases))
    tx.put(
        evolve(duplicate, merged_into=into.id, updated_at=now),
        evolve(
            into,
            aliases=tuple(name for name in names if name.casefold() != into.label.casefold())[:16],
            mentions=into.mentions + duplicate.mentions,
            relation=into.relation or duplicate.relation,
            updated_at=now,
        ),
    )
    rekeyed, retired = _join_keys(writing, merge)
    done = evolve(
        merge, status=MergeStatus.APPLIED, decided_at=now, moved=tuple(moved), rekeyed=rekeyed, retired=retired
    )
    tx.put(done)
    writing.event("entity.merged", "entity_merge", merge.id, actor=actor)
    return done


def undo_merge(writing: Writing, merge: EntityMerge) -> EntityMerge:
    """Take a merge back: exactly what it moved, and nothing that was added since."""
    tx, now = writing.tx, writing.now
    if merge.status is not MergeStatus.APPLIED:
        raise Conflict(
            f"The merge {merge.id} is {merge.status}, so there is nothing to take back.", code="merge_not_applied"
        )
    duplicate, into = tx.get(Entity, merge.duplicate), tx.get(Entity, merge.into)
    _part_keys(writing, merge)
    for memory in tx.get_many(Memory, merge.moved).values():
        tx.put(evolve(memory, entities=tuple(id for id in memory.entities if id != merge.into)))
    if duplicate is not None:
        tx.put(evolve(duplicate, merged_into=None, updated_at=now))
    if into is not None and duplicate is not None:
        own = {duplicate.label.casefold(), *(alias.casefold() for alias in duplicate.aliases)}
        kept = tuple(name for name in into.aliases if name.casefold() not in own)
        tx.put(evolve(into, aliases=kept, mentions=max(0, into.mentions - duplicate.mentions), updated_at=now))
    undone = evolve(merge, status=MergeStatus.UNDONE, decided_at=now)
    tx.put(undone)
    writing.event("entity.unmerged", "entity_merge", merge.id)
    return undone


def _join_keys(writing: Writing, merge: EntityMerge) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What was said about the duplicate is now said about the other; the ids of what moved, and of what gave way."""
    tx = writing.tx
    rekeyed, retired = [], []
    for memory in tx.find(Memory, Where("entities", "has", merge.duplicate)):
        if subject_of(memory) != merge.duplicate:
            continue
        moved = rekeyed_to(memory, merge.into)
        holder = tx.find(Memory, Where("slot", "=", moved.slot), limit=1) if moved.slot else []
        if holder:
            stays, leaves = (moved, holder[0]) if newer(moved, holder[0]) else (holder[0], moved)
            tx.put(gave_way(leaves, stays, merge.id, writing.now))
            retired.append(leaves.id)
            if leaves is moved:
                rekeyed.append(memory.id)
                continue
        tx.put(moved)
        rekeyed.append(memory.id)
    return tuple(rekeyed), tuple(retired)


def _part_keys(writing: Writing, merge: EntityMerge) -> None:
    """The keys as they were; what gave way to a merge comes back, unless something newer took its place."""
    tx = writing.tx
    for memory in tx.get_many(Memory, merge.rekeyed).values():
        tx.put(rekeyed_to(memory, merge.duplicate))
    for memory in tx.get_many(Memory, merge.retired).values():
        restored = came_back(memory, merge.id, writing.now)
        if restored.slot and tx.find(Memory, Where("slot", "=", restored.slot), limit=1):
            continue
        tx.put(restored)


def standing(reader: Reader, id: str) -> Entity | None:
    """The entity behind an id, merges followed."""
    seen: dict[str, Entity] = {}
    found = reader.get(Entity, id)
    while found is not None and found.merged_into and found.id not in seen:
        seen[found.id] = found
        found = reader.get(Entity, found.merged_into)
    return found if found is None or not seen else reader.get(Entity, resolve(id, {**seen, found.id: found}))
