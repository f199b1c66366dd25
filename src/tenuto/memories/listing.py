"""What is kept, as lists: memories, todos, entities and their cards. What belongs to one persona stays with it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, TypeVar

from tenuto.deps import Deps
from tenuto.errors import Conflict, InputError, NotFound
from tenuto.ingest import entity_registry, write_todos
from tenuto.ingest.write import Writing
from tenuto.memories.describe import like
from tenuto.ports import Where
from tenuto.records.base import evolve
from tenuto.records.memory import (
    RECALLED,
    Entity,
    EntityMerge,
    Kind,
    Memory,
    MergeStatus,
    Status,
    Todo,
    TodoKind,
    TodoStatus,
)
from tenuto.records.scope import Scope
from tenuto.text import clean

ANY = "*"
E = TypeVar("E", bound=StrEnum)


@dataclass(frozen=True, slots=True, kw_only=True)
class EntityCard:
    """An entity and the facts about it, the weightiest first."""

    entity: Entity
    facts: tuple[Memory, ...]

    @property
    def text(self) -> str:
        """``[person:john]: fact; fact; fact``."""
        return f"[{self.entity.id}]: " + "; ".join(memory.content for memory in self.facts)


def _persona(scope: Scope, persona: str | None, *, shared: bool) -> list[Where]:
    """What a handle sees: its own and (for memories) what all share. ``"*"`` is for a handle without a persona."""
    if persona is not None and scope.persona is not None and persona not in (scope.persona, ANY):
        raise InputError(
            f"This handle talks as {scope.persona!r} and cannot see what belongs to {persona!r}.",
            code="persona_mismatch",
        )
    if persona == ANY and scope.persona is None:
        return []
    own = scope.persona or (persona if persona != ANY else None)
    if own is None:
        return [Where("persona", "is", None)]
    return [Where("persona", "in", (None, own))] if shared else [Where("persona", "=", own)]


def _one(value: str | None, type_: type[E], what: str) -> E | None:
    if value is None:
        return None
    try:
        return type_(value)
    except ValueError:
        raise InputError(f"Unknown {what} {value!r}: use one of {', '.join(type_)}.", code=f"{what}_invalid") from None


def _limit(given: int | None) -> int | None:
    return None if given is None else clean.count(given)


def memories(
    deps: Deps,
    scope: Scope,
    *,
    status: str | None = None,
    kind: str | None = None,
    domain: str | None = None,
    attribute: str | None = None,
    entity: str | None = None,
    pinned: bool | None = None,
    persona: str | None = None,
    limit: int | None = None,
    **felt: Any,
) -> list[Memory]:
    """Memories that this handle may see, newest first; without ``status`` those that recall reads."""
    where = _persona(scope, persona, shared=True)
    if status == ANY:
        pass
    elif status is not None:
        where.append(Where("status", "=", str(_one(status, Status, "status"))))
    else:
        where.append(Where("status", "in", [one.value for one in RECALLED]))
    if kind is not None:
        where.append(Where("kind", "=", str(_one(kind, Kind, "kind"))))
    for column, value in (("domain", domain), ("attribute", attribute)):
        if value is not None:
            where.append(Where(column, "=", value))
    if pinned is not None:
        where.append(Where("pinned", "=", clean.flag(pinned, what="pinned")))
    if entity is not None:
        where.append(Where("entities", "has", entity))
    asked = {name: value for name, value in felt.items() if value is not None}
    most = _limit(limit)
    with deps.store.reading(scope.user) as reader:
        found = reader.find(Memory, *where, order="-created_at", limit=None if asked else most)
    return like(found, **asked)[:most] if asked else found


def todos(
    deps: Deps,
    scope: Scope,
    *,
    status: str | None = "open",
    kind: str | None = None,
    persona: str | None = None,
    limit: int | None = None,
) -> list[Todo]:
    """Todos of this persona, the open ones unless told otherwise (``status="*"`` for all)."""
    where = _persona(scope, persona, shared=False)
    if status is not None and status != ANY:
        where.append(Where("status", "=", str(_one(status, TodoStatus, "status"))))
    if kind is not None:
        where.append(Where("kind", "=", str(_one(kind, TodoKind, "kind"))))
    with deps.store.reading(scope.user) as reader:
        return reader.find(Todo, *where, order="-created_at", limit=_limit(limit))


def wins(deps: Deps, scope: Scope) -> list[Todo]:
    """What was completed within ``memory.recent_wins``."""
    with deps.store.reading(scope.user) as reader:
        return write_todos.recent_wins(reader, scope.persona, deps.clock(), deps.policy.memory.recent_wins)


def finish(deps: Deps, scope: Scope, id: str, *, cancelled: bool = False) -> Todo:
    """Mark a todo as done (or dropped). A habit stays open and counts the time."""
    with deps.store.writing(scope.user) as tx:
        todo = tx.get(Todo, id)
        if todo is None or (scope.persona is not None and todo.persona not in (None, scope.persona)):
            raise NotFound(f"There is no todo {id!r} of this user.")
        if todo.status is not TodoStatus.OPEN:
            raise Conflict(f"The todo {id} is already {todo.status}.", code="todo_closed")
        writing = Writing(deps, tx, deps.clock(), channel=scope.channel, persona=scope.persona)
        return write_todos.finish_todo(writing, todo, writing.now, cancelled=cancelled)


def entities(
    deps: Deps, scope: Scope, *, type: str | None = None, merged: bool = False, limit: int | None = None
) -> list[Entity]:
    """The user's people, places, orgs and projects, the most mentioned first."""
    where = [Where("type", "=", type)] if type else []
    with deps.store.reading(scope.user) as reader:
        found = reader.find(Entity, *where, order="-mentions", limit=_limit(limit))
    return [one for one in found if merged or one.merged_into is None]


