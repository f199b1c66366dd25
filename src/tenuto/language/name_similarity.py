"""Names that may be one: misspellings, speech-to-text variants, short forms ("Makesh" and "Mukesh").

Two entities whose labels sound or look alike are proposed as one. Shared context (the same relation, the same company)
raises the confidence; being named side by side refutes it, as do different relations. Two names that are both common
given names ("Maria", "Marie") are never sure enough to be merged without asking.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import jellyfish
from rapidfuzz.distance import DamerauLevenshtein, JaroWinkler

from tenuto.language.lexicon import shipped
from tenuto.language.mentions import slug
from tenuto.records.memory import Entity


@dataclass(frozen=True, slots=True)
class Likeness:
    """How sure it is that two entities are one, and why."""

    confidence: float
    reason: str


def likeness(one: Entity, other: Entity, *, shared: float = 0.0, side_by_side: bool = False) -> Likeness | None:
    """Are they one?

    ``shared`` is the overlap of what they are mentioned with, 0–1; ``None`` when nothing suggests it.
    """
    if one.type != other.type or one.id == other.id or side_by_side:
        return None
    base = max(
        (_alike(a, b) for a in _names(one) for b in _names(other)), key=lambda found: found.confidence, default=None
    )
    if base is None or base.confidence < 0.5:
        return None
    confidence, reasons = base.confidence, [base.reason]
    if one.relation and other.relation:
        same = one.relation == other.relation
        confidence += 0.12 if same else -0.35
        reasons.append("the same relation" if same else "different relations")
    if shared > 0:
        confidence += 0.1 * min(1.0, shared)
        reasons.append("mentioned in the same context")
    confidence = max(0.0, min(0.99, confidence))
    return Likeness(round(confidence, 3), "; ".join(reasons)) if confidence >= 0.5 else None


def _names(entity: Entity) -> list[str]:
    relations = shipped().relations
    return [name for name in (entity.label, *entity.aliases) if name.lower() not in relations]


_NOTHING = Likeness(0.0, "nothing alike")


@lru_cache(maxsize=8192)
def _sound(name: str) -> tuple[str, tuple[str, ...]]:
    """The slug of a name and how its parts sound."""
    written = slug(name)
    return written, tuple(jellyfish.metaphone(part) for part in written.split("_"))


def _alike(one: str, other: str) -> Likeness:
    (a, heard), (b, also) = _sound(one), _sound(other)
    if a == b:
        return Likeness(0.95, f"the same name, {one!r}")
    if len(a) < 3 or len(b) < 3:
        return Likeness(0.0, "too short to tell")
    both_real = a in shipped().given and b in shipped().given
    distance = DamerauLevenshtein.distance(a, b)
    closeness = JaroWinkler.similarity(a, b)
    sounds = heard == also
    if sounds and distance <= max(1, min(3, len(a) // 2)):
        return Likeness(
            0.84 - (0.14 if both_real else 0.0), f"{one!r} and {other!r} sound alike and differ by {distance}"
        )
    if distance == 1 and min(len(a), len(b)) >= 4:
        return Likeness(0.72 - (0.2 if both_real else 0.0), f"{one!r} and {other!r} differ by one letter")
    if distance == 2 and closeness >= 0.92 and min(len(a), len(b)) >= 6:
        return Likeness(0.66 - (0.2 if both_real else 0.0), f"{one!r} and {other!r} differ by two letters")
    first_a, first_b = a.split("_")[0], b.split("_")[0]
    if first_a == first_b and ("_" in a) != ("_" in b):
        return Likeness(0.68, f"{one!r} is the first name of {other!r}")
    if min(len(a), len(b)) >= 3 and (a.startswith(b) or b.startswith(a)) and "_" not in a + b:
        return Likeness(
            0.6, f"{one!r} may be short for {other!r}" if len(a) < len(b) else f"{other!r} may be short for {one!r}"
        )
    return _NOTHING


def proposals(
    entities: Sequence[Entity],
    fresh: Sequence[str],
    context: dict[str, frozenset[str]],
    together: frozenset[tuple[str, str]],
) -> list[tuple[Entity, Entity, Likeness]]:
    """(duplicate, into, likeness) for the entities named in ``fresh``, the likeliest first.

    The one with fewer mentions is the duplicate. ``context`` maps an entity to what it was mentioned with; ``together``
    holds pairs named side by side in one sentence, which two names of one person never are.
    """
    alive = [entity for entity in entities if not entity.merged_into]
    nearby: dict[tuple[str, str], list[Entity]] = {}
    for entity in alive:
        for mark in _marks(entity):
            nearby.setdefault(mark, []).append(entity)
    wanted = set(fresh)
    found: dict[tuple[str, str], tuple[Entity, Entity, Likeness]] = {}
    for entity in (one for one in alive if one.id in wanted):
        for other in {other.id: other for mark in _marks(entity) for other in nearby[mark]}.values():
            pair = (min(entity.id, other.id), max(entity.id, other.id))
            if pair in found or entity.id == other.id:
                continue
            mine, theirs = context.get(entity.id, frozenset()), context.get(other.id, frozenset())
            shared = len(mine & theirs) / max(1, min(len(mine), len(theirs))) if mine and theirs else 0.0
            like = likeness(entity, other, shared=shared, side_by_side=pair in together)
            if like:
                duplicate, into = sorted((entity, other), key=lambda e: (e.mentions, -e.created_at.timestamp(), e.id))
                found[pair] = (duplicate, into, like)
    return sorted(found.values(), key=lambda item: -item[2].confidence)


def _marks(entity: Entity) -> set[tuple[str, str]]:
    """What names that may be one share at least: the type, and a first letter or a first sound."""
    heard = [_sound(name) for name in _names(entity)]
    return {(entity.type, mark) for written, sounds in heard for mark in (written[:1], "~" + sounds[0][:1])}
