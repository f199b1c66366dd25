"""What is written down about a turn: its trace, and its events.

The trace is additive and for people who look into what happened; no decision reads it. It holds the operations that
took effect and sentences about those that did not, never a prompt and never what a model answered. What leaves the
store (an event, a stream) is thinner still: names of fields, states and numbers, no values.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from tenuto.records.workflow import Workflow, WorkflowTurn
from tenuto.workflow.turn import Decision


def trace(
    id: str, channel: str, before: Workflow, decided: Decision, now: datetime, message_id: str | None = None
) -> WorkflowTurn:
    """The row of one turn."""
    return WorkflowTurn(
        id=id,
        workflow_id=before.id,
        turn=decided.workflow.turn,
        at=now,
        state_before=before.state,
        state_after=decided.workflow.state,
        channel=channel,
        intent=decided.intent,
        confidence=decided.confidence,
        proposed_by=decided.made_by,
        applied=decided.applied,
        staged=decided.staged,
        refused=decided.refused,
        question_key=decided.question.key if decided.question is not None else None,
        moves=decided.moves,
        digest=decided.digest,
        message_id=message_id,
    )


def redacted(turn: WorkflowTurn) -> dict[str, Any]:
    """A turn as it may be streamed: what happened to which field, and how sure; no value and no sentence."""
    return {
        "turn": turn.turn,
        "at": turn.at.isoformat(),
        "from": turn.state_before,
        "to": turn.state_after,
        "intent": turn.intent,
        "confidence": turn.confidence,
        "proposed_by": turn.proposed_by,
        "applied": _names(turn.applied),
        "staged": _names(turn.staged),
        "refused": len(turn.refused),
        "question_key": turn.question_key,
    }


def happenings(before: Workflow, decided: Decision) -> list[tuple[str, dict[str, Any]]]:
    """The events of a turn as (kind, data), by names and never by values."""
    after = decided.workflow
    found: list[tuple[str, dict[str, Any]]] = []
    if decided.applied:
        found.append(("workflow.changed", {"fields": _names(decided.applied)}))
    if decided.staged:
        data = {"fields": _names(decided.staged), "digest": decided.digest, "replaces": decided.replaced}
        found.append(("workflow.staged", data))
    elif decided.replaced is not None:
        found.append(("workflow.withdrawn", {"digest": decided.replaced}))
    if decided.settlement is not None:
        found.append(("workflow.answered", {"settlement": decided.settlement.value}))
    if after.state != before.state:
        found.append(("workflow.moved", {"from": before.state, "through": list(decided.moves), "to": after.state}))
    question = decided.question.key if decided.question is not None else None
    turn = {"turn": after.turn, "intent": decided.intent, "confidence": decided.confidence, "question": question}
    found.append(("workflow.turn", {**turn, "made_by": decided.made_by, "refused": len(decided.refused)}))
    return found


def _names(operations: tuple[dict[str, Any], ...]) -> list[str]:
    return [str(operation["path"])[1:] for operation in operations]
