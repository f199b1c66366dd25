"""Closing a session and writing down what it came to.

A session is first set to closed (by the user, by the next message, or by its own timer) and then classified by a job:
full the first time, incremental after, never twice over the same messages. ``classified_turns`` is the watermark: it is
read before the work and compared when the record is written, in one transaction with the summary, the key points, the
state and the jobs that follow. Of two classifications at once one writes and the other finds the mark moved.

Nothing here waits for the embedder: entries are indexed by their words, vectors follow. What the persona's state gets
is the session's whole delta less what it got before."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from tenuto.deps import Deps
from tenuto.errors import ModelError
from tenuto.lifecycle import due, signals, state
from tenuto.lifecycle.classify import Record, classify
from tenuto.lifecycle.model_summaries import ask_record
from tenuto.lifecycle.named_session import session_named
from tenuto.lifecycle.queue import enqueue
from tenuto.lifecycle.session_affect import Deltas
from tenuto.lifecycle.sessions import EXPLICIT, IDLE, is_idle
from tenuto.lifecycle.summarise import Draft, compression, importance_of
from tenuto.lifecycle.write import current, index, record_of, same, tell, tellable, write_summary
from tenuto.ports import Reader, Transaction, Where
from tenuto.records.base import evolve
from tenuto.records.conversation import KeyPoint, Message, Session, SessionState, SessionStatus, Summary, SummaryKind
from tenuto.records.memory import RECALLED, AgentState, Entity, Memory
from tenuto.records.operations import Event, Job
from tenuto.records.scope import Scope
from tenuto.text import clean

PART = 400
"""Messages that are classified at once; a longer session takes several parts."""
CANDIDATES = "candidates"
"""The kind of job that hands proposed memories to the write path."""
PROVISIONAL = "provisional"
"""In ``structured`` of a summary by rules that stands until a model has been asked."""
_NAMES = 200


def close_session(deps: Deps, scope: Scope, session_id: str | None = None, end_type: str = EXPLICIT) -> Session | None:
    """End a session on purpose: the one named, or the persona's open one. ``None`` if there is nothing to end."""
    now = deps.clock()
    with deps.store.writing(scope.user) as tx:
        session = _find(tx, scope, session_id)
        if session is None or session.status is SessionStatus.CLOSED:
            return session
        return _set_closed(deps, tx, session, max(now, session.last_activity_at), end_type, now)


def name_session(deps: Deps, scope: Scope, session_id: str, name: str | None) -> Session:
    """Give a session a name, or take it away."""
    wanted = clean.optional_name(name, deps.policy.limits, what="session name")
    with deps.store.writing(scope.user) as tx:
        named = evolve(session_named(tx, scope.persona, session_id), name=wanted)
        tx.put(named)
        tell(deps, tx, "session.named", ("session", named.id), deps.clock(), persona=named.persona)
        return named


def _find(tx: Transaction, scope: Scope, session_id: str | None) -> Session | None:
    if session_id is None:
        open_ = Where("status", "=", SessionStatus.OPEN)
        found = tx.find(Session, same("persona", scope.persona), open_, order="-last_activity_at", limit=1)
        return found[0] if found else None
    return session_named(tx, scope.persona, session_id)


def _set_closed(
    deps: Deps, tx: Transaction, session: Session, ended_at: datetime, end_type: str, now: datetime
) -> Session:
    closed = evolve(session, status=SessionStatus.CLOSED, ended_at=ended_at, end_type=end_type)
    tx.put(closed)
    enqueue(deps.ids, tx, [due.classification(session.id, now)], now)
    tell(deps, tx, "session.closed", ("session", session.id), now, persona=session.persona, end_type=end_type)
    return closed


def catch_up(deps: Deps, scope: Scope) -> None:
    """Summarise the persona's last ended session now, if no job has come to it: who returns finds it summarised.

    By rules, which takes milliseconds. Where a model is configured that is a provisional summary and nothing else: the
    job classifies the session as if it were not there, and puts the model's in its place.
    """
    now = deps.clock()
    with deps.store.reading(scope.user) as reader:
        recent = reader.find(Session, same("persona", scope.persona), order="-last_activity_at", limit=2)
    last = next(
        (one for one in recent if one.status is SessionStatus.CLOSED or is_idle(one, now, deps.policy.session)), None
    )
    if last is None or last.classified_turns:
        return
    if last.status is SessionStatus.OPEN:
        _end_idle(deps, scope.user, last.id, now)
    if deps.model is None:
        _classify_part(deps, scope.user, last.id)
    else:
        _summarise_meanwhile(deps, scope.user, last.id)


def _end_idle(deps: Deps, user: str, session_id: str, now: datetime) -> None:
    with deps.store.writing(user) as tx:
        session = tx.get(Session, session_id)
        if session is not None and is_idle(session, now, deps.policy.session):
            _set_closed(deps, tx, session, session.last_activity_at, IDLE, now)