def entity(deps: Deps, scope: Scope, id: str) -> EntityCard:
    """The card of one entity: who it is and what is known, pins and weight first.

    Merged ones lead to the one that stands.
    """
    with deps.store.reading(scope.user) as reader:
        found = entity_registry.standing(reader, id)
        if found is None:
            raise NotFound(f"There is no entity {id!r} of this user: entities() lists them.")
        ids = {found.id, *reader.ids(Entity, Where("merged_into", "=", found.id))}
        known: dict[str, Memory] = {}
        for one in ids:
            where = [
                Where("entities", "has", one),
                Where("status", "in", [s.value for s in RECALLED]),
                *_persona(scope, None, shared=True),
            ]
            known |= {memory.id: memory for memory in reader.find(Memory, *where)}
    return EntityCard(entity=found, facts=tuple(_by_weight(known.values())))


def _by_weight(memories: Iterable[Memory]) -> list[Memory]:
    return sorted(memories, key=lambda one: (not one.pinned, -one.importance, -one.created_at.timestamp(), one.id))


def merges(deps: Deps, scope: Scope, *, status: str | None = "proposed") -> list[EntityMerge]:
    """Names that may be one: proposals by default; ``status="*"`` for all of them."""
    where = [Where("status", "=", str(_one(status, MergeStatus, "status")))] if status and status != ANY else []
    with deps.store.reading(scope.user) as reader:
        return reader.find(EntityMerge, *where, order="-created_at")


def decide_merge(deps: Deps, scope: Scope, id: str, *, accept: bool) -> EntityMerge:
    """Apply a proposed merge, or refuse it for good."""
    with deps.store.writing(scope.user) as tx:
        merge = _merge(tx, id)
        writing = Writing(deps, tx, deps.clock(), channel=scope.channel, persona=scope.persona)
        if accept:
            return entity_registry.apply_merge(writing, merge)
        if merge.status is not MergeStatus.PROPOSED:
            raise Conflict(f"The merge {id} is already {merge.status}.", code="merge_decided")
        refused = evolve(merge, status=MergeStatus.REFUSED, decided_at=writing.now)
        tx.put(refused)
        writing.event("entity.merge_refused", "entity_merge", id)
        return refused


def merge(deps: Deps, scope: Scope, duplicate: str, into: str) -> EntityMerge:
    """Say that two entities are one."""
    if duplicate == into:
        raise InputError("An entity cannot be merged into itself.", code="merge_self")
    with deps.store.writing(scope.user) as tx:
        writing = Writing(deps, tx, deps.clock(), channel=scope.channel, persona=scope.persona)
        for id in (duplicate, into):
            found = tx.get(Entity, id)
            if found is None or found.merged_into:
                raise NotFound(f"There is no standing entity {id!r} of this user.")
        made = EntityMerge(
            id=deps.ids("mrg", writing.now),
            duplicate=duplicate,
            into=into,
            confidence=1.0,
            reason="said by the user",
            status=MergeStatus.PROPOSED,
            created_at=writing.now,
        )
        tx.put(made)
        return entity_registry.apply_merge(writing, made)


def unmerge(deps: Deps, scope: Scope, id: str) -> EntityMerge:
    """Take a merge back."""
    with deps.store.writing(scope.user) as tx:
        return entity_registry.undo_merge(
            Writing(deps, tx, deps.clock(), channel=scope.channel, persona=scope.persona), _merge(tx, id)
        )


def _merge(reader: Any, id: str) -> EntityMerge:
    found: EntityMerge | None = reader.get(EntityMerge, id)
    if found is None:
        raise NotFound(f"There is no merge {id!r} of this user: merges() lists them.")
    return found
