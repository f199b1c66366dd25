"""What a merge of two entities does to one memory, and how it is taken back. Pure.

The key and the slot name the entity that a memory is about. Both are rewritten word for word, so the way back needs
nothing but the other name. A memory that gives way keeps its slot and its status in its history.
"""

from __future__ import annotations

from datetime import datetime

from tenuto.ingest.reconcile.same_statement import agree
from tenuto.ingest.reconcile.versions import asserted_at
from tenuto.records.base import evolve
from tenuto.records.memory import Memory, Status, Version


def rekeyed_to(memory: Memory, entity: str) -> Memory:
    """The same memory about another entity."""
    domain, _, _, *rest = memory.key.split("|")
    type_, _, slug = entity.partition(":")
    key = "|".join((domain, type_, slug, *rest))
    slot = memory.slot.replace(memory.key, key, 1) if memory.slot else None
    return evolve(memory, key=key, slot=slot)


def newer(one: Memory, other: Memory) -> bool:
    """Does the first say something else, and later? Of two that agree the other stays."""
    same = bool(one.value and other.value and agree(one.value, other.value))
    return not same and asserted_at(one) > asserted_at(other)


def gave_way(memory: Memory, to: Memory, merge: str, now: datetime) -> Memory:
    """Retired, because another memory of what is now one entity holds the same place."""
    version = Version(
        at=now,
        content=memory.content,
        status=memory.status,
        reason=f"gave way to {to.id} when two entities were merged",
        changed={"merge": merge, "slot": memory.slot, "pinned": memory.pinned},
    )
    return evolve(
        memory,
        status=Status.DEPRECATED,
        slot=None,
        pinned=False,
        superseded_by=to.id,
        history=(*memory.history, version),
        updated_at=now,
    )


def came_back(memory: Memory, merge: str, now: datetime) -> Memory:
    """As it was before it gave way. Its key has been rewritten already; the slot follows the key."""
    version = next((one for one in reversed(memory.history) if one.changed.get("merge") == merge), None)
    if version is None or memory.status is not Status.DEPRECATED:
        return memory
    slot = version.changed.get("slot")
    if isinstance(slot, str):
        persona, *middle = slot.split("|")
        tail = middle[5:]
        slot = "|".join((persona, memory.key, *tail))
    return evolve(
        memory,
        status=version.status,
        slot=slot,
        pinned=bool(version.changed.get("pinned")),
        superseded_by=None,
        history=tuple(one for one in memory.history if one is not version),
        updated_at=now,
    )
