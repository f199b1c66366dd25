"""What was said and what a model should read: observe, recall, context, stats, receipts."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from fastapi import Request, Response

from tenuto.access.decide import Need, check_role
from tenuto.errors import NotFound
from tenuto.records.context import Block, Context, MemoryContext
from tenuto.records.operations import Receipt
from tenuto.records.recall import Hit
from tenuto.surfaces.http import bodies
from tenuto.surfaces.http.answers import answer
from tenuto.surfaces.http.routing import Person, needs, router

routes = router("/api/users/{user}", "talk")


@dataclass(frozen=True, slots=True, kw_only=True)
class Recalled:
    hits: list[Hit]
    notes: list[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Built:
    messages: list[dict[str, Any]]
    stable: str
    volatile: str
    turns: list[dict[str, str]]
    fresh: str
    message: str | None
    merged: str | None
    blocks: list[Block]
    tokens: int
    budget: int
    answer: int
    session_id: str | None
    notes: list[str]
    memory: MemoryContext


@dataclass(frozen=True, slots=True, kw_only=True)
class Stats:
    total_messages: int
    total_memories: int
    total_summaries: int
    total_pins: int
    oldest_message: datetime | None
    newest_message: datetime | None
    average_importance: float | None


def built(context: Context) -> dict[str, Any]:
    """A context as plain data, ``messages`` included."""
    names = (
        "stable",
        "volatile",
        "turns",
        "fresh",
        "message",
        "merged",
        "blocks",
        "tokens",
        "budget",
        "answer",
        "session_id",
        "notes",
        "memory",
    )
    return {"messages": context.messages, **{name: getattr(context, name) for name in names}}


@routes.post("/observe", status_code=201, response_model=Receipt, **needs(Need.WRITE, repeatable=True))
def observe(request: Request, person: Person, body: bodies.Observe) -> Response:
    """Keep one thing said. Durable when this returns; what it means is worked out in the background."""
    check_role(request.state.key, body.role)
    return answer(person.observe(**body.model_dump()), 201)


@routes.post("/recall", response_model=Recalled, **needs(Need.READ))
def recall(person: Person, body: bodies.Recall) -> Response:
    """The right few things for a query, best first, each with its reasons."""
    hits = person.recall(**body.model_dump(exclude_unset=True))
    return answer({"hits": hits, "notes": getattr(hits, "notes", ())})


@routes.post("/context", response_model=Built, **needs(Need.READ))
def context(person: Person, body: bodies.Build) -> Response:
    """What a model should read now, within a budget of tokens, with a receipt for every block."""
    return answer(built(person.context(**body.model_dump())))


@routes.get("/receipts/{id}", response_model=Receipt, **needs(Need.READ))
def receipt(person: Person, id: str) -> Response:
    """What came of an observed message."""
    found = person.receipt(id)
    if found is None:
        raise NotFound(f"There is no receipt {id!r} for this user.")
    return answer(found)


@routes.get("/stats", response_model=Stats, **needs(Need.READ))
def stats(person: Person) -> Response:
    """Totals, the oldest and newest message, and the average importance."""
    return answer(person.stats())
