"""Recall: the right few things for a query, with reasons. The flow; what decides lies in the pure modules beside it.

    check the request → embed the query → bring the index up to date (and embed the few entries that wait)
    → weigh every row (match) → read the best (the pool) → gate → score → collapse → hits with their reasons

Nothing is written. The embedder may fail: then words alone answer, and the result says so. The index is a cache of the
store's own rows of this one user, and records are read through a reader bound to the user: there is no path by which
another user's row could come back.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
from msgspec.structs import replace

from tenuto.deps import Deps
from tenuto.errors import EmbedderError
from tenuto.lifecycle.named_session import find_session
from tenuto.ports import Moved, Reader, Where
from tenuto.recall import filters
from tenuto.recall.entry import embedding_texts
from tenuto.recall.index import Floats, UserIndex, View
from tenuto.recall.passages import grouped
from tenuto.recall.rank import Search, read
from tenuto.recall.request import Request, check
from tenuto.recall.selfnamed import NAME_KEY, first_person, may_name
from tenuto.records.memory import Memory, Status
from tenuto.records.recall import Recalled
from tenuto.records.scope import Revision, Scope


def recall(
    deps: Deps,
    scope: Scope,
    query: str,
    *,
    limit: int = 10,
    kinds: Iterable[str] | str | None = None,
    profile: str = "default",
    **given: Any,
) -> Recalled:
    """The best ``limit`` things for ``query`` that may be handed over, best first."""
    request = check(query, deps.policy.limits, limit=limit, kinds=kinds, profile=profile, **given)
    question = _prepare(deps, scope, request)
    found = _from_last_index(deps, scope, question)
    if found is None:
        found = _from_fresh_index(deps, scope, question)
    if isinstance(found, Recalled):
        return found
    question = dataclasses.replace(question, notes=(*question.notes, *_catch_up(deps, found)))
    with deps.store.reading(scope.user) as reader:
        return _search(deps, scope, question, found.index, found.index.view(), reader)


@dataclass(frozen=True, slots=True)
class _Question:
    """A checked request with everything that is needed to search for it."""

    request: Request
    asked: str
    """The query as it came, before the user's own name became "I"."""
    vector: Floats | None
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Waiting:
    """Entries that wait for their vector, with the texts that it is made from."""

    index: UserIndex
    texts: dict[str, list[str]]
    notes: list[str]


def _prepare(deps: Deps, scope: Scope, request: Request) -> _Question:
    """Look up the user's names and keys, and embed the query."""
    asked = request.text
    if request.filters.speaker is not None:
        blind = deps.vault.blind(scope.user, request.filters.speaker)
        request = replace(request, filters=replace(request.filters, speaker=blind))
    if request.filters.session is not None:
        with deps.store.reading(scope.user) as reader:
            meant = find_session(reader, scope.persona, request.filters.session)
        if meant is not None:
            request = replace(request, filters=replace(request.filters, session=meant.id))
    if may_name(asked):
        request = replace(request, text=_first_person(deps, scope, asked))
    deps.vault.index_key(scope.user)  # may have to be made, which takes a transaction of its own
    vector, notes = _embed_query(deps, request.text)
    return _Question(request, asked, vector, tuple(notes))


def _from_last_index(deps: Deps, scope: Scope, question: _Question) -> Recalled | _Waiting | None:
    """Search the index as the last question left it; ``None`` if there is none or something has happened since.

    Mostly nothing has: then the index is right as it is, and the store says so together with the records.
    """
    last = deps.indexes.last(scope.user, deps.embedder.model, deps.embedder.dimension)
    if last is None:
        return None
    with suppress(Moved), deps.store.reading(scope.user, at=last.at) as reader:
        return _ask(deps, scope, question, last.index, reader, last.at)
    return None


def _from_fresh_index(deps: Deps, scope: Scope, question: _Question) -> Recalled | _Waiting:
    """Search the index after bringing it up to date."""
    with deps.store.reading(scope.user) as reader:
        index = deps.indexes.fresh(reader, deps.embedder.model, deps.embedder.dimension)
        return _ask(deps, scope, question, index, reader, reader.revision())


def _ask(
    deps: Deps, scope: Scope, question: _Question, index: UserIndex, reader: Reader, at: Revision | None
) -> Recalled | _Waiting:
    """What is found, or the entries that need their vectors before it can be."""
    view = index.view()
    waiting = _waiting(deps, index, view, reader) if question.vector is not None else None
    return waiting or _search(deps, scope, question, index, view, reader, at)


def _search(
    deps: Deps,
    scope: Scope,
    question: _Question,
    index: UserIndex,
    view: View,
    reader: Reader,
    at: Revision | None = None,
) -> Recalled:
    request, notes = question.request, question.notes
    holds = deps.holds.fresh(reader, deps.policy.retention, at)
    search = Search(deps, scope, reader, request, question.asked, index, view, question.vector, holds)
    ranked = search.ranked(filters.mask(view, index, reader, request.filters, scope.persona))
    if not ranked:
        return Recalled(notes=(*notes, search.reason()))
    return Recalled(search.hits(ranked, notes), notes)


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


def _waiting(deps: Deps, index: UserIndex, view: View, reader: Reader) -> _Waiting | None:
    """The newest entries that wait for their vector, where there are any."""
    most = deps.policy.recall.catch_up
    rows = view.unembedded()
    records = read(reader, view, rows[:most]) if len(rows) else {}
    if not records:
        return None
    texts = {id: embedding_texts(record, view.dimension) for id, record in records.items()}
    late = f"{len(rows):,} entries wait for their vector and are found by words only"
    return _Waiting(index, texts, [late] if len(rows) > most else [])


def _catch_up(deps: Deps, waiting: _Waiting) -> list[str]:
    """Give them their vectors, in memory only; what the result should say of it."""
    try:
        passages = [passage for some in waiting.texts.values() for passage in some]
        vectors = np.asarray(deps.embedder.embed(passages), np.float32)
        waiting.index.set_vectors(grouped(waiting.texts, vectors))
    except EmbedderError as error:
        return [*waiting.notes, f"the newest entries were searched by words only: {error.message}"]
    return waiting.notes
