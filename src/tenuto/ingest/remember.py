"""The direct verbs on what is kept: remember, edit, confirm, pin, forget, restore, history, and who may be spoken of.

They take the same way in as the background job: the same reconcile, the same transaction, the same events. Nothing is
ever overwritten: each change leaves a version behind, and everything short of erasure can be taken back.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

import numpy as np

from tenuto.deps import Deps
from tenuto.errors import Conflict, EmbedderError, IllegalMove, InputError, NotFound
from tenuto.ingest.affect import affect
from tenuto.ingest.candidate import Candidate, slot_of
from tenuto.ingest.changes import change
from tenuto.ingest.embedding import checked
from tenuto.ingest.entities import SELF, Registry, mentions
from tenuto.ingest.extract import span
from tenuto.ingest.facts import Fact, facts
from tenuto.ingest.importance import memory_importance
from tenuto.ingest.lexicon import lexicons
from tenuto.ingest.obey import forget_memory, set_proactive
from tenuto.ingest.reconcile import superseded
from tenuto.ingest.registry import known, note
from tenuto.ingest.sentences import straighten
from tenuto.ingest.times import find as find_times
from tenuto.ingest.writing import Writing, settle
from tenuto.ports import Reader, Vectors, Where
from tenuto.recall.entry import embedding_text
from tenuto.records.base import evolve
from tenuto.records.conversation import Message
from tenuto.records.memory import RECALLED, Domain, Epistemic, Kind, Memory, PinKind, Proactive, Sensitivity, Status, TimeScope, Trust, Version
from tenuto.records.operations import Act
from tenuto.records.scope import Scope
from tenuto.text import clean


@dataclass(frozen=True, slots=True, kw_only=True)
class Remembered:
    """What ``remember`` did: the memory that holds the words now, and why."""

    act: Act
    reason: str
    memory: Memory
    previous_id: str | None = None

    @property
    def id(self) -> str:
        return self.memory.id

    @property
    def content(self) -> str:
        return self.memory.content


def remember(
    deps: Deps,
    scope: Scope,
    text: str,
    *,
    pin: bool | str = False,
    session: str | None = None,
    kind: str | None = None,
    importance: float | None = None,
    private: bool = False,
    proactive_use: str | None = None,
    should_do: str | None = None,
    should_not_do: str | None = None,
    at: datetime | None = None,
    trust: Trust = Trust.USER_STATED,
    source: str = "direct",
) -> Remembered:
    """Keep one thing that the caller states. ``pin`` takes ``True`` or one of the pin kinds; ``session`` scopes the pin."""
    content = clean.text(text, deps.policy.limits)
    moment = deps.clock() if at is None else clean.moment(at)
    if private and scope.persona is None:
        raise InputError("'private' keeps a memory for one persona: open the user with a persona first.", code="no_persona")
    pinned = _pin_kind(pin)
    with deps.store.reading(scope.user) as reader:
        registry = Registry.of(known(reader))
    candidate = _stated(deps, scope, content, moment, registry, kind, pinned, session)
    candidate = _with(candidate, importance, private, scope, proactive_use, should_do, trust, source)
    vector = _vector(deps, candidate.content)
    with deps.store.writing(scope.user) as tx:
        writing = Writing(deps, tx, deps.clock(), channel=scope.channel, persona=scope.persona)
        result, memory = settle(writing, candidate, vector)
        if memory is None:
            raise Conflict(f"It was not kept: {result.reason}.", code="not_kept")
        memory = _by_hand(writing, memory, pinned, session, should_not_do, importance)
        if pinned is not None and memory.pinned:
            _room(writing, memory)
        note(writing, mentions(straighten(content), registry), frozenset(), trust)
        writing.finish()
    return Remembered(act=result.act, reason=result.reason, memory=memory, previous_id=result.previous_id)


def _stated(
    deps: Deps, scope: Scope, content: str, at: datetime, registry: Registry, kind: str | None, pin: PinKind | None, session: str | None
) -> Candidate:
    """What the words mean, by the same rules; "Allergic to penicillin" is read as being about the user."""
    plain = straighten(" ".join(content.split())).rstrip(" .!")
    fact, wording = _fact(plain)
    named = mentions(plain, registry, deps.policy.memory.entities_per_message)
    subject, domain, label = _subject(fact, named, registry)
    valence, arousal = affect(plain)
    begin, end, happens = span(plain, find_times(plain, at), at, ends=bool(fact and fact.rule.ends))
    moved = change(wording)
    words = lexicons(deps.policy.memory.lexicons)
    base = fact.rule.importance if fact else 6.0
    automatic = PinKind.AUTO if fact and fact.rule.pin and not fact.negated and not fact.rule.ends else None
    return Candidate(
        content=" ".join(content.split()).strip(),
        domain=domain,
        kind=_kind(kind) if kind else fact.rule.kind if fact else Kind.FACT,
        at=at,
        subject=subject,
        attribute=fact.attribute if fact else None,
        value=fact.value if fact else None,
        single=bool(fact and fact.rule.single and not fact.past and not fact.negated),
        ends=bool(fact and (fact.rule.ends or fact.negated)),
        negated=bool(fact and fact.negated),
        change=moved is not None,
        changed_from=moved.before if moved else None,
        entities=tuple(dict.fromkeys([*([subject] if subject != SELF else []), *(one.id for one in named if one.id != SELF)])),
        label=label,
        importance=memory_importance(base, plain, arousal, words, known=fact is not None),
        confidence=0.95,
        epistemic=Epistemic.EXPLICIT,
        time_scope=fact.rule.scope if fact else TimeScope.ONGOING,
        sensitivity=fact.rule.sensitivity if fact else Sensitivity.LOW,
        surface=scope.channel,
        channel=scope.channel,
        quote=content if len(content) <= 2000 else None,
        pin=pin or automatic,
        pin_session_id=session if pin else None,
        valence=valence,
        arousal=arousal,
        valid_from=begin,
        valid_to=end,
        happens_at=happens,
        made_by="direct",
    )


def _fact(plain: str) -> tuple[Fact | None, str]:
    lowered = plain[:1].lower() + plain[1:]
    for wording in (plain, f"I'm {lowered}", f"I {_first_person(lowered)}", f"My {lowered}"):
        found = next(facts(wording), None)
        if found is not None and (wording is plain or found.attribute != "goal"):
            value = found.value
            if found.rule.split and value and len(list(facts(wording))) > 1:
                return None, wording
            return found, wording
    return None, plain


def _first_person(text: str) -> str:
    """"lives in Austin" as one says it of oneself."""
    verbs = {"lives": "live", "works": "work", "loves": "love", "likes": "like", "hates": "hate", "has": "have", "prefers": "prefer", "speaks": "speak", "takes": "take"}
    head, _, rest = text.partition(" ")
    return f"{verbs.get(head, head)} {rest}"


def _subject(fact: Fact | None, named: list[Any], registry: Registry) -> tuple[str, Domain, str | None]:
    word = (fact.who or "").lower() if fact else ""
    if fact is not None and word not in ("", "i", "we", "my", "our"):
        found = [one for one in mentions(fact.who or "", registry) if one.type == "person"]
        if found:
            return found[0].id, Domain.PEOPLE, found[0].label
    if fact is None and named and named[0].type == "person" and named[0].start == 0:
        return named[0].id, Domain.PEOPLE, named[0].label
    return SELF, Domain.PROFILE, None


def _with(
    candidate: Candidate, importance: float | None, private: bool, scope: Scope, proactive: str | None, should_do: str | None, trust: Trust, source: str
) -> Candidate:
    outside = trust is Trust.EXTERNAL
    if importance is not None and not 0 <= importance <= 10:
        raise InputError(f"'importance' is a number from 0 to 10, not {importance!r}.", code="importance_invalid")
    return replace(
        candidate,
        importance=candidate.importance if importance is None else float(importance),
        persona=scope.persona if private else None,
        proactive=_proactive(proactive) if proactive else None,
        should_do=None if outside else should_do,
        trust=trust,
        status=Status.CANDIDATE if outside else Status.ACTIVE,
        source=source,
        pin=None if outside else candidate.pin,
    )


def _by_hand(writing: Writing, memory: Memory, pin: PinKind | None, session: str | None, should_not_do: str | None, importance: float | None) -> Memory:
    """What only a direct call may set."""
    changed: dict[str, Any] = {}
    if pin is not None and memory.status is not Status.CANDIDATE:
        changed |= {"pinned": True, "pin_kind": pin, "pin_session_id": session, "importance": writing.deps.policy.memory.pin_importance}
    elif importance is not None and not memory.pinned and memory.importance < importance:
        changed["importance"] = importance
    if should_not_do is not None and memory.trust is not Trust.EXTERNAL:
        changed["should_not_do"] = should_not_do
    if changed:
        memory = evolve(memory, **changed)
        writing.tx.put(memory)
    return memory


def _pin_kind(pin: bool | str) -> PinKind | None:
    if pin is False or pin is None:
        return None
    if pin is True:
        return PinKind.MANUAL
    try:
        return PinKind(pin)
    except ValueError:
        raise InputError(f"Unknown pin kind {pin!r}: use one of {', '.join(PinKind)}.", code="pin_invalid") from None


def _kind(kind: str) -> Kind:
    try:
        return Kind(kind)
    except ValueError:
        raise InputError(f"Unknown kind {kind!r}: use one of {', '.join(Kind)}.", code="kind_invalid") from None


def _proactive(use: str) -> Proactive:
    try:
        return Proactive(use)
    except ValueError:
        raise InputError(f"Unknown proactive_use {use!r}: use one of {', '.join(Proactive)}.", code="proactive_invalid") from None


def _vector(deps: Deps, text: str) -> Vectors | None:
    try:
        return np.asarray(checked(deps, deps.embedder.embed([text]))[0], dtype=np.float32)
    except EmbedderError:
        return None


# --- changing what is kept --------------------------------------------------------------------------------------------


def get(reader: Reader, scope: Scope, id: str) -> Memory:
    """A memory that this handle may see."""
    memory = reader.get(Memory, id)
    if memory is None or (memory.persona is not None and scope.persona is not None and memory.persona != scope.persona):
        raise NotFound(f"There is no memory {id!r} of this user.")
    return memory


def forget(deps: Deps, scope: Scope, id: str, *, reason: str = "asked to forget") -> Memory:
    """Take a memory out of every reading. ``restore`` brings it back; ``erase`` is for good."""
    with deps.store.writing(scope.user) as tx:
        memory = get(tx, scope, id)
        if memory.status is Status.FORGOTTEN:
            return memory
        return forget_memory(_writing(deps, scope, tx), memory, reason=reason)


def restore(deps: Deps, scope: Scope, id: str) -> Memory:
    """Bring back what was forgotten, archived or superseded, as it was before."""
    with deps.store.reading(scope.user) as reader:
        vector = _vector(deps, embedding_text(get(reader, scope, id)))
    with deps.store.writing(scope.user) as tx:
        memory = get(tx, scope, id)
        if memory.status in (*RECALLED, Status.CANDIDATE):
            raise IllegalMove(f"The memory {id} is {memory.status}: only what was forgotten, archived or superseded can be restored.")
        writing = _writing(deps, scope, tx)
        last = next((one for one in reversed(memory.history) if one.status in (*RECALLED, Status.CANDIDATE)), None)
        status = last.status if last else Status.ACTIVE
        slot = None if status is Status.CANDIDATE else _slot(memory)
        holder = tx.find(Memory, Where("slot", "=", slot), limit=1) if slot else []
        if holder:
            raise Conflict(
                f"{holder[0].content!r} ({holder[0].id}) holds this place now: forget it first, or remember the old value again.",
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
            history=(*memory.history, Version(at=writing.now, content=memory.content, status=memory.status, reason="restored")),
        )
        tx.put(restored)
        writing.index(restored, vector)
        for message in tx.get_many(Message, [one.message_id for one in memory.evidence if one.message_id]).values():
            writing.index(message, None)
        writing.event("memory.restored", "memory", id)
        writing.finish()
        return restored


def _slot(memory: Memory) -> str:
    kept = next((one.changed.get("slot") for one in reversed(memory.history) if one.changed.get("slot")), None)
    if isinstance(kept, str):
        return kept
    denied = bool(memory.metadata.get("ends") or memory.metadata.get("negated"))
    return slot_of(memory.key, memory.persona, memory.metadata.get("single") == "1", memory.value, memory.content, denied)


def edit(deps: Deps, scope: Scope, id: str, **changes: Any) -> Memory:
    """Correct a memory by hand: content, importance, proactive_use, should_do, should_not_do, valid_to, happens_at, kind."""
    allowed = {"content", "importance", "proactive_use", "should_do", "should_not_do", "valid_to", "valid_from", "happens_at", "kind", "retrieval_keywords"}
    if unknown := set(changes) - allowed:
        raise InputError(f"A memory has no editable {', '.join(sorted(unknown))}; there are: {', '.join(sorted(allowed))}.", code="unknown_field")
    changes = _checked(deps, changes)
    vector = _vector(deps, changes["content"]) if "content" in changes else None
    with deps.store.writing(scope.user) as tx:
        memory = get(tx, scope, id)
        writing = _writing(deps, scope, tx)
        before = {name: getattr(memory, name) for name in changes if name != "content"}
        version = Version(at=writing.now, content=memory.content, status=memory.status, reason="edited", changed={k: str(v) for k, v in before.items()})
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
        raise InputError(f"'importance' is a number from 0 to 10, not {found['importance']!r}.", code="importance_invalid")
    if "proactive_use" in found:
        found["proactive_use"] = _proactive(str(found["proactive_use"]))
    if "kind" in found:
        found["kind"] = _kind(str(found["kind"]))
    for name in ("valid_to", "valid_from", "happens_at"):
        if found.get(name) is not None:
            found[name] = clean.moment(found[name], what=name)
    if "retrieval_keywords" in found:
        found["retrieval_keywords"] = tuple(str(word) for word in found["retrieval_keywords"])[:32]
    return found


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
    wanted = _pin_kind(kind)
    with deps.store.writing(scope.user) as tx:
        memory = get(tx, scope, id)
        if memory.status not in RECALLED:
            raise IllegalMove(f"The memory {id} is {memory.status}: only what is recalled can be pinned. Confirm or restore it first.")
        writing = _writing(deps, scope, tx)
        pinned = evolve(memory, pinned=True, pin_kind=wanted, pin_session_id=session, importance=deps.policy.memory.pin_importance, updated_at=writing.now)
        tx.put(_room(writing, pinned))
        writing.event("memory.pinned", "memory", id, pin_kind=str(wanted))
        return pinned


def _room(writing: Writing, memory: Memory) -> Memory:
    """A pin by hand takes the place of the least important automatic one; when all are by hand it is refused."""
    cap = writing.deps.policy.memory.pins
    pinned = [one for one in writing.tx.find(Memory, Where("pinned", "=", True)) if one.id != memory.id]
    if len(pinned) < cap:
        return memory
    automatic = [one for one in pinned if one.pin_kind is PinKind.AUTO]
    if not automatic:
        raise Conflict(f"There are already {cap} pins: unpin one first, or raise the setting memory.pins.", code="pins_full")
    least = min(automatic, key=lambda one: (one.importance, one.reinforcements, one.updated_at))
    writing.tx.put(evolve(least, pinned=False, pin_kind=None, updated_at=writing.now))
    writing.event("memory.unpinned", "memory", least.id, actor="system", reason="cap")
    return memory


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
    wanted = _proactive(use)
    with deps.store.writing(scope.user) as tx:
        return set_proactive(_writing(deps, scope, tx), get(tx, scope, id), wanted, reason="set by hand")


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
        versions.append(Version(at=one.updated_at, content=one.content, status=one.status, reason="now" if one is chain[0] else f"replaced by {one.superseded_by}"))
    return versions


def _writing(deps: Deps, scope: Scope, tx: Any) -> Writing:
    return Writing(deps, tx, deps.clock(), channel=scope.channel, persona=scope.persona)
