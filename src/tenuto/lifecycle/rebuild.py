"""Making summaries anew after rows were moved between two users.

When merged users are taken apart, what was summarised since the merge speaks of both. Those summaries go, the last
versions before them are current again, counters and marks are set to what the messages say, and jobs are written that
make the rest anew: the same jobs as after a message, from the same watermarks. A summary whose text has been purged
meanwhile stays: there is nothing to make it of again.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from tenuto.deps import Deps
from tenuto.lifecycle import due
from tenuto.lifecycle.due import Due
from tenuto.lifecycle.queue import enqueue
from tenuto.lifecycle.rolling import ON_DEMAND
from tenuto.lifecycle.write import same
from tenuto.ports import Transaction, Where
from tenuto.records.base import evolve
from tenuto.records.conversation import KeyPoint, Message, Session, SessionState, SessionStatus, Summary, SummaryKind
from tenuto.records.operations import EntryKind

STREAMS = (SummaryKind.ROLLING, SummaryKind.RANGE, SummaryKind.TOPIC)
"""Summaries over whatever was said to a persona, by everybody who was one user then."""
VERSIONED = (SummaryKind.ROLLING, SummaryKind.SPINE, SummaryKind.PROFILE, SummaryKind.BRIEF)


def make_anew(deps: Deps, user: str, since: datetime) -> None:
    """Summarise again what was said since a time, for a user who lost or gained messages of that time."""
    now = deps.clock()
    with deps.store.writing(user) as tx:
        wanted = [due.classification(session.id, now) for session in _sessions(tx, since)]
        open_ = tx.find(Session, Where("status", "=", SessionStatus.OPEN))
        wanted += [due.timer(session, deps.policy, now) for session in open_]
        _drop(tx, _spoiled(tx, since))
        personas = _count(tx)
        for persona in {*personas, None}:
            _revive(tx, persona)
        for persona in personas:
            name = persona or ""
            wanted += [
                Due(due.ROLLING, f"{due.ROLLING}:{name}", now, {"persona": name}),
                Due(due.RANGE, f"{due.RANGE}:{name}", now, {"persona": name}),
                Due(due.TOPICS, f"{due.TOPICS}:{name}", now, {"persona": name}),
                Due(due.BRIEF, f"{due.BRIEF}:{name}", now, {"persona": name}),
            ]
        wanted += [Due(due.SPINE, due.SPINE, now), Due(due.PROFILE, due.PROFILE, now)]
        enqueue(deps.ids, tx, wanted, now)


def _sessions(tx: Transaction, since: datetime) -> list[Session]:
    """Sessions since then whose messages or record are not what they were; set right, to be classified again."""
    again = []
    for session in tx.find(Session, Where("last_activity_at", ">=", since)):
        messages = tx.find(Message, Where("session_id", "=", session.id), order="seq")
        records = tx.find(Summary, Where("session_id", "=", session.id), Where("kind", "=", SummaryKind.SESSION))
        if not messages:
            continue
        newest = max(records, key=lambda one: one.version, default=None)
        told = newest is not None and newest.message_count == session.classified_turns
        if len(messages) == session.turn_count and (told or not session.classified_turns):
            if newest is not None and newest.end_message_id is not None:
                _renumber(tx, newest)
            continue
        _drop(tx, records)
        points = tx.ids(KeyPoint, Where("session_id", "=", session.id))
        tx.unindex(EntryKind.KEY_POINT, *points)
        tx.remove(KeyPoint, *points)
        times = [message.at for message in messages]
        right = evolve(
            session,
            turn_count=len(messages),
            classified_turns=0,
            started_at=min(times),
            last_activity_at=max(times),
        )
        tx.put(right)
        if right.status is SessionStatus.CLOSED:
            again.append(right)
    return again


def _renumber(tx: Transaction, record: Summary) -> None:
    """A record that came along counts by the numbers that its messages have here."""
    ends = [id for id in (record.start_message_id, record.end_message_id) if id]
    found = tx.get_many(Message, ends)
    first, last = found.get(record.start_message_id or ""), found.get(record.end_message_id or "")
    if first and last and (first.seq, last.seq) != (record.start_seq, record.end_seq):
        tx.put(evolve(record, start_seq=first.seq, end_seq=last.seq))


def _spoiled(tx: Transaction, since: datetime) -> list[Summary]:
    """Summaries of streams since then, but those whose text is gone and those that somebody asked for."""
    kinds = Where("kind", "in", [str(kind) for kind in STREAMS])
    return [
        one
        for one in tx.find(Summary, kinds, Where("created_at", ">=", since))
        if one.topic != ON_DEMAND and _has_text(tx, one)
    ]


def _has_text(tx: Transaction, summary: Summary) -> bool:
    within = Where("seq", ">=", summary.start_seq), Where("seq", "<=", summary.end_seq)
    return bool(tx.find(Message, same("persona", summary.persona), *within, order="seq", limit=1))


def _drop(tx: Transaction, summaries: Iterable[Summary]) -> None:
    ids = [one.id for one in summaries]
    tx.unindex(EntryKind.SUMMARY, *ids)
    tx.remove(Summary, *ids)


def _count(tx: Transaction) -> list[str | None]:
    """Set every persona's counters to what the messages and the summaries say; the personas."""
    states = {state.id: state for state in tx.find(SessionState)}
    personas = {session.persona for session in tx.find(Session)} | {name or None for name in states}
    for persona in personas:
        state = states.get(persona or "", SessionState(id=persona or ""))
        ranges = tx.find(Summary, Where("kind", "=", SummaryKind.RANGE), same("persona", persona), order="-end_seq")
        mark = next((one.end_seq for one in ranges if one.topic != ON_DEMAND), 0)
        count = tx.count(Message, same("persona", persona))
        right = evolve(state, message_count=count, summarised_until_seq=mark)
        if right != state and (count or persona is not None or "" in states):
            tx.put(right)
    return sorted(personas, key=lambda name: name or "")


def _revive(tx: Transaction, persona: str | None) -> None:
    """The newest version that is left is the current one."""
    for kind in VERSIONED:
        newest = tx.find(Summary, Where("kind", "=", kind), same("persona", persona), order="-version", limit=1)
        if newest and not newest[0].current:
            tx.put(evolve(newest[0], current=True))
