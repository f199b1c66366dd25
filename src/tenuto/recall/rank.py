"""One search on one view of the index: it stops where it needs records, and takes them as the answer.

    weigh every row (match) → the best (the pool) → their records → gate → score → collapse → hits with their reasons

Nothing is read here. Whoever takes the steps reads: from a transaction, or over a line, for many at once.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np

from tenuto.deps import Deps
from tenuto.lifecycle.fade import strength
from tenuto.recall import scoring
from tenuto.recall.diverse import Held, distinct, held
from tenuto.recall.entry import Indexed, query_tokens, record_type, speaker_marks, words_around
from tenuto.recall.gate import OUTDATED, Asked, Verdict, gate
from tenuto.recall.hits import as_candidate, as_hit, as_said, evidence_ids, passage
from tenuto.recall.index import KINDS, Bools, Floats, Places, UserIndex, View
from tenuto.recall.match import Query, Signals, nearest, weigh
from tenuto.recall.outdated import Replaced, current_first
from tenuto.recall.request import Request
from tenuto.recall.scoring import Scored
from tenuto.recall.segments import Hashes
from tenuto.recall.timewords import times
from tenuto.records.base import from_micros
from tenuto.records.conversation import Message
from tenuto.records.memory import Memory
from tenuto.records.operations import EntryKind
from tenuto.records.recall import Candidate, Hit
from tenuto.records.scope import Scope
from tenuto.text import words

T = TypeVar("T")
ROUNDING = 1e-4
"""Far more than what adding in single precision, by which rows are ordered, can lose of a score."""
NO_HASHES: Hashes = np.zeros(0, np.uint64)
LONGEST_CHAIN = 8
"""How often a memory may have been superseded before what is true now is given up."""


class Wanted(NamedTuple):
    """Records that a search cannot go on without."""

    type: type[Any]
    ids: Sequence[str]


Steps = Generator[Wanted, Mapping[str, Any], T]
"""A search that stops wherever it needs records, and takes them as the answer."""


def read(view: View, rows: Places) -> Steps[dict[str, Indexed]]:
    by_kind: dict[int, list[str]] = {}
    for row, kind in zip(rows.tolist(), view.column("kind")[rows].tolist(), strict=True):
        by_kind.setdefault(kind, []).append(view.ids[row])
    found: dict[str, Indexed] = {}
    for kind, ids in by_kind.items():
        found.update((yield Wanted(record_type(KINDS[kind]), ids)))
    return found


def hashes(tokens: Sequence[str], key: bytes) -> Hashes:
    return np.array([words.token_hash(token, key) for token in tokens], np.uint64) if tokens else NO_HASHES


def names_of(text: str) -> list[str]:
    """The marks of everyone whom a query may name. A name that is also a plain word counts where it is capitalised."""
    plain = {word.casefold() for word in text.split() if word[:1].islower()} | {text.split()[0].casefold()}
    return [mark for mark in speaker_marks(text) if mark[1:] not in words.STOP_WORDS or mark[1:] not in plain]


class Search:
    """One request on one view of the index. ``asked`` is its text as it came, before the user's name became "I"."""

    def __init__(
        self,
        deps: Deps,
        scope: Scope,
        request: Request,
        asked: str,
        index: UserIndex,
        view: View,
        vector: Floats | None,
    ) -> None:
        self.fading = deps.policy.fading
        self.request, self.policy = request, deps.policy.recall
        self.index, self.view = index, view
        self.tokens = query_tokens(request.text)
        key = deps.vault.index_key(scope.user)
        now = deps.clock()
        names = names_of(asked) if self.view.speakers else []
        said = times(request.text, now)
        self.query = Query(hashes(self.tokens, key), hashes(names, key), vector, said.span)
        self.now = said.now
        wanted = request.filters
        self.asked = Asked(
            now=now,
            persona=scope.persona,
            any_persona=scope.persona is None and wanted.persona is not None,
            past=said.past or wanted.until is not None,
            outside=wanted.outside,
            statuses=frozenset({wanted.status} if wanted.status else ()),
            anchor=deps.embedder.calibration.anchor,
        )
        self.records: dict[str, Indexed] = {}
        self.rules: dict[str, Verdict] = {}
        self.outdated: dict[str, Memory] = {}
        self.allowed: Bools = np.zeros(0, bool)
        self.held: dict[str, Held] = {}
        self.floor = deps.embedder.calibration.floor

    def ranked(self, allowed: Bools) -> Steps[list[Scored]]:
        """The best that may be handed over; the pool is widened while the gate leaves too few."""
        self.allowed = allowed
        if self.request.profile == "default":
            signals = weigh(self.view, self.query, allowed, self.policy)
        else:
            signals = nearest(self.view, self.query, allowed, self.policy.candidates)
        size = max(self.policy.pool, 2 * self.request.limit)
        while True:
            pool = signals.pool(size)
            kept = yield from self._best(signals, pool)
            if len(kept) == self.request.limit or len(pool) < size:
                return kept
            size *= 4

    def _best(self, signals: Signals, pool: Places) -> Steps[list[Scored]]:
        """The best of one pool. Records are read in the order of promise, and only until there are enough.

        A message's place is known from the index alone; what else there is of its record (its text, its trust) matters
        only if it comes into question. Everything else is read at once, because its weight is in the record.
        """
        lazy = self.request.profile == "default"
        messages, others = self._apart(pool) if lazy else (pool[:0], pool)
        candidates = self._pass(signals, others, (yield from read(self.view, others))) if len(others) else []
        replaced = (yield from self._replaced(signals, candidates)) if self.outdated and lazy else []
        step = max(self.request.limit + self.request.limit // 2, scoring.FEW)
        more, doubt = 2 * step, 0.0
        if not (candidates or self.now):
            # Among messages alone nothing but a repetition can change their order: as many as wanted mostly do.
            step, more, doubt = self.request.limit, self.request.limit // 4 + 1, ROUNDING
        while True:
            some, messages = messages[:step], messages[step:]
            if len(some):
                candidates += self._pass(signals, some, (yield Wanted(Message, self._ids(some))))
            ranked = scoring.score(candidates, self.request.profile, self.asked.now, self.policy, self.request.feeling)
            if len(messages):
                # What was not read yet cannot be better than its promise: the order holds down to there.
                promise = signals.promise(messages[0]) + doubt
                ranked = [one for one in ranked if one.score >= promise]
            if self.now:
                ranked = self._newest_first(ranked)
            if replaced:
                ranked = current_first(ranked, replaced, self.held)
            kept = distinct(ranked, self.request.limit, self.held)
            if len(kept) == self.request.limit or not len(messages):
                return kept
            step, more = more, 2 * more

    def _apart(self, pool: Places) -> tuple[Places, Places]:
        """(messages, everything else)"""
        if self.request.filters.kinds == (EntryKind.MESSAGE,):
            return pool, pool[:0]
        said = self.view.said()[pool]
        return pool[said], pool[~said]

    def _ids(self, rows: Places) -> list[str]:
        return [self.view.ids[row] for row in rows.tolist()]

    def _pass(self, signals: Signals, rows: Places, records: Mapping[str, Indexed]) -> list[Candidate]:
        """Ask the gate for the record of each of some rows."""
        if not records:
            return []
        self.records.update(records)
        passed, ids, asked = [], self.view.ids, self.asked
        for row, cosine, parts in zip(rows.tolist(), signals.near(rows), signals.weighed(rows), strict=True):
            record = records.get(ids[row])
            if record is None:
                continue
            verdict = gate(record, asked, cosine)
            if verdict.passed:
                self.rules[record.id] = verdict
                if isinstance(record, Message):
                    passed.append(as_said(record, cosine, parts))
                    continue
                left = strength(record, asked.now, self.fading) if isinstance(record, Memory) else 1.0
                at = from_micros(int(self.view.columns["at"][row]))
                passed.append(as_candidate(record, at, cosine, parts, left))
            elif verdict.rule == OUTDATED and isinstance(record, Memory):
                self.outdated[record.id] = record
        return passed

    def _replaced(self, signals: Signals, candidates: list[Candidate]) -> Steps[list[Replaced]]:
        """What the gate kept out as outdated, with what is true now, where the query reaches that too.

        The newer memory comes among the candidates even if it was not among the best.
        """
        pairs = []
        for old, new in (yield from self._successors(list(self.outdated.values()))):
            row = self.index.row(new.id) if new is not None and new is not old else None
            if new is None or row is None or row >= self.view.size or not self.allowed[row]:
                continue
            if self.view.has_vector()[row] and float(signals.cosine[row]) >= self.floor:
                if new.id not in self.rules:
                    candidates += self._pass(signals, np.array([row]), {new.id: new})
                pairs.append(Replaced(old, new))
        return pairs

    def _successors(self, old: list[Memory]) -> Steps[list[tuple[Memory, Memory | None]]]:
        """Each memory with the last that took its place, if it is still there: all of one step are read at once."""
        last: list[Memory | None] = list(old)
        for _ in range(LONGEST_CHAIN):
            wanted = {one.superseded_by for one in last if one and one.superseded_by}
            if not wanted:
                break
            read = {id: self.records.get(id) for id in wanted}
            known = {id: one for id, one in read.items() if isinstance(one, Memory)}
            if missing := sorted(wanted - known.keys()):
                known.update((yield Wanted(Memory, missing)))
            last = [known.get(one.superseded_by) if one and one.superseded_by else one for one in last]
        return list(zip(old, last, strict=True))

    def _newest_first(self, ranked: list[Scored]) -> list[Scored]:
        if len(ranked) < 2 or self.query.vector is None:
            return ranked
        vectors = self.view.vectors(np.array(self._rows([one.candidate.id for one in ranked])))
        alike = vectors @ vectors[0]
        usual = scoring.LOOSE if len(ranked) < scoring.FEW else float(alike.mean() + alike.std())
        return scoring.newest_first(ranked, alike[: scoring.SUBJECT].tolist(), usual)

    def reason(self) -> str:
        """Why nothing came back."""
        if not self.allowed.any():
            return "nothing is kept that these filters let through"
        if self.records:
            return "what was found may not be handed over for this query"
        if self.query.vector is None and self.request.profile != "default":
            return f"the profile {self.request.profile} ranks by meaning, and there is no vector for the query"
        return "no word of the query occurs in what is kept" if self.tokens else "the query holds no word to search for"

    def hits(self, ranked: list[Scored], notes: tuple[str, ...]) -> Steps[list[Hit]]:
        records = [self.records[one.candidate.id] for one in ranked]
        passages = self._around(ranked) if self.request.passages else {}
        sources = {record.id: record for record in records if isinstance(record, Message)}
        if passages or len(sources) < len(records):
            wanted = {id for record in records for id in evidence_ids(record)}
            wanted.update(id for ids in passages.values() for id in ids)
            if missing := sorted(wanted - sources.keys()):
                sources.update((yield Wanted(Message, missing)))
        made = []
        for one, record in zip(ranked, records, strict=True):
            said, around = self.held.get(record.id) or held(record.content), words_around(record)
            matched = tuple([token for token in self.tokens if token in said or token in around])
            rule = self.rules[record.id].rule
            lines = [sources[id] for id in passages[record.id] if id in sources] if record.id in passages else None
            text = passage(lines) if lines else None
            made.append(as_hit(one, record, self.request.profile, rule, sources, matched, notes, text))
        return made

    def _rows(self, ids: list[str]) -> list[int]:
        """Rows of entries in this view; one that was replaced meanwhile keeps a row, though a newer one."""
        rows = [self.index.row(id) for id in ids]
        return [row if row is not None and row < self.view.size else 0 for row in rows]

    def _around(self, ranked: list[Scored]) -> dict[str, list[str]]:
        """The message before and after each hit message, with it, in order."""
        before, after = self.view.neighbours(1)
        ids = [one.candidate.id for one in ranked if one.candidate.kind is EntryKind.MESSAGE]
        found = {}
        for id, row in zip(ids, self._rows(ids), strict=True):
            chain = [int(before[row]), row, int(after[row])]
            found[id] = [self.view.ids[place] for place in chain if place < self.view.size]
        return found
