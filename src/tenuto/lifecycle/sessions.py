"""Which session a message belongs to.

A session is a run of messages with less than ``idle_close`` between neighbours, so its place is a question of time
alone: a session reaches from ``idle_close`` before its first message to ``idle_close`` after its last one, and a
message joins the session whose reach it falls into. That single rule also places messages that arrive late, in the
wrong order, from two channels at once or after the clock was set back: what counts is when something was said, never
when it came.

Three things bend it. A caller's own session id decides alone, and such a session takes no other messages. A session
that was ended on purpose ends there: what is said later begins a new one. And a session that idleness closed is opened
again when something turns out to have been said within its reach.

What would break it: comparing with the store's clock here. An import of old talk would then be cut at every message.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from tenuto.policy import SessionPolicy
from tenuto.ports import Where
from tenuto.records.conversation import Session, SessionStatus

IDLE = "idle"
"""``end_type`` of a session that nobody ended. Any other value means that it was ended on purpose."""
EXPLICIT = "explicit"
NEAR_LIMIT = 16
"""Sessions that are worth reading to place one message: open ones and those around its time."""


@dataclass(frozen=True, slots=True)
class Closing:
    """A session that the message shows to be over. It still has to be classified."""

    session_id: str
    ended_at: datetime
    end_type: str = IDLE


@dataclass(frozen=True, slots=True)
class Placement:
    """``session_id`` is the session to join, or ``None``: open one that takes up the thread of ``resumes``.

    ``reopen`` asks to set a closed session to open again (status open, no end).
    """

    session_id: str | None
    reopen: bool = False
    resumes: str | None = None
    close: tuple[Closing, ...] = ()


def near_window(at: datetime, policy: SessionPolicy) -> tuple[Where, ...]:
    """Conditions on the sessions around ``at``; the persona's condition and the open sessions come beside them."""
    back = max(policy.idle_close, policy.grace)
    return (Where("last_activity_at", ">=", at - back), Where("started_at", "<=", at + policy.idle_close))


def stamp(now: datetime, last: datetime | None, policy: SessionPolicy) -> datetime:
    """When a message was said that came without a time: now, but after ``last``, the one that was stamped before.

    A clock that is set back must not turn question and answer round. Beyond ``clock_set_back`` the earlier time is
    what was wrong, and the clock is believed.
    """
    if last is None or not timedelta(0) <= last - now <= policy.clock_set_back:
        return now
    return last + timedelta(microseconds=1)


def place(
    at: datetime,
    persona: str | None,
    external_id: str | None,
    near: Sequence[Session],
    policy: SessionPolicy,
) -> Placement:
    """Where a message said at ``at`` belongs.

    ``near`` holds the user's sessions with this persona that are open or around ``at`` (:func:`near_window`), and the
    one with ``external_id`` where one is given; others in it do no harm.
    """
    own = [session for session in near if session.persona == persona]
    close = tuple(
        Closing(session.id, session.last_activity_at)
        for session in sorted(own, key=lambda session: session.started_at)
        if _is_over(session, at, policy) and not (external_id and session.external_id == external_id)
    )
    joined = _joins(at, external_id, own, policy)
    if joined is not None:
        return Placement(joined.id, reopen=_reopens(joined, at), close=close)
    return Placement(None, resumes=_resumes(at, own, policy), close=close)


def is_idle(session: Session, now: datetime, policy: SessionPolicy) -> bool:
    """Whether an open session has been silent for long enough to be closed. For the sweep."""
    return session.status is SessionStatus.OPEN and now - session.last_activity_at >= policy.idle_close


def _is_over(session: Session, at: datetime, policy: SessionPolicy) -> bool:
    return is_idle(session, at, policy) and session.external_id is None


def _joins(at: datetime, external_id: str | None, own: Sequence[Session], policy: SessionPolicy) -> Session | None:
    if external_id is not None:
        return next((session for session in own if session.external_id == external_id), None)
    reach = [session for session in own if session.external_id is None and _reaches(session, at, policy)]
    return min(reach, key=lambda session: (_distance(session, at), session.started_at, session.id), default=None)


def _reaches(session: Session, at: datetime, policy: SessionPolicy) -> bool:
    on_purpose = session.status is SessionStatus.CLOSED and session.end_type != IDLE
    if on_purpose and at > (session.ended_at or session.last_activity_at):
        return False
    return session.started_at - policy.idle_close < at < session.last_activity_at + policy.idle_close


def _distance(session: Session, at: datetime) -> timedelta:
    return max(session.started_at - at, at - session.last_activity_at, timedelta(0))


def _reopens(session: Session, at: datetime) -> bool:
    """A late message inside a closed session leaves it closed; one that carries it on opens it again."""
    return session.status is SessionStatus.CLOSED and at > (session.ended_at or session.last_activity_at)


def _resumes(at: datetime, own: Sequence[Session], policy: SessionPolicy) -> str | None:
    """The last session before ``at`` that ended within the grace window."""
    before = [
        session for session in own if session.last_activity_at <= at and at - session.last_activity_at <= policy.grace
    ]
    last = max(before, key=lambda session: (session.last_activity_at, session.id), default=None)
    return None if last is None else last.id
