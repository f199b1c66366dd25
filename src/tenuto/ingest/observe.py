"""Where a message enters: one short transaction, no model, no embedding; then the receipt.

The message, its place in a session, its words in the index, the event and the intentions to work on it later become
durable together. Whatever is slow (the vector, the memories) is a job in the same transaction, so a crash after the
acknowledgement loses nothing and a crash before it leaves nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from tenuto.deps import Deps
from tenuto.errors import Conflict, InputError
from tenuto.ingest.message_importance import message_importance
from tenuto.language.lexicon import holds_domain_term
from tenuto.lifecycle.due import Due, classification, due_after_message, timer
from tenuto.lifecycle.queue import enqueue
from tenuto.lifecycle.sessions import Closing, near_window, place, stamp
from tenuto.ports import Transaction, Where
from tenuto.recall.entry import make_entry
from tenuto.records.base import evolve
from tenuto.records.conversation import Message, Role, Session, SessionState, SessionStatus
from tenuto.records.memory import Trust
from tenuto.records.operations import Act, Event, Receipt
from tenuto.records.scope import Scope
from tenuto.text import clean

EMBED = "embed"
DIGEST = "digest"
TRUST_OF_ROLE = {
    Role.USER: Trust.USER_STATED,
    Role.ASSISTANT: Trust.INFERRED,
    Role.SYSTEM: Trust.OPERATOR,
    Role.TOOL: Trust.EXTERNAL,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Incoming:
    """A checked message before it has a place."""

    content: str
    role: Role
    at: datetime
    speaker: str | None
    external_id: str | None
    session: str | None
    thinking: str | None
    model: str | None
    metadata: dict[str, Any]
    tokens: int | None
    trust: Trust
    source: str
    stamped: bool = False
    """Whether the store's clock gave the time, not the caller."""


def check(
    deps: Deps,
    text: str,
    *,
    role: str = "user",
    speaker: str | None = None,
    at: datetime | None = None,
    id: str | None = None,
    session: str | None = None,
    thinking: str | None = None,
    model: str | None = None,
    metadata: dict[str, Any] | None = None,
    tokens: int | None = None,
    trust: Trust | None = None,
    source: str = "conversation",
) -> Incoming:
    """What a caller gave, checked; raises before anything is written."""
    limits = deps.policy.limits
    try:
        known_role = Role(role)
    except ValueError:
        raise InputError(f"Unknown role {role!r}: use one of {', '.join(sorted(Role))}.", code="role_unknown") from None
    return Incoming(
        content=clean.text(text, limits),
        role=known_role,
        at=deps.clock() if at is None else clean.moment(at),
        speaker=clean.optional_name(speaker, limits, what="speaker"),
        external_id=clean.optional_name(id, limits, what="message id"),
        session=clean.optional_name(session, limits, what="session id"),
        thinking=None if thinking is None else clean.text(thinking, limits, what="thinking"),
        model=clean.optional_name(model, limits, what="model name"),
        metadata=clean.metadata(metadata, limits),
        tokens=None if tokens is None else clean.count(tokens, what="tokens"),
        trust=trust or TRUST_OF_ROLE[known_role],
        source=clean.name(source, limits, what="source"),
        stamped=at is None,
    )


def observe(deps: Deps, scope: Scope, incoming: Incoming) -> Receipt:
    """Keep one message; the same external id with the same text is the same message."""
    now = deps.clock()
    with deps.store.writing(scope.user) as tx:
        known = _known(tx, incoming)
        return known if known is not None else _keep(deps, scope, tx, incoming, now)


def observe_many(deps: Deps, scope: Scope, batch: Iterable[Incoming]) -> list[Receipt]:
    """Keep several messages in one transaction: all of them or none."""
    now = deps.clock()
    with deps.store.writing(scope.user) as tx:
        return [_known(tx, incoming) or _keep(deps, scope, tx, incoming, now) for incoming in batch]


def _known(tx: Transaction, incoming: Incoming) -> Receipt | None:
    if incoming.external_id is None:
        return None
    found = tx.find(Message, Where("external_id", "=", incoming.external_id), limit=1)
    if not found:
        return None
    message = found[0]
    if message.content != incoming.content or message.role != incoming.role:
        raise Conflict(
            f"A message with the id {incoming.external_id!r} was kept on {message.at:%Y-%m-%d %H:%M} with another "
            "text: messages are never edited; give the new one an id of its own.",
            code="message_id_taken",
        )
    receipts = tx.find(Receipt, Where("message_id", "=", message.id), limit=1)
    known = (
        receipts[0] if receipts else Receipt(id="", message_id=message.id, session_id=message.session_id, at=message.at)
    )
    return evolve(known, act=Act.DUPLICATE, notes=("This id was observed before; nothing was written.",))


