"""Moves of one kept memory that a wish or a direct verb makes: forgotten, kept as important, brought up or not.

Each leaves a version behind, so that it can be taken back, and an event.
"""

from __future__ import annotations

from tenuto.ingest.write import LIVE, Writing
from tenuto.ports import Where
from tenuto.records.base import evolve
from tenuto.records.memory import Kind, Memory, Proactive, Status, Version


def keep_important(writing: Writing, memory: Memory) -> None:
    """The person asked to remember it."""
    writing.tx.put(
        evolve(
            memory,
            importance=max(memory.importance, 7.0),
            confidence=max(memory.confidence, 0.95),
            updated_at=writing.now,
        )
    )
    writing.event("memory.kept", "memory", memory.id)


def set_proactive(writing: Writing, memory: Memory, use: Proactive, *, reason: str) -> Memory:
    """Whether a memory may be brought up; recall by explicit reference is not touched."""
    version = Version(
        at=writing.now,
        content=memory.content,
        status=memory.status,
        reason=reason,
        changed={"proactive_use": memory.proactive_use.value},
    )
    changed = evolve(memory, proactive_use=use, updated_at=writing.now, history=(*memory.history, version))
    writing.tx.put(changed)
    writing.event("memory.policy", "memory", memory.id, proactive_use=use.value)
    return changed


def forget_memory(writing: Writing, memory: Memory, *, reason: str) -> Memory:
    """Out of every reading, its slot free; ``restore`` brings all of it back."""
    memory = writing.tx.get(Memory, memory.id) or memory
    if memory.status is Status.FORGOTTEN:
        return memory
    version = Version(
        at=writing.now,
        content=memory.content,
        status=memory.status,
        reason=reason,
        changed={
            "slot": memory.slot,
            "pinned": memory.pinned,
            "pin_kind": memory.pin_kind.value if memory.pin_kind else None,
        },
    )
    forgotten = evolve(
        memory,
        status=Status.FORGOTTEN,
        slot=None,
        pinned=False,
        pin_kind=None,
        updated_at=writing.now,
        history=(*memory.history, version),
    )
    writing.tx.put(forgotten)
    writing.event("memory.forgotten", "memory", memory.id)
    if memory.kind is not Kind.CONTRADICTION:
        for note in writing.tx.find(
            Memory, Where("kind", "=", Kind.CONTRADICTION.value), Where("status", "in", [one.value for one in LIVE])
        ):
            if memory.id in note.derived_from:
                forget_memory(writing, note, reason=f"made from {memory.id}")
    return forgotten
