"""May this be handed over for this query? One pure decision per record, with the rule that decided.

In order: the persona (its own or what all share), the trust (what came from outside waits for a confirmation), the
status, the validity in time (what was superseded answers only questions about the past), and last the owner's wish not
to be reminded (``proactive_use = no`` needs a query that names the thing). Sensitivity is described, never a gate.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from tenuto.recall.entry import Indexed
from tenuto.records.conversation import Message, Summary
from tenuto.records.memory import RECALLED, Memory, Proactive, Status, Todo, TodoStatus, Trust


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What the gate must know of the query."""

    now: datetime
    persona: str | None = None
    any_persona: bool = False
    past: bool = False
    """The question is about what was, so superseded facts may answer."""
    outside: bool = False
    """The caller asked for what came from outside and is not vouched for."""
    statuses: frozenset[str] = frozenset()
    """Statuses that the caller named; empty means the recalled ones."""
    anchor: float = 0.65
    """The cosine from which a query names a memory explicitly."""


OUTDATED = "no longer true, and the question is about now"


@dataclass(frozen=True, slots=True)
class Verdict:
    passed: bool
    rule: str


SAID, KEPT = Verdict(True, "said by the user"), Verdict(True, "kept")


def gate(record: Indexed, asked: Asked, cosine: float | None = None) -> Verdict:
    """Decide on one record; ``cosine`` is its similarity with the query, ``None`` where there is no vector."""
    if not asked.any_persona and record.persona is not None and record.persona != asked.persona:
        return Verdict(False, f"belongs to the persona '{record.persona}'")
    if record.trust is Trust.EXTERNAL and not asked.outside:
        return Verdict(False, "came from outside and was not confirmed")
    if isinstance(record, Message):
        return SAID if record.role == "user" else KEPT
    if isinstance(record, Memory):
        return _memory(record, asked, cosine)
    if isinstance(record, Todo):
        return _todo(record, asked)
    if isinstance(record, Summary) and not record.current and not asked.past:
        return Verdict(False, "an older version of a summary")
    return KEPT


def _memory(record: Memory, asked: Asked, cosine: float | None) -> Verdict:
    superseded = record.superseded_by is not None or (record.valid_to is not None and record.valid_to <= asked.now)
    if asked.statuses:
        if record.status not in asked.statuses:
            return Verdict(False, f"status {record.status} was not asked for")
    elif record.status is Status.CANDIDATE and not asked.outside:
        return Verdict(False, "a candidate that was not confirmed")
    elif superseded:
        if record.status in (Status.FORGOTTEN, Status.ARCHIVED):
            return Verdict(False, f"status {record.status}")
        if not asked.past:
            return Verdict(False, OUTDATED)
        return Verdict(True, "was true before, and the question is about the past")
    elif record.status not in RECALLED and record.status is not Status.CANDIDATE:
        return Verdict(False, f"status {record.status}")
    if record.proactive_use is Proactive.NO:
        if cosine is None or cosine < asked.anchor:
            return Verdict(False, "only brought up when it is named, and the query does not name it")
        return Verdict(True, f"named by the query (similarity {cosine:.2f})")
    return Verdict(True, "pinned" if record.pinned else str(record.status))


def _todo(record: Todo, asked: Asked) -> Verdict:
    if asked.statuses:
        return Verdict(record.status in asked.statuses, f"status {record.status}")
    if record.status is TodoStatus.OPEN or asked.past:
        return Verdict(True, f"{record.kind}, {record.status}")
    return Verdict(False, f"{record.status}, and the question is about now")