def _summarise_meanwhile(deps: Deps, user: str, session_id: str) -> None:
    """A summary by rules until the model has been asked; none where there is one already."""
    with deps.store.reading(user) as reader:
        session = reader.get(Session, session_id)
        if session is None or record_of(reader, session_id) is not None:
            return
        messages, names = _new_messages(reader, session_id, None), _people(reader)
        told = tellable(deps, reader, messages)
    if not messages:
        return
    record = classify(told, None, persona=session.persona, known=names)
    draft = _draft(record, messages, None, None)
    now = deps.clock()
    with deps.store.writing(user) as tx:
        fresh = tx.get(Session, session_id)
        if fresh is None or fresh.classified_turns or record_of(tx, session_id) is not None:
            return
        tx.put(evolve(fresh, headline=record.headline, detailed_summary=record.detailed_summary))
        write_summary(
            deps,
            tx,
            SummaryKind.SESSION,
            replace(draft, structured=draft.structured | {PROVISIONAL: True}),
            now,
            messages=messages,
            persona=fresh.persona,
            session_id=fresh.id,
        )


# --- the job ----------------------------------------------------------------------------------------------------------


def handle(deps: Deps, user: str, jobs: list[Job]) -> None:
    """The handler of ``close_session`` jobs: timers that end idle sessions, and classifications."""
    for job in jobs:
        session_id = str(job.payload.get("session_id", ""))
        if job.payload.get("timer"):
            _on_timer(deps, user, session_id)
        else:
            while _classify_part(deps, user, session_id):
                pass


def _on_timer(deps: Deps, user: str, session_id: str) -> None:
    """Close the session if it is idle and nothing is arriving; set the timer again if it is not."""
    now = deps.clock()
    with deps.store.writing(user) as tx:
        session = tx.get(Session, session_id)
        if session is None:
            return
        if session.status is SessionStatus.CLOSED:
            enqueue(deps.ids, tx, [due.classification(session.id, now)], now)
        elif is_idle(session, now, deps.policy.session) and not _arriving(tx, now):
            _set_closed(deps, tx, session, session.last_activity_at, IDLE, now)
        else:
            enqueue(deps.ids, tx, [due.timer(session, deps.policy, now)], now)


def _arriving(tx: Transaction, now: datetime) -> bool:
    """Whether a message came in just now: one of the past, then, and an import that is under way."""
    last = tx.find(Event, Where("kind", "=", "message.observed"), order="-seq", limit=1)
    return bool(last) and timedelta(0) <= now - last[0].at < due.ARRIVAL_SLACK


def _classify_part(deps: Deps, user: str, session_id: str) -> bool:
    """Classify what is new, up to :data:`PART` messages; ``True`` if there may be more."""
    with deps.store.reading(user) as reader:
        session = reader.get(Session, session_id)
        if session is None:
            return False
        newest = record_of(reader, session_id)
        prior = None if newest and newest.structured.get(PROVISIONAL) else newest
        messages, names = _new_messages(reader, session_id, prior), _people(reader)
        told = tellable(deps, reader, messages)
    if not _enough(session, messages, deps):
        return False
    record, note = _record(deps, session, told, prior, names)
    now = deps.clock()
    with deps.store.writing(user) as tx:
        fresh = tx.get(Session, session_id)
        if fresh is None or fresh.classified_turns != session.classified_turns:
            return False
        _write(deps, tx, fresh, messages, prior, record, note, now)
    return len(messages) == PART


def _people(reader: Reader) -> list[str]:
    found = reader.find(Entity, Where("type", "=", "person"), order="-mentions", limit=_NAMES)
    return [entity.label for entity in found]


def _new_messages(reader: Reader, session_id: str, prior: Summary | None) -> list[Message]:
    after = Where("seq", ">", prior.end_seq if prior else 0)
    return reader.find(Message, Where("session_id", "=", session_id), after, order="seq", limit=PART)


def _enough(session: Session, messages: list[Message], deps: Deps) -> bool:
    least = deps.policy.session.min_new_turns if session.classified_turns else 1
    return len(messages) >= max(1, least)


def _record(
    deps: Deps, session: Session, messages: list[Message], prior: Summary | None, names: list[str]
) -> tuple[Record, str | None]:
    before = prior.structured if prior else None
    rules = classify(messages, before, persona=session.persona, known=names)
    if deps.model is None:
        return rules, None
    try:
        own = [name for name in state.axes_of(session.persona, deps.policy.agent) if name not in state.SHIPPED]
        earlier = prior.lines if prior else ()
        return ask_record(deps.model, deps.policy.model, messages, rules, earlier, own), None
    except ModelError as error:
        return rules, f"{error.code}: {error.message}"[:300]


# --- writing it down --------------------------------------------------------------------------------------------------


