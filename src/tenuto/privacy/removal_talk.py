"""Taking messages out of the talk: sessions, summaries, key points, the persona's state, jobs, events, journals.

Summaries are made of runs of messages. From the first message that goes, all later ones of the same persona are dropped
and made anew, so that they come out as if it had never been there; where retention has purged what they stood for,
only those that hold a message which goes are dropped, because the others could not be made again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime

import msgspec

from tenuto.deps import Deps
from tenuto.lifecycle import due
from tenuto.lifecycle.due import Due
from tenuto.lifecycle.queue import enqueue
from tenuto.ports import Transaction, Where
from tenuto.privacy.removal_work import take_workflow
from tenuto.records.access import Replay
from tenuto.records.base import evolve
from tenuto.records.conversation import (
    KeyPoint,
    Message,
    Role,
    Session,
    SessionState,
    SessionStatus,
    Summary,
    SummaryKind,
)
from tenuto.records.identity import MergePart
from tenuto.records.memory import AgentState, StateChange
from tenuto.records.operations import EntryKind, Event, Job, JobStatus, Receipt
from tenuto.records.workflow import Workflow

Gone = Callable[[str, Iterable[str]], None]
DIGEST, EMBED = "digest", "embed"
MADE_OF_ALL = (SummaryKind.SPINE, SummaryKind.PROFILE, SummaryKind.BRIEF)
IN_ORDER = (SummaryKind.ROLLING, SummaryKind.RANGE, SummaryKind.TOPIC)
ENDED = [str(status) for status in (JobStatus.DONE, JobStatus.CANCELLED, JobStatus.FAILED)]


def take_messages(deps: Deps, tx: Transaction, messages: Sequence[Message], gone: Gone, now: datetime) -> None:
    """The messages themselves, and what stands for them."""
    if not messages:
        return
    ids = [message.id for message in messages]
    receipts = tx.find(Receipt, Where("message_id", "in", ids)) if len(ids) <= 500 else _receipts(tx, set(ids))
    tx.remove(Receipt, *(one.id for one in receipts))
    gone("receipts", [one.id for one in receipts])
    tx.unindex(EntryKind.MESSAGE, *ids)
    tx.remove(Message, *ids)
    gone("messages", ids)
    for session_id in dict.fromkeys(message.session_id for message in messages):
        _mend_session(deps, tx, session_id, gone, now)
    for persona in dict.fromkeys(message.persona for message in messages):
        own = [message for message in messages if message.persona == persona]
        _take_summaries(deps, tx, persona, own, gone, now)
        _mend_state(deps, tx, persona, own)


def _receipts(tx: Transaction, ids: set[str]) -> list[Receipt]:
    return [one for one in tx.find(Receipt) if one.message_id in ids]


def take_session(deps: Deps, tx: Transaction, session_id: str, gone: Gone, now: datetime) -> None:
    """A session whose messages are gone already, with the typed work that lived in it."""
    _mend_session(deps, tx, session_id, gone, now)
    rolling = tx.find(Summary, Where("session_id", "=", session_id))
    _remove_summaries(tx, rolling, gone)
    for workflow in tx.find(Workflow, Where("session_id", "=", session_id)):
        take_workflow(tx, workflow, gone)


# --- sessions ---------------------------------------------------------------------------------------------------------


def _mend_session(deps: Deps, tx: Transaction, session_id: str, gone: Gone, now: datetime) -> None:
    """A session without its messages: gone, or described anew."""
    of_session = Where("session_id", "=", session_id)
    points = tx.find(KeyPoint, of_session)
    records = tx.find(Summary, of_session, Where("kind", "=", SummaryKind.SESSION))
    _remove_points(tx, points, gone)
    _remove_summaries(tx, records, gone)
    session = tx.get(Session, session_id)
    if session is None:
        return
    _take_back_moves(tx, session)
    left = tx.find(Message, of_session, order="at")
    if not left:
        tx.remove(Session, session_id)
        gone("sessions", [session_id])
        return
    tx.put(
        evolve(
            session,
            started_at=left[0].at,
            last_activity_at=left[-1].at,
            turn_count=len(left),
            channels=tuple(dict.fromkeys(message.channel for message in left)),
            headline=None,
            detailed_summary=None,
            diary_entry=None,
            thinking_highlights=(),
            semantic_context=None,
            classified_turns=0,
            classified_by=None,
            mood_delta=0.0,
            connection_delta=0.0,
            attunement_delta=0.0,
        )
    )
    if session.status is SessionStatus.CLOSED and session.classified_turns:
        enqueue(deps.ids, tx, [due.classification(session_id, now)], now)


def _take_back_moves(tx: Transaction, session: Session) -> None:
    """What the session did to the persona's state, as far as it can be counted back."""
    changes = [one for one in tx.find(StateChange) if one.session_id == session.id]
    state = tx.get(AgentState, session.persona or "")
    if state is not None and changes:
        axes = dict(state.axes)
        for change in changes:
            for name, delta in change.deltas.items():
                if name in axes:
                    axes[name] = min(1.0, max(-1.0, axes[name] - delta))
        tx.put(evolve(state, axes=axes))
    tx.remove(StateChange, *(one.id for one in changes))


