"""A remote user's typed work and what lies at hand: workflows, outcomes, working memory, model keys."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

import msgspec

from tenuto.privacy.model_keys import KeyTest
from tenuto.records.workflow import Artifact, ModelKey, Outcome, PendingPatch, Workflow, WorkflowTurn
from tenuto.surfaces.client_base import Calls
from tenuto.surfaces.client_link import Whole, part, plain
from tenuto.workflow.advance import WorkflowReply
from tenuto.workflow.definition import Definition
from tenuto.workflow.learner import LearnerProfile


class RemoteWorkflow:
    """One workflow behind a server, with the verbs of the library's handle. Remembers what it last showed."""

    def __init__(self, user: Calls, id: str, model: str | None) -> None:
        self._of, self._id, self._model = user, id, model
        self._seen: str | None = None

    @property
    def id(self) -> str:
        return self._id

    @property
    def definition(self) -> str:
        """The definition's name; the definition itself stays with the server."""
        return self.record.definition

    @property
    def record(self) -> Workflow:
        """All of it, as stored."""
        return msgspec.convert(self._look()["record"], Workflow)

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
        found: PendingPatch | None = msgspec.convert(self._look()["pending"], PendingPatch | None)
        return found

    @property
    def missing(self) -> tuple[str, ...]:
        return tuple(self._look()["missing"])

    @property
    def block(self) -> list[str]:
        """The lines that stand for this workflow in a context."""
        return list(self._look()["block"])

    def build(self) -> Any:
        """The complete spec, as plain data."""
        return self.spec

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
        """Take in a message."""
        body = {"text": text, "at": at, "id": id, "external": external, "keep": keep, "session_id": session_id}
        body |= {"seen": self._seen if seen is None else seen, "model": self._model}
        return self._reply("POST", "/send", body)

    def patch(self, operations: Iterable[Mapping[str, Any]]) -> WorkflowReply:
        """Change the draft by hand, all of it or nothing."""
        return self._reply("PATCH", "", {"operations": list(operations)})

    def set(self, **values: Any) -> WorkflowReply:
        """Set whole fields by hand; ``None`` is a value, not a removal."""
        return self.patch([{"op": "add", "path": f"/{name}", "value": value} for name, value in values.items()])

    def confirm(self, digest: str | None = None) -> WorkflowReply:
        """Yes to the staged change: the one with this digest, or the one that this handle showed last."""
        return self._reply("POST", "/confirm", {"digest": (self._seen or "") if digest is None else digest})

    def refuse(self, digest: str | None = None) -> WorkflowReply:
        """No to the staged change."""
        return self._reply("POST", "/refuse", {"digest": (self._seen or "") if digest is None else digest})

    def move(self, state: str, *, error: str | None = None) -> WorkflowReply:
        """Go to another state along an allowed step; ``error`` says why something failed."""
        return self._reply("POST", "/move", {"state": state, "error": error})

    def produce(self, content: Mapping[str, Any]) -> Artifact:
        """Keep what the workflow produced."""
        return self._kept(content, "artifact")

    def submit(self, content: Mapping[str, Any]) -> Artifact:
        """Keep what was handed in for it."""
        return self._kept(content, "submission")

    def artifacts(self, kind: str | None = None) -> list[Artifact]:
        """Artifacts and submissions, oldest first."""
        return msgspec.convert(self._get("/artifacts", kind=kind), list[Artifact])

    def trace(self, *, limit: int = 100) -> list[WorkflowTurn]:
        """The turns, oldest first."""
        return msgspec.convert(self._get("/trace", limit=limit), list[WorkflowTurn])

    def stream(self, *, limit: int = 100) -> list[dict[str, Any]]:
        """The trace as it may leave the store: names, states and numbers, no values."""
        found: list[dict[str, Any]] = self._get("/stream", limit=limit)
        return found

    def _look(self) -> Any:
        return self._get("/look")

    def _get(self, rest: str, **query: Any) -> Any:
        return self._of._ask("GET", f"workflows/{part(self._id)}{rest}", query=plain(query))

    def _kept(self, content: Mapping[str, Any], kind: str) -> Artifact:
        body = Whole(content=dict(content), kind=kind)
        return self._of._write("POST", f"workflows/{part(self._id)}/artifacts", Artifact, body)

    def _reply(self, method: str, rest: str, body: dict[str, Any]) -> WorkflowReply:
        reply = self._of._write(method, f"workflows/{part(self._id)}{rest}", WorkflowReply, body)
        self._seen = reply.digest or ""
        return reply

    def __repr__(self) -> str:
        return f"<RemoteWorkflow {self._id}>"


