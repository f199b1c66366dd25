"""Taking something away with everything that came of it: the one way behind erasing parts and undoing a source.

What goes is a set of messages, and memories that were written directly. From there:

    rests on nothing else                 goes: memories, todos, contradictions, key points, receipts, events
    rests on other messages, too          goes, and those messages are distilled again, in their order
    the person vouched for it since       stays, without the evidence and the earlier wordings
    was replaced by something that goes   is what it was before
    sessions, summaries, portraits        lose what was made of it, and are made anew from what is left
    workflows                             lose the fields, turns, artifacts and replies that rest on it

Everything happens in one transaction; what is to be made anew is a job in it. Sessions keep their borders: a message
that held two talks together leaves one session behind.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from tenuto.deps import Deps
from tenuto.ports import Transaction, Where
from tenuto.privacy import removal_talk as talk
from tenuto.privacy.removal_work import take_work
from tenuto.recall.entry import make_entry
from tenuto.records.base import evolve
from tenuto.records.conversation import Message
from tenuto.records.memory import RECALLED, Entity, EntityMerge, Kind, Memory, PinKind, Status, Todo, Trust, Version
from tenuto.records.operations import EntryKind, Receipt
from tenuto.records.wishes import StandingWish

VOUCHED = (Trust.USER_CONFIRMED, Trust.OPERATOR)
SAMPLE = 20
"""Contents that a preview shows."""


@dataclass(slots=True)
class Taken:
    """What went, or would: ids by table, what is made anew, and a few of the contents for whoever decides."""

    ids: dict[str, list[str]] = field(default_factory=dict)
    stripped: int = 0
    """Memories and todos that stay, without the evidence that went."""
    again: int = 0
    """Messages that are distilled again."""
    restored: int = 0
    """Memories that hold again, because what replaced them went."""
    names: int = 0
    """People and things that nothing speaks of any more."""
    fields: int = 0
    """Fields of workflows that rested on it."""
    sample: list[str] = field(default_factory=list)

    def gone(self, table: str, ids: Iterable[str]) -> None:
        listed = list(ids)
        if listed:
            self.ids.setdefault(table, []).extend(listed)

    def add(self, other: Taken) -> None:
        """Take in what went elsewhere: copies have the ids of what they were made of."""
        for table, ids in other.ids.items():
            known = set(self.ids.get(table, ()))
            self.gone(table, [id for id in ids if id not in known])
        self.stripped, self.again = self.stripped + other.stripped, self.again + other.again
        self.restored, self.names = self.restored + other.restored, self.names + other.names
        self.fields += other.fields
        self.sample += [text for text in other.sample if text not in self.sample]

    def counts(self) -> dict[str, int]:
        return {table: len(ids) for table, ids in self.ids.items()}

    def told(self) -> dict[str, int]:
        """The counts with what has no rows of its own."""
        return {**self.counts(), "entities": self.names, "workflow_fields": self.fields}


def take(deps: Deps, tx: Transaction, messages: Sequence[Message], memories: Sequence[Memory], now: datetime) -> Taken:
    """Take messages and directly written memories away, with what came of them."""
    taken = Taken()
    ids = {message.id for message in messages}
    again = _take_memories(deps, tx, ids, {memory.id for memory in memories}, taken)
    again |= _take_todos(deps, tx, ids, taken)
    redone = list(tx.get_many(Message, sorted(again)).values())
    taken.again = len(redone)
    _take_mentions(tx, [*messages, *redone])
    talk.take_messages(deps, tx, messages, taken.gone, now)
    talk.distil_again(deps, tx, redone, now)
    talk.renew_portraits(deps, tx, taken.gone, now)
    names = _drop_names(tx, taken)
    taken.fields = take_work(tx, messages, memories, taken.gone)
    _take_wishes(tx, ids, {memory.id for memory in memories} | set(taken.ids.get("memories", ())), taken)
    talk.take_traces(tx, {id for listed in taken.ids.values() for id in listed} | names, messages)
    return taken


# --- memories ---------------------------------------------------------------------------------------------------------


def _take_memories(deps: Deps, tx: Transaction, ids: set[str], direct: set[str], taken: Taken) -> set[str]:
    """Returns the other messages that memories which go rested on."""
    everything = {memory.id: memory for memory in tx.find(Memory)}
    going, stripping = set(direct), set()
    for memory in everything.values():
        rests_on = {one.message_id for one in memory.evidence}
        if memory.id in going or not rests_on & ids:
            continue
        if rests_on <= ids or not _vouched(memory):
            going.add(memory.id)
        else:
            stripping.add(memory.id)
    while more := {one.id for one in everything.values() if one.id not in going and _only_about(one, going)}:
        going |= more
    again = {
        str(one.message_id)
        for id in going - direct
        for one in everything[id].evidence
        if one.message_id is not None and one.message_id not in ids
    }
    for id in stripping:
        _put(deps, tx, _stripped(everything[id], ids))
    taken.stripped += len(stripping)
    taken.sample += [everything[id].content for id in sorted(going)][:SAMPLE]
    tx.unindex(EntryKind.MEMORY, *sorted(going))
    tx.remove(Memory, *sorted(going))
    _relink(deps, tx, everything, going, taken)
    taken.gone("memories", sorted(going))
    return again


def _vouched(memory: Memory) -> bool:
    """The person took it over since: confirmed it, pinned it by hand, or wrote it themselves as well."""
    by_hand = memory.pinned and memory.pin_kind is not None and memory.pin_kind.value == "manual"
    return memory.trust in VOUCHED or by_hand or any(one.message_id is None for one in memory.evidence)


def _only_about(memory: Memory, going: set[str]) -> bool:
    """A note that two memories contradict each other is nothing without both."""
    return memory.kind is Kind.CONTRADICTION and bool(set(memory.derived_from) & going)


def _stripped(memory: Memory, ids: set[str]) -> Memory:
    kept = tuple(one for one in memory.evidence if one.message_id not in ids)
    return evolve(memory, evidence=kept, reinforcements=max(0, len(kept) - 1), history=())


def _put(deps: Deps, tx: Transaction, memory: Memory) -> None:
    tx.put(memory)
    if memory.status in (*RECALLED, Status.CANDIDATE):
        tx.index(make_entry(memory, deps.vault.index_key(tx.user)))
        talk.ask_for_vectors(deps, tx)


def _relink(deps: Deps, tx: Transaction, everything: dict[str, Memory], going: set[str], taken: Taken) -> None:
    """What was replaced by something that goes holds again, or was replaced by what came after that."""
    for memory in everything.values():
        if memory.id in going or memory.superseded_by not in going:
            continue
        reason = f"superseded by {memory.superseded_by}"
        before = next((one for one in reversed(memory.history) if one.reason == reason), None)
        history = tuple(one for one in memory.history if one is not before)
        after = _standing(everything, going, memory.superseded_by)
        if after is None:
            _put(deps, tx, _held(memory, before, history))
            taken.restored += 1
            continue
        renamed = (*history, evolve(before, reason=f"superseded by {after.id}")) if before else history
        until = after.valid_from or memory.valid_to
        tx.put(evolve(memory, superseded_by=after.id, valid_to=until, history=renamed))
        tx.put(evolve(after, supersedes=memory.id))
    for memory in everything.values():
        kept = tx.get(Memory, memory.id) if memory.id not in going and memory.supersedes in going else None
        if kept is not None and kept.supersedes in going:
            tx.put(evolve(kept, supersedes=None))


def _held(memory: Memory, before: Version | None, history: tuple[Version, ...]) -> Memory:
    """A memory as it was before it was replaced."""
    changed: dict[str, Any] = before.changed if before else {}
    return evolve(
        memory,
        status=before.status if before else Status.ACTIVE,
        slot=changed.get("slot"),
        valid_to=None,
        superseded_by=None,
        pinned=bool(changed.get("pinned")),
        pin_kind=PinKind(changed["pin_kind"]) if changed.get("pin_kind") else None,
        history=history,
    )


def _standing(everything: dict[str, Memory], going: set[str], id: str | None) -> Memory | None:
    seen: set[str] = set()
    while id in going and id not in seen:
        seen.add(id)
        id = everything[id].superseded_by
    return everything.get(id) if id and id not in going else None


# --- todos ------------------------------------------------------------------------------------------------------------


def _take_todos(deps: Deps, tx: Transaction, ids: set[str], taken: Taken) -> set[str]:
    again: set[str] = set()
    for todo in tx.find(Todo):
        rests_on = {one.message_id for one in todo.evidence}
        if not rests_on & ids:
            continue
        if None in rests_on:
            kept = evolve(todo, evidence=tuple(one for one in todo.evidence if one.message_id not in ids))
            tx.put(kept)
            tx.index(make_entry(kept, deps.vault.index_key(tx.user)))
            talk.ask_for_vectors(deps, tx)
            taken.stripped += 1
            continue
        again |= {str(id) for id in rests_on - ids}
        tx.unindex(EntryKind.TODO, todo.id)
        tx.remove(Todo, todo.id)
        taken.gone("todos", [todo.id])
    return again


# --- wishes -----------------------------------------------------------------------------------------------------------


def _take_wishes(tx: Transaction, messages: set[str], memories: set[str], taken: Taken) -> None:
    """Wishes that were spoken in what goes, or hold back nothing else; the others lose the ids of what went."""
    for wish in tx.find(StandingWish):
        if not (messages & {*wish.messages, wish.message_id or ""} or memories & set(wish.memories)):
            continue
        said = tuple(id for id in wish.messages if id not in messages)
        known = tuple(id for id in wish.memories if id not in memories)
        if wish.message_id in messages or not (said or known or wish.about):
            tx.remove(StandingWish, wish.id)
            taken.gone("wishes", [wish.id])
        else:
            tx.put(evolve(wish, messages=said, memories=known))


# --- names ------------------------------------------------------------------------------------------------------------


def _take_mentions(tx: Transaction, messages: Sequence[Message]) -> None:
    """Count back what these messages were counted to mention; those that are distilled again will count it again."""
    counted: Counter[str] = Counter()
    for message in messages:
        for receipt in tx.find(Receipt, Where("message_id", "=", message.id)):
            counted.update(receipt.mentioned or ())
    for entity in tx.get_many(Entity, sorted(counted)).values():
        tx.put(evolve(entity, mentions=max(0, entity.mentions - counted[entity.id])))


def _drop_names(tx: Transaction, taken: Taken) -> set[str]:
    """Names that nothing speaks of any more, and aliases that stand in nothing that is left."""
    records: list[Memory | Todo] = [*tx.find(Memory), *tx.find(Todo)]
    used = {entity for record in records for entity in record.entities}
    entities = tx.find(Entity)
    used |= {entity.merged_into for entity in entities if entity.merged_into}
    texts = [message.content for message in tx.find(Message)] + [one.content for one in records] if entities else []
    said = "\n".join(texts).casefold()
    idle = []
    for entity in entities:
        aliases = tuple(alias for alias in entity.aliases if alias.casefold() in said)
        spoken_of = entity.mentions > 0 and (entity.label.casefold() in said or bool(aliases))
        if entity.id not in used and not spoken_of:
            idle.append(entity.id)
        elif aliases != entity.aliases:
            tx.put(evolve(entity, aliases=aliases))
    tx.remove(Entity, *idle)
    taken.names += len(idle)
    pairs = [one.id for one in tx.find(EntityMerge) if {one.duplicate, one.into} & set(idle)]
    tx.remove(EntityMerge, *pairs)
    taken.gone("entity_merges", pairs)
    return set(idle)
