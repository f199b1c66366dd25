"""Whether the persona may make contact first. It decides and says why; it never sends anything.

The rules hold in this order, and the first that says no ends it: the user's switch (off by default), quiet hours in the
user's own time zone, the cooldown after any outreach, and the longer one after a session that the user began, so that
nobody is crowded. Only then does it ask whether there is a reason: something due, something promised, a thread left
open, or a pull (connection above discretion). No reason, no contact.

What would break it: guessing the time zone. One that is unknown means no.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, time, timedelta
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from tenuto.policy import AgentPolicy
from tenuto.records.memory import AgentState, Todo, TodoKind, TodoStatus


@dataclass(frozen=True, slots=True)
class Outreach:
    """``not_before`` is when to ask again, where time alone is the obstacle. ``about`` is the id of a todo."""

    allowed: bool
    reason: str
    not_before: datetime | None = None
    about: str | None = None


@dataclass(frozen=True, slots=True)
class LastSession:
    ended_at: datetime
    open: bool
    begun_by_user: bool


def decide(
    now: datetime,
    state: AgentState,
    timezone: str | None,
    last: LastSession | None,
    todos: Sequence[Todo],
    policy: AgentPolicy,
) -> Outreach:
    """May the persona reach out now, and over what?"""
    if not state.outreach:
        return Outreach(False, "Outreach is off. The user can switch it on.")
    if timezone is None:
        return Outreach(False, "The user's time zone is not known, so quiet hours cannot be kept: set it first.")
    try:
        zone = ZoneInfo(timezone)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return Outreach(False, f"The time zone '{timezone}' is unknown, so quiet hours cannot be kept.")
    if last is not None and last.open:
        return Outreach(False, "A session is open: answer there.")
    waits = _waits(now, state, last, zone, policy)
    if waits is not None:
        return waits
    return _reason(now, state, todos)


def _waits(
    now: datetime, state: AgentState, last: LastSession | None, zone: ZoneInfo, policy: AgentPolicy
) -> Outreach | None:
    until = quiet_until(now, zone, policy)
    if until is not None:
        return Outreach(False, f"Quiet hours until {until.astimezone(zone):%H:%M} in {zone.key}.", until)
    if state.last_outreach_at is not None and now - state.last_outreach_at < policy.cooldown:
        return Outreach(False, "The last outreach was too recent.", state.last_outreach_at + policy.cooldown)
    if last is not None:
        wait = policy.cooldown_after_user if last.begun_by_user else policy.cooldown
        if now - last.ended_at < wait:
            began = "that the user began " if last.begun_by_user else ""
            return Outreach(False, f"The last session {began}was too recent.", last.ended_at + wait)
    return None


def quiet_until(now: datetime, zone: ZoneInfo, policy: AgentPolicy) -> datetime | None:
    """The end of the quiet hours that ``now`` falls into, or ``None``. Equal hours mean that there are none."""
    start, end = policy.quiet_from % 24, policy.quiet_until % 24
    local = now.astimezone(zone)
    quiet = start <= local.hour < end if start < end else (local.hour >= start or local.hour < end)
    if start == end or not quiet:
        return None
    day = local.date() + timedelta(days=1 if local.hour >= end else 0)
    return datetime.combine(day, time(end), tzinfo=zone).astimezone(now.tzinfo)


def _reason(now: datetime, state: AgentState, todos: Sequence[Todo]) -> Outreach:
    open_ = [todo for todo in todos if todo.status is TodoStatus.OPEN and (todo.persona or "") in ("", state.id)]
    due = [todo for todo in open_ if todo.due is not None and todo.due <= now + timedelta(hours=12)]
    if due:
        first = min(due, key=lambda todo: (todo.due or now, -todo.importance, todo.id))
        return Outreach(True, f"Due: {first.content}", about=first.id)
    promised = [todo for todo in open_ if todo.by == "assistant"]
    if promised:
        first = max(promised, key=lambda todo: (todo.importance, todo.id))
        return Outreach(True, f"Promised by the persona: {first.content}", about=first.id)
    pull = state.axes.get("connection", 0.0) - state.axes.get("discretion", 1.0)
    threads = [todo for todo in open_ if todo.kind in (TodoKind.THREAD, TodoKind.COMMITMENT)]
    if threads and pull > -0.1:
        first = max(threads, key=lambda todo: (todo.importance, todo.id))
        return Outreach(True, f"Left open: {first.content}", about=first.id)
    if pull > 0.15:
        return Outreach(True, "Connection is well above discretion: a short hello would fit.")
    return Outreach(False, "There is no reason to reach out.")
