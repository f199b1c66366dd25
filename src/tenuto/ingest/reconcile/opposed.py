"""Does a statement contradict what is known? Pure."""

from __future__ import annotations

from collections.abc import Sequence

from tenuto.ingest.candidate import Candidate, negative
from tenuto.ingest.reconcile.retire import Known
from tenuto.ingest.reconcile.same_statement import agree, subject_of, undated
from tenuto.policy import Calibration
from tenuto.records.memory import Kind, Memory
from tenuto.text.words import tokens

OPPOSITE = {"like": "dislike", "dislike": "like"}


def opposed(candidate: Candidate, current: Sequence[Known], calibration: Calibration) -> Known | None:
    for one in sorted(current, key=lambda known: -known.similarity):
        memory = one.memory
        if subject_of(memory) != candidate.subject or memory.kind is Kind.CONTRADICTION:
            continue
        if candidate.attribute and candidate.value and memory.value and agree(candidate.value, memory.value):
            flipped = memory.attribute == OPPOSITE.get(candidate.attribute)
            contrary = memory.attribute == candidate.attribute and _denies(candidate) != denied(memory)
            if flipped or contrary:
                return one
        if candidate.attribute is not None or memory.attribute is not None or one.similarity < calibration.upgrade:
            continue
        opposite = negative(candidate.content) != negative(memory.content)
        if opposite and _shared(candidate.content, memory.content) >= 0.6:
            return one
    return None


def _denies(candidate: Candidate) -> bool:
    return candidate.negated or candidate.ends


def denied(memory: Memory) -> bool:
    return bool(memory.metadata.get("ends") or memory.metadata.get("negated"))


def _shared(one: str, other: str) -> float:
    a, b = set(tokens(undated(one))), set(tokens(undated(other)))
    return len(a & b) / max(1, min(len(a), len(b)))
