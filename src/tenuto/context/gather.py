"""Everything that a context may hold, read in one consistent view. Reads only; decides nothing but how many rows.

``current`` is the session that a message said now would join, found by the same rule that places messages
(:mod:`tenuto.lifecycle.sessions`), so that a context built before the first message of a session and the ones after it
agree on what was before.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime

from tenuto.lifecycle import sessions as placing
from tenuto.policy import Policy
from tenuto.ports import Reader, Where
from tenuto.recall.cards import named
from tenuto.records.conversation import KeyPoint, Message, Session, Summary, SummaryKind
from tenuto.records.memory import RECALLED, AgentState, Entity, Memory, Proactive, Todo, TodoStatus, Trust
from tenuto.records.scope import Scope, User
from tenuto.records.workflow import Workflow

GUIDING = 64
"""Most memories of the operator, a confirmed user, and the user's own rules that are read to choose guidance from."""
ENTITIES = 200
"""Entities, most mentioned first, among which a message may name one."""
CARDS = 8
"""Most entity cards of one context."""
STAYING_OPEN = ("boundary", "commitment", "decision", "feeling", "open_loop", "question")
"""Key points that a later talk may come back to. Facts and likings are memories, which know when they are over."""
SPARE = 2
"""Read this many times what is shown, so that what is dropped can be told."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Gathered:
    """What the store holds for this context."""

    user: User | None
    current: Session | None
    previous: tuple[Session, ...]
    """Sessions before the current one, newest first."""
    pins: tuple[Memory, ...]
    important_memories: tuple[Memory, ...]
    """Important, or to be brought up by itself, as of the session's start; most important first, pins among them."""
    guiding: tuple[Memory, ...]
    """Of the operator or a confirmed user, and what the user taught."""
    new: tuple[Memory, ...]
    """Known since this session began, newest first."""
    summaries: tuple[Summary, ...]
    key_points: tuple[KeyPoint, ...]
    todos: tuple[Todo, ...]
    state: AgentState | None
    workflow: Workflow | None
    turns: tuple[Message, ...]
    """The last messages of the current session, oldest first."""
    turns_before: int
    """How many messages of the current session come before ``turns``."""
    earlier: tuple[Message, ...]
    """The last messages before the current session, newest first."""
    important: tuple[Message, ...]
    """Messages of high importance from before the current session, newest first."""
    marked: tuple[Message, ...]
    """The same of the current session, where it is longer than what is surely in sight."""


def gather(reader: Reader, scope: Scope, policy: Policy, now: datetime, session: str | None) -> Gathered:
    """Read it all. ``session`` is the caller's own id of a session, where there is one."""
    current = current_session(reader, scope, policy, now, session)
    persona = Where("persona", "in", (None, scope.persona))
    start = current.started_at if current is not None else now
    turns, before = _turns(reader, current, policy)
    pins = _pins(reader, persona, current, session)
    return Gathered(
        user=reader.profile(),
        current=current,
        previous=_previous(reader, scope, policy, current),
        pins=pins,
        important_memories=_important_memories(reader, persona, policy, start, len(pins)),
        guiding=_guiding(reader, persona),
        new=_memories(
            reader,
            Where("created_at", ">", start),
            persona,
            order="-created_at",
            limit=policy.recall.foundation * SPARE,
        ),
        summaries=_summaries(reader, scope, current, policy),
        key_points=_key_points(reader, persona, policy, start),
        todos=_todos(reader, scope, policy, now),
        state=reader.get(AgentState, scope.persona or ""),
        workflow=_workflow(reader, scope, current),
        turns=turns,
        turns_before=before,
        earlier=_earlier(reader, scope, current, policy),
        important=_important(reader, scope, policy, Where("at", "<=", start), policy.context.earlier_messages),
        marked=_marked(reader, scope, policy, current, len(turns)),
    )


def current_session(
    reader: Reader, scope: Scope, policy: Policy, now: datetime, external_id: str | None = None
) -> Session | None:
    """The session that a message said now would join; ``None`` if it would begin a new one."""
    same = _persona(scope)
    near = reader.find(
        Session, same, *placing.near_window(now, policy.session), order="-started_at", limit=placing.NEAR_LIMIT
    )
    if external_id is not None:
        near += reader.find(Session, same, Where("external_id", "=", external_id), limit=1)
    placed = placing.place(now, scope.persona, external_id, near, policy.session)
    return next((session for session in near if session.id == placed.session_id), None)