def _write(
    deps: Deps,
    tx: Transaction,
    session: Session,
    messages: list[Message],
    prior: Summary | None,
    record: Record,
    note: str | None,
    now: datetime,
) -> None:
    net = record.deltas.minus(Deltas(session.mood_delta, session.connection_delta, session.attunement_delta))
    tx.put(_classified(session, record, len(messages)))
    summary = write_summary(
        deps,
        tx,
        SummaryKind.SESSION,
        _draft(record, messages, prior, note),
        now,
        prior=prior or record_of(tx, session.id),
        messages=messages,
        count=session.classified_turns + len(messages),
        persona=session.persona,
        session_id=session.id,
    )
    points = _points(deps, session, messages, record, now)
    tx.put(*points)
    index(deps, tx, points, now)
    _move_state(deps, tx, session, _net(net, record, prior), now)
    _follow_up(deps, tx, session, record, now)
    tell(
        deps,
        tx,
        "session.classified",
        ("session", session.id),
        now,
        persona=session.persona,
        summary_id=summary.id,
        made_by=record.made_by,
        turns=summary.message_count,
    )


def _classified(session: Session, record: Record, turns: int) -> Session:
    """The session with what it was found to be, and so many more of its turns classified."""
    return evolve(
        session,
        headline=record.headline,
        detailed_summary=record.detailed_summary,
        diary_entry=record.diary_entry,
        thinking_highlights=record.thinking_highlights,
        classified_turns=session.classified_turns + turns,
        classified_by=record.made_by,
        mood_delta=record.deltas.mood,
        connection_delta=record.deltas.connection,
        attunement_delta=record.deltas.attunement,
    )


def _points(deps: Deps, session: Session, messages: list[Message], record: Record, now: datetime) -> list[KeyPoint]:
    """Key points, each as of when it was said."""
    said = {message.id: message.at for message in messages}
    return [
        KeyPoint(
            id=deps.ids("kpt", now),
            session_id=session.id,
            type=point.type,
            content=point.content,
            created_at=said.get(point.message_id or "", now),
            persona=session.persona,
            valence=point.valence,
            weight=point.weight,
            message_id=point.message_id,
            messages=point.messages,
            trust=point.trust,
        )
        for point in record.points
    ]


def _draft(record: Record, messages: list[Message], prior: Summary | None, note: str | None) -> Draft:
    before = signals.Signals.from_plain(prior.structured.get("signals")) if prior else None
    structured = record.structured() | {"signals": signals.read(messages, before).to_plain()}
    if note:
        structured["model_error"] = note
    importance = max(importance_of(messages), prior.importance if prior else 0.0)
    return Draft(
        record.detailed_summary,
        importance,
        record.trust,
        made_by=record.made_by,
        compression=compression(record.detailed_summary, messages),
        structured=structured,
        lines=record.lines,
    )


def _net(net: Deltas, record: Record, prior: Summary | None) -> dict[str, float]:
    """What is still to be applied to each axis."""
    before: Mapping[str, float] = (prior.structured.get("axes") if prior else None) or {}
    own = {name: delta - before.get(name, 0.0) for name, delta in record.axes.items()}
    return {"mood": net.mood, "connection": net.connection, "attunement": net.attunement, **own}


def _move_state(deps: Deps, tx: Transaction, session: Session, deltas: Mapping[str, float], now: datetime) -> None:
    policy = deps.policy.agent
    before = tx.get(AgentState, session.persona or "") or state.fresh(session.persona, policy, now)
    after, changes = state.moved(
        before,
        state.axes_of(session.persona, policy),
        deltas,
        now,
        reason="session",
        session_id=session.id,
        change_id=deps.ids("stc", now),
        drift_id=deps.ids("stc", now),
    )
    tx.put(after, *changes)


def _changed(tx: Transaction, since: datetime | None) -> int:
    """Memories that were made or changed since the curator last ran."""
    recalled = Where("status", "in", [str(status) for status in RECALLED])
    return tx.count(Memory, recalled) if since is None else tx.count(Memory, recalled, Where("updated_at", ">", since))


def _follow_up(deps: Deps, tx: Transaction, session: Session, record: Record, now: datetime) -> None:
    """Hand candidates on, count the session, and write the jobs that its end makes due."""
    if record.candidates:
        payload: dict[str, Any] = {
            "session_id": session.id,
            "candidates": list(record.candidates),
            "made_by": record.made_by,
        }
        enqueue(deps.ids, tx, [due.Due(CANDIDATES, "", now, payload)], now)
    persona = session.persona or ""
    own = tx.get(SessionState, persona) or SessionState(id=persona)
    first = int(session.classified_turns == 0)
    own = replace(own, sessions_since_profile=own.sessions_since_profile + first)
    tx.put(own)
    states = {one.id: one for one in tx.find(SessionState)} | {persona: own}
    shared = states.get("") or SessionState(id="")
    profile = current(tx, SummaryKind.PROFILE)
    enqueue(
        deps.ids,
        tx,
        due.due_after_close(
            sessions_since_profile=sum(one.sessions_since_profile for one in states.values()),
            profile_at=profile.created_at if profile else None,
            changed_memories=_changed(tx, shared.curator_last_run_at),
            persona=persona,
            policy=deps.policy,
            now=now,
        ),
        now,
    )
