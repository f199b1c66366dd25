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
from tenuto.errors import Conflict, EmbedderError, InputError, NotFound, ReaderError
from tenuto.ingest.candidate import Candidate
from tenuto.ingest.embedding import checked
from tenuto.ingest.entity_registry import note
from tenuto.ingest.extract.exchange import Exchange
from tenuto.ingest.extract.importance import memory_importance
from tenuto.ingest.extract.propositions import propositions
from tenuto.ingest.write import Writing, room_for_pin, settle
from tenuto.language.affect import affect
from tenuto.language.lexicon import lexicons
from tenuto.language.mentions import SELF, Mention, Registry
from tenuto.lifecycle.named_session import pin_session
from tenuto.memories.describe import described
from tenuto.ports import Reader, Vectors, Where
from tenuto.records.base import evolve
from tenuto.records.conversation import Message, Role
from tenuto.records.memory import (
    Domain,
    Kind,
    Memory,
    PinKind,
    Proactive,
    Status,
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
    **by_hand: Any,
) -> Remembered:
    """Keep one thing that the caller states.

    ``pin`` takes ``True`` or one of the pin kinds; ``session`` scopes the pin. ``message`` is where it was said, by our
    id or the caller's own: it becomes the evidence. ``by_hand`` is what :mod:`tenuto.memories.describe` checks.
    """
    said_of_it = described(deps.policy.limits, {name: value for name, value in by_hand.items() if value is not None})
    if "importance" in said_of_it:
        if importance is not None:
            raise InputError("Give 'importance' or 'salience', not both: they are one number.", code="salience_invalid")
        importance = said_of_it.pop("importance")
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
        session = pin_session(reader, scope.persona, session)
    candidate, named = _stated(deps, scope, content, moment, registry, kind, pinned, session)
    candidate = _about(candidate, said_of_it.pop("domain", None))
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
            memory = _by_hand(writing, memory, pinned, session, should_not_do, importance, said_of_it)
        if pinned is not None and memory.pinned:
            make_room(writing, memory)
        note(writing, named, frozenset(), Trust.EXTERNAL if trust in SECOND_HAND else trust)
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
) -> tuple[Candidate, tuple[Mention, ...]]:
    """What the words mean, read as talk is; the words themselves stay. Who is named in them comes beside."""
    plain = " ".join(content.split()).strip()
    said = Message(id="", session_id="", role=Role.USER, content=plain, at=at, channel=scope.channel)
    try:
        marks = deps.reader.read(plain)
    except ReaderError:
        marks = []
    found = propositions(Exchange(message=said, registry=registry), marks, deps.policy.memory)
    meant = [one for one in found.candidates if one.attribute and not one.attribute.startswith("relation")]
    one = meant[0] if len(meant) == 1 else None
    valence, arousal = affect(plain)
    words = lexicons(deps.policy.memory.lexicons)
    people = [mention for mention in found.mentions if mention.type == "person"]
    about = one.subject if one else people[0].id if people and people[0].start == 0 else SELF
    base = Candidate(
        content=plain,
        domain=Domain.PROFILE if about == SELF else Domain.PEOPLE,
        kind=Kind.FACT,
        at=at,
        subject=about,
        entities=tuple(mention.id for mention in people),
        label=people[0].label if about != SELF and people else None,
        importance=memory_importance(6.0, plain, arousal, words, known=False),
    )
    candidate = replace(
        replace(one, content=plain) if one else base,
        kind=kind_of(kind) if kind else one.kind if one else Kind.FACT,
        confidence=0.95,
        surface=scope.channel,
        channel=scope.channel,
        session_id=None,
        message_id=None,
        quote=content if len(content) <= 2000 else None,
        pin=pin or (one.pin if one else None),
        pin_session_id=session if pin else None,
        valence=valence,
        arousal=arousal,
        metadata={},
        made_by="direct",
    )
    return candidate, found.mentions


def _about(candidate: Candidate, domain: Domain | None) -> Candidate:
    """The candidate in the domain that the caller names; what is not about a person has no attribute of one."""
    if domain is None or domain is candidate.domain:
        return candidate
    if domain in (Domain.PROFILE, Domain.PEOPLE):
        return replace(candidate, domain=domain)
    return replace(candidate, domain=domain, subject=SELF, attribute=None, value=None, single=False, label=None)


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
    said_of_it: dict[str, Any],
) -> Memory:
    """What only a direct call may set."""
    changed: dict[str, Any] = dict(said_of_it)
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
        if memory.proactive_use is Proactive.ONLY_WHEN_RELEVANT:
            changed["proactive_use"] = Proactive.YES
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
    if not room_for_pin(writing, memory):
        cap = writing.deps.policy.memory.pins
        whose = "pins of this session" if memory.pin_session_id else "pins"
        raise Conflict(
            f"There are already {cap} {whose}: unpin one first, or raise the setting memory.pins.", code="pins_full"
        )
    return memory
