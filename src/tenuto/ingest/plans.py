"""What was planned for a day holds once the day has come: where somebody lives, works or studies then.

Nobody says on 1 October that they now work where they said they would. The plan becomes what is true now, from its day
on, and takes the place of what held before; if something else was said since, that stands and the plan is history.
"""

from __future__ import annotations

from datetime import datetime

from tenuto.ingest.candidate import Candidate
from tenuto.ingest.extract.attributes import ATTRIBUTES
from tenuto.ingest.reconcile.changed import PLANNED
from tenuto.ingest.reconcile.same_statement import subject_of
from tenuto.ingest.reconcile.versions import superseded
from tenuto.ingest.write import Writing, settle
from tenuto.language.render import as_now
from tenuto.ports import Where
from tenuto.records.memory import RECALLED, Memory

_COME_TRUE = ("home", "job", "employer", "study")


def hold_due_plans(writing: Writing, at: datetime) -> None:
    """Let every plan hold whose day is not after ``at``."""
    planned = Where("attribute", "in", [PLANNED + name for name in _COME_TRUE])
    for plan in writing.tx.find(Memory, planned, Where("status", "in", sorted(RECALLED))):
        content = as_now(plan.content) if plan.happens_at is not None and plan.happens_at <= at else None
        if content is None:
            continue
        _, memory = settle(writing, _come_true(plan, content), None)
        if memory is not None:
            writing.tx.put(superseded(plan, by=memory, now=writing.now))


def _come_true(plan: Memory, content: str) -> Candidate:
    attribute = (plan.attribute or "").removeprefix(PLANNED)
    said = plan.evidence[-1] if plan.evidence else None
    return Candidate(
        content=content,
        domain=plan.domain,
        kind=plan.kind,
        at=plan.happens_at or plan.updated_at,
        subject=subject_of(plan),
        attribute=attribute,
        value=plan.value,
        single=ATTRIBUTES[attribute].single,
        entities=plan.entities,
        label=plan.label,
        importance=plan.importance,
        confidence=plan.confidence,
        epistemic=plan.epistemic,
        sensitivity=plan.sensitivity,
        trust=plan.trust,
        status=plan.status,
        source=plan.source,
        surface=plan.surface,
        made_by=plan.made_by,
        rule=attribute,
        persona=plan.persona,
        session_id=plan.session_id,
        message_id=said.message_id if said is not None else None,
        channel=said.channel if said is not None else None,
        quote=said.quote if said is not None else None,
        valid_from=plan.happens_at,
    )
