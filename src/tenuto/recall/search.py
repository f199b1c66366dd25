"""Recall: the right few things for a query, with reasons. The flow; what decides lies in the pure modules beside it.

    check the request → embed the query → bring the index up to date (and embed the few entries that wait)
    → weigh every row (match) → read the best (the pool) → gate → score → collapse → hits with their reasons

Nothing is written. The embedder may fail: then words alone answer, and the result says so. The index is a cache of the
store's own rows of this one user, and records are read through a reader bound to the user: there is no path by which
another user's row could come back.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

import numpy as np
from msgspec.structs import replace

from tenuto.deps import Deps
from tenuto.errors import EmbedderError
from tenuto.ports import Moved, Reader, Where
from tenuto.recall import filters
from tenuto.recall.entry import embedding_text
from tenuto.recall.index import Floats, UserIndex, View
from tenuto.recall.indexes import Current
from tenuto.recall.rank import Search, Steps, read
from tenuto.recall.request import check
from tenuto.recall.selfnamed import NAME_KEY, first_person, may_name
from tenuto.records.conversation import Message
from tenuto.records.memory import Memory, Status
from tenuto.records.recall import Recalled
from tenuto.records.scope import Scope
from tenuto.stops import Away, Look, Stops

T = TypeVar("T")
SMALL = 10_000
"""Entries that are weighed within a millisecond: an event loop may do that itself."""


def recall(deps: Deps, scope: Scope, query: str, **given: Any) -> Recalled:
    """The best ``limit`` things for ``query`` that may be handed over, best first."""
    return _Recall(deps, scope, query, **given).now()


def recalling(deps: Deps, scope: Scope, query: str, **given: Any) -> Stops[Recalled]:
    """The same for an event loop: it stops where it would wait."""
    return (yield from _Recall(deps, scope, query, **given).stops())


class _Recall:
    """One question, from the check to the answer.

    The store is asked as late as possible. Mostly nothing has happened since the last question: then the index is right
    as it is, and reading the best records finds out if it is not.
    """

    def __init__(
        self,
        deps: Deps,
        scope: Scope,
        query: str,
        *,
        limit: int = 10,
        kinds: Iterable[str] | str | None = None,
        profile: str = "default",
        **given: Any,
    ) -> None:
        self.deps, self.scope = deps, scope
        self.request = check(query, deps.policy.limits, limit=limit, kinds=kinds, profile=profile, **given)
        self.asked = self.request.text
        self.vector: Floats | None = None
        self.notes: list[str] = []

    def now(self) -> Recalled:
        self._prepare()
        return self._answer()

    def stops(self) -> Stops[Recalled]:
        ready = self._ready_at_once() or (yield from _away(self._ready))
        if ready is None:
            return (yield from _away(self._answer))
        last, view = ready
        looked, steps = False, self._ask(last.index, view)
        try:
            wanted = next(steps)
            while True:
                records = yield Look(self.scope.user, last.at, *wanted)
                if records is None:
                    return (yield from _away(self._anew))
                looked = True
                wanted = steps.send(records)
        except StopIteration as end:
            found: Recalled | _Waiting = end.value
        if not looked and (yield Look(self.scope.user, last.at, Message, ())) is None:
            return (yield from _away(self._anew))
        return found if isinstance(found, Recalled) else (yield from _away(partial(self._done, found)))

    def _prepare(self) -> None:
        """What waits for others: the user's names, keys, and the query's vector."""
        user, request = self.scope.user, self.request
        if request.filters.speaker is not None:
            blind = self.deps.vault.blind(user, request.filters.speaker)
            request = replace(request, filters=replace(request.filters, speaker=blind))
        if may_name(self.asked):
            request = replace(request, text=_first_person(self.deps, self.scope, self.asked))
        self.deps.vault.index_key(user)
        self.request = request
        self.vector, self.notes = _embed_query(self.deps, request.text)

    def _ready(self) -> tuple[Current, View] | None:
        """The index as it was left, where an event loop may go on with it."""
        self._prepare()
        last = self._last()
        if last is None or self.request.filters.of_records:
            return None
        view = last.index.view()
        return (last, view) if view.size <= SMALL else None

    def _ready_at_once(self) -> tuple[Current, View] | None:
        """The same where nothing is waited for: no vector, no name, no key, and nobody who changes the index."""
        last = self._last()
        view = last.index.settled() if last is not None else None
        if last is None or view is None or view.size > SMALL or self.request.filters.of_records:
            return None
        down = self.deps.outage.message
        if down is None or self.deps.vault.sealing or may_name(self.asked):
            return None
        self.notes = [f"searched by words only: {down}"]
        return last, view

    def _answer(self) -> Recalled:
        last = self._last()
        found: Recalled | _Waiting | None = None
        if last is not None:
            with suppress(Moved), self.deps.store.reading(self.scope.user, at=last.at) as reader:
                found = _taken(self._ask(last.index, last.index.view(), reader), reader)
        return self._anew() if found is None else self._done(found)

    def _last(self) -> Current | None:
        return self.deps.indexes.last(self.scope.user, self.deps.embedder.model, self.deps.embedder.dimension)

    def _anew(self) -> Recalled:
        """With the index brought up to date first."""
        embedder = self.deps.embedder
        with self.deps.store.reading(self.scope.user) as reader:
            index = self.deps.indexes.fresh(reader, embedder.model, embedder.dimension)
            found = _taken(self._ask(index, index.view(), reader), reader)
        return self._done(found)

    def _ask(self, index: UserIndex, view: View, reader: Reader | None = None) -> Steps[Recalled | _Waiting]:
        waiting = (yield from _waiting(self.deps, index, view)) if self.vector is not None else None
        return waiting or (yield from self._search(index, view, reader))

    def _done(self, found: Recalled | _Waiting) -> Recalled:
        """What was found; where entries wait for their vectors, what is found once they have them."""
        if isinstance(found, Recalled):
            return found
        self.notes += _catch_up(self.deps, found)
        with self.deps.store.reading(self.scope.user) as reader:
            return _taken(self._search(found.index, found.index.view(), reader), reader)

    def _search(self, index: UserIndex, view: View, reader: Reader | None) -> Steps[Recalled]:
        found = Search(self.deps, self.scope, self.request, self.asked, index, view, self.vector)
        allowed = filters.mask(view, index, reader, self.request.filters, self.scope.persona)
        ranked = yield from found.ranked(allowed)
        notes = tuple(self.notes)
        if not ranked:
            return Recalled(notes=(*notes, found.reason()))
        return Recalled((yield from found.hits(ranked, notes)), notes)


def _away(work: Callable[[], T]) -> Stops[T]:
    done: T = yield Away(work)
    return done


def _taken(steps: Steps[T], reader: Reader) -> T:
    """All steps at once, each with what the reader finds."""
    try:
        wanted = next(steps)
        while True:
            wanted = steps.send(reader.get_many(*wanted))
    except StopIteration as end:
        found: T = end.value
        return found


def _first_person(deps: Deps, scope: Scope, text: str) -> str:
    """The query as the user would put it, where it names the user."""
    with deps.store.reading(scope.user) as reader:
        told = reader.find(Memory, Where("key", "=", NAME_KEY), Where("status", "=", Status.ACTIVE), limit=4)
    return first_person(text, [memory.value for memory in told if memory.value])


def _embed_query(deps: Deps, text: str) -> tuple[Floats | None, list[str]]:
    """The query's vector, or ``None`` and the reason."""
    down = deps.outage.skip()
    if down is not None:
        return None, [f"searched by words only: {down}"]
    try:
        vector = np.asarray(deps.embedder.embed([text], query=True)[0], np.float32)
    except EmbedderError as error:
        deps.outage.failed(error.message)
        return None, [f"searched by words only: {error.message}"]
    deps.outage.worked()
    if vector.shape != (deps.embedder.dimension,) or not np.isfinite(vector).all():
        return None, [f"searched by words only: the embedder gave {vector.size} numbers, not {deps.embedder.dimension}"]
    return vector, []


@dataclass(frozen=True, slots=True)
class _Waiting:
    """Entries that wait for their vector, with what it is made from."""

    index: UserIndex
    texts: dict[str, str]
    notes: list[str]


def _waiting(deps: Deps, index: UserIndex, view: View) -> Steps[_Waiting | None]:
    """The newest of them."""
    most = deps.policy.recall.catch_up
    rows = view.unembedded()
    if not len(rows):
        return None
    late = f"{len(rows):,} entries wait for their vector and are found by words only"
    records = yield from read(view, rows[:most])
    if not records:
        return None
    texts = {id: embedding_text(record) for id, record in records.items()}
    return _Waiting(index, texts, [late] if len(rows) > most else [])


def _catch_up(deps: Deps, waiting: _Waiting) -> list[str]:
    """Give them their vectors, in memory only; what the result should say of it."""
    try:
        vectors = np.asarray(deps.embedder.embed(list(waiting.texts.values())), np.float32)
        waiting.index.set_vectors(dict(zip(waiting.texts, vectors, strict=True)))
    except EmbedderError as error:
        return [*waiting.notes, f"the newest entries were searched by words only: {error.message}"]
    return waiting.notes