def _keep(deps: Deps, scope: Scope, tx: Transaction, incoming: Incoming, now: datetime) -> Receipt:
    state = tx.get(SessionState, scope.persona or "") or SessionState(id=scope.persona or "")
    if incoming.stamped:
        at = stamp(incoming.at, state.last_stamped_at, deps.policy.session)
        incoming, state = evolve(incoming, at=at), evolve(state, last_stamped_at=at)
    session = _session(deps, scope, tx, incoming, now)
    message = Message(
        id=deps.ids("msg", now),
        session_id=session.id,
        role=incoming.role,
        content=incoming.content,
        at=incoming.at,
        channel=scope.channel,
        persona=scope.persona,
        importance=message_importance(
            incoming.content,
            incoming.role,
            deps.policy.importance,
            domain_terms=holds_domain_term(incoming.content, deps.policy.memory.lexicons),
            marked=incoming.metadata.get("important") is True,
        ),
        external_id=incoming.external_id,
        speaker=incoming.speaker,
        thinking=incoming.thinking,
        model=incoming.model,
        trust=incoming.trust,
        source=incoming.source,
        tokens=incoming.tokens,
        metadata=incoming.metadata,
    )
    receipt = Receipt(
        id=deps.ids("rcp", now),
        message_id=message.id,
        session_id=session.id,
        at=message.at,
        importance=message.importance,
    )
    state = _count(deps, state, message)
    tx.put(session, message, state, receipt)
    tx.index(make_entry(message, deps.vault.index_key(scope.user)))
    tx.put(_event(deps, message, now))
    reading = Due(DIGEST, "", min(now, message.at), {"messages": [message.id]})
    enqueue(deps.ids, tx, [Due(EMBED, EMBED, now), reading], now)
    enqueue(deps.ids, tx, due_after_message(state, session, deps.policy, now), now)
    return receipt


def _session(deps: Deps, scope: Scope, tx: Transaction, incoming: Incoming, now: datetime) -> Session:
    """The session that the message belongs to, counting it; sessions that it shows to be over are closed."""
    persona = Where("persona", "is", None) if scope.persona is None else Where("persona", "=", scope.persona)
    open_ = Where("status", "=", SessionStatus.OPEN)
    near = {s.id: s for s in tx.find(Session, persona, *near_window(incoming.at, deps.policy.session), limit=16)}
    near |= {s.id: s for s in tx.find(Session, persona, open_, order="last_activity_at", limit=16)}
    if incoming.session is not None:
        near |= {s.id: s for s in tx.find(Session, persona, Where("external_id", "=", incoming.session), limit=1)}
    placed = place(incoming.at, scope.persona, incoming.session, list(near.values()), deps.policy.session)
    for closing in placed.close:
        _close(deps, tx, near[closing.session_id], closing, now)
    if placed.session_id is None:
        return Session(
            id=deps.ids("ses", now),
            persona=scope.persona,
            channel=scope.channel,
            started_at=incoming.at,
            last_activity_at=incoming.at,
            external_id=incoming.session,
            turn_count=1,
            resumes=placed.resumes,
            channels=(scope.channel,),
        )
    session = near[placed.session_id]
    if placed.reopen:
        session = evolve(session, status=SessionStatus.OPEN, ended_at=None, end_type=None)
        enqueue(deps.ids, tx, [timer(session, deps.policy, now)], now)
    return evolve(
        session,
        started_at=min(session.started_at, incoming.at),
        last_activity_at=max(session.last_activity_at, incoming.at),
        turn_count=session.turn_count + 1,
        channels=tuple(dict.fromkeys((*session.channels, scope.channel))),
    )


def _close(deps: Deps, tx: Transaction, session: Session, closing: Closing, now: datetime) -> None:
    tx.put(evolve(session, status=SessionStatus.CLOSED, ended_at=closing.ended_at, end_type=closing.end_type))
    enqueue(deps.ids, tx, [classification(session.id, now)], now)


def _count(deps: Deps, state: SessionState, message: Message) -> SessionState:
    last = state.last_user_message
    if message.role is Role.USER:
        last = message.content[: deps.policy.session.last_message_length]
    return evolve(
        state,
        message_count=state.message_count + 1,
        messages_since_spine=state.messages_since_spine + 1,
        last_interaction=max(state.last_interaction or message.at, message.at),
        last_user_message=last,
    )


def _event(deps: Deps, message: Message, now: datetime) -> Event:
    return Event(
        id=deps.ids("evt", now),
        kind="message.observed",
        at=now,
        subject_kind="message",
        subject_id=message.id,
        actor=message.role.value,
        channel=message.channel,
        persona=message.persona,
        data={"session_id": message.session_id},
    )