def _remove_points(tx: Transaction, points: Sequence[KeyPoint], gone: Gone) -> None:
    ids = [one.id for one in points]
    tx.unindex(EntryKind.KEY_POINT, *ids)
    tx.remove(KeyPoint, *ids)
    gone("key_points", ids)


def _remove_summaries(tx: Transaction, summaries: Sequence[Summary], gone: Gone) -> None:
    ids = [one.id for one in summaries]
    tx.unindex(EntryKind.SUMMARY, *ids)
    tx.remove(Summary, *ids)
    gone("summaries", ids)


# --- what stands for runs of messages ---------------------------------------------------------------------------------


def _take_summaries(
    deps: Deps, tx: Transaction, persona: str | None, messages: Sequence[Message], gone: Gone, now: datetime
) -> None:
    seqs = {message.seq for message in messages}
    first = min(seqs)
    of_persona = Where("persona", "is", None) if persona is None else Where("persona", "=", persona)
    kinds = Where("kind", "in", [str(kind) for kind in IN_ORDER])
    later = [one for one in tx.find(Summary, kinds, of_persona) if one.end_seq >= first]
    began = min((one.created_at for one in later if one.kind is SummaryKind.TOPIC), default=None)
    if began is not None:
        topics = tx.find(Summary, Where("kind", "=", SummaryKind.TOPIC), of_persona)
        later += [one for one in topics if one.created_at >= began and one.end_seq < first]
    if not _can_be_made_again(tx, of_persona, later, seqs):
        later = [one for one in later if any(one.start_seq <= seq <= one.end_seq for seq in seqs)]
    _remove_summaries(tx, later, gone)
    _mark_newest(tx, of_persona)
    ranges = tx.find(Summary, Where("kind", "=", SummaryKind.RANGE), of_persona)
    mark = max((one.end_seq for one in ranges if one.topic is None), default=0)
    state = tx.get(SessionState, persona or "")
    if state is not None and state.summarised_until_seq > mark:
        tx.put(evolve(state, summarised_until_seq=mark))
    name = persona or ""
    kinds_gone = {one.kind for one in later}
    again = {SummaryKind.ROLLING: due.ROLLING, SummaryKind.RANGE: due.RANGE, SummaryKind.TOPIC: due.TOPICS}
    wanted = [
        Due(again[kind], f"{again[kind]}:{name}", now, {"persona": name}) for kind in IN_ORDER if kind in kinds_gone
    ]
    enqueue(deps.ids, tx, wanted, now)


def _can_be_made_again(tx: Transaction, of_persona: Where, summaries: Sequence[Summary], seqs: set[int]) -> bool:
    for one in summaries:
        if one.kind is not SummaryKind.RANGE:
            continue
        within = Where("seq", ">=", one.start_seq), Where("seq", "<=", one.end_seq)
        went = sum(one.start_seq <= seq <= one.end_seq for seq in seqs)
        if tx.count(Message, of_persona, *within) + went < one.message_count:
            return False
    return True


def _mark_newest(tx: Transaction, of_persona: Where) -> None:
    """The newest rolling version that is left is the current one."""
    left = tx.find(Summary, Where("kind", "=", SummaryKind.ROLLING), of_persona, order="-version", limit=1)
    if left and not left[0].current:
        tx.put(evolve(left[0], current=True))


