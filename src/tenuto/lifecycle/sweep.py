"""Looking after what no message brings along: sessions that nobody ended, and what a day makes due.

Every open session has a timer of its own; :func:`close_idle` is the net under it, for timers that were cancelled or
failed. The ``sweep`` job of a user runs a day after the last session: it asks for topics, fading, purges and an aged
profile, and comes back daily while the user talks, monthly when they are silent."""

from __future__ import annotations

from datetime import datetime, timedelta

from tenuto.deps import Deps
from tenuto.lifecycle import due, retention
from tenuto.lifecycle.due import Due
from tenuto.lifecycle.purge import rules_of
from tenuto.lifecycle.queue import enqueue
from tenuto.lifecycle.sessions import IDLE, is_idle
from tenuto.lifecycle.write import current, tell
from tenuto.ports import Transaction
from tenuto.records.base import evolve, micros
from tenuto.records.conversation import Session, SessionState, SessionStatus, SummaryKind
from tenuto.records.operations import Job

ACTIVE = timedelta(days=14)
"""How long after the last word a user is swept daily."""
SILENT = timedelta(days=30)
FADE_EVERY = timedelta(days=7)
"""Strength halves in months: looking once a week is often enough."""
SWEPT = 500
"""Sessions that one pass closes."""


def close_idle(deps: Deps) -> int:
    """Close sessions of any user that have been silent for too long; how many. For a worker, once a minute or so."""
    now = deps.clock()
    slack = due.ARRIVAL_SLACK
    closed = 0
    for user, session_id in deps.store.idle_sessions(now - deps.policy.session.idle_close - slack, SWEPT):
        with deps.store.writing(user) as tx:
            session = tx.get(Session, session_id)
            if session is not None and is_idle(session, now, deps.policy.session):
                ended = session.last_activity_at
                tx.put(evolve(session, status=SessionStatus.CLOSED, ended_at=ended, end_type=IDLE))
                enqueue(deps.ids, tx, [due.classification(session.id, now)], now)
                tell(deps, tx, "session.closed", ("session", session.id), now, persona=session.persona, end_type=IDLE)
                closed += 1
    return closed


def on_sweep(deps: Deps, user: str, jobs: list[Job]) -> None:
    """The handler of ``sweep`` jobs. Jobs that were done long ago go, too: an embedded store has no worker to do it."""
    now = deps.clock()
    deps.store.drop_old_jobs(now - deps.policy.jobs.keep_done)
    with deps.store.writing(user) as tx:
        enqueue(deps.ids, tx, _due(deps, tx, now), now)


def _due(deps: Deps, tx: Transaction, now: datetime) -> list[Due]:
    states = tx.find(SessionState)
    found = [Due(due.TOPICS, f"{due.TOPICS}:{one.id}", now, {"persona": one.id}) for one in states]
    found.append(Due(due.FADE, due.FADE, now + FADE_EVERY))
    if rules_of(tx.profile(), deps):
        found.append(Due(due.PURGE, due.PURGE, now + retention.LAG, {"as_of": micros(now)}))
    profile = current(tx, SummaryKind.PROFILE)
    sessions = sum(one.sessions_since_profile for one in states)
    if due.profile_due(sessions, profile.created_at if profile else None, deps.policy, now):
        found.append(Due(due.PROFILE, due.PROFILE, now))
    last = max((one.last_interaction for one in states if one.last_interaction), default=now)
    pause = timedelta(days=1) if now - last < ACTIVE else SILENT
    found.append(Due(due.SWEEP, due.SWEEP, now + pause))
    return found
