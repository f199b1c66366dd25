"""Carrying out what the user wished: forgetting, not bringing up, allowing, remembering. In the transaction of the
message.

"That" is what the message itself said before, or else what the latest earlier message of the session left. A named
topic is found by its words, or by its meaning at the anchor threshold. Each wish reports what it did, also when it
found nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

from tenuto.ingest.consent import Consent, Wish
from tenuto.ingest.writing import LIVE, Writing
from tenuto.ports import Vectors, Where
from tenuto.records.base import evolve
from tenuto.records.conversation import Message, Role
from tenuto.records.memory import Kind, Memory, Proactive, Status, Todo, TodoStatus, Version
from tenuto.records.operations import EntryKind, Receipt
from tenuto.text.words import tokens

LOOK_BACK = 3
"""Earlier messages of the user that "that" may mean."""
_FEELING = frozenset(
    stem
    for word in ["like", "love", "hate", "enjoy", "prefer", "dislike", "live", "work", "have", "want", "be", "feel"]
    for stem in tokens(word)
)
"""Verbs that may be worded otherwise in what was kept."""
TOPIC = 200
"""Memories that a named topic is looked for among."""


def obey(writing: Writing, wish: Consent, message: Message, own: Sequence[Memory], vector: Vectors | None) -> str:
    """Do what a wish asks; the words for the receipt. ``own`` is what this very message left."""
    if wish.wish is Wish.PRIVATE:
        return _private(message)
    if wish.wish is Wish.REMEMBER and wish.statement:
        return "Kept, because you asked to remember it."
    targets = _targets(writing, wish, message, own, vector)
    if not targets and wish.wish is Wish.FORGET and not wish.about:
        cancelled = _cancel_todos(writing, message)
        if cancelled:
            return f"Dropped {cancelled} todo(s) of the message before."
    what = f"about {wish.about!r}" if wish.about else "before it"
    if not targets:
        return f"Nothing {what} was kept, so nothing changed."
    for memory in targets:
        _apply(writing, wish, memory)
    listed = "; ".join(memory.content for memory in targets[:5])
    return f"{_DONE[wish.wish]}: {listed}" + (f" and {len(targets) - 5} more" if len(targets) > 5 else "")


_DONE = {
    Wish.FORGET: "Forgotten",
    Wish.DO_NOT_SAVE: "Forgotten",
    Wish.DO_NOT_BRING_UP: "Will not be brought up",
    Wish.MAY_MENTION: "May be brought up",
    Wish.REMEMBER: "Kept as important",
}


def _private(message: Message) -> str:
    if message.persona is None:
        return "Asked to stay between the two of you, but no persona is set here, so it is shared like the rest."
    return f"Kept for {message.persona!r} only."


def _targets(
    writing: Writing, wish: Consent, message: Message, own: Sequence[Memory], vector: Vectors | None
) -> list[Memory]:
    if wish.about:
        return _about(writing, wish.about, message, vector)
    if own and wish.wish is not Wish.DO_NOT_SAVE:
        return list(own)
    before = writing.tx.find(
        Message,
        Where("session_id", "=", message.session_id),
        Where("role", "=", Role.USER.value),
        Where("seq", "<", message.seq),
        order="-seq",
        limit=LOOK_BACK,
    )
    for earlier in before:
        for receipt in writing.tx.find(Receipt, Where("message_id", "=", earlier.id), limit=1):
            ids = [
                result.subject_id for result in receipt.results if result.subject_id and result.subject_kind == "memory"
            ]
            found = [one for one in writing.tx.get_many(Memory, ids).values() if one.status in LIVE]
            if found:
                return found
    return []


def _about(writing: Writing, about: str, message: Message, vector: Vectors | None) -> list[Memory]:
    said = set(tokens(about))
    wanted = (said - _FEELING) or said
    live = Where("status", "in", [status.value for status in LIVE])
    memories = writing.tx.find(Memory, live, order="-updated_at", limit=TOPIC)
    visible = [one for one in memories if one.persona in (None, message.persona)]
    by_words = [
        one
        for one in visible
        if wanted
        and wanted <= set(tokens(f"{one.content} {' '.join(one.entities).replace('_', ' ').replace(':', ' ')}"))
    ]
    if by_words or vector is None:
        return by_words
    near = writing.near(EntryKind.MEMORY, vector, 5)
    close = [id for id, cosine in near if cosine >= writing.deps.embedder.calibration.anchor]
    return [
        one
        for one in writing.tx.get_many(Memory, close).values()
        if one.status in LIVE and one.persona in (None, message.persona)
    ]


def _apply(writing: Writing, wish: Consent, memory: Memory) -> None:
    if wish.wish in (Wish.FORGET, Wish.DO_NOT_SAVE):
        forget_memory(writing, memory, reason=f"the user said {wish.quote!r}")
        return
    if wish.wish is Wish.REMEMBER:
        writing.tx.put(
            evolve(
                memory,
                importance=max(memory.importance, 7.0),
                confidence=max(memory.confidence, 0.95),
                updated_at=writing.now,
            )
        )
        writing.event("memory.kept", "memory", memory.id)
        return
    use = Proactive.NO if wish.wish is Wish.DO_NOT_BRING_UP else Proactive.YES
    set_proactive(writing, memory, use, reason=f"the user said {wish.quote!r}")


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
    """Out of every reading, its slot free, its messages out of the index; ``restore`` brings all of it back."""
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
    writing.tx.unindex(EntryKind.MEMORY, memory.id)
    writing.tx.unindex(EntryKind.MESSAGE, *(one.message_id for one in memory.evidence if one.message_id))
    writing.event("memory.forgotten", "memory", memory.id)
    if memory.kind is not Kind.CONTRADICTION:
        for note in writing.tx.find(
            Memory, Where("kind", "=", Kind.CONTRADICTION.value), Where("status", "in", [one.value for one in LIVE])
        ):
            if memory.id in note.derived_from:
                forget_memory(writing, note, reason=f"made from {memory.id}")
    return forgotten


def _cancel_todos(writing: Writing, message: Message) -> int:
    """ "Forget that" right after a todo drops the todo."""
    open_now = writing.tx.find(
        Todo,
        Where("session_id", "=", message.session_id),
        Where("status", "=", TodoStatus.OPEN.value),
        order="-created_at",
        limit=1,
    )
    for todo in open_now:
        writing.tx.put(evolve(todo, status=TodoStatus.CANCELLED, slot=None, updated_at=writing.now))
        writing.event("todo.cancelled", "todo", todo.id)
    return len(open_now)
