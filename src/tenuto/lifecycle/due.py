"""What a message, a closed session or a day makes due.

The counters live in the session state that the hot path reads anyway, so deciding costs no query, and a job is only a
row in the same transaction: nothing that is due can be forgotten by a crash. Every job has a dedupe key, so asking
twice is the same as asking once, and every handler starts from a watermark in the data, so a job that comes late or
twice does the work that is left and no more.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from tenuto.policy import Policy
from tenuto.records.conversation import Session, SessionState, SessionStatus

CLOSE_SESSION = "close_session"
ROLLING = "rolling_summary"
RANGE = "range_summary"
SPINE = "spine"
PROFILE = "profile"
BRIEF = "brief"
TOPICS = "topics"
CURATE = "curate"
FADE = "fade"
SWEEP = "sweep"
PURGE = "purge"
KINDS = (CLOSE_SESSION, ROLLING, RANGE, SPINE, PROFILE, BRIEF, TOPICS, CURATE, FADE, SWEEP, PURGE)

ARRIVAL_SLACK = timedelta(seconds=60)
"""A session of the past (an import) is closed only after this long without a further message arriving."""


@dataclass(frozen=True, slots=True)
class Due:
    """A job to write: the caller adds id, user and ``created_at``."""

    kind: str
    dedupe: str
    run_at: datetime
    payload: dict[str, Any] = field(default_factory=dict)


def due_after_message(state: SessionState, session: Session, policy: Policy, now: datetime) -> list[Due]:
    """Jobs to write with a message. ``state`` and ``session`` already count it."""
    persona, summary = state.id, policy.summary
    found: list[Due] = []
    if session.turn_count == 1 or session.status is SessionStatus.CLOSED:
        found.append(timer(session, policy, now))
    if state.message_count % summary.rolling_every_turns == 0:
        found.append(Due(ROLLING, f"{ROLLING}:{persona}", now, {"persona": persona, "session_id": session.id}))
    if state.message_count % summary.range_every_messages == 0:
        found.append(Due(RANGE, f"{RANGE}:{persona}", now, {"persona": persona}))
    waiting = session.turn_count - session.classified_turns
    if waiting >= policy.session.classify_open_turns and waiting % 50 == 0:
        found.append(classification(session.id, now))
    if state.messages_since_spine >= summary.spine_every_messages:
        found.append(Due(SPINE, SPINE, now, {}))
    return found


def timer(session: Session, policy: Policy, now: datetime) -> Due:
    """The job that closes the session once it is idle; it sets itself again while messages keep coming.

    Set it when a session is opened or opened again, and when a closed one gets a late message.
    """
    run_at = max(session.last_activity_at + policy.session.idle_close, now + ARRIVAL_SLACK)
    return Due(
        CLOSE_SESSION,
        f"{CLOSE_SESSION}:timer:{session.id}",
        run_at,
        {"session_id": session.id, "timer": True},
    )


def classification(session_id: str, now: datetime) -> Due:
    """The job that classifies a session which has just been set to closed."""
    return Due(CLOSE_SESSION, f"{CLOSE_SESSION}:{session_id}", now, {"session_id": session_id})


def due_after_close(
    *,
    sessions_since_profile: int,
    profile_at: datetime | None,
    changed_memories: int,
    persona: str,
    policy: Policy,
    now: datetime,
) -> list[Due]:
    """Jobs to write when a session was classified. Counts are the user's, over all personas."""
    found = [
        Due(BRIEF, f"{BRIEF}:{persona}", now, {"persona": persona}),
        Due(SWEEP, SWEEP, now + timedelta(days=1)),
    ]
    if profile_due(sessions_since_profile, profile_at, policy, now):
        found.append(Due(PROFILE, PROFILE, now))
    if changed_memories >= policy.fading.curate_after_changes:
        found.append(Due(CURATE, CURATE, now))
    return found


def profile_due(sessions: int, profile_at: datetime | None, policy: Policy, now: datetime) -> bool:
    """Whether the profile is regenerated: enough sessions, or old enough and something new, or the first of all."""
    if sessions <= 0:
        return False
    if profile_at is None or sessions >= policy.summary.profile_every_sessions:
        return True
    return now - profile_at >= policy.summary.profile_every
