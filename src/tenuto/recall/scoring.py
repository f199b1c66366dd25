"""How much is each candidate worth? Pure: numbers in, numbers out.

Profiles (λ per day, ages in days, similarity is the cosine):

    default   what search found (words, meaning, speaker, recency, length, days: see ``match``)
              + 0.05 · (importance − 5) + 0.1 · ln(1 + reinforcements)          for what is not a message
              − 0.1 · (1 − strength)                                            for memories, as they fade
              + 0.5 · nearness of the feeling that was asked for
    blended   0.4 · similarity + 0.3 · 2^(−age / half-life) + 0.3 · entity frequency among the candidates
    decayed   similarity · e^(−λ · age), nothing below the similarity floor; λ per kind

Importance and reinforcement are small on purpose: they settle ties and never lift what does not answer. A question
about now puts the newest of several statements on one subject first (:func:`newest_first`).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from operator import attrgetter

import msgspec

from tenuto.errors import InputError
from tenuto.policy import RecallPolicy
from tenuto.records.operations import EntryKind
from tenuto.records.recall import Candidate

PROFILES = ("default", "blended", "decayed")
IMPORTANCE, REINFORCEMENT, FEELING = 0.05, 0.1, 0.5
FADING = 0.1
SUBJECT = 10
"""How many of the best are looked at for newer statements on the subject of the first."""
FEW = 20
"""With fewer candidates than this there is no telling what is usual; ``LOOSE`` is the similarity that counts then."""
LOOSE = 0.2


class Scored(msgspec.Struct, frozen=True, gc=False):
    """A candidate with its score, and what the score is made of."""

    candidate: Candidate
    score: float
    parts: dict[str, float]
    formula: str


_SCORE, _AT, _ID = attrgetter("score"), attrgetter("candidate.at"), attrgetter("candidate.id")


def check_profile(name: object) -> str:
    if name not in PROFILES:
        raise InputError(f"There is no profile {name!r}; known are: {', '.join(PROFILES)}.", code="unknown_profile")
    return str(name)


@dataclass(frozen=True, slots=True)
class Feeling:
    """A mood to look for: valence −1…1, arousal 0…1."""

    valence: float | None = None
    arousal: float | None = None


def score(
    candidates: Sequence[Candidate], profile: str, now: datetime, policy: RecallPolicy, feeling: Feeling | None = None
) -> list[Scored]:
    """All candidates that the profile keeps, best first; the newer one wins a tie, then the id decides."""
    if check_profile(profile) == "blended":
        scored = _blended(candidates, now, policy)
    elif profile == "decayed":
        scored = _decayed(candidates, now, policy)
    else:
        scored = [_default(candidate, feeling) for candidate in candidates]
    scored.sort(key=_ID)
    scored.sort(key=_AT, reverse=True)
    scored.sort(key=_SCORE, reverse=True)
    return scored


def _default(candidate: Candidate, feeling: Feeling | None) -> Scored:
    if candidate.kind is EntryKind.MESSAGE and feeling is None:
        return Scored(candidate, sum(candidate.parts.values()), candidate.parts, "sum")
    parts = dict(candidate.parts)
    if candidate.kind is not EntryKind.MESSAGE:
        parts["importance"] = IMPORTANCE * (candidate.importance - 5)
        parts["reinforcement"] = REINFORCEMENT * math.log1p(candidate.reinforcements)
    if candidate.kind is EntryKind.MEMORY:
        parts["fading"] = FADING * (candidate.strength - 1.0)
    if feeling is not None:
        parts["feeling"] = FEELING * _nearness(candidate, feeling)
    return Scored(candidate, sum(parts.values()), parts, "sum")


def _nearness(candidate: Candidate, feeling: Feeling) -> float:
    """1 for the very feeling that was asked for, 0 for its opposite."""
    gaps = []
    if feeling.valence is not None:
        gaps.append(abs(candidate.valence - feeling.valence) / 2)
    if feeling.arousal is not None:
        gaps.append(abs(candidate.arousal - feeling.arousal))
    return 1 - sum(gaps) / len(gaps) if gaps else 0.0


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
        rate = (
            policy.summary_decay if candidate.kind in (EntryKind.SUMMARY, EntryKind.KEY_POINT) else policy.memory_decay
        )
        decay = math.exp(-rate * age_days(candidate, now))
        scored.append(Scored(candidate, similarity * decay, {"similarity": similarity, "decay": decay}, "product"))
    return scored


def age_days(candidate: Candidate, now: datetime) -> float:
    """Age in days; what lies in the future is new."""
    return max((now - candidate.at).total_seconds(), 0.0) / 86400


def newest_first(ranked: Sequence[Scored], alike: Sequence[float], usual: float) -> list[Scored]:
    """The same, with the best few that are on the subject of the first one in the order of time, newest first.

    ``alike`` is the similarity of each of the best with the first, ``usual`` the one from which two are on one subject.
    They change places among themselves only; what each gained or lost is a part of its score.
    """
    places = [place for place, near in enumerate(alike) if near >= usual]
    newest = sorted(places, key=lambda place: (-ranked[place].candidate.at.timestamp(), place))
    changed = list(ranked)
    for place, taken in zip(places, newest, strict=True):
        one = ranked[taken]
        gained = ranked[place].score - one.score
        parts = {**one.parts, "newest": gained} if gained else one.parts
        changed[place] = Scored(one.candidate, ranked[place].score, parts, one.formula)
    return changed


def message_relevance(hours: float, *, topic: bool = False, important: bool = False, action: bool = False) -> float:
    """What a message is worth for the working context: its age, and what it is about."""
    return math.exp(-max(hours, 0.0) / 24) + 2.0 * topic + 3.0 * important + 1.5 * action
