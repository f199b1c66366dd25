"""Reading the companion's side: its state, how it came about, where the talk is going, whether it may reach out.

All of it is the user's to read, and the switches are the user's to set. Reading changes nothing: the state is shown as
time has left it, and time is written down with the next session.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from tenuto.deps import Deps
from tenuto.errors import InputError
from tenuto.lifecycle import outreach, retention, signals, state
from tenuto.lifecycle import trajectory as metrics
from tenuto.lifecycle.outreach import LastSession, Outreach
from tenuto.lifecycle.retention import Rules
from tenuto.lifecycle.sessions import is_idle
from tenuto.lifecycle.write import record_of, same
from tenuto.ports import Reader, Where
from tenuto.recall.gate import Asked, Gate
from tenuto.records.base import evolve
from tenuto.records.conversation import Message, Role, Session, SessionState, SessionStatus
from tenuto.records.memory import AgentState, StateChange, Todo, TodoStatus
from tenuto.records.scope import Scope, User

TRAJECTORY = "trajectory"
ZONE_TOLD = "timezone_told"
"""Set once somebody said where the user lives; before that "UTC" is only where a new row begins."""


def agent_state(deps: Deps, scope: Scope) -> AgentState:
    """The persona's axes towards the user, now."""
    with deps.store.reading(scope.user) as reader:
        return _state(deps, reader, scope)


def _state(deps: Deps, reader: Reader, scope: Scope) -> AgentState:
    now, policy = deps.clock(), deps.policy.agent
    held = reader.get(AgentState, scope.persona or "") or state.fresh(scope.persona, policy, now)
    return state.drifted(held, state.axes_of(scope.persona, policy), now)


def state_history(deps: Deps, scope: Scope, limit: int = 100) -> list[StateChange]:
    """Every change of the axes with its reason, newest first."""
    with deps.store.reading(scope.user) as reader:
        return reader.find(StateChange, same("persona", scope.persona), order="-at", limit=limit)


def session_state(deps: Deps, scope: Scope) -> SessionState:
    """What survives sessions: counts, the last message, how summaries and the curator fare."""
    with deps.store.reading(scope.user) as reader:
        own = reader.get(SessionState, scope.persona or "") or SessionState(id=scope.persona or "")
        shared = reader.get(SessionState, "") or SessionState(id="")
    return evolve(
        own,
        curator_last_run_at=shared.curator_last_run_at,
        curator_memory_count=shared.curator_memory_count,
        curator_last_error=shared.curator_last_error,
    )


def trajectory(deps: Deps, scope: Scope) -> metrics.Trajectory:
    """The metrics over the last sessions, with their formulas; says so when it is switched off."""
    policy = deps.policy.trajectory
    with deps.store.reading(scope.user) as reader:
        profile = reader.profile()
        wanted = profile.settings.get(TRAJECTORY, policy.enabled) if profile else policy.enabled
        if not wanted:
            return metrics.trajectory([], policy, enabled=False)
        conditions = [] if scope.persona is None else [Where("persona", "=", scope.persona)]
        sessions = reader.find(Session, *conditions, order="-last_activity_at", limit=2 * policy.window)
        told = _records(reader, sessions)
    found = [
        metrics.SessionSignals(session.id, session.last_activity_at, signals.Signals.from_plain(told[session.id]))
        for session in sessions
        if session.id in told
    ]
    return metrics.trajectory(found, policy, enabled=True)


def _records(reader: Reader, sessions: list[Session]) -> dict[str, Any]:
    records = {session.id: record_of(reader, session.id) for session in sessions}
    return {id: one.structured["signals"] for id, one in records.items() if one and one.structured.get("signals")}


def may_reach_out(deps: Deps, scope: Scope) -> Outreach:
    """Whether the persona may make contact now, and why. It decides; nothing is sent."""
    now = deps.clock()
    with deps.store.reading(scope.user) as reader:
        held = _state(deps, reader, scope)
        profile = reader.profile()
        last = reader.find(Session, same("persona", scope.persona), order="-last_activity_at", limit=1)
        todos = reader.find(Todo, Where("status", "=", TodoStatus.OPEN), order="-created_at", limit=200)
        seen = _last_session(deps, reader, last[0], now) if last else None
        holds = deps.holds.fresh(reader, deps.policy.retention)
    todos = Gate(holds, Asked(now=now, persona=scope.persona)).only(todos)
    told = profile is not None and (profile.timezone != "UTC" or profile.settings.get(ZONE_TOLD))
    zone = profile.timezone if profile is not None and told else None
    return outreach.decide(now, held, zone, seen, todos, deps.policy.agent)


def _last_session(deps: Deps, reader: Reader, session: Session, now: datetime) -> LastSession:
    first = reader.find(Message, Where("session_id", "=", session.id), order="at", limit=1)
    by_user = not first or first[0].role is Role.USER
    going_on = session.status is SessionStatus.OPEN and not is_idle(session, now, deps.policy.session)
    return LastSession(session.last_activity_at, going_on, by_user)


def set_timezone(deps: Deps, scope: Scope, name: str) -> None:
    """The user's time zone, by its name in the tz database."""
    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise InputError(
            f"There is no time zone {name[:80]!r}: use a name such as Europe/Rome.", code="timezone_unknown"
        ) from None
    with deps.store.writing(scope.user) as tx:
        profile = tx.profile() or User(user_id=scope.user, created_at=deps.clock())
        tx.set_user(evolve(profile, timezone=name, settings={**profile.settings, ZONE_TOLD: True}))


def set_outreach(deps: Deps, scope: Scope, *, on: bool | None = None, made: bool = False) -> AgentState:
    """The user's switch, and the note that contact was made (which starts the cooldown)."""
    now = deps.clock()
    with deps.store.writing(scope.user) as tx:
        held = tx.get(AgentState, scope.persona or "") or state.fresh(scope.persona, deps.policy.agent, now)
        if on is not None:
            held = evolve(held, outreach=on)
        if made:
            held = evolve(held, last_outreach_at=max(now, held.last_outreach_at or now))
        tx.put(held)
        return held


def retention_rules(deps: Deps, scope: Scope) -> Rules:
    """What is in force for the user."""
    with deps.store.reading(scope.user) as reader:
        profile = reader.profile()
    return retention.rules(profile.settings.get(retention.SETTING) if profile else None, deps.policy.retention)


def set_retention(deps: Deps, scope: Scope, rules: Mapping[str, Any] | None) -> Rules:
    """The user's own rules; ``None`` goes back to the operator's."""
    checked = retention.rules(rules, deps.policy.retention)
    _set(deps, scope, retention.SETTING, None if rules is None else dict(rules))
    return checked


def set_trajectory(deps: Deps, scope: Scope, on: bool) -> None:
    """The user's switch for the trajectory."""
    _set(deps, scope, TRAJECTORY, on)


def _set(deps: Deps, scope: Scope, name: str, value: Any) -> None:
    with deps.store.writing(scope.user) as tx:
        profile = tx.profile() or User(user_id=scope.user, created_at=deps.clock())
        settings = {**profile.settings, name: value}
        if value is None:
            settings.pop(name)
        tx.set_user(evolve(profile, settings=settings))
