"""Recall: the right few things for a query, with reasons. The flow; what decides lies in the pure modules beside it.

    check the request → embed the query → bring the index up to date (and embed the few entries that wait)
    → weigh every row (match) → read the best (the pool) → gate → score → collapse → hits with their reasons

Nothing is written. The embedder may fail: then words alone answer, and the result says so. The index is a cache of the
store's own rows of this one user, and records are read through a reader bound to the user: there is no path by which
another user's row could come back.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tenuto.deps import Deps
from tenuto.errors import EmbedderError
from tenuto.lifecycle.fade import strength
from tenuto.ports import Reader
from tenuto.recall import filters, scoring
from tenuto.recall.diverse import distinct
from tenuto.recall.entry import Indexed, embedding_text, query_tokens, record_type, speaker_marks
from tenuto.recall.gate import Asked, Verdict, gate
from tenuto.recall.hits import as_candidate, as_hit, evidence_ids, passage
from tenuto.recall.index import KINDS, Bools, Floats, UserIndex, View
from tenuto.recall.match import Pool, Query, Signals, nearest, weigh
from tenuto.recall.request import Request, check
from tenuto.recall.scoring import Scored
from tenuto.recall.segments import Hashes
from tenuto.recall.timewords import about_now, about_past, span
from tenuto.records.base import from_micros
from tenuto.records.conversation import Message
from tenuto.records.memory import Memory
from tenuto.records.operations import EntryKind
from tenuto.records.recall import Candidate, Hit, Recalled
from tenuto.records.scope import Scope
from tenuto.text import words


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
    wanted = request.filters
    if wanted.speaker is not None:
        wanted = replace(wanted, speaker=deps.vault.blind(scope.user, wanted.speaker))
    vector, notes = _embed_query(deps, request.text)
    index = _fresh(deps, scope.user, vector is not None, notes)
    found = _Search(deps, scope, request, index, vector)
    with deps.store.reading(scope.user) as reader:
        allowed = filters.mask(found.view, index, reader, wanted, scope.persona)
        if not allowed.any():
            return Recalled(notes=(*notes, "nothing is kept that these filters let through"))
        ranked = found.ranked(reader, allowed)
        if not ranked:
            return Recalled(notes=(*notes, found.reason()))
        return Recalled(found.hits(reader, ranked, tuple(notes)), tuple(notes))


def _embed_query(deps: Deps, text: str) -> tuple[Floats | None, list[str]]:
    """The query's vector, or ``None`` and the reason."""
    try:
        vector = np.asarray(deps.embedder.embed([text], query=True)[0], np.float32)
    except EmbedderError as error:
        return None, [f"searched by words only: {error.message}"]
    if vector.shape != (deps.embedder.dimension,) or not np.isfinite(vector).all():
        return None, [f"searched by words only: the embedder gave {vector.size} numbers, not {deps.embedder.dimension}"]
    return vector, []


def _fresh(deps: Deps, user: str, embedding: bool, notes: list[str]) -> UserIndex:
    """The user's index with all that is kept; the newest entries get their vector in memory, if they wait for it."""
    waiting: dict[str, str] = {}
    with deps.store.reading(user) as reader:
        index = deps.indexes.fresh(reader, deps.embedder.model, deps.embedder.dimension)
        if embedding:
            view = index.view()
            rows = view.unembedded()
            if len(rows) > deps.policy.recall.catch_up:
                notes.append(f"{len(rows):,} entries wait for their vector and are found by words only")
            records = _read(reader, view, rows[: deps.policy.recall.catch_up].tolist())
            waiting = {id: embedding_text(record) for id, record in records.items()}
    if waiting:
        try:
            vectors = np.asarray(deps.embedder.embed(list(waiting.values())), np.float32)
            index.set_vectors(dict(zip(waiting, vectors, strict=True)))
        except EmbedderError as error:
            notes.append(f"the newest entries were searched by words only: {error.message}")
    return index


def _read(reader: Reader, view: View, rows: Sequence[int]) -> dict[str, Indexed]:
    by_kind: dict[EntryKind, list[str]] = {}
    column = view.column("kind")
    for row in rows:
        by_kind.setdefault(KINDS[int(column[row])], []).append(view.ids[row])
    found: dict[str, Indexed] = {}
    for kind, ids in by_kind.items():
        found.update(reader.get_many(record_type(kind), ids))
    return found


def _hashes(tokens: Iterable[str], key: bytes) -> Hashes:
    return np.array([words.token_hash(token, key) for token in tokens], np.uint64)


def _names(text: str) -> list[str]:
    """The marks of everyone whom a query may name. A name that is also a plain word counts where it is capitalised."""
    plain = {word.casefold() for word in text.split() if word[:1].islower()} | {text.split()[0].casefold()}
    return [mark for mark in speaker_marks(text) if mark[1:] not in words.STOP_WORDS or mark[1:] not in plain]


@dataclass(slots=True)
class _Gated:
    """What passed the gate, and by which rule; the records that were read."""

    candidates: list[Candidate]
    rules: dict[str, Verdict]
    records: dict[str, Indexed]