def _mend_state(deps: Deps, tx: Transaction, persona: str | None, messages: Sequence[Message]) -> None:
    state = tx.get(SessionState, persona or "")
    if state is None:
        return
    of_persona = Where("persona", "is", None) if persona is None else Where("persona", "=", persona)
    last = tx.find(Message, of_persona, order="-at", limit=1)
    heard = tx.find(Message, of_persona, Where("role", "=", Role.USER), order="-seq", limit=1)
    if not last:
        tx.remove(SessionState, state.id)
        return
    length = deps.policy.session.last_message_length
    tx.put(
        evolve(
            state,
            message_count=max(0, state.message_count - len(messages)),
            messages_since_spine=max(0, state.messages_since_spine - len(messages)),
            last_interaction=last[0].at,
            last_user_message=heard[0].content[:length] if heard else None,
        )
    )


def renew_portraits(deps: Deps, tx: Transaction, gone: Gone, now: datetime) -> None:
    """Spine, profile and brief are made of everything: all versions go and are made anew, after what they tell of."""
    kinds = Where("kind", "in", [str(kind) for kind in MADE_OF_ALL])
    portraits = tx.find(Summary, kinds)
    made = {one.kind for one in portraits}
    _remove_summaries(tx, portraits, gone)
    again = [Due(due.SPINE, due.SPINE, now)] if SummaryKind.SPINE in made else []
    again += [Due(due.PROFILE, due.PROFILE, now)] if SummaryKind.PROFILE in made else []
    for persona in sorted({one.persona or "" for one in portraits if one.kind is SummaryKind.BRIEF}):
        again.append(Due(due.BRIEF, f"{due.BRIEF}:{persona}", now, {"persona": persona}))
    enqueue(deps.ids, tx, again, now)


# --- doing again ------------------------------------------------------------------------------------------------------


def distil_again(deps: Deps, tx: Transaction, messages: Sequence[Message], now: datetime) -> None:
    """Read these messages as if they had just come, in their order."""
    if not messages:
        return
    ordered = sorted(messages, key=lambda message: message.seq)
    for message in ordered:
        known = tx.find(Receipt, Where("message_id", "=", message.id), limit=1)
        receipt = (
            known[0]
            if known
            else Receipt(
                id=deps.ids("rcp", now),
                message_id=message.id,
                session_id=message.session_id,
                at=message.at,
                importance=message.importance,
            )
        )
        tx.put(evolve(receipt, settled=False, results=(), notes=(), mentioned=None))
    enqueue(deps.ids, tx, [Due(DIGEST, "", now, {"messages": [message.id for message in ordered]})], now)


def ask_for_vectors(deps: Deps, tx: Transaction) -> None:
    now = deps.clock()
    enqueue(deps.ids, tx, [Due(EMBED, EMBED, now)], now)


# --- traces -----------------------------------------------------------------------------------------------------------


def take_traces(tx: Transaction, ids: set[str], messages: Sequence[Message]) -> None:
    """Where ids and words stand elsewhere: events, jobs, journals of merges, answers kept for repeated requests."""
    tx.remove(Event, *(one.id for one in tx.find(Event) if one.subject_id in ids))
    tx.remove(Job, *tx.ids(Job, Where("status", "in", ENDED)))
    for job in tx.find(Job):
        if not (ids and _mentions(job.payload, ids)):
            continue
        wanted = job.payload.get("messages")
        left = [one for one in wanted if one not in ids] if isinstance(wanted, list) else []
        if left:
            tx.put(evolve(job, payload={**job.payload, "messages": left}))
        elif job.status is JobStatus.PENDING:
            tx.remove(Job, job.id)
    for part in tx.find(MergePart):
        kept = tuple(row for row in part.rows if not _mentions(row, ids))
        if len(kept) != len(part.rows):
            tx.put(evolve(part, rows=kept))
    tx.remove(Replay, *tx.ids(Replay))
    if messages:
        _drop_contexts(tx)


def _mentions(value: object, ids: set[str]) -> bool:
    said = msgspec.json.encode(value).decode()
    return any(id in said for id in ids)


def _drop_contexts(tx: Transaction) -> None:
    """What a session's context was found to be about may quote anything."""
    for session in tx.find(Session):
        if session.semantic_context is not None:
            tx.put(evolve(session, semantic_context=None))