def _persona(scope: Scope) -> Where:
    """Sessions, messages and todos belong to one persona alone."""
    return Where("persona", "is", None) if scope.persona is None else Where("persona", "=", scope.persona)


def _previous(reader: Reader, scope: Scope, policy: Policy, current: Session | None) -> tuple[Session, ...]:
    wanted = policy.context.sessions_in_full + policy.context.session_headlines
    where = [_persona(scope)]
    if current is not None:
        where.append(Where("started_at", "<", current.started_at))
    found = reader.find(Session, *where, order="-last_activity_at", limit=wanted * SPARE)
    others = (session for session in found if current is None or session.id != current.id)
    return tuple(sorted(others, key=lambda session: (session.started_at, session.id), reverse=True))


def _pins(reader: Reader, persona: Where, current: Session | None, session: str | None) -> tuple[Memory, ...]:
    found = reader.find(
        Memory, Where("pinned", "=", True), Where("status", "in", RECALLED), persona, order="-importance"
    )
    here = {None, session} if current is None else {None, current.id, current.external_id}
    return tuple(pin for pin in found if pin.pin_session_id in here)


def _memories(reader: Reader, *where: Where, order: str, limit: int) -> tuple[Memory, ...]:
    return tuple(reader.find(Memory, Where("status", "in", RECALLED), *where, order=order, limit=limit))


def _guiding(reader: Reader, persona: Where) -> tuple[Memory, ...]:
    """One question each, so that an index answers it in order; what a user teaches may always be brought up."""
    taught = (Where("proactive_use", "=", Proactive.YES), Where("trust", "=", Trust.USER_STATED))
    asked = [(Where("trust", "=", trust),) for trust in (Trust.OPERATOR, Trust.USER_CONFIRMED)]
    return tuple(
        memory
        for which in (*asked, taught)
        for memory in _memories(reader, *which, persona, order="-importance", limit=GUIDING)
    )


def _important_memories(
    reader: Reader, persona: Where, policy: Policy, start: datetime, pins: int
) -> tuple[Memory, ...]:
    limit = policy.recall.foundation * SPARE + pins
    enough = Where("importance", ">=", policy.recall.card_importance)
    offered = Where("proactive_use", "=", Proactive.YES)
    then = Where("created_at", "<=", start)
    found = _memories(reader, enough, then, persona, order="-importance", limit=limit)
    brought = _memories(reader, offered, persona, order="-importance", limit=policy.recall.foundation * SPARE)
    return (*found, *[memory for memory in brought if memory.created_at <= start][: policy.recall.foundation])


@dataclass(frozen=True, slots=True)
class About:
    """The entities that a session is about, and what is known of them."""

    wanted: tuple[str, ...] = ()
    entities: dict[str, Entity] = field(default_factory=dict)
    memories: tuple[Memory, ...] = ()


def about(reader: Reader, scope: Scope, query: str, named_by: Iterable[object], policy: Policy) -> About:
    """For the entities that ``query`` names or that the memories in ``named_by`` are about."""
    known = {one.id: one for one in reader.find(Entity, order="-mentions", limit=ENTITIES)}
    wanted = [*named(query, known.values()), *(e for one in named_by if isinstance(one, Memory) for e in one.entities)]
    wanted = list(dict.fromkeys(wanted))[:CARDS]
    if not wanted:
        return About()
    known |= reader.get_many(Entity, [entity for entity in wanted if entity not in known])
    same = set(wanted) | {one.id for one in known.values() if one.merged_into in wanted}
    persona = Where("persona", "in", (None, scope.persona))
    limit = policy.recall.card_facts * SPARE
    found: dict[str, Memory] = {}
    for entity in sorted(same):
        of = Where("entities", "has", entity)
        found |= {memory.id: memory for memory in _memories(reader, of, persona, order="-importance", limit=limit)}
    return About(tuple(wanted), known, tuple(found.values()))


