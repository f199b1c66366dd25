"""The routes of programs that knew memory by other names: their paths, their fields, their defaults, our verbs.

The user is the key's own, or the one in the header ``Tenuto-User`` for keys of many users. ``session_id`` is the
caller's own id of the session; message ids may be the caller's own or ours.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from fastapi import Request, Response
from pydantic import Field

from tenuto.access.decide import Need, check_role
from tenuto.errors import NotFound
from tenuto.facade.user import UserMemory
from tenuto.facade.workflows import WorkflowHandle
from tenuto.lifecycle.named_session import session_named
from tenuto.ports import Where
from tenuto.records.base import to_plain
from tenuto.records.context import ConversationSummary, MemoryContext, MessageWithImportance, SemanticPin
from tenuto.records.conversation import Message, Session, Summary
from tenuto.records.memory import RECALLED, Memory
from tenuto.records.operations import Receipt
from tenuto.surfaces.http.answers import Listed, answer
from tenuto.surfaces.http.bodies import Body, Importance, Name, Text
from tenuto.surfaces.http.routing import Named, needs, router
from tenuto.text import clean

routes = router("/api", "compatibility")


class CreateSummary(Body):
    session_id: str = Field(examples=["session-456"])
    start_message_id: str = Field(examples=["msg-1"])
    end_message_id: str = Field(examples=["msg-50"])
    message_count: int = Field(ge=0, le=10**9, examples=[50])


class SessionMessage(Body):
    text: Text = Field(examples=["My dad is allergic to penicillin."])
    role: Literal["user", "assistant", "system"] = "user"
    id: str | None = None
    model_id: str | None = None
    token_usage: int | None = Field(None, ge=0, le=10**9, examples=[15])
    session_name: Name | None = Field(None, description="What the session is called.", examples=["Dad's health"])
    workflow: str | None = Field(
        None, description="Begin this workflow if none lives in the session.", examples=["trip"]
    )
    seen: str | None = Field(None, description="The digest of the change that a yes or no answers.")


class AskContext(Body):
    session_id: str | None = Field(None, examples=["session-456"])
    message: Text = Field(examples=["Which antibiotics are safe?"])
    budget: int | None = Field(None, ge=1, le=10_000_000, description="Tokens, the answer included; 8,000 if left out.")


class CreatePin(Body):
    session_id: str = Field(examples=["session-456"])
    content: Text = Field(examples=["Patient is allergic to penicillin"])
    source_message_id: str | None = Field(None, examples=["msg-42"])
    importance_score: Importance = 5.0
    pin_type: Literal["manual", "auto", "code", "concept", "system"] = "manual"


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageOfSession(MessageWithImportance):
    workflow: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryStats:
    totalMessages: int
    totalSummaries: int
    totalPins: int
    oldestMessage: datetime | None
    newestMessage: datetime | None
    averageImportanceScore: float | None


def as_summaries(person: UserMemory, found: Sequence[Summary], session_id: str) -> list[dict[str, Any]]:
    """Summaries with the caller's own ids of the messages where they gave one."""
    named = {id for one in found for id in (one.start_message_id, one.end_message_id) if id}
    with person._deps.store.reading(person.id) as reader:
        own = {id: message.external_id or id for id, message in reader.get_many(Message, sorted(named)).items()}
    return [
        {
            "id": one.id, "session_id": session_id, "summary": one.content, "message_count": one.message_count,
            "start_message_id": own.get(one.start_message_id or "", one.start_message_id),
            "end_message_id": own.get(one.end_message_id or "", one.end_message_id),
            "importance_score": one.importance, "created_at": one.created_at,
        }
        for one in found
    ]  # fmt: skip


def as_message(message: Message, session_id: str) -> dict[str, Any]:
    return {
        "id": message.external_id or message.id, "session_id": session_id, "role": message.role,
        "text": message.content, "model_id": message.model, "token_usage": message.tokens, "created_at": message.at,
        "importance_score": message.importance,
    }  # fmt: skip


def as_pin(person: UserMemory, memory: Memory, session_id: str) -> dict[str, Any]:
    said = next((one.message_id for one in reversed(memory.evidence) if one.message_id), None)
    if said is not None:
        with person._deps.store.reading(person.id) as reader:
            message = reader.get(Message, said)
        said = message.external_id or said if message is not None else said
    return {
        "id": memory.id, "session_id": session_id, "content": memory.content, "source_message_id": said,
        "importance_score": memory.importance, "pin_type": memory.pin_kind or "manual", "created_at": memory.created_at,
    }  # fmt: skip


def workflow_in(person: UserMemory, session_id: str, body: SessionMessage) -> WorkflowHandle | None:
    """The workflow that lives in a session, or the one to begin there; a name that nobody defined is an error."""
    try:
        return person.workflow_of(clean.storable(session_id, what="session id"))
    except NotFound:
        return None if body.workflow is None else person.workflow(body.workflow)


