"""One person's memory, seen by one persona on one channel. Every verb here is scoped to that person by construction."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

from tenuto import listing
from tenuto.context.build import Context, build
from tenuto.deps import Deps
from tenuto.ingest.observe import check, observe
from tenuto.listing import Page
from tenuto.ports import Where
from tenuto.recall.search import recall
from tenuto.records.conversation import Message, Session
from tenuto.records.operations import Receipt
from tenuto.records.recall import Hit
from tenuto.records.scope import Scope


class UserMemory:
    """What is kept of one user, and everything that can be done with it."""

    def __init__(self, deps: Deps, scope: Scope, wake: Callable[[], None]) -> None:
        self._deps = deps
        self._scope = scope
        self._wake = wake

    @property
    def id(self) -> str:
        """The user's id."""
        return self._scope.user

    @property
    def scope(self) -> Scope:
        return self._scope

    def observe(
        self,
        text: str,
        *,
        role: str = "user",
        speaker: str | None = None,
        at: datetime | None = None,
        id: str | None = None,
        session: str | None = None,
        thinking: str | None = None,
        model: str | None = None,
        metadata: dict[str, Any] | None = None,
    ) -> Receipt:
        """Keep one thing said. Durable when this returns; what it means is worked out in the background."""
        incoming = check(
            self._deps,
            text,
            role=role,
            speaker=speaker,
            at=at,
            id=id,
            session=session,
            thinking=thinking,
            model=model,
            metadata=metadata,
        )
        receipt = observe(self._deps, self._scope, incoming)
        self._wake()
        return receipt

    def recall(self, query: str, *, limit: int = 10, **filters: Any) -> list[Hit]:
        """The right few things for a query, best first, each with its reasons."""
        return recall(self._deps, self._scope, query, limit=limit, **filters)

    def context(self, message: str, *, budget: int | None = None, **options: Any) -> Context:
        """What a model should read now, within ``budget`` tokens."""
        hits = recall(self._deps, self._scope, message, limit=self._deps.policy.context.relevant)
        return build(self._deps, self._scope, message, hits=hits, budget=budget, **options)

    def messages(self, *, session_id: str | None = None, limit: int = 100) -> list[Message]:
        """The last messages, oldest first."""
        where = [Where("session_id", "=", session_id)] if session_id else []
        with self._deps.store.reading(self.id) as reader:
            return reader.find(Message, *where, order="-at", limit=limit)[::-1]

    def sessions(self, *, limit: int = 100) -> list[Session]:
        """Sessions with this persona (or all of them without one), newest first."""
        where = [Where("persona", "=", self._scope.persona)] if self._scope.persona else []
        with self._deps.store.reading(self.id) as reader:
            return reader.find(Session, *where, order="-last_activity_at", limit=limit)

    def page(self, what: str, *, limit: int = 50, cursor: str | None = None, **options: Any) -> Page[Any]:
        """One page of a listing such as memories or messages; ``next`` of a page is the cursor of the one after it."""
        return listing.find(self._deps, self._scope, what, limit=limit, cursor=cursor, **options)

    def get(self, what: str, id: str) -> Any:
        """One row of a listing by its id."""
        return listing.one(self._deps, self._scope, what, id)

    def stats(self) -> dict[str, Any]:
        """Totals, the oldest and newest message, and the average importance."""
        with self._deps.store.reading(self.id) as reader:
            return reader.stats()

    def receipt(self, id: str) -> Receipt | None:
        """What came of an observed message, by the receipt's id."""
        with self._deps.store.reading(self.id) as reader:
            return reader.get(Receipt, id)
