"""The persona's axes towards one user: how they move, and nothing else moves them.

Two things change an axis. A session, by its deltas: they are cumulative per session, so classifying it again applies
only the net difference to what was applied before. And time: an axis with a half-life drifts back to where it started.
Every change is a :class:`~tenuto.records.memory.StateChange` that the user can read. Values are clamped to the axis.

The four shipped axes are a default, not a doctrine: a persona may define its own (``agent.personas`` in the policy),
and a model may then move them within ±0.1 a session; the rules move mood, connection and attunement.

What would break it: a clock that runs backwards. Time before the last change drifts nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from math import isfinite

from tenuto.errors import SettingError
from tenuto.policy import AgentPolicy
from tenuto.records.base import evolve
from tenuto.records.memory import AgentState, StateChange

MOST_PER_SESSION = 0.1
"""The furthest that one session moves an axis which a persona defined."""
SHIPPED = ("connection", "discretion", "mood", "attunement")
_LEAST = 1e-4
"""A change smaller than this is not one."""


@dataclass(frozen=True, slots=True)
class Axis:
    """Where an axis starts, its range, and the time in which half of what moved it is gone (``None``: never)."""

    start: float
    low: float = 0.0
    high: float = 1.0
    half_life: timedelta | None = None

    def clamp(self, value: float) -> float:
        return round(max(self.low, min(self.high, value)), 6) if isfinite(value) else self.start


def axes_of(persona: str | None, policy: AgentPolicy) -> dict[str, Axis]:
    """The axes of a persona: the four, and those that it defines or redefines."""
    found = {
        "connection": Axis(policy.connection),
        "discretion": Axis(policy.discretion),
        "mood": Axis(policy.mood, -1.0, 1.0, policy.mood_half_life),
        "attunement": Axis(policy.attunement),
    }
    defined = policy.personas.get(persona or "", {}).get("axes", {})
    for name, given in defined.items():
        found[name] = _read_axis(f"agent.personas.{persona}.axes.{name}", given)
    return found


def _read_axis(name: str, given: object) -> Axis:
    if not isinstance(given, Mapping) or not set(given) <= {"start", "low", "high", "half_life"}:
        raise SettingError(f"'{name}' takes a table of start, low, high and half_life (seconds), not {given!r}.")
    try:
        low, high = float(given.get("low", 0.0)), float(given.get("high", 1.0))
        start = float(given.get("start", low))
        half_life = timedelta(seconds=float(given["half_life"])) if given.get("half_life") else None
    except (TypeError, ValueError, OverflowError):
        raise SettingError(f"'{name}' takes numbers, not {given!r}.") from None
    if not low < high or not low <= start <= high or (half_life is not None and half_life <= timedelta(0)):
        raise SettingError(f"'{name}' needs low < high, a start between them and a positive half_life, not {given!r}.")
    return Axis(start, low, high, half_life)


def fresh(persona: str | None, policy: AgentPolicy, now: datetime) -> AgentState:
    """The state before anything happened."""
    axes = axes_of(persona, policy)
    wants = bool(policy.personas.get(persona or "", {}).get("outreach", policy.outreach))
    return AgentState(
        id=persona or "", axes={name: axis.start for name, axis in axes.items()}, updated_at=now, outreach=wants
    )


def drifted(state: AgentState, axes: Mapping[str, Axis], now: datetime) -> AgentState:
    """The state as it is at ``now``: completed by axes that are new, clamped, and moved by time."""
    passed = max(now - state.updated_at, timedelta(0))
    values = {}
    for name, axis in axes.items():
        value = axis.clamp(state.axes.get(name, axis.start))
        if axis.half_life is not None:
            value = axis.start + (value - axis.start) * 0.5 ** (passed / axis.half_life)
        values[name] = axis.clamp(value)
    return evolve(state, axes=values, updated_at=max(now, state.updated_at))


def moved(
    state: AgentState,
    axes: Mapping[str, Axis],
    deltas: Mapping[str, float],
    now: datetime,
    *,
    reason: str,
    session_id: str | None,
    change_id: str,
    drift_id: str,
) -> tuple[AgentState, list[StateChange]]:
    """The state after time and a session, and the changes that tell how it came about; none where nothing moved."""
    persona = state.id or None
    rested = drifted(state, axes, now)
    changes = []
    drift = _difference(state.axes, rested.axes)
    if drift and set(state.axes) == set(rested.axes):
        changes.append(
            StateChange(
                id=drift_id, persona=persona, at=rested.updated_at, deltas=drift, axes=rested.axes, reason="time"
            )
        )
    values = {name: axis.clamp(rested.axes[name] + deltas.get(name, 0.0)) for name, axis in axes.items()}
    change = _difference(rested.axes, values)
    if not change:
        return rested, changes
    changes.append(
        StateChange(
            id=change_id,
            persona=persona,
            at=rested.updated_at,
            deltas=change,
            axes=values,
            reason=reason,
            session_id=session_id,
        )
    )
    return evolve(rested, axes=values), changes


def _difference(before: Mapping[str, float], after: Mapping[str, float]) -> dict[str, float]:
    found = {name: round(after[name] - before.get(name, after[name]), 6) for name in after}
    return {name: value for name, value in found.items() if abs(value) >= _LEAST}