def turn_of(
    person: UserMemory, work: WorkflowHandle, receipt: Receipt, session_id: str, body: SessionMessage
) -> dict[str, Any]:
    """What the workflow made of the message: state, draft, question, what waits for a yes; and its reply is kept."""
    reply = work.send(body.text, id=receipt.message_id, seen=body.seen, keep=False, session_id=receipt.session_id)
    if reply.text and not reply.duplicate:
        person.observe(reply.text, role="assistant", session=session_id, id=f"{receipt.message_id}/reply")
    shown = to_plain(reply)
    return {name: value for name, value in shown.items() if name not in ("events", "staged", "applied")} | {
        "definition": work.definition.name, "events": [event["kind"] for event in shown["events"]]
    }  # fmt: skip


def session_of(person: UserMemory, session_id: str) -> Session:
    """The session that the caller means, by their own id or ours."""
    with person._deps.store.reading(person.id) as reader:
        return session_named(reader, person.scope.persona, session_id)


@routes.post(
    "/memory/summaries", status_code=201, response_model=ConversationSummary, **needs(Need.WRITE, repeatable=True)
)
def create_summary(person: Named, body: CreateSummary) -> Response:
    """Summarise a range of messages. `message_count` is what the caller believes; the answer has the true one."""
    made = person.summarise(body.start_message_id, body.end_message_id, session_id=body.session_id)
    return answer(as_summaries(person, [made], body.session_id)[0], 201)


@routes.get("/memory/summaries/{session_id}", response_model=Listed[ConversationSummary], **needs(Need.READ))
def list_summaries(person: Named, session_id: str) -> Response:
    """The summaries of one session, newest first."""
    found = person.summaries(session_id=session_of(person, session_id).id, limit=200)
    return answer({"items": as_summaries(person, found, session_id), "next": None})


@routes.post("/memory/pins", status_code=201, response_model=SemanticPin, **needs(Need.WRITE, repeatable=True))
def create_pin(person: Named, body: CreatePin) -> Response:
    """Pin one thing to a session: it is in every context of it. Its score orders it among the pins."""
    session = session_of(person, body.session_id)
    made = person.remember(
        body.content, pin=body.pin_type, session=session.id, importance=body.importance_score,
        message=body.source_message_id,
    )  # fmt: skip
    pinned = person.edit(made.id, importance=body.importance_score)
    return answer(as_pin(person, pinned, body.session_id), 201)


@routes.get("/memory/pins/{session_id}", response_model=Listed[SemanticPin], **needs(Need.READ))
def list_pins(person: Named, session_id: str) -> Response:
    """The pins that a session sees: its own and those of all sessions, the weightiest first."""
    session = session_of(person, session_id)
    found = [
        one for one in person.memories(pinned=True) if one.pin_session_id in (None, session.id, session.external_id)
    ]
    ranked = sorted(found, key=lambda one: -one.importance)
    return answer({"items": [as_pin(person, one, session_id) for one in ranked], "next": None})


@routes.post("/memory/context", response_model=MemoryContext, **needs(Need.READ))
def memory_context(person: Named, body: AskContext) -> Response:
    """What a model should read now: recent messages, pins and summaries, within a budget of tokens."""
    return answer(person.context(body.message, session=body.session_id, budget=body.budget).memory_context())


@routes.get("/memory/stats/{session_id}", response_model=MemoryStats, **needs(Need.READ))
def session_stats(person: Named, session_id: str) -> Response:
    """How much is kept of one session, and how it was weighed."""
    session = session_of(person, session_id)
    of_session = Where("session_id", "=", session.id)
    with person._deps.store.reading(person.id) as reader:
        messages = reader.find(Message, of_session, order="at")
        summaries = reader.count(Summary, of_session, Where("current", "=", True))
        pinned = reader.find(Memory, Where("pinned", "=", True), Where("status", "in", list(RECALLED)))
    pins = [memory for memory in pinned if memory.pin_session_id in (None, session.id, session.external_id)]
    weights = [message.importance for message in messages]
    return answer(MemoryStats(
        totalMessages=len(messages), totalSummaries=summaries, totalPins=len(pins),
        oldestMessage=messages[0].at if messages else None, newestMessage=messages[-1].at if messages else None,
        averageImportanceScore=sum(weights) / len(weights) if weights else None,
    ))  # fmt: skip


@routes.post(
    "/sessions/{session_id}/messages",
    status_code=201,
    response_model=MessageOfSession,
    **needs(Need.WRITE, repeatable=True),
)
def add_message(request: Request, person: Named, session_id: str, body: SessionMessage) -> Response:
    """Keep one message of a session; a new session id begins a session. A workflow that lives in it takes its turn."""
    check_role(request.state.key, body.role)
    work = workflow_in(person, session_id, body) if body.role == "user" else None
    receipt = person.observe(
        body.text, role=body.role, id=body.id, session=session_id, model=body.model_id, tokens=body.token_usage
    )
    if body.session_name is not None:
        person.name_session(receipt.session_id, body.session_name)
    kept = as_message(person.get("messages", receipt.message_id), session_id)
    return answer(kept if work is None else {**kept, "workflow": turn_of(person, work, receipt, session_id, body)}, 201)


@routes.get("/sessions/{session_id}/messages", response_model=Listed[MessageWithImportance], **needs(Need.READ))
def list_messages(person: Named, session_id: str) -> Response:
    """The messages of a session, oldest first."""
    found = person.messages(session_id=session_of(person, session_id).id, limit=1000)
    return answer({"items": [as_message(one, session_id) for one in found], "next": None})


__all__ = ["Importance", "routes"]
