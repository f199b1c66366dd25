"""How one turn is gated and written into a new record.

Each proposed change takes one of three ways:

    ============================  ==============  ==============
    the field is                  stated          inferred
    ============================  ==============  ==============
    soft                          applied         applied
    hard                          applied         staged
    locked                        staged          refused
    ============================  ==============  ==============

What came from outside is staged in every case, shown, and takes effect only when the person says it themselves. In a
state that needs a complete spec, changes are applied or staged together, and only if they leave it complete.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from tenuto.policy import WorkflowPolicy
from tenuto.records.workflow import Lock, PendingPatch, Workflow
from tenuto.workflow import collector, draft, machine
from tenuto.workflow.collector import Settlement, is_live
from tenuto.workflow.definition import Definition
from tenuto.workflow.draft import Change
from tenuto.workflow.questions import Question, last_question, next_question, still_open
from tenuto.workflow.shape import Verdict

USER = "user"
PARSER = "parser"


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """The record after the turn, and everything that the turn did."""

    workflow: Workflow
    verdict: Verdict
    intent: str
    text: str = ""
    confidence: float = 1.0
    made_by: str = USER
    applied: tuple[dict[str, Any], ...] = ()
    staged: tuple[dict[str, Any], ...] = ()
    refused: tuple[str, ...] = ()
    replaced: str | None = None
    settlement: Settlement | None = None
    digest: str | None = None
    moves: tuple[str, ...] = ()
    question: Question | None = None
    duplicate: bool = False


@dataclass(frozen=True, slots=True)
class Turn:
    """What a turn has come to so far.

    ``refused`` is told to the person; ``dropped`` is not: it is about what a model proposed, and may quote it.
    """

    applied: list[Change] = field(default_factory=list)
    staged: list[Change] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    dropped: list[str] = field(default_factory=list)


def gate(
    definition: Definition,
    workflow: Workflow,
    changes: Iterable[Change],
    policy: WorkflowPolicy,
    *,
    external: bool,
    now: datetime,
) -> Turn:
    """Which way each change takes. Every change is judged again here, whoever judged it before."""
    turn = Turn()
    locked = {lock.field for lock in workflow.locks if lock.locked}
    for change in changes:
        read = draft.read_patch(definition, workflow.spec, [change.operation(workflow.spec)], policy)
        told = turn.refused if change.by in (USER, PARSER) else turn.dropped
        told.extend(read.refused)
        if not read.changes:
            continue
        if external:
            turn.staged.append(change)
        elif change.field in locked:
            if change.explicit:
                turn.staged.append(change)
            else:
                turn.dropped.append(f"'{change.field}' is settled; only the person can change it, by saying so.")
        elif definition.fields[change.field].hard and not change.explicit:
            turn.staged.append(change)
        else:
            turn.applied.append(change)
    if definition.machine.must_be_complete(workflow.state):
        _keep_complete(definition, workflow, turn, external=external)
    if turn.staged and external and holds_the_floor(workflow.pending, now):
        turn.refused.append("Text from outside proposes a change while another one waits for an answer.")
        turn.staged.clear()
    _keep_valid(definition, workflow, turn)
    return turn


def _keep_complete(definition: Definition, workflow: Workflow, turn: Turn, *, external: bool) -> None:
    """Where the spec has to stay complete, the changes go together or not at all."""
    together = [*turn.applied, *turn.staged]
    if not together:
        return
    verdict = definition.judge(draft.apply(definition, workflow.spec, together))
    if not verdict.complete:
        turn.refused.append(f"In {workflow.state} the spec has to stay complete. {still_open(verdict)}")
        turn.applied.clear()
        turn.staged.clear()
    elif turn.staged and not external:
        turn.staged[:] = together
        turn.applied.clear()


def _keep_valid(definition: Definition, workflow: Workflow, turn: Turn) -> None:
    """Fields may be right one by one and make another one wrong: then none of the group goes through."""
    for group in (turn.applied, turn.staged):
        invalid = definition.judge(draft.apply(definition, workflow.spec, group)).invalid if group else {}
        if invalid:
            name, why = next(iter(invalid.items()))
            turn.refused.append(f"Together these changes make '{name}' invalid: {why}.")
            group.clear()


def holds_the_floor(pending: PendingPatch | None, now: datetime) -> bool:
    """Does a change wait for a yes or no?"""
    return pending is not None and is_live(pending, now) and not pending.needs_restatement


def close(
    definition: Definition,
    workflow: Workflow,
    turn: Turn,
    intent: str,
    now: datetime,
    policy: WorkflowPolicy,
    *,
    channel: str = "",
    external: bool = False,
    settlement: Settlement | None = None,
    made_by: str = USER,
    moves: bool = True,
) -> Decision:
    """Write the turn into a new record: draft, locks, pending change, state, question."""
    before = workflow
    applied = tuple(change.operation(before.spec) for change in turn.applied)
    spec = draft.apply(definition, before.spec, turn.applied) if turn.applied else before.spec
    verdict = definition.judge(spec)
    workflow = replace(
        before,
        spec=spec,
        locks=settle_locks(definition, before, turn.applied, now),
        turn=before.turn + 1,
        updated_at=now,
    )
    pending, replaced = _pending(workflow, before, turn, settlement, channel, now, policy, external=external)
    workflow = replace(workflow, pending=pending)
    waiting = holds_the_floor(pending, now)
    passed: tuple[str, ...] = ()
    if moves:
        complete = verdict.complete and not waiting
        passed = machine.steps_after_message(definition.machine, before.state, complete=complete)
        for target in passed:
            workflow = replace(workflow, state=machine.move(definition.machine, workflow.state, target))
    question = None
    if not external and definition.machine.may_change(workflow.state):
        question = next_question(definition, workflow, verdict, now)
        asked = (*workflow.asked, question.key if question else "")[-policy.asked :]
        standing = question or last_question(definition, replace(workflow, asked=asked), verdict, now)
        workflow = replace(workflow, asked=asked, question=standing.text if standing else "")
    elif not external:
        workflow = replace(workflow, question="")
    makers = sorted({change.by for change in (*turn.applied, *turn.staged)})
    fresh = pending is not None and pending is not before.pending
    decision = Decision(
        workflow=workflow,
        verdict=verdict,
        intent=intent,
        confidence=min((change.confidence for change in (*turn.applied, *turn.staged)), default=1.0),
        made_by=", ".join(makers) or made_by,
        applied=applied,
        staged=pending.patch if pending is not None and fresh else (),
        refused=(*turn.refused, *turn.dropped),
        replaced=replaced,
        settlement=settlement,
        digest=pending.digest if pending is not None else None,
        moves=passed,
        question=question,
    )
    return replace(decision, text=_reply(decision, before, turn.refused, waiting=waiting))


def _pending(
    workflow: Workflow,
    before: Workflow,
    turn: Turn,
    settlement: Settlement | None,
    channel: str,
    now: datetime,
    policy: WorkflowPolicy,
    *,
    external: bool,
) -> tuple[PendingPatch | None, str | None]:
    """The change that waits after this turn, and the digest of one that it displaced."""
    old = before.pending
    if settlement in (Settlement.CONFIRMED, Settlement.REFUSED):
        return None, None
    if turn.staged:
        numbered = replace(workflow, turn=before.turn)
        staged = turn.staged if external else [*_still_waiting(old, turn.staged, channel, now), *turn.staged]
        new = collector.stage(numbered, staged, channel=channel, now=now, policy=policy, external=external)
        displaced = old is not None and is_live(old, now) and new is not old
        return new, old.digest if old is not None and displaced else None
    if old is None or not turn.applied:
        return old, None
    touched = {change.field for change in turn.applied}
    if not is_live(old, now):
        return None, None
    if any(str(operation["path"])[1:] in touched for operation in old.patch):
        return None, old.digest
    return old, None


def _still_waiting(
    old: PendingPatch | None, staged: Iterable[Change], channel: str, now: datetime
) -> tuple[Change, ...]:
    """What is waiting for an answer here about other fields: it is shown again together with the new change."""
    if old is None or not holds_the_floor(old, now) or old.channel != channel:
        return ()
    newer = {change.field for change in staged}
    waiting = draft.from_operations(old.patch, explicit=True, confidence=1.0, by=old.proposed_by)
    return tuple(change for change in waiting if change.field not in newer)


def settle_locks(
    definition: Definition, workflow: Workflow, changes: Iterable[Change], now: datetime
) -> tuple[Lock, ...]:
    locks = {lock.field: lock for lock in workflow.locks}
    for change in changes:
        if change.remove:
            locks.pop(change.field, None)
            continue
        needed = definition.lock_at(change.field)
        locks[change.field] = Lock(
            field=change.field,
            value=change.value,
            confidence=change.confidence,
            explicit=change.explicit,
            at=now,
            locked=needed is not None and change.confidence >= needed,
        )
    return tuple(locks.values())


def _reply(decision: Decision, before: Workflow, refused: Iterable[str], *, waiting: bool) -> str:
    """What the person is told, in the same words for the same turn."""
    workflow = decision.workflow
    parts = []
    if decision.settlement is not None:
        parts.append(collector.SAYS[decision.settlement])
    if decision.applied and decision.settlement is None:
        parts.append(f"Noted: {', '.join(_noted(operation) for operation in decision.applied)}.")
    parts.extend(refused)
    if decision.replaced is not None and before.pending is not None and not _carried(before.pending, workflow.pending):
        parts.append(f"This replaces the earlier proposal ({before.pending.shown})")
    asks = decision.question.text if decision.question is not None else ""
    if workflow.pending is not None and (decision.staged or waiting) and workflow.pending.shown != asks:
        parts.append(f"{'' if decision.staged else 'Still waiting for an answer: '}{workflow.pending.shown}")
    if asks:
        parts.append(asks)
    elif not waiting and not decision.verdict.complete:
        parts.append(still_open(decision.verdict))
    elif decision.moves and decision.moves[-1] != before.state:
        parts.append(f"Now {decision.moves[-1]}.")
    return "\n".join(parts)


def _carried(old: PendingPatch, new: PendingPatch | None) -> bool:
    """Is all that waited still part of what waits?"""
    return new is not None and all(operation in new.patch for operation in old.patch)


def _noted(operation: dict[str, Any]) -> str:
    name = str(operation["path"])[1:].replace("_", " ")
    return f"{name} cleared" if operation["op"] == "remove" else f"{name} {collector.show(operation['value'])}"
