"""How strong a memory still is, and what that means.

    strength = 0.5 ^ (time since it was last said / (half_life × slowness))
    slowness = stability × (1 + arousal) × 2^((importance − 5) / 5) × (1 + log₂(evidence) / 2)

An unremarkable memory (importance 5, one evidence, calm) halves in ``fading.half_life``; what was intense, important or
said often fades slower, as it does with people. Pins and ``proactive_use = yes`` never fall below ``fading.floor``. A
memory that time has not reached yet (a clock set back) is at full strength.

Strength first lowers the rank. Only what is weak *and* of little importance is archived, never what is pinned, may be
brought up, carries an instruction or is life-critical; archived is reversible and nothing is deleted.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from math import log2

from tenuto.policy import FadingPolicy
from tenuto.records.memory import RECALLED, Memory, Proactive

PROTECTED_IMPORTANCE = 8.0
"""From here on nothing fades out of recall, whatever the policy says."""


@dataclass(frozen=True, slots=True)
class Faded:
    """One memory that would be archived, and how strong it is."""

    memory_id: str
    content: str
    strength: float
    reason: str


def slowness(memory: Memory) -> float:
    """How much slower than an unremarkable memory this one fades."""
    evidence = max(1, len(memory.evidence), memory.reinforcements + 1)
    importance = max(0.0, min(10.0, memory.importance))
    arousal = max(0.0, min(1.0, memory.arousal))
    return max(0.05, memory.stability) * (1 + arousal) * 2 ** ((importance - 5) / 5) * (1 + log2(evidence) / 2)


def strength(memory: Memory, now: datetime, policy: FadingPolicy) -> float:
    """0–1."""
    said = memory.last_reinforced_at or memory.valid_from or memory.created_at
    passed = max(now - max(said, memory.created_at), timedelta(0))
    value = float(0.5 ** (passed / (policy.half_life * slowness(memory))))
    return max(value, policy.floor) if is_floored(memory) else value


def is_floored(memory: Memory) -> bool:
    return memory.pinned or memory.proactive_use is Proactive.YES


def may_archive(memory: Memory, policy: FadingPolicy) -> bool:
    """Whether fading and the curator may take this memory out of recall at all."""
    return (
        memory.status in RECALLED
        and not is_floored(memory)
        and memory.should_do is None
        and memory.should_not_do is None
        and memory.importance <= policy.archive_importance
        and memory.importance < PROTECTED_IMPORTANCE
    )


def plan(memories: Iterable[Memory], now: datetime, policy: FadingPolicy) -> list[Faded]:
    """What would be archived, weakest first."""
    found = []
    for memory in memories:
        if not may_archive(memory, policy):
            continue
        value = strength(memory, now, policy)
        if value < policy.archive_below:
            reason = f"faded: strength {value:.3f} below {policy.archive_below:g}, importance {memory.importance:g}"
            found.append(Faded(memory.id, memory.content, round(value, 4), reason))
    return sorted(found, key=lambda faded: (faded.strength, faded.memory_id))