class _Search:
    """One request on one view of the index."""

    def __init__(self, deps: Deps, scope: Scope, request: Request, index: UserIndex, vector: Floats | None) -> None:
        self.deps, self.request, self.policy = deps, request, deps.policy.recall
        self.view = index.view()
        self.tokens = query_tokens(request.text)
        key = deps.vault.index_key(scope.user)
        now = deps.clock()
        self.query = Query(
            _hashes(self.tokens, key), _hashes(_names(request.text), key), vector, span(request.text, now)
        )
        wanted = request.filters
        self.asked = Asked(
            now=now,
            persona=scope.persona,
            any_persona=scope.persona is None and wanted.persona is not None,
            past=about_past(request.text) or wanted.until is not None,
            outside=wanted.outside,
            statuses=frozenset({wanted.status} if wanted.status else ()),
            anchor=deps.embedder.calibration.anchor,
        )
        self.gated = _Gated([], {}, {})
        self.signals: Signals | None = None

    def ranked(self, reader: Reader, allowed: Bools) -> list[Scored]:
        """The best that may be handed over; the pool is widened while the gate leaves too few."""
        default = self.request.profile == "default"
        self.signals = (
            weigh(self.view, self.query, allowed, self.policy)
            if default
            else nearest(self.view, self.query, allowed, self.policy.candidates)
        )
        size = max(self.policy.pool, 2 * self.request.limit)
        while True:
            pool = self.signals.pool(size)
            self._pass(reader, pool)
            ranked = scoring.score(
                self.gated.candidates, self.request.profile, self.asked.now, self.policy, self.request.feeling
            )
            if about_now(self.request.text):
                ranked = self._newest_first(ranked, pool)
            kept = distinct(ranked, self.request.limit)
            if len(kept) == self.request.limit or len(pool.rows) < size:
                return kept
            size *= 4

    def _pass(self, reader: Reader, pool: Pool) -> None:
        """Read the pool's records and ask the gate for each."""
        records = _read(reader, self.view, pool.rows.tolist())
        self.gated = _Gated([], {}, records)
        said = self.view.column("at")
        for place, row in enumerate(pool.rows.tolist()):
            record = records.get(self.view.ids[row])
            if record is None:
                continue
            cosine = float(pool.cosine[place]) if pool.has_vector[place] else None
            verdict = gate(record, self.asked, cosine)
            if verdict.passed:
                parts = {name: float(part[place]) for name, part in pool.parts.items()}
                self.gated.rules[record.id] = verdict
                left = strength(record, self.asked.now, self.deps.policy.fading) if isinstance(record, Memory) else 1.0
                self.gated.candidates.append(as_candidate(record, from_micros(int(said[row])), cosine, parts, left))

    def _newest_first(self, ranked: list[Scored], pool: Pool) -> list[Scored]:
        if len(ranked) < 2 or self.query.vector is None:
            return ranked
        place = {self.view.ids[row]: number for number, row in enumerate(pool.rows.tolist())}
        rows = pool.rows[[place[one.candidate.id] for one in ranked]]
        vectors = self.view.vectors(rows)
        alike = vectors @ vectors[0]
        usual = scoring.LOOSE if len(ranked) < scoring.FEW else float(alike.mean() + alike.std())
        return scoring.newest_first(ranked, alike[: scoring.SUBJECT].tolist(), usual)

    def reason(self) -> str:
        """Why nothing came back."""
        if self.gated.records:
            return "what was found may not be handed over for this query"
        if self.query.vector is None and self.request.profile != "default":
            return f"the profile {self.request.profile} ranks by meaning, and there is no vector for the query"
        return "no word of the query occurs in what is kept" if self.tokens else "the query holds no word to search for"

    def hits(self, reader: Reader, ranked: list[Scored], notes: tuple[str, ...]) -> list[Hit]:
        records = [self.gated.records[one.candidate.id] for one in ranked]
        wanted = {id for record in records for id in evidence_ids(record)}
        around = self._around(ranked) if self.request.passages else {}
        wanted |= {id for ids in around.values() for id in ids}
        sources = reader.get_many(Message, sorted(wanted))
        matched = self._matched([one.candidate.id for one in ranked])
        made = []
        for one, record in zip(ranked, records, strict=True):
            lines = [sources[id] for id in around.get(record.id, ()) if id in sources]
            rule = self.gated.rules[record.id].rule
            text = passage(lines) if lines else None
            made.append(as_hit(one, record, self.request.profile, rule, sources, matched[record.id], notes, text))
        return made

    def _matched(self, ids: list[str]) -> dict[str, tuple[str, ...]]:
        """The query's words that each of some entries holds itself."""
        held: dict[str, list[str]] = {id: [] for id in ids}
        found = self.signals.found if self.signals is not None else ()
        rows = {row: self.view.ids[row] for row in self._rows(ids)}
        wanted = np.array(sorted(rows))
        for token, having in zip(self.tokens, found, strict=True):
            for row in wanted[np.isin(wanted, having)].tolist():
                held[rows[row]].append(token)
        return {id: tuple(tokens) for id, tokens in held.items()}

    def _rows(self, ids: list[str]) -> list[int]:
        assert self.signals is not None
        wanted = set(ids)
        return [row for row in self.signals.touched.tolist() if self.view.ids[row] in wanted]

    def _around(self, ranked: list[Scored]) -> dict[str, list[str]]:
        """The message before and after each hit message, with it, in order."""
        before, after = self.view.neighbours(1)
        found = {}
        for row in self._rows([one.candidate.id for one in ranked if one.candidate.kind is EntryKind.MESSAGE]):
            chain = [int(before[row]), row, int(after[row])]
            found[self.view.ids[row]] = [self.view.ids[place] for place in chain if place < self.view.size]
        return found
