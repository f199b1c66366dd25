"""What is known: memories, todos, entities and their merges."""

from __future__ import annotations

from fastapi import Request, Response

from tenuto.access.decide import Need
from tenuto.memories.listing import EntityCard
from tenuto.memories.remember import Remembered
from tenuto.records.memory import Entity, EntityMerge, Memory, Todo, Version
from tenuto.records.wishes import StandingWish
from tenuto.surfaces.http import bodies
from tenuto.surfaces.http.answers import answer, match
from tenuto.surfaces.http.routing import Person, needs, router
from tenuto.transfer.seed import SeedReport

routes = router("/api/users/{user}", "memory")


@routes.post("/memories", status_code=201, response_model=Remembered, **needs(Need.WRITE, repeatable=True))
def remember(person: Person, body: bodies.Remember) -> Response:
    """Keep one thing for good; says whether it was new, the same, fuller, or replaces something."""
    return answer(person.remember(**body.model_dump()), 201)


@routes.post("/seed", status_code=201, response_model=SeedReport, **needs(Need.WRITE, repeatable=True))
def seed(person: Person, body: bodies.Seed) -> Response:
    """Keep what is known before the first word; loading the same profile again changes nothing."""
    return answer(person.seed(body.profile), 201)


@routes.post("/memories/find", response_model=list[Memory], **needs(Need.READ))
def memories(person: Person, body: bodies.FindMemories) -> Response:
    """What recall reads, newest first; `status` `*` for all. `GET /memories` pages through everything."""
    return answer(person.memories(**body.given()))


@routes.patch("/memories/{id}", response_model=Memory, **needs(Need.WRITE, repeatable=True, more=(412,)))
def edit(request: Request, person: Person, id: str, body: bodies.Edit) -> Response:
    """Correct a memory; the old wording stays in its history. `If-Match` changes only what you have seen."""
    match(request, lambda: person.get("memories", id))
    return answer(person.edit(id, **body.given()))


@routes.post("/memories/{id}/forget", response_model=Memory, **needs(Need.WRITE))
def forget(person: Person, id: str, body: bodies.Forget) -> Response:
    """Out of every reading, until it is restored."""
    return answer(person.forget(id, reason=body.reason))


@routes.post("/memories/{id}/restore", response_model=Memory, **needs(Need.WRITE))
def restore(person: Person, id: str) -> Response:
    """Bring back what was forgotten, archived or superseded."""
    return answer(person.restore(id))


@routes.get("/memories/{id}/history", response_model=list[Version], **needs(Need.READ))
def history(person: Person, id: str) -> Response:
    """What a memory was before, oldest first; the present state is the last."""
    return answer(person.history(id))


@routes.post("/memories/{id}/confirm", response_model=Memory, **needs(Need.WRITE))
def confirm(person: Person, id: str) -> Response:
    """Vouch for a memory: what came from outside becomes active."""
    return answer(person.confirm(id))


@routes.put("/memories/{id}/pin", response_model=Memory, **needs(Need.WRITE))
def pin(person: Person, id: str, body: bodies.Pin) -> Response:
    """Always in context, or in the context of one session."""
    return answer(person.pin(id, kind=body.kind, session=body.session))


@routes.delete("/memories/{id}/pin", response_model=Memory, **needs(Need.WRITE))
def unpin(person: Person, id: str) -> Response:
    """No longer always in context."""
    return answer(person.unpin(id))


@routes.put("/memories/{id}/use", response_model=Memory, **needs(Need.WRITE))
def allow(person: Person, id: str, body: bodies.Use) -> Response:
    """May it be brought up?"""
    return answer(person.allow(id, body.use))


@routes.get("/wishes", response_model=list[StandingWish], **needs(Need.READ))
def wishes(person: Person) -> Response:
    """What the person asked to be forgotten or not brought up, as far as it stands."""
    return answer(person.wishes())


@routes.post("/wishes/{id}/lift", response_model=StandingWish, **needs(Need.WRITE))
def lift(person: Person, id: str) -> Response:
    """End a wish: what was silenced may come up when it is relevant, what was forgotten is back."""
    return answer(person.lift(id))


@routes.post("/todos/find", response_model=list[Todo], **needs(Need.READ))
def todos(person: Person, body: bodies.FindTodos) -> Response:
    """What is open with this persona; `status` `*` for all. `GET /todos` pages through everything."""
    return answer(person.todos(**body.given()))


@routes.get("/wins", response_model=list[Todo], **needs(Need.READ))
def wins(person: Person) -> Response:
    """What was completed in the last 48 hours."""
    return answer(person.wins())


@routes.post("/todos/{id}/complete", response_model=Todo, **needs(Need.WRITE))
def complete(person: Person, id: str) -> Response:
    """A todo is done; a habit is counted and stays."""
    return answer(person.complete(id))


@routes.post("/todos/{id}/cancel", response_model=Todo, **needs(Need.WRITE))
def cancel(person: Person, id: str) -> Response:
    """A todo is no longer wanted."""
    return answer(person.cancel(id))


@routes.post("/entities/find", response_model=list[Entity], **needs(Need.READ))
def entities(person: Person, body: bodies.FindEntities) -> Response:
    """People, places, orgs and projects, the most mentioned first, without those merged into another."""
    return answer(person.entities(type=body.type, limit=body.limit))


@routes.get("/entities/{id}/card", response_model=EntityCard, **needs(Need.READ))
def entity(person: Person, id: str) -> Response:
    """Who it is, and the facts."""
    return answer(person.entity(id))


@routes.post("/merges/find", response_model=list[EntityMerge], **needs(Need.READ))
def merges(person: Person, body: bodies.FindMerges) -> Response:
    """Entities that may be one."""
    return answer(person.merges(status=body.status))


@routes.post("/merges", status_code=201, response_model=EntityMerge, **needs(Need.WRITE, repeatable=True))
def merge(person: Person, body: bodies.Merge) -> Response:
    """Two entities are one."""
    return answer(person.merge(body.duplicate, body.into), 201)


@routes.post("/merges/{id}/decide", response_model=EntityMerge, **needs(Need.WRITE))
def decide_merge(person: Person, id: str, body: bodies.Decision) -> Response:
    """Accept or refuse a proposed merge."""
    return answer(person.decide_merge(id, accept=body.accept))


@routes.post("/merges/{id}/undo", response_model=EntityMerge, **needs(Need.WRITE))
def unmerge(person: Person, id: str) -> Response:
    """Take a merge back."""
    return answer(person.unmerge(id))
