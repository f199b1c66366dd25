"""The flow: a message comes in, a record goes out, in one short transaction.

    read → parsers read, the model proposes (outside of any transaction) → lock, read again, decide, store → reply

The decision is made on the record as it is under the lock, so two messages at once are two turns, one after the other.
The record, the trace and the events become durable together. What the parsers and the model said is thrown away: only
what was decided is kept.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from tenuto.deps import Deps
from tenuto.errors import InputError, ModelError, NotFound
from tenuto.language.consent import Consent, consent
from tenuto.ports import Model, Reader, Transaction
from tenuto.records.conversation import Session
from tenuto.records.operations import Event
from tenuto.records.scope import Scope
from tenuto.records.workflow import Artifact, Workflow
from tenuto.text import clean
from tenuto.workflow import decide, draft
from tenuto.workflow.collector import is_live
from tenuto.workflow.decide import Heard
from tenuto.workflow.definition import Definition
from tenuto.workflow.propose import ANSWER_SCHEMA, MODEL, SYSTEM, Proposal, prompt, read_answer, read_message
from tenuto.workflow.trace import happenings, trace
from tenuto.workflow.turn import Decision

SUBJECT = "workflow"


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkflowReply:
    """What a turn came to, for the person (``text``, ``question``) and for the program (everything else)."""

    workflow_id: str
    state: str
    spec: dict[str, Any]
    text: str
    question: str | None
    question_key: str | None
    pending: str | None
    """The staged change as it was shown, while it can be answered; ``digest`` is what its answer is bound to."""
    digest: str | None
    missing: tuple[str, ...]
    clashes: tuple[str, ...]
    applied: tuple[dict[str, Any], ...]
    staged: tuple[dict[str, Any], ...]
    refused: tuple[str, ...]
    replaced: str | None
    settlement: str | None
    moves: tuple[str, ...]
    turn: int
    made_by: str
    duplicate: bool = False
    events: tuple[Event, ...] = field(default=())


def begin(
    deps: Deps,
    scope: Scope,
    definition: Definition,
    *,
    id: str | None = None,
    given: Mapping[str, Any] | None = None,
    session_id: str | None = None,
) -> Workflow:
    """Open the workflow with this id, or start a new one. ``given`` fills a new one, and only a new one."""
    now = deps.clock()
    wanted = clean.name(id, deps.policy.limits, what="workflow id") if id is not None else deps.ids("wfl", now)
    fresh = decide.start(
        definition,
        id=wanted,
        now=now,
        policy=deps.policy.workflow,
        given=given,
        persona=scope.persona,
        session_id=session_id,
    )
    with deps.store.writing(scope.user) as tx:
        known = tx.get(Workflow, wanted)
        if known is not None:
            return decide.current(definition, _visible(known, scope))
        tx.put(fresh, _event(deps, scope, fresh, "workflow.started", now, {"definition": definition.name}))
    return fresh


def read(deps: Deps, scope: Scope, definition: Definition, id: str) -> Workflow:
    """The record as it stands, migrated in memory if its definition has moved on."""
    with deps.store.reading(scope.user) as reader:
        return deepcopy(_load(reader, scope, definition, id))


def advance(
    deps: Deps,
    scope: Scope,
    definition: Definition,
    id: str,
    text: str,
    *,
    at: datetime | None = None,
    message_id: str | None = None,
    seen: str | None = None,
    external: bool = False,
    session_id: str | None = None,
    kept_as: str | None = None,
    model: Model | None = None,
) -> WorkflowReply:
    """One message, one turn. ``kept_as`` is our id of the message, where it is in the conversation."""
    said = clean.text(text, deps.policy.limits)
    now = deps.clock()
    heard = Heard(
        text=said,
        channel=scope.channel,
        at=now if at is None else clean.moment(at),
        external=external,
        id=clean.optional_name(message_id, deps.policy.limits, what="message id"),
        seen=seen,
    )
    before = read(deps, scope, definition, id)
    asked = () if external else decide.fields_asked(definition, before, now)
    proposal = _propose(deps, definition, before, heard, model or deps.model)

    def turn(workflow: Workflow, at: datetime) -> Decision:
        understood = read_message(definition, said, asked, heard.at, workflow.spec)
        return decide.hear(definition, workflow, heard, understood, proposal, at, deps.policy.workflow)

    return change(
        deps,
        scope,
        definition,
        id,
        turn,
        session_id=session_id,
        message_id=kept_as or heard.id,
    )


def change(
    deps: Deps,
    scope: Scope,
    definition: Definition,
    id: str,
    decision: Callable[[Workflow, datetime], Decision],
    *,
    session_id: str | None = None,
    message_id: str | None = None,
) -> WorkflowReply:
    """The one door to a stored workflow: read under the lock, decide, store the record, its trace and its events."""
    now = deps.clock()
    with deps.store.writing(scope.user) as tx:
        before = _load(tx, scope, definition, id)
        decided = decision(before, now)
        if decided.duplicate:
            return _reply(decided, (), now)
        if session_id is not None and _moves_to(tx, before.session_id, session_id):
            decided = replace(decided, workflow=replace(decided.workflow, session_id=session_id))
        events = tuple(
            _event(deps, scope, decided.workflow, kind, now, data) for kind, data in happenings(before, decided)
        )
        tx.put(decided.workflow, trace(deps.ids("wft", now), scope.channel, before, decided, now, message_id), *events)
    return _reply(decided, events, now)


def home(deps: Deps, scope: Scope, workflow: Workflow) -> str | None:
    """The caller's own id of the session that a workflow lives in; ``None`` where it goes along with the talk."""
    if workflow.session_id is None:
        return None
    with deps.store.reading(scope.user) as reader:
        session = reader.get(Session, workflow.session_id)
    return session.external_id if session is not None else workflow.session_id


