"""What a learner masters, computed from the log of outcomes and from nothing else.

Mastery of a skill is a number from 0 to 1 that starts at the baseline ``b`` and follows two rules, in the order of the
outcomes' times (arrival breaks ties):

    time:     m ← b + (m − b) · 2^(−Δt / half_life)       without practice it drifts back to the baseline
    outcome:  m ← m + rate · (success − m)                each try moves it by a share of what is left

Nothing else is stored, so the profile cannot drift away from its log: replaying the log, in whatever order it arrived,
gives the same profile to the last bit. Reading a profile changes nothing, and an outcome changes nothing it judges.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from tenuto.policy import WorkflowPolicy
from tenuto.records.workflow import Outcome

STYLE = "style"
"""Where an outcome's ``detail`` names the style of teaching or of exercise that it was tried in."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Skill:
    """``mastery`` at the time the profile was asked for."""

    name: str
    mastery: float
    tries: int
    successes: int
    last_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    skill: str
    at: datetime
    outcome_id: str
    artifact_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LearnerProfile:
    """One track of one person. ``failures`` are the latest, newest first; ``failure_counts`` counts those by skill."""

    track: str
    at: datetime
    skills: Mapping[str, Skill] = field(default_factory=dict)
    failures: tuple[Failure, ...] = ()
    failure_counts: Mapping[str, int] = field(default_factory=dict)
    preferred_style: str | None = None
    outcomes: int = 0

    def mastery(self, skill: str, baseline: float = 0.5) -> float:
        """The mastery of a skill; one never tried stands at the baseline."""
        return self.skills[skill].mastery if skill in self.skills else baseline


def profile(track: str, outcomes: Iterable[Outcome], now: datetime, policy: WorkflowPolicy) -> LearnerProfile:
    """Replay the log as it stands at ``now``: later outcomes are not looked at."""
    log = sorted(
        (one for one in outcomes if one.track == track and one.at <= now), key=lambda one: (one.at, one.seq, one.id)
    )
    skills: dict[str, Skill] = {}
    for outcome in log:
        skills[outcome.skill] = _after(skills.get(outcome.skill), outcome, policy)
    failures = [
        Failure(skill=one.skill, at=one.at, outcome_id=one.id, artifact_id=one.artifact_id)
        for one in reversed(log)
        if not one.success
    ][: policy.failures_kept]
    return LearnerProfile(
        track=track,
        at=now,
        skills={name: _faded(skill, now, policy) for name, skill in sorted(skills.items())},
        failures=tuple(failures),
        failure_counts=dict(sorted(Counter(failure.skill for failure in failures).items())),
        preferred_style=_style(log, policy),
        outcomes=len(log),
    )


def _after(skill: Skill | None, outcome: Outcome, policy: WorkflowPolicy) -> Skill:
    before = policy.mastery_baseline if skill is None else _drift(skill.mastery, outcome.at - skill.last_at, policy)
    return Skill(
        name=outcome.skill,
        mastery=before + policy.mastery_rate * (float(outcome.success) - before),
        tries=(skill.tries if skill else 0) + 1,
        successes=(skill.successes if skill else 0) + int(outcome.success),
        last_at=outcome.at,
    )


def _faded(skill: Skill, now: datetime, policy: WorkflowPolicy) -> Skill:
    return Skill(
        name=skill.name,
        mastery=_drift(skill.mastery, now - skill.last_at, policy),
        tries=skill.tries,
        successes=skill.successes,
        last_at=skill.last_at,
    )


def _drift(mastery: float, idle: timedelta, policy: WorkflowPolicy) -> float:
    half_lives = idle / policy.mastery_half_life if policy.mastery_half_life else 0.0
    return float(policy.mastery_baseline + (mastery - policy.mastery_baseline) * 2.0 ** (-half_lives))


def _style(log: list[Outcome], policy: WorkflowPolicy) -> str | None:
    """The style with the best share of successes, (s + 1) / (n + 2), among those tried often enough."""
    tries: Counter[str] = Counter()
    successes: Counter[str] = Counter()
    newest: dict[str, datetime] = {}
    for outcome in log:
        style = outcome.detail.get(STYLE)
        if isinstance(style, str) and style:
            tries[style] += 1
            successes[style] += int(outcome.success)
            newest[style] = outcome.at
    known = [style for style, count in tries.items() if count >= policy.style_tries]
    best = max(known, key=lambda one: ((successes[one] + 1) / (tries[one] + 2), newest[one], one), default=None)
    return best
