"""The facade's part for typed work: a handle on one workflow, with one short method per verb.

The handle remembers what it last showed, so that a bare "yes" sent through it confirms that and nothing newer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import Any

from tenuto.call_context import verbs
from tenuto.deps import Deps
from tenuto.ingest.observe import check, observe
from tenuto.language.consent import Consent
from tenuto.ports import Model, Where
from tenuto.records.conversation import Role
from tenuto.records.memory import Trust
from tenuto.records.operations import Receipt
from tenuto.records.scope import Scope
from tenuto.records.workflow import Artifact, PendingPatch, Workflow, WorkflowTurn
from tenuto.workflow import advance as flow
from tenuto.workflow import decide
from tenuto.workflow.advance import WorkflowReply
from tenuto.workflow.block import workflow_block
from tenuto.workflow.collector import Answer, is_live
from tenuto.workflow.definition import Definition
from tenuto.workflow.trace import redacted
from tenuto.workflow.turn import Decision


@verbs
class WorkflowHandle:
    """One workflow of one user, on one channel. Reads always show the stored record; nothing is kept here."""

    def __init__(
        self,
        deps: Deps,
        scope: Scope,
        definition: Definition,
        id: str,
        wake: Callable[[], None],
        model: Model | None = None,
    ) -> None:
        self._deps, self._scope, self._definition, self._id, self._wake = deps, scope, definition, id, wake
        self._model = model
        self._seen: str | None = None

    @property
    def id(self) -> str:
        return self._id

    @property
    def definition(self) -> Definition:
        return self._definition

    @property
    def record(self) -> Workflow:
        """All of it, as stored."""
        return flow.read(self._deps, self._scope, self._definition, self._id)

    @property
    def state(self) -> str:
        return self.record.state

    @property
    def spec(self) -> dict[str, Any]:
        """The draft: valid for every field it has."""
        return self.record.spec

    @property
    def pending(self) -> PendingPatch | None:
        """The change that waits for a yes or no, if it has not expired."""
        pending = self.record.pending
        return pending if is_live(pending, self._deps.clock()) else None

    @property
    def missing(self) -> tuple[str, ...]:
        return self._definition.judge(self.spec).missing

    @property
    def block(self) -> list[str]:
        """The lines that stand for this workflow in a context."""
        return workflow_block(self.record, self._deps.clock(), self._definition)

    def build(self) -> Any:
        """The complete spec as the definition's own type (the Pydantic model, or a dictionary)."""
        return self._definition.shape.build(self.spec)

    def send(
        self,
        text: str,
        *,
        at: datetime | None = None,
        id: str | None = None,
        external: bool = False,
        seen: str | None = None,
        keep: bool = True,
        session_id: str | None = None,
    ) -> WorkflowReply:
        """Take in a message. ``external`` marks text that is not the person's own (mail, a web page, a tool).

        ``id`` makes the call idempotent. ``seen`` is the digest of the change that the person was looking at, where
        the surface knows better than this handle. ``keep=False`` leaves message and reply out of the conversation, for
        a caller who observes them itself and says in which of our sessions (``session_id``). Otherwise ``session_id``
        is the caller's own, for a workflow that lives in no session of its own yet.
        """
        kept_as = session = None
        if keep:
            session = flow.home(self._deps, self._scope, self.record) or session_id
            receipt = self._keep(text, Role.USER, at=at, id=id, external=external, session=session)
            session_id, kept_as = receipt.session_id, receipt.message_id
        reply = flow.advance(
            self._deps,
            self._scope,
            self._definition,
            self._id,
            text,
            at=at,
            message_id=id,
            seen=self._seen if seen is None else seen,
            external=external,
            session_id=session_id,
            kept_as=kept_as,
            model=self._model,
        )
        if keep and reply.text and not external:
            self._keep(reply.text, Role.ASSISTANT, at=at, id=f"{id or kept_as}/reply", session=session)
        return self._shown(reply)

    def patch(self, operations: Iterable[Mapping[str, Any]]) -> WorkflowReply:
        """Change the draft by hand, all of it or nothing. Locked fields are staged like any change to them."""
        given = list(operations)
        return self._change(
            lambda workflow, now: decide.patch(
                self._definition,
                workflow,
                given,
                channel=self._scope.channel,
                now=now,
                policy=self._deps.policy.workflow,
            )
        )

    def set(self, **values: Any) -> WorkflowReply:
        """Set whole fields by hand; ``None`` is a value, not a removal."""
        return self.patch([{"op": "add", "path": f"/{name}", "value": value} for name, value in values.items()])

    def confirm(self, digest: str | None = None) -> WorkflowReply:
        """Yes to the staged change: the one with this digest, or the one that this handle showed last."""
        return self._answer(Consent.YES, digest)

    def refuse(self, digest: str | None = None) -> WorkflowReply:
        """No to the staged change."""
        return self._answer(Consent.NO, digest)

    def move(self, state: str, *, error: str | None = None) -> WorkflowReply:
        """Go to another state along an allowed step; ``error`` says why something failed."""
        policy = self._deps.policy.workflow
        return self._change(lambda workflow, now: decide.step(self._definition, workflow, state, now, policy, error))

    def produce(self, content: Mapping[str, Any]) -> Artifact:
        """Keep what the workflow produced."""
        return flow.keep_artifact(self._deps, self._scope, self._id, content)

    def submit(self, content: Mapping[str, Any]) -> Artifact:
        """Keep what was handed in for it."""
        return flow.keep_artifact(self._deps, self._scope, self._id, content, kind="submission")

    def artifacts(self, kind: str | None = None) -> list[Artifact]:
        """Artifacts and submissions, oldest first."""
        where = [Where("workflow_id", "=", self._id), *([Where("kind", "=", kind)] if kind else [])]
        with self._deps.store.reading(self._scope.user) as reader:
            return reader.find(Artifact, *where, order="created_at")

    def trace(self, *, limit: int = 100) -> list[WorkflowTurn]:
        """The turns, oldest first: for people who look into what happened."""
        with self._deps.store.reading(self._scope.user) as reader:
            found = reader.find(WorkflowTurn, Where("workflow_id", "=", self._id), order="-turn", limit=limit)
        return found[::-1]

    def stream(self, *, limit: int = 100) -> list[dict[str, Any]]:
        """The trace as it may leave the store: names, states and numbers, no values."""
        return [redacted(turn) for turn in self.trace(limit=limit)]

    def _answer(self, consent: Consent, digest: str | None) -> WorkflowReply:
        def decided(workflow: Workflow, now: datetime) -> Decision:
            given = Answer(
                consent=consent,
                channel=self._scope.channel,
                at=now,
                seen=self._seen if digest is None else digest,
            )
            return decide.answer(self._definition, workflow, given, now, self._deps.policy.workflow)

        return self._change(decided)

    def _change(self, decision: Callable[[Workflow, datetime], Decision]) -> WorkflowReply:
        return self._shown(flow.change(self._deps, self._scope, self._definition, self._id, decision))

    def _shown(self, reply: WorkflowReply) -> WorkflowReply:
        self._seen = reply.digest or ""
        return reply

    def _keep(
        self,
        text: str,
        role: Role,
        *,
        at: datetime | None,
        id: str | None = None,
        external: bool = False,
        session: str | None = None,
    ) -> Receipt:
        incoming = check(
            self._deps,
            text,
            role=role.value,
            at=at,
            id=id,
            trust=Trust.EXTERNAL if external else None,
            source="workflow",
            session=session,
        )
        receipt = observe(self._deps, self._scope, incoming)
        self._wake()
        return receipt

    def __repr__(self) -> str:
        return f"<Workflow {self._definition.name} {self._id}>"
