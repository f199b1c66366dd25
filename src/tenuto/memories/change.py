"""The direct verbs on what is kept: edit, confirm, pin, forget, restore, history, and what may be brought up.

Nothing is ever overwritten: each change leaves a version behind, and everything short of erasure can be taken back.
``docs/memory-states.md`` draws the moves.
"""

from __future__ import annotations

from typing import Any

from tenuto.deps import Deps
from tenuto.errors import Conflict, IllegalMove, InputError, NotFound
from tenuto.ingest import ask_first
from tenuto.ingest.apply_wishes import hold, release
from tenuto.ingest.candidate import slot_of
from tenuto.ingest.memory_moves import forget_memory, set_proactive
from tenuto.ingest.reconcile.versions import superseded
from tenuto.ingest.write import Writing
from tenuto.lifecycle.named_session import pin_session
from tenuto.memories.describe import EDITABLE, described
from tenuto.memories.remember import kind_of, make_room, pin_kind, proactive_use_of, vector_of
from tenuto.ports import Reader, Where
from tenuto.recall.entry import embedding_text
from tenuto.records.base import evolve
from tenuto.records.memory import RECALLED, Memory, PinKind, Proactive, Status, Trust, Version
from tenuto.records.scope import Scope
from tenuto.records.wishes import WishKind
from tenuto.text import clean


def get(reader: Reader, scope: Scope, id: str) -> Memory:
    """A memory that this handle may see."""
    memory = reader.get(Memory, id)
    if memory is None or (memory.persona is not None and scope.persona is not None and memory.persona != scope.persona):
        raise NotFound(f"There is no memory {id!r} of this user.")
    return memory


def forget(
    deps: Deps, scope: Scope, id: str, *, reason: str = "asked to forget", trust: Trust = Trust.USER_STATED
) -> Memory:
    """Take a memory out of every reading. ``restore`` brings it back; ``erase`` is for good.

    Asked for by less than the person's own word it only waits: the next contexts ask the person.
    """
    with deps.store.writing(scope.user) as tx:
        memory = get(tx, scope, id)
        if memory.status is Status.FORGOTTEN:
            return memory
        writing = _writing(deps, scope, tx)
        if trust in (Trust.INFERRED, Trust.EXTERNAL):
            ask_first.propose(writing, memory, reason)
            return memory
        hold(writing, WishKind.FORGET, memory, reason)
        return forget_memory(writing, memory, reason=reason)


def restore(deps: Deps, scope: Scope, id: str) -> Memory:
    """Bring back what was forgotten, archived or superseded, as it was before."""
    with deps.store.reading(scope.user) as reader:
        vector = vector_of(deps, embedding_text(get(reader, scope, id)))
    with deps.store.writing(scope.user) as tx:
        memory = get(tx, scope, id)
        if memory.status in (*RECALLED, Status.CANDIDATE):
            raise IllegalMove(
                f"The memory {id} is {memory.status}: only what was forgotten, archived or superseded can be restored."
            )
        writing = _writing(deps, scope, tx)
        last = next((one for one in reversed(memory.history) if one.status in (*RECALLED, Status.CANDIDATE)), None)
        status = last.status if last else Status.ACTIVE
        slot = None if status is Status.CANDIDATE else _slot(memory)
        holder = tx.find(Memory, Where("slot", "=", slot), limit=1) if slot else []
        if holder:
            raise Conflict(
                f"{holder[0].content!r} ({holder[0].id}) holds this place now: forget it first, or remember "
                f"the old value again.",
                code="slot_taken",
            )
        pin = PinKind(last.changed["pin_kind"]) if last and last.changed.get("pin_kind") else None
        restored = evolve(
            memory,
            status=status,
            slot=slot,
            valid_to=None,
            superseded_by=None,
            pinned=bool(last and last.changed.get("pinned")),
            pin_kind=pin,
            updated_at=writing.now,
            history=(
                *memory.history,
                Version(at=writing.now, content=memory.content, status=memory.status, reason="restored"),
            ),
        )
        tx.put(restored)
        writing.index(restored, vector)
        release(writing, WishKind.FORGET, id)
        writing.event("memory.restored", "memory", id)
        writing.finish()
        return restored


