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
from tenuto.errors import Conflict, EmbedderError, InputError, NotFound
from tenuto.ingest.affect import affect
from tenuto.ingest.candidate import Candidate
from tenuto.ingest.changes import change
from tenuto.ingest.embedding import checked
from tenuto.ingest.entities import SELF, Registry, mentions
from tenuto.ingest.facts import Fact, facts
from tenuto.ingest.importance import memory_importance
from tenuto.ingest.lexicon import lexicons
from tenuto.ingest.registry import note
from tenuto.ingest.sentences import straighten
from tenuto.ingest.times import find as find_times
from tenuto.ingest.wording import span
from tenuto.ingest.writing import Writing, settle
from tenuto.ports import Reader, Vectors, Where
from tenuto.records.base import evolve
from tenuto.records.conversation import Message
from tenuto.records.memory import (
    Domain,
    Epistemic,
    Kind,
    Memory,
    PinKind,
    Proactive,
    Sensitivity,
    Status,
    TimeScope,
    Trust,
)
from tenuto.records.operations import Act
from tenuto.records.scope import Scope
from tenuto.text import clean

SECOND_HAND = (Trust.EXTERNAL, Trust.INFERRED)
"""Whose direct word waits for the person: it neither pins nor guides, and weighs no more than what it says."""


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
    message: str | None = None,
) -> Remembered:
    """Keep one thing that the caller states.

    ``pin`` takes ``True`` or one of the pin kinds; ``session`` scopes the pin. ``message`` is where it was said, by our
    id or the caller's own: it becomes the evidence.
    """
    content = clean.text(text, deps.policy.limits)
    moment = deps.clock() if at is None else clean.moment(at)
    if private and scope.persona is None:
        raise InputError(
            "'private' keeps a memory for one persona: open the user with a persona first.", code="no_persona"
        )
    pinned = pin_kind(pin)
    with deps.store.reading(scope.user) as reader:
        registry = deps.names.fresh(reader).registry
        said = _said(reader, message) if message is not None else None
    candidate = _stated(deps, scope, content, moment, registry, kind, pinned, session)
    candidate = _with(candidate, importance, private, scope, proactive_use, should_do, trust, source)
    if said is not None:
        candidate = replace(candidate, message_id=said.id, session_id=said.session_id)
    vector = vector_of(deps, candidate.content)
    with deps.store.writing(scope.user) as tx:
        writing = Writing(deps, tx, deps.clock(), channel=scope.channel, persona=scope.persona)
        result, memory = settle(writing, candidate, vector)
        if memory is None:
            raise Conflict(f"It was not kept: {result.reason}.", code="not_kept")
        if trust not in SECOND_HAND:
            memory = _by_hand(writing, memory, pinned, session, should_not_do, importance)
        if pinned is not None and memory.pinned:
            make_room(writing, memory)
        note(writing, mentions(straighten(content), registry), frozenset(), trust)
        writing.finish()
    return Remembered(act=result.act, reason=result.reason, memory=memory, previous_id=result.previous_id)


def _said(reader: Reader, message: str) -> Message:
    id = clean.storable(message, what="message")
    found = reader.get(Message, id)
    if found is None:
        own = reader.find(Message, Where("external_id", "=", id), limit=1)
        found = own[0] if own else None
    if found is None:
        raise NotFound(f"There is no message '{id[:80]}' for this user.", code="message_not_found")
    return found