def _summaries(reader: Reader, scope: Scope, current: Session | None, policy: Policy) -> tuple[Summary, ...]:
    whole = (SummaryKind.PROFILE, SummaryKind.BRIEF, SummaryKind.SPINE, SummaryKind.ROLLING)
    persona = Where("persona", "in", (None, scope.persona))
    now = Where("current", "=", True)
    found = reader.find(Summary, Where("kind", "in", whole), now, persona, order="-created_at", limit=32)
    for kind, limit in ((SummaryKind.SESSION, 16), (SummaryKind.RANGE, 12), (SummaryKind.TOPIC, 24)):
        found += reader.find(Summary, Where("kind", "=", kind), now, persona, order="-created_at", limit=limit)
    return tuple(found)


CLOSED = 100
"""Todos that were done or dropped which are looked at."""


def _key_points(reader: Reader, persona: Where, policy: Policy, start: datetime) -> tuple[KeyPoint, ...]:
    limit = policy.context.key_points * SPARE
    warm = Where("created_at", ">=", start - policy.context.key_points_within)
    open_ = Where("type", "in", STAYING_OPEN), Where("resolved", "=", False)
    found = reader.find(KeyPoint, *open_, persona, warm, order="-weight", limit=limit)
    settled = _settled_in(reader, persona) if found else frozenset()
    return tuple(one for one in found if one.message_id not in settled)


def _settled_in(reader: Reader, persona: Where) -> frozenset[str]:
    """Messages that opened something which was done or dropped since."""
    closed = Where("status", "!=", TodoStatus.OPEN)
    latest = reader.find(Todo, closed, persona, order="-created_at", limit=CLOSED)
    return frozenset(one.message_id for todo in latest for one in todo.evidence if one.message_id)


def _todos(reader: Reader, scope: Scope, policy: Policy, now: datetime) -> tuple[Todo, ...]:
    persona = _persona(scope)
    opened = reader.find(Todo, persona, Where("status", "=", TodoStatus.OPEN), order="-importance", limit=100)
    since = now - policy.memory.recent_wins - policy.session.idle_close * 4
    done = reader.find(
        Todo,
        persona,
        Where("status", "=", TodoStatus.DONE),
        Where("completed_at", ">=", since),
        order="-completed_at",
        limit=policy.context.wins * SPARE,
    )
    return (*opened, *done)


def _workflow(reader: Reader, scope: Scope, current: Session | None) -> Workflow | None:
    """The one that lives in this session, or the last one of this persona that was touched since the session began."""
    found = reader.find(Workflow, _persona(scope), order="-updated_at", limit=8)
    if current is None:
        return None
    here = [one for one in found if one.session_id == current.id]
    return here[0] if here else None


def _turns(reader: Reader, current: Session | None, policy: Policy) -> tuple[tuple[Message, ...], int]:
    if current is None:
        return (), 0
    here = Where("session_id", "=", current.id)
    limit = policy.context.recent_messages + policy.context.window_step
    found = reader.find(Message, here, order="-seq", limit=limit)
    before = reader.count(Message, here) - len(found) if len(found) == limit else 0
    return tuple(reversed(found)), before


def _earlier(reader: Reader, scope: Scope, current: Session | None, policy: Policy) -> tuple[Message, ...]:
    where = [_persona(scope)]
    if current is not None:
        where += [Where("at", "<", current.started_at), Where("session_id", "!=", current.id)]
    return tuple(reader.find(Message, *where, order="-at", limit=policy.context.earlier_messages))


def _important(reader: Reader, scope: Scope, policy: Policy, which: Where, spare: int) -> tuple[Message, ...]:
    enough = Where("importance", ">=", policy.context.important_from)
    limit = policy.context.important_messages + spare
    return tuple(reader.find(Message, _persona(scope), enough, which, order="-at", limit=limit))


def _marked(reader: Reader, scope: Scope, policy: Policy, current: Session | None, turns: int) -> tuple[Message, ...]:
    if current is None or turns <= policy.context.recent_messages - policy.context.window_step:
        return ()
    here = Where("session_id", "=", current.id)
    return _important(reader, scope, policy, here, policy.context.recent_messages)