def _moves_to(tx: Transaction, here: str | None, there: str) -> bool:
    """Does a workflow follow a message into its session?

    From a run of talk it does. A session that has the caller's own id it never leaves; begun with such an id, it lives
    in that session from the first message on.
    """
    if here is None:
        return True
    session = tx.get(Session, here)
    if session is not None:
        return session.external_id is None
    target = tx.get(Session, there)
    return target is not None and target.external_id == here


def keep_artifact(
    deps: Deps, scope: Scope, workflow_id: str, content: Mapping[str, Any], *, kind: str = "artifact"
) -> Artifact:
    """Keep what a workflow produced, or what was handed in for it, beside it. The workflow itself does not change."""
    if kind not in ("artifact", "submission"):
        raise InputError(f"An artifact is of the kind 'artifact' or 'submission', not {kind[:40]!r}.")
    rules = deps.policy.workflow
    limits = replace(rules, value_bytes=rules.artifact_bytes, keys=rules.artifact_bytes)
    plain = dict(content)
    if why := draft.why_not_plain(plain, limits):
        raise InputError(f"The {kind} cannot be kept: {why}.", code="artifact_refused")
    now = deps.clock()
    artifact = Artifact(id=deps.ids("art", now), workflow_id=workflow_id, kind=kind, created_at=now, content=plain)
    with deps.store.writing(scope.user) as tx:
        workflow = tx.get(Workflow, workflow_id)
        if workflow is None:
            raise _unknown(workflow_id)
        tx.put(artifact, _event(deps, scope, _visible(workflow, scope), f"workflow.{kind}", now, {"id": artifact.id}))
    return artifact


def _propose(deps: Deps, definition: Definition, workflow: Workflow, heard: Heard, model: Model | None) -> Proposal:
    """What the model makes of the message. A plain yes or no is never shown to it."""
    if model is None or not definition.machine.may_change(workflow.state):
        return Proposal()
    if not heard.external and consent(heard.text) is not Consent.UNCLEAR:
        return Proposal()
    by = f"{MODEL}:{model.name}"
    fence = deps.ids("fence", heard.at)
    try:
        answer = model.complete(
            system=SYSTEM,
            user=prompt(definition, workflow, workflow.question, heard.text, fence),
            schema=ANSWER_SCHEMA,
        )
    except ModelError:
        return Proposal(refused=("The model did not answer; only what could be read directly was taken.",))
    return read_answer(answer.text, by, deps.policy.workflow)


def _load(reader: Reader | Transaction, scope: Scope, definition: Definition, id: str) -> Workflow:
    found = reader.get(Workflow, id)
    if found is None:
        raise _unknown(id)
    return decide.current(definition, _visible(found, scope))


def _visible(workflow: Workflow, scope: Scope) -> Workflow:
    """A workflow belongs to the persona that it was begun with."""
    if workflow.persona is not None and workflow.persona != scope.persona:
        raise _unknown(workflow.id)
    return workflow


def _unknown(id: str) -> NotFound:
    return NotFound(f"There is no workflow '{id[:80]}'.", code="workflow_unknown")


def _event(deps: Deps, scope: Scope, workflow: Workflow, kind: str, now: datetime, data: dict[str, Any]) -> Event:
    return Event(
        id=deps.ids("evt", now),
        kind=kind,
        at=now,
        subject_kind=SUBJECT,
        subject_id=workflow.id,
        channel=scope.channel,
        persona=workflow.persona,
        data=data,
    )


def _reply(decided: Decision, events: tuple[Event, ...], now: datetime) -> WorkflowReply:
    after, pending = decided.workflow, decided.workflow.pending
    return WorkflowReply(
        workflow_id=after.id,
        state=after.state,
        spec=deepcopy(after.spec),
        text=decided.text,
        question=decided.question.text if decided.question is not None else None,
        question_key=decided.question.key if decided.question is not None else None,
        pending=pending.shown if pending is not None and is_live(pending, now) else None,
        digest=pending.digest if pending is not None else None,
        missing=decided.verdict.missing,
        clashes=tuple(clash.message for clash in decided.verdict.clashes),
        applied=decided.applied,
        staged=decided.staged,
        refused=decided.refused,
        replaced=decided.replaced,
        settlement=decided.settlement.value if decided.settlement is not None else None,
        moves=decided.moves,
        turn=after.turn,
        made_by=decided.made_by,
        duplicate=decided.duplicate,
        events=events,
    )
