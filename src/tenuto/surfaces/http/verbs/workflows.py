"""Typed work over HTTP: begin a workflow, talk to it, answer what it shows, look into it.

A handle of the library remembers what it last showed; a request does not. So a yes or no names the change it answers
by its ``digest``, which every reply carries, and one that names none confirms nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal

from fastapi import Query, Response
from pydantic import AwareDatetime, Field

from tenuto.access.decide import Need
from tenuto.facade.workflows import WorkflowHandle
from tenuto.records.workflow import Artifact, PendingPatch, Workflow, WorkflowTurn
from tenuto.surfaces.http.answers import answer
from tenuto.surfaces.http.bodies import Body, Name, Text
from tenuto.surfaces.http.routing import Person, needs, router
from tenuto.workflow.advance import WorkflowReply

routes = router("/api/users/{user}", "workflows")
Limit = Annotated[int, Query(ge=1, le=1000)]


class Begin(Body):
    definition: Name = Field(examples=["trip"])
    id: Name | None = Field(None, description="Your own id: the same one opens the same workflow.")
    given: dict[str, Any] | None = Field(None, description="Fills fields of a new one.")
    session_id: Name | None = None
    model: Name | None = Field(
        None, description="Proposes with the user's own key, see `model-keys`.", examples=["openai:gpt-5-mini"]
    )


class Say(Body):
    text: Text = Field(examples=["Four days in Lisbon"])
    at: AwareDatetime | None = None
    id: Name | None = Field(None, description="Makes the call idempotent.")
    external: bool = Field(False, description="Not the person's own words: mail, a web page, a tool.")
    seen: Name | None = Field(None, description="The digest of the change that the person was looking at.")
    keep: bool = Field(True, description="False leaves message and reply out of the conversation.")
    session_id: Name | None = None
    model: Name | None = Field(None, description="As when it was begun.")


class Patch(Body):
    operations: list[dict[str, Any]] = Field(max_length=200, examples=[[{"op": "add", "path": "/days", "value": 4}]])


class Settle(Body):
    digest: Name = Field(description="Of the staged change, as a reply showed it.")


class Move(Body):
    state: Name
    error: Name | None = None


class Made(Body):
    content: dict[str, Any]
    kind: Literal["artifact", "submission"] = "artifact"


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """A workflow as it stands: the record, what waits for an answer, what is missing, and its lines in a context."""

    record: Workflow
    pending: PendingPatch | None
    missing: list[str]
    block: list[str]


def look(work: WorkflowHandle) -> Look:
    return Look(record=work.record, pending=work.pending, missing=list(work.missing), block=work.block)


@routes.post("/workflows", status_code=201, response_model=Look, **needs(Need.WRITE, repeatable=True))
def begin(person: Person, body: Begin) -> Response:
    """Open the workflow with this id, or begin a new one of a definition that the operator registered."""
    model = person.model_keys.model(body.model) if body.model is not None else None
    return answer(look(person.workflow(**body.model_dump(exclude={"model"}), model=model)), 201)


@routes.get("/workflows/{id}/look", response_model=Look, **needs(Need.READ))
def look_at(person: Person, id: str) -> Response:
    """The workflow with this id, or the last one that lives in the session with this id."""
    return answer(look(person.workflow_of(id)))


@routes.post("/workflows/{id}/send", response_model=WorkflowReply, **needs(Need.WRITE, repeatable=True))
def send(person: Person, id: str, body: Say) -> Response:
    """Take in a message: what it changed, what waits for a yes, and what to ask next."""
    work = person.workflow_of(id)
    if body.model is not None:
        work = person.workflow(work.definition, work.id, model=person.model_keys.model(body.model))
    return answer(work.send(**{**body.model_dump(exclude={"model"}), "seen": body.seen or ""}))


@routes.patch("/workflows/{id}", response_model=WorkflowReply, **needs(Need.WRITE))
def patch(person: Person, id: str, body: Patch) -> Response:
    """Change the draft by hand, all of it or nothing. Locked fields are staged like any change to them."""
    return answer(person.workflow_of(id).patch(body.operations))


@routes.post("/workflows/{id}/confirm", response_model=WorkflowReply, **needs(Need.WRITE))
def confirm(person: Person, id: str, body: Settle) -> Response:
    """Yes to the staged change with this digest."""
    return answer(person.workflow_of(id).confirm(body.digest))


@routes.post("/workflows/{id}/refuse", response_model=WorkflowReply, **needs(Need.WRITE))
def refuse(person: Person, id: str, body: Settle) -> Response:
    """No to the staged change with this digest."""
    return answer(person.workflow_of(id).refuse(body.digest))


@routes.post("/workflows/{id}/move", response_model=WorkflowReply, **needs(Need.WRITE))
def move(person: Person, id: str, body: Move) -> Response:
    """Go to another state along an allowed step; `error` says why something failed."""
    return answer(person.workflow_of(id).move(body.state, error=body.error))


@routes.post("/workflows/{id}/artifacts", status_code=201, response_model=Artifact, **needs(Need.WRITE))
def produce(person: Person, id: str, body: Made) -> Response:
    """Keep what the workflow produced, or what was handed in for it."""
    work = person.workflow_of(id)
    return answer(work.produce(body.content) if body.kind == "artifact" else work.submit(body.content), 201)


@routes.get("/workflows/{id}/artifacts", response_model=list[Artifact], **needs(Need.READ))
def artifacts(person: Person, id: str, kind: Literal["artifact", "submission"] | None = None) -> Response:
    """Artifacts and submissions, oldest first."""
    return answer(person.workflow_of(id).artifacts(kind))


@routes.get("/workflows/{id}/trace", response_model=list[WorkflowTurn], **needs(Need.READ))
def trace(person: Person, id: str, limit: Limit = 100) -> Response:
    """The turns, oldest first: for people who look into what happened."""
    return answer(person.workflow_of(id).trace(limit=limit))


@routes.get("/workflows/{id}/stream", response_model=list[dict[str, Any]], **needs(Need.READ))
def stream(person: Person, id: str, limit: Limit = 100) -> Response:
    """The trace as it may leave the store: names, states and numbers, no values."""
    return answer(person.workflow_of(id).stream(limit=limit))
