"""How much a memory matters, 0–10, by the rubric.

10 life-critical (allergy, emergency contact, name) · 8–9 critical (diagnosis, medication, relationship) · 6–7
preferences and history · 4–5 routines · 1–3 small talk. A rule brings its own weight; a domain lexicon sets a floor;
strong feeling adds up to one. Reinforcement raises it later (:mod:`tenuto.ingest.reconcile.decide`). Messages have
:mod:`tenuto.ingest.message_importance`.
"""

from __future__ import annotations

from collections.abc import Sequence

from tenuto.language.lexicon import Lexicon
from tenuto.records.memory import Sensitivity

GENERAL = 5.0
"""A statement that no rule knows, of average substance."""


def memory_importance(base: float, text: str, arousal: float, lexicons: Sequence[Lexicon], *, known: bool) -> float:
    """``base`` by the rule, raised by domain terms (fully where a rule knows the fact) and by feeling."""
    floor = max((lexicon.importance for lexicon in lexicons if lexicon.found(text)), default=0.0)
    if not known:
        floor = max(0.0, floor - 1.5)
    return round(min(10.0, max(base, floor) + (arousal if not known else 0.5 * arousal)), 1) if base < 10 else 10.0


def sensitivity_of(text: str, found: Sequence[Lexicon]) -> Sensitivity:
    """Described, never a gate: what a medical word touches is at least medium."""
    return (
        Sensitivity.MEDIUM
        if any(lexicon.name == "medical" and lexicon.found(text) for lexicon in found)
        else Sensitivity.LOW
    )