def _slot(memory: Memory) -> str:
    kept = next((one.changed.get("slot") for one in reversed(memory.history) if one.changed.get("slot")), None)
    if isinstance(kept, str):
        return kept
    denied = bool(memory.metadata.get("ends") or memory.metadata.get("negated"))
    return slot_of(
        memory.key, memory.persona, memory.metadata.get("single") == "1", memory.value, memory.content, denied
    )


def edit(deps: Deps, scope: Scope, id: str, **changes: Any) -> Memory:
    """Correct a memory by hand: content, importance, proactive_use, should_do, should_not_do, valid_to, happens_at,
    kind, retrieval_keywords, and what :mod:`tenuto.memories.describe` checks.
    """
    allowed = {
        "content",
        "importance",
        "proactive_use",
        "should_do",
        "should_not_do",
        "valid_to",
        "valid_from",
        "happens_at",
        "kind",
        "retrieval_keywords",
        *EDITABLE,
    }
    if unknown := set(changes) - allowed:
        raise InputError(
            f"A memory has no editable {', '.join(sorted(unknown))}; there are: {', '.join(sorted(allowed))}.",
            code="unknown_field",
        )
    changes = _checked(deps, changes)
    vector = vector_of(deps, changes["content"]) if "content" in changes else None
    with deps.store.writing(scope.user) as tx:
        memory = get(tx, scope, id)
        writing = _writing(deps, scope, tx)
        before = {name: getattr(memory, name) for name in changes if name != "content"}
        version = Version(
            at=writing.now,
            content=memory.content,
            status=memory.status,
            reason="edited",
            changed={k: str(v) for k, v in before.items()},
        )
        status = Status.REVISED if memory.status in (Status.ACTIVE, Status.REINFORCED) else memory.status
        edited = evolve(memory, **changes, status=status, updated_at=writing.now, history=(*memory.history, version))
        tx.put(edited)
        if "content" in changes:
            writing.index(edited, vector)
        writing.event("memory.edited", "memory", id, fields=sorted(changes))
        writing.finish()
        return edited


def _checked(deps: Deps, changes: dict[str, Any]) -> dict[str, Any]:
    found = dict(changes)
    if "content" in found:
        found["content"] = clean.text(found["content"], deps.policy.limits)
    if "importance" in found and not (isinstance(found["importance"], (int, float)) and 0 <= found["importance"] <= 10):
        raise InputError(
            f"'importance' is a number from 0 to 10, not {found['importance']!r}.", code="importance_invalid"
        )
    if "proactive_use" in found:
        found["proactive_use"] = proactive_use_of(str(found["proactive_use"]))
    if "kind" in found:
        found["kind"] = kind_of(str(found["kind"]))
    for name in ("valid_to", "valid_from", "happens_at"):
        if found.get(name) is not None:
            found[name] = clean.moment(found[name], what=name)
    if "retrieval_keywords" in found:
        found["retrieval_keywords"] = tuple(str(word) for word in found["retrieval_keywords"])[:32]
    by_hand = {name: found.pop(name) for name in EDITABLE if name in found}
    return found | described(deps.policy.limits, by_hand)