class RemoteWorking:
    """Working memory behind a server: the last messages, the active channel, and what is kept at hand."""

    def __init__(self, user: Calls) -> None:
        self._of = user

    def messages(self) -> list[dict[str, Any]]:
        """The last messages on any channel, oldest first."""
        return list(self._of._ask("GET", "working")["messages"])

    @property
    def channel(self) -> str | None:
        """Where the user was last heard."""
        found: str | None = self._of._ask("GET", "working")["channel"]
        return found

    @property
    def variables(self) -> dict[str, Any]:
        """What the application keeps at hand."""
        return dict(self._of._ask("GET", "working")["variables"])

    def set(self, name: str, value: Any) -> None:
        """Keep a value at hand for as long as the conversation is alive; ``None`` takes it away."""
        self._of._ask("PUT", f"working/{part(name)}", Whole(value=value))


class RemoteModelKeys:
    """A person's own model keys behind a server. A key goes in and is used there; it never comes back."""

    def __init__(self, user: Calls) -> None:
        self._of = user

    def set(self, provider: str, key: str) -> ModelKey:
        return _known(self._of._ask("PUT", f"model-keys/{part(provider)}", {"key": key}))

    def list(self) -> list[ModelKey]:
        return [_known(one) for one in self._of._ask("GET", "model-keys")]

    def test(self, provider: str) -> KeyTest:
        """Does the provider accept it?"""
        return msgspec.convert(self._of._ask("POST", f"model-keys/{part(provider)}/test"), KeyTest)

    def remove(self, provider: str) -> bool:
        return bool(self._of._ask("DELETE", f"model-keys/{part(provider)}")["removed"])


def _known(shown: dict[str, Any]) -> ModelKey:
    return msgspec.convert({**shown, "sealed": ""}, ModelKey)


class Work(Calls):
    """Verbs about typed work, and what lies at hand."""

    @property
    def working(self) -> RemoteWorking:
        """The last messages, the active channel and temporary variables."""
        return RemoteWorking(self)

    @property
    def model_keys(self) -> RemoteModelKeys:
        """The person's own keys for model providers: sealed at rest, never shown."""
        return RemoteModelKeys(self)

    def record_outcome(
        self,
        track: str,
        skill: str,
        success: bool,
        at: datetime | None = None,
        *,
        style: str | None = None,
        artifact_id: str | None = None,
        id: str | None = None,
    ) -> Outcome:
        """One try at one skill; the learner profile follows from these alone."""
        body = {
            "track": track,
            "skill": skill,
            "success": success,
            "at": at,
            "style": style,
            "artifact_id": artifact_id,
        }
        return self._write("POST", "outcomes", Outcome, {**body, "id": id})

    def learner(self, track: str, *, at: datetime | None = None) -> LearnerProfile:
        """What the person masters in one track, replayed from the outcomes."""
        found = self._ask("GET", f"learner/{part(track)}", query=plain({"at": at}))
        return msgspec.convert(found, LearnerProfile)

    def workflow(
        self,
        definition: Definition | str,
        id: str | None = None,
        *,
        given: Mapping[str, Any] | None = None,
        session_id: str | None = None,
        model: str | None = None,
    ) -> RemoteWorkflow:
        """Open the workflow with this id, or begin a new one of a definition that the server knows by name."""
        name = definition if isinstance(definition, str) else definition.name
        body = {"definition": name, "id": id, "given": given, "session_id": session_id, "model": model}
        found = self._link.call("POST", self._path("workflows"), query=self._scope, body=body, once=True)
        return RemoteWorkflow(self, msgspec.convert(found["record"], Workflow).id, model)

    def workflow_of(self, id: str) -> RemoteWorkflow:
        """The workflow with this id, or the last one that lives in the session with this id."""
        found = self._ask("GET", f"workflows/{part(id)}/look")
        return RemoteWorkflow(self, msgspec.convert(found["record"], Workflow).id, None)

    def workflows(self, *, definition: str | None = None, state: str | None = None, limit: int = 100) -> list[Workflow]:
        """Workflows, the last touched first."""
        return self._all("workflows", limit, definition=definition, state=state)
