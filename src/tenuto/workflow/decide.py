"""One turn of a workflow, as a pure function of the record and what was said.

Nothing here reads the trace, the clock or the model's confidence in itself: a decision follows from the record, the
words, and code. The record that comes back is valid, or an error is raised and there is none. Discarding a decision
discards the turn: until the record is stored, nothing has happened.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from tenuto.errors import Conflict, InputError, StoreCorrupt
from tenuto.language.consent import Consent, consent
from tenuto.policy import WorkflowPolicy
from tenuto.records.workflow import Workflow
from tenuto.workflow import collector, draft, machine
from tenuto.workflow.collector import Answer, Settlement, is_live
from tenuto.workflow.definition import Definition, migrate
from tenuto.workflow.draft import Change
from tenuto.workflow.propose import Proposal, Understood, merge, restates
from tenuto.workflow.questions import last_question, still_open
from tenuto.workflow.turn import USER, Decision, Turn, close, gate, holds_the_floor, settle_locks

EXTERNAL = "external"


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """A message as the machinery sees it. ``seen``: the digest of what the person was looking at, where known."""

    text: str
    channel: str
    at: datetime
    external: bool = False
    id: str | None = None
    seen: str | None = None


def start(
    definition: Definition,
    *,
    id: str,
    now: datetime,
    policy: WorkflowPolicy,
    given: Mapping[str, Any] | None = None,
    persona: str | None = None,
    session_id: str | None = None,
) -> Workflow:
    """A new workflow. ``given`` may fill fields, the fixed ones among them, and is all right or refused."""
    values = dict(given or {})
    for name, value in values.items():
        if name not in definition.fields:
            raise InputError(f"There is no field {name[:60]!r}.", code="patch_refused")
        if definition.fields[name].derive is not None:
            raise InputError(f"'{name}' is computed from other fields and cannot be set.", code="patch_refused")
        if why := draft.why_not_plain(value, policy):
            raise InputError(f"The value for '{name}' is refused: {why}.", code="patch_refused")
    spec = definition.derived(values)
    if invalid := definition.judge(spec).invalid:
        name, why = next(iter(invalid.items()))
        raise InputError(f"The value for '{name}' does not fit: {why}.", code="patch_refused")
    fresh = Workflow(
        id=id,
        definition=definition.name,
        definition_version=definition.version,
        state=definition.machine.initial,
        created_at=now,
        updated_at=now,
        persona=persona,
        session_id=session_id,
        spec=spec,
    )
    changes = [
        Change(field=name, explicit=True, confidence=1.0, value=value, by=USER) for name, value in values.items()
    ]
    return replace(fresh, locks=settle_locks(definition, fresh, changes, now))


def current(definition: Definition, workflow: Workflow) -> Workflow:
    """The stored record as this definition wants it: migrated if it is older, refused if it does not fit."""
    if workflow.definition != definition.name:
        raise Conflict(
            f"Workflow '{workflow.id}' is of the kind '{workflow.definition}', not '{definition.name}'.",
            code="workflow_kind",
        )
    state, spec = migrate(
        definition, workflow.definition_version, workflow.state, workflow.spec, reopened=workflow.reopened
    )
    if workflow.reopened:
        workflow = replace(workflow, state=state, spec=spec, reopened=definition.machine.is_final(state))
    if workflow.definition_version == definition.version:
        if state != workflow.state or spec != workflow.spec:
            raise StoreCorrupt(f"The stored draft of workflow '{workflow.id}' does not agree with its own definition.")
        return workflow
    locks = tuple(lock for lock in workflow.locks if spec.get(lock.field) == lock.value and lock.field in spec)
    return replace(
        workflow,
        definition_version=definition.version,
        state=state,
        spec=spec,
        locks=locks,
        pending=None,
        asked=(),
        question="",
    )


def hear(
    definition: Definition,
    workflow: Workflow,
    heard: Heard,
    understood: Understood,
    proposal: Proposal,
    now: datetime,
    policy: WorkflowPolicy,
) -> Decision:
    """The turn that a message makes."""
    if heard.id is not None and heard.id in workflow.heard:
        verdict = definition.judge(workflow.spec)
        return Decision(workflow=workflow, verdict=verdict, intent="duplicate", duplicate=True)
    remembered = (*workflow.heard, heard.id)[-policy.heard :] if heard.id is not None else workflow.heard
    workflow = replace(workflow, heard=remembered)
    reply = Consent.UNCLEAR if heard.external else consent(heard.text)
    if reply is not Consent.UNCLEAR and (not understood.changes or _is_about_pending(workflow, heard, now)):
        answer = Answer(consent=reply, channel=heard.channel, at=heard.at, seen=heard.seen)
        return _answered(definition, workflow, answer, now, policy)
    if not definition.machine.may_change(workflow.state):
        said = f"This is {workflow.state} and does not change any more."
        return close(definition, workflow, Turn(refused=[said]), "closed", now, policy, moves=False)
    modelled = draft.read_patch(definition, workflow.spec, proposal.operations, policy)
    own = [*understood.changes, *_restatement(definition, workflow, heard, now)]
    changes = merge(
        own,
        [replace(change, by=proposal.by) for change in modelled.changes],
        modelled.confidence,
        policy.inferred_confidence,
    )
    if heard.external:
        changes = [replace(change, explicit=False, by=f"{EXTERNAL}:{change.by}") for change in changes]
    turn = gate(definition, workflow, changes, policy, external=heard.external, now=now)
    turn.dropped.extend([*proposal.refused, *modelled.refused])
    turn.refused.extend(_left_open(understood, changes) if not heard.external else ())
    intent = proposal.intent or ("inform" if changes else "talk")
    return close(
        definition, workflow, turn, intent, now, policy,
        channel=heard.channel, external=heard.external, made_by=proposal.by, moves=not heard.external,
    )  # fmt: skip


def _left_open(understood: Understood, changes: Sequence[Change]) -> list[str]:
    """What the person is told about fields that they spoke of and that nobody could read."""
    known = {change.field for change in changes}
    return [
        f"{name.replace('_', ' ').capitalize()}: {why}."
        for name, why in understood.unclear.items()
        if name not in known
    ]


def patch(
    definition: Definition, workflow: Workflow, operations: Any, *, channel: str, now: datetime, policy: WorkflowPolicy
) -> Decision:
    """A change that the person makes by hand (a form, a button): explicit, and all of it or nothing."""
    if not definition.machine.may_change(workflow.state):
        raise Conflict(
            f"This workflow is {workflow.state} and its draft does not change any more.", code="workflow_closed"
        )
    read = draft.read_patch(definition, workflow.spec, operations, policy)
    if read.refused:
        raise InputError(read.refused[0], code="patch_refused")
    changes = [replace(change, explicit=True, confidence=1.0, by=USER) for change in read.changes]
    turn = gate(definition, workflow, changes, policy, external=False, now=now)
    if turn.refused:
        raise Conflict(turn.refused[0], code="patch_refused")
    return close(definition, workflow, turn, "edit", now, policy, channel=channel)


def answer(
    definition: Definition, workflow: Workflow, given: Answer, now: datetime, policy: WorkflowPolicy
) -> Decision:
    """A confirmation or refusal by a verb: what has no effect is an error, and nothing is written."""
    collector.demand(collector.settle(workflow, given, now))
    decision = _answered(definition, workflow, given, now, policy)
    if decision.settlement is not None:
        collector.demand(decision.settlement)
    return decision


def step(
    definition: Definition,
    workflow: Workflow,
    target: str,
    now: datetime,
    policy: WorkflowPolicy,
    error: str | None = None,
) -> Decision:
    """An explicit move along a drawn step."""
    machine.move(definition.machine, workflow.state, target)
    verdict = definition.judge(workflow.spec)
    if definition.machine.must_be_complete(target):
        if not verdict.complete:
            raise Conflict(f"'{target}' needs a complete spec. {still_open(verdict)}", code="spec_incomplete")
        pending = workflow.pending
        if pending is not None and is_live(pending, now) and not pending.needs_restatement:
            raise Conflict(f"A change waits for an answer first: {pending.shown}", code="confirmation_pending")
    after = replace(
        workflow, state=target, turn=workflow.turn + 1, updated_at=now, error=error,
        pending=workflow.pending if definition.machine.may_change(target) else None,
    )  # fmt: skip
    waiting = after.pending.digest if after.pending is not None else None
    return Decision(
        workflow=after, verdict=verdict, intent="move", moves=(target,), digest=waiting, text=f"Now {target}."
    )


def _is_about_pending(workflow: Workflow, heard: Heard, now: datetime) -> bool:
    """A yes or no that could also answer the question: it is about a staged change that waits, or was looked at."""
    pending = workflow.pending
    if pending is not None and pending.needs_restatement and is_live(pending, now):
        return False
    return holds_the_floor(pending, now) or bool(heard.seen)


def _restatement(definition: Definition, workflow: Workflow, heard: Heard, now: datetime) -> list[Change]:
    """What text from outside proposed and the person has now said themselves."""
    pending = workflow.pending
    if heard.external or pending is None or not pending.needs_restatement or not is_live(pending, now):
        return []
    if not restates(definition, pending.patch, heard.text, heard.at):
        return []
    return list(draft.from_operations(pending.patch, explicit=True, confidence=1.0, by=USER))


def _answered(
    definition: Definition, workflow: Workflow, given: Answer, now: datetime, policy: WorkflowPolicy
) -> Decision:
    """The turn that a yes or a no makes."""
    settlement = collector.settle(workflow, given, now)
    pending = workflow.pending
    turn = Turn()
    if settlement is Settlement.NOTHING_PENDING:
        turn.refused.extend(
            f"{name.replace('_', ' ').capitalize()}: a bare {given.consent.value} does not answer it."
            for name in fields_asked(definition, workflow, now)
        )
    if pending is not None and settlement is Settlement.CONFIRMED:
        changes = draft.from_operations(pending.patch, explicit=True, confidence=1.0, by=pending.proposed_by)
        after = definition.judge(draft.apply(definition, workflow.spec, changes))
        complete = after.complete or not definition.machine.must_be_complete(workflow.state)
        if after.invalid or not complete or not definition.machine.may_change(workflow.state):
            settlement = Settlement.STALE
        else:
            turn.applied.extend(changes)
    if pending is not None and settlement in (Settlement.CONFIRMED, Settlement.REFUSED):
        workflow = replace(workflow, settled=pending.digest)
    return close(
        definition, workflow, turn, "confirm" if given.consent is Consent.YES else "refuse", now, policy,
        channel=given.channel, settlement=settlement, made_by=pending.proposed_by if pending and turn.applied else USER,
    )  # fmt: skip


def fields_asked(definition: Definition, workflow: Workflow, now: datetime) -> tuple[str, ...]:
    """The fields that a bare answer is about. A staged change is answered by yes or no, never by a bare value."""
    if holds_the_floor(workflow.pending, now):
        return ()
    standing = last_question(definition, workflow, definition.judge(workflow.spec), now)
    return standing.fields if standing is not None else ()