def confirm(deps: Deps, scope: Scope, id: str) -> Memory:
    """The user vouches for a memory: it counts as theirs, and what waited from outside becomes active."""
    with deps.store.writing(scope.user) as tx:
        memory = get(tx, scope, id)
        if memory.status in (Status.FORGOTTEN, Status.ARCHIVED, Status.DEPRECATED):
            raise IllegalMove(f"The memory {id} is {memory.status}: restore it first.")
        writing = _writing(deps, scope, tx)
        version = Version(at=writing.now, content=memory.content, status=memory.status, reason="confirmed by the user")
        confirmed = evolve(
            memory,
            status=Status.CONFIRMED,
            trust=max(memory.trust, Trust.USER_CONFIRMED, key=_rank),
            confidence=max(memory.confidence, 0.95),
            slot=memory.slot or _slot(memory),
            updated_at=writing.now,
            history=(*memory.history, version),
        )
        for holder in tx.find(Memory, Where("slot", "=", confirmed.slot), limit=1):
            if holder.id != id:
                tx.put(superseded(holder, by=confirmed, now=writing.now))
                confirmed = evolve(confirmed, supersedes=holder.id)
        tx.put(confirmed)
        writing.event("memory.confirmed", "memory", id)
        return confirmed


def _rank(trust: Trust) -> int:
    return (Trust.EXTERNAL, Trust.INFERRED, Trust.USER_STATED, Trust.USER_CONFIRMED, Trust.OPERATOR).index(trust)


def pin(deps: Deps, scope: Scope, id: str, *, kind: str = "manual", session: str | None = None) -> Memory:
    """Always in context, at importance 10; ``session`` limits it to one session."""
    wanted = pin_kind(kind)
    with deps.store.writing(scope.user) as tx:
        memory = get(tx, scope, id)
        if memory.status not in RECALLED:
            raise IllegalMove(
                f"The memory {id} is {memory.status}: only what is recalled can be pinned. Confirm or restore it first."
            )
        writing = _writing(deps, scope, tx)
        session = pin_session(tx, scope.persona, session)
        pinned = evolve(
            memory,
            pinned=True,
            pin_kind=wanted,
            pin_session_id=session,
            importance=deps.policy.memory.pin_importance,
            updated_at=writing.now,
        )
        tx.put(make_room(writing, pinned))
        writing.event("memory.pinned", "memory", id, pin_kind=str(wanted))
        return pinned


def unpin(deps: Deps, scope: Scope, id: str) -> Memory:
    """No longer always in context; the importance stays as it was learnt."""
    with deps.store.writing(scope.user) as tx:
        memory = get(tx, scope, id)
        writing = _writing(deps, scope, tx)
        loosened = evolve(memory, pinned=False, pin_kind=None, pin_session_id=None, updated_at=writing.now)
        tx.put(loosened)
        writing.event("memory.unpinned", "memory", id)
        return loosened


def allow(deps: Deps, scope: Scope, id: str, use: str) -> Memory:
    """Whether a memory may be brought up: yes, only_when_relevant or no."""
    wanted = proactive_use_of(use)
    with deps.store.writing(scope.user) as tx:
        writing, memory = _writing(deps, scope, tx), get(tx, scope, id)
        release(writing, WishKind.SILENCE, id)
        if wanted is Proactive.NO:
            hold(writing, WishKind.SILENCE, memory, "set by hand")
        return set_proactive(writing, memory, wanted, reason="set by hand")


def history(deps: Deps, scope: Scope, id: str) -> list[Version]:
    """What a memory was, oldest first, the values that it replaced included; the present state comes last."""
    with deps.store.reading(scope.user) as reader:
        memory: Memory | None = get(reader, scope, id)
        chain: list[Memory] = []
        while memory is not None and len(chain) < 64 and memory.id not in {one.id for one in chain}:
            chain.append(memory)
            memory = reader.get(Memory, memory.supersedes) if memory.supersedes else None
    versions: list[Version] = []
    for one in reversed(chain):
        versions.extend(one.history)
        versions.append(
            Version(
                at=one.updated_at,
                content=one.content,
                status=one.status,
                reason="now" if one is chain[0] else f"replaced by {one.superseded_by}",
            )
        )
    return versions


def _writing(deps: Deps, scope: Scope, tx: Any) -> Writing:
    return Writing(deps, tx, deps.clock(), channel=scope.channel, persona=scope.persona)
