"""What a session was found to be about, beside the hits of one turn.

The semantic context of a session is found once, on its first message that says something, and kept on the session row,
so that the stable part of a prompt stays the same from turn to turn; ``refresh`` finds it anew. Only kinds and ids are
kept: whoever shows them reads the records as they are then, so nothing forgotten comes back from here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tenuto.deps import Deps
from tenuto.ports import Reader, Where
from tenuto.recall.cards import substantive
from tenuto.records.base import evolve
from tenuto.records.conversation import Session, SessionStatus
from tenuto.records.operations import EntryKind
from tenuto.records.recall import Hit
from tenuto.records.scope import Scope

LASTING = (EntryKind.MEMORY, EntryKind.SUMMARY, EntryKind.KEY_POINT)
"""Kinds that may stand in the stable part of a context."""


@dataclass(frozen=True, slots=True)
class Kept:
    """Something that was found for a session: enough to read it again."""

    kind: EntryKind
    id: str


def session_context(
    deps: Deps, scope: Scope, message: str, hits: Sequence[Hit], *, session: str | None = None, refresh: bool = False
) -> list[Kept]:
    """What the current session is about: as it was found first, or found now and kept once there is a session."""
    found = [Kept(hit.kind, hit.id) for hit in hits if hit.kind in LASTING]
    with deps.store.reading(scope.user) as reader:
        current = _current(reader, scope, session)
    if current is None or deps.clock() - current.last_activity_at > deps.policy.session.idle_close:
        return found if substantive(message) else []
    if current.semantic_context is not None and not refresh:
        return [Kept(EntryKind(kind), id) for kind, id in current.semantic_context.get("items", [])]
    if not substantive(message):
        return []
    with deps.store.writing(scope.user) as tx:
        again = tx.get(Session, current.id)
        if again is None:
            return []
        if again.semantic_context is not None and not refresh:
            return [Kept(EntryKind(kind), id) for kind, id in again.semantic_context.get("items", [])]
        items = [[str(one.kind), one.id] for one in found]
        tx.put(evolve(again, semantic_context={"items": items, "at": deps.clock().isoformat()}))
    return found


def _current(reader: Reader, scope: Scope, external_id: str | None) -> Session | None:
    persona = Where("persona", "is", None) if scope.persona is None else Where("persona", "=", scope.persona)
    if external_id is not None:
        found = reader.find(Session, persona, Where("external_id", "=", external_id), limit=1)
        if found:
            return found[0]
    opened = reader.find(Session, persona, Where("status", "=", SessionStatus.OPEN), order="-last_activity_at", limit=1)
    return opened[0] if opened else None
