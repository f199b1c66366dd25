"""Where the talk has been going: seven numbers over the last sessions, each with its formula, for the user to read.

All are 0–1, computed from the signals that each closed session keeps (:mod:`tenuto.lifecycle.signals`), first per
session, then as the mean over the window, weighted by the user's turns; the trend is the least-squares slope over the
window.

    volatility            root mean square of the step between one felt message and the next, / 2
    perspective_range     ½ · share of turns that mention others + ½ · min(1, 4 · share that take another view)
    dependency_emotional  min(1, 5 · share of turns that lean on the persona alone)
    dependency_decisional min(1, 2 · share of turns that hand a decision over)
    reality_orientation   (1 + grounded) / (2 + grounded + absolute): 0.5 where neither is seen
    challenge_ratio       (1 + challenges) / (2 + challenges + agreements) of the persona's answers
    recovery_capacity     low moments followed by a lift of 0.25 or more, per low moment; nothing without a low

It reads and tells; it gates nothing. A suggestion appears only after a pattern held in most sessions of a full window,
is phrased as an opening, is shown to the user, and is never a refusal. The user can switch all of it off.

What would break it: reading a mood as a diagnosis. These are counts of words, and docs/trajectory.md says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from math import sqrt

from tenuto.lifecycle.signals import Signals
from tenuto.policy import TrajectoryPolicy

NAMES = (
    "volatility",
    "perspective_range",
    "dependency_emotional",
    "dependency_decisional",
    "reality_orientation",
    "challenge_ratio",
    "recovery_capacity",
)


@dataclass(frozen=True, slots=True)
class SessionSignals:
    session_id: str
    at: datetime
    signals: Signals


@dataclass(frozen=True, slots=True)
class Metric:
    """``value`` over the window, ``trend`` per session, ``direction`` rising, falling, steady or unknown."""

    name: str
    value: float | None
    trend: float | None
    direction: str
    values: tuple[float | None, ...]
    formula: str


@dataclass(frozen=True, slots=True)
class Trajectory:
    enabled: bool
    sessions: int
    since: datetime | None = None
    metrics: tuple[Metric, ...] = ()
    suggestions: tuple[str, ...] = ()

    def __getitem__(self, name: str) -> Metric:
        return next(metric for metric in self.metrics if metric.name == name)


FORMULAS = {
    "volatility": "sqrt(mean((v[i] - v[i-1])^2)) / 2 over the valences v of the user's felt messages",
    "perspective_range": (
        "0.5 * turns that mention others / turns + 0.5 * min(1, 4 * turns that take another view / turns)"
    ),
    "dependency_emotional": "min(1, 5 * turns that lean on the persona alone / turns)",
    "dependency_decisional": "min(1, 2 * turns that hand a decision over / turns)",
    "reality_orientation": "(1 + grounded turns) / (2 + grounded turns + absolute turns)",
    "challenge_ratio": "(1 + challenges) / (2 + challenges + agreements) over the persona's answers",
    "recovery_capacity": "low moments that were followed by a lift of 0.25 or more / low moments (valence <= -0.25)",
}

_STEADY = 0.01
"""Change per session below which a trend is called steady."""


def measure(signals: Signals) -> dict[str, float | None]:
    """The seven numbers of one session; ``None`` where there is nothing to measure."""
    turns = signals.turns
    if not turns:
        return dict.fromkeys(NAMES)
    return {
        "volatility": min(1.0, sqrt(signals.step_squares / signals.steps) / 2) if signals.steps else None,
        "perspective_range": 0.5 * signals.others / turns + 0.5 * min(1.0, 4 * signals.views / turns),
        "dependency_emotional": min(1.0, 5 * signals.leans / turns),
        "dependency_decisional": min(1.0, 2 * signals.hands_over / turns),
        "reality_orientation": (1 + signals.grounded) / (2 + signals.grounded + signals.absolutes),
        "challenge_ratio": _challenge(signals),
        "recovery_capacity": signals.recovered / signals.lows if signals.lows else None,
    }


def _challenge(signals: Signals) -> float | None:
    return (1 + signals.challenges) / (2 + signals.challenges + signals.agreements) if signals.answers else None


def trajectory(sessions: Sequence[SessionSignals], policy: TrajectoryPolicy, *, enabled: bool) -> Trajectory:
    """The metrics over the last ``window`` sessions, oldest first, and what could be opened up."""
    if not enabled:
        return Trajectory(False, 0)
    window = sorted(sessions, key=lambda session: (session.at, session.session_id))[-policy.window :]
    if not window:
        return Trajectory(True, 0)
    measured = [(session.signals.turns, measure(session.signals)) for session in window]
    metrics = tuple(_metric(name, [(turns, values[name]) for turns, values in measured], policy) for name in NAMES)
    return Trajectory(True, len(window), window[0].at, metrics, _suggestions(metrics, policy))


def _metric(name: str, found: Sequence[tuple[int, float | None]], policy: TrajectoryPolicy) -> Metric:
    seen = [(turns, value) for turns, value in found if value is not None]
    weight = sum(turns for turns, _ in seen)
    mean = round(sum(turns * value for turns, value in seen) / weight, 4) if weight else None
    slope = _slope([value for _, value in seen]) if len(seen) >= policy.least else None
    values = tuple(None if value is None else round(value, 4) for _, value in found)
    return Metric(name, mean, slope, _direction(slope), values, FORMULAS[name])


def _slope(values: Sequence[float]) -> float:
    """Least squares against 0, 1, 2, …"""
    middle = (len(values) - 1) / 2
    mean = sum(values) / len(values)
    spread = sum((place - middle) ** 2 for place in range(len(values)))
    return (
        round(sum((place - middle) * (value - mean) for place, value in enumerate(values)) / spread, 5)
        if spread
        else 0.0
    )


def _direction(slope: float | None) -> str:
    if slope is None:
        return "unknown"
    if abs(slope) < _STEADY:
        return "steady"
    return "rising" if slope > 0 else "falling"


_OPENINGS = (
    (
        "dependency_emotional",
        ">",
        0.4,
        "You have leaned on these talks a lot lately. Who else would you like to have beside you?",
    ),
    (
        "dependency_decisional",
        ">",
        0.5,
        "Many choices came up here lately. Would it help to think one through in your own words first?",
    ),
    (
        "perspective_range",
        "<",
        0.15,
        "It has been mostly one view lately. How might someone close to you tell this story?",
    ),
    (
        "reality_orientation",
        "<",
        0.35,
        "Words like always and never come up often. Is there a day when it was different?",
    ),
    ("challenge_ratio", "<", 0.25, "I have mostly agreed with you lately. Would you like me to question you more?"),
    ("recovery_capacity", "<", 0.2, "Low moments have tended to stay low here. What has helped you up before?"),
    (
        "volatility",
        ">",
        0.45,
        "Feelings have swung widely lately. Would a slower pace, or a note between talks, be good?",
    ),
)


def _suggestions(metrics: Sequence[Metric], policy: TrajectoryPolicy) -> tuple[str, ...]:
    """Openings for patterns that held in at least two thirds of the sessions, over at least ``least`` of them."""
    known = {metric.name: metric for metric in metrics}
    found = []
    for name, side, bound, opening in _OPENINGS:
        values = [value for value in known[name].values if value is not None]
        held = [value for value in values if (value > bound if side == ">" else value < bound)]
        if len(values) >= policy.least and 3 * len(held) >= 2 * len(values) and values[-1] in held:
            found.append(opening)
    return tuple(found)