def _stated(
    deps: Deps,
    scope: Scope,
    content: str,
    at: datetime,
    registry: Registry,
    kind: str | None,
    pin: PinKind | None,
    session: str | None,
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
        kind=kind_of(kind) if kind else fact.rule.kind if fact else Kind.FACT,
        at=at,
        subject=subject,
        attribute=fact.attribute if fact else None,
        value=fact.value if fact else None,
        single=bool(fact and fact.rule.single and not fact.past and not fact.negated),
        ends=bool(fact and (fact.rule.ends or fact.negated)),
        negated=bool(fact and fact.negated),
        change=moved is not None,
        changed_weakly=bool(moved and moved.weak),
        changed_from=moved.before if moved else None,
        entities=tuple(
            dict.fromkeys([*([subject] if subject != SELF else []), *(one.id for one in named if one.id != SELF)])
        ),
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
    """ "lives in Austin" as one says it of oneself."""
    verbs = {
        "lives": "live",
        "works": "work",
        "loves": "love",
        "likes": "like",
        "hates": "hate",
        "has": "have",
        "prefers": "prefer",
        "speaks": "speak",
        "takes": "take",
    }
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
    candidate: Candidate,
    importance: float | None,
    private: bool,
    scope: Scope,
    proactive: str | None,
    should_do: str | None,
    trust: Trust,
    source: str,
) -> Candidate:
    outside = trust in SECOND_HAND
    if importance is not None and not 0 <= importance <= 10:
        raise InputError(f"'importance' is a number from 0 to 10, not {importance!r}.", code="importance_invalid")
    return replace(
        candidate,
        importance=candidate.importance if importance is None else float(importance),
        persona=scope.persona if private else None,
        proactive=proactive_use_of(proactive) if proactive else Proactive.YES if should_do and not outside else None,
        should_do=None if outside else should_do,
        trust=trust,
        status=Status.CANDIDATE if outside else Status.ACTIVE,
        source=source,
        pin=None if outside else candidate.pin,
    )


def _by_hand(
    writing: Writing,
    memory: Memory,
    pin: PinKind | None,
    session: str | None,
    should_not_do: str | None,
    importance: float | None,
) -> Memory:
    """What only a direct call may set."""
    changed: dict[str, Any] = {}
    if pin is not None and memory.status is not Status.CANDIDATE:
        changed |= {
            "pinned": True,
            "pin_kind": pin,
            "pin_session_id": session,
            "importance": writing.deps.policy.memory.pin_importance,
        }
    elif importance is not None and not memory.pinned and memory.importance < importance:
        changed["importance"] = importance
    if should_not_do is not None:
        changed["should_not_do"] = should_not_do
    if changed:
        memory = evolve(memory, **changed)
        writing.tx.put(memory)
    return memory


def pin_kind(pin: bool | str) -> PinKind | None:
    if pin is False or pin is None:
        return None
    if pin is True:
        return PinKind.MANUAL
    try:
        return PinKind(pin)
    except ValueError:
        raise InputError(f"Unknown pin kind {pin!r}: use one of {', '.join(PinKind)}.", code="pin_invalid") from None


def kind_of(kind: str) -> Kind:
    try:
        return Kind(kind)
    except ValueError:
        raise InputError(f"Unknown kind {kind!r}: use one of {', '.join(Kind)}.", code="kind_invalid") from None


def proactive_use_of(use: str) -> Proactive:
    try:
        return Proactive(use)
    except ValueError:
        raise InputError(
            f"Unknown proactive_use {use!r}: use one of {', '.join(Proactive)}.", code="proactive_invalid"
        ) from None


def vector_of(deps: Deps, text: str) -> Vectors | None:
    try:
        return np.asarray(checked(deps, deps.embedder.embed([text]))[0], dtype=np.float32)
    except EmbedderError:
        return None


def make_room(writing: Writing, memory: Memory) -> Memory:
    """A pin by hand takes the place of the least important automatic one; when all are by hand it is refused."""
    cap = writing.deps.policy.memory.pins
    pinned = [one for one in writing.tx.find(Memory, Where("pinned", "=", True)) if one.id != memory.id]
    if len(pinned) < cap:
        return memory
    automatic = [one for one in pinned if one.pin_kind is PinKind.AUTO]
    if not automatic:
        raise Conflict(
            f"There are already {cap} pins: unpin one first, or raise the setting memory.pins.", code="pins_full"
        )
    least = min(automatic, key=lambda one: (one.importance, one.reinforcements, one.updated_at))
    writing.tx.put(evolve(least, pinned=False, pin_kind=None, updated_at=writing.now))
    writing.event("memory.unpinned", "memory", least.id, actor="system", reason="cap")
    return memory
