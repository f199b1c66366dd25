"""How much is each candidate worth? Pure: numbers in, numbers out.

Profiles (λ per day, ages in days, similarity is the cosine):

    default   base + importance + reinforcement      (base: words and meaning, see ``match``)
    blended   0.4 · similarity + 0.3 · 2^(−age / half-life) + 0.3 · entity frequency among the candidates
    decayed   similarity · e^(−λ · age), nothing below the similarity floor; λ per kind
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from tenuto.errors import InputError
from tenuto.policy import RecallPolicy
from tenuto.records.operations import EntryKind
from tenuto.records.recall import Candidate

PROFILES = ("default", "blended", "decayed")


@dataclass(frozen=True, slots=True)
class Scored:
    candidate: Candidate
    score: float
    parts: dict[str, float]
    formula: str


def check_profile(name: object) -> str:
    if name not in PROFILES:
        raise InputError(f"There is no profile {name!r}; known are: {', '.join(PROFILES)}.", code="unknown_profile")
    return str(name)


def score(candidates: Sequence[Candidate], profile: str, now: datetime, policy: RecallPolicy) -> list[Scored]:
    """All candidates that the profile keeps, best first; the newer one wins a tie, then the id decides."""
    if check_profile(profile) == "blended":
        scored = _blended(candidates, now, policy)
    elif profile == "decayed":
        scored = _decayed(candidates, now, policy)
    else:
        scored = [_default(candidate) for candidate in candidates]
    return sorted(scored, key=lambda one: (-one.score, -one.candidate.at.timestamp(), one.candidate.id))


def _default(candidate: Candidate) -> Scored:
    return Scored(candidate, sum(candidate.parts.values()), dict(candidate.parts), "sum")


def _blended(candidates: Sequence[Candidate], now: datetime, policy: RecallPolicy) -> list[Scored]:
    frequency = Counter(entity for candidate in candidates for entity in set(candidate.entities))
    most = max(frequency.values(), default=0)
    scored = []
    for candidate in candidates:
        often = max((frequency[entity] for entity in candidate.entities), default=0) / most if most else 0.0
        parts = {
            "similarity": 0.4 * max(candidate.cosine or 0.0, 0.0),
            "recency": 0.3 * 0.5 ** (age_days(candidate, now) / (policy.half_life.total_seconds() / 86400)),
            "entities": 0.3 * often,
        }
        scored.append(Scored(candidate, sum(parts.values()), parts, "sum"))
    return scored


def _decayed(candidates: Sequence[Candidate], now: datetime, policy: RecallPolicy) -> list[Scored]:
    scored = []
    for candidate in candidates:
        similarity = candidate.cosine or 0.0
        if similarity < policy.similarity_floor:
            continue
        rate = policy.summary_decay if candidate.kind in (EntryKind.SUMMARY, EntryKind.KEY_POINT) else policy.memory_decay
        decay = math.exp(-rate * age_days(candidate, now))
        scored.append(Scored(candidate, similarity * decay, {"similarity": similarity, "decay": decay}, "product"))
    return scored


def age_days(candidate: Candidate, now: datetime) -> float:
    """Age in days; what lies in the future is new."""
    return max((now - candidate.at).total_seconds(), 0.0) / 86400
