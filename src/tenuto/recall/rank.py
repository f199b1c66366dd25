"""One search on one view of the index.

    weigh every row (match) → the best (the pool) → their records → gate → score → collapse → hits with their reasons

Records are read through a reader that is bound to the user, and only those that come into question.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import numpy as np

from tenuto.deps import Deps
from tenuto.lifecycle.fade import strength
from tenuto.ports import Reader
from tenuto.recall import scoring
from tenuto.recall.asking import asked_again, tells
from tenuto.recall.changes import LOOKED_AT, asks_about_the_present, change_first
from tenuto.recall.diverse import Held, distinct, held
from tenuto.recall.entry import Indexed, query_tokens, record_type, speaker_marks, words_around
from tenuto.recall.gate import OUTDATED, Admitted, Asked, Gate, Verdict, cited
from tenuto.recall.hits import as_candidate, as_hit, as_said, evidence_ids, passage
from tenuto.recall.holds import Holds
from tenuto.recall.index import KINDS, Bools, Floats, Places, UserIndex, View
from tenuto.recall.known import faint, known
from tenuto.recall.match import Query, Signals, nearest, weigh
from tenuto.recall.outdated import Replaced, current_first, held_until
from tenuto.recall.passages import WHOLE, cuts
from tenuto.recall.plain import sentence
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

ROUNDING = 1e-4
"""Far more than what adding in single precision, by which rows are ordered, can lose of a score."""
NO_HASHES: Hashes = np.zeros(0, np.uint64)
LONGEST_CHAIN = 8
"""How often a memory may have been superseded before what is true now is given up."""


def read(reader: Reader, view: View, rows: Places) -> dict[str, Indexed]:
    """The records of some rows by their ids."""
    by_kind: dict[int, list[str]] = {}
    for row, kind in zip(rows.tolist(), view.column("kind")[rows].tolist(), strict=True):
        by_kind.setdefault(kind, []).append(view.ids[row])
    found: dict[str, Indexed] = {}
    for kind, ids in by_kind.items():
        found.update(reader.get_many(record_type(KINDS[kind]), ids))
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
        reader: Reader,
        request: Request,
        asked: str,
        index: UserIndex,
        view: View,
        vector: Floats | None,
        holds: Holds,
    ) -> None:
        self.fading = deps.policy.fading
        self.reader = reader
        self.request, self.policy = request, deps.policy.recall
        self.index, self.view = index, view
        self.tokens = query_tokens(request.text)
        key = deps.vault.index_key(scope.user)
        now = deps.clock()
        names = names_of(asked) if self.view.speakers else []
        said = times(request.text, now)
        running = tells(request.text)
        lately = said.now or (running and not said.past)
        self.model = deps.embedder.calibration
        self.query = Query(
            hashes(self.tokens, key), hashes(names, key), vector, said.span, lately, running, faint(self.model)
        )
        self.nothing_known = False
        self.now = said.now
        self.present = vector is not None and request.profile == "default" and asks_about_the_present(asked)
        wanted = request.filters
        self.asked = Asked(
            now=now,
            text=asked,
            persona=scope.persona,
            any_persona=scope.persona is None and wanted.persona is not None,
            past=said.past or wanted.until is not None,
            outside=wanted.outside,
            statuses=frozenset({wanted.status} if wanted.status else ()),
            anchor=self.model.anchor,
            owner=wanted.held,
        )
        self.gate = Gate(holds, self.asked)
        self.records: dict[str, Indexed] = {}
        self.admitted: dict[str, Admitted[Any]] = {}
        self.outdated: dict[str, Memory] = {}
        self.until: dict[str, datetime] = {}
        self.allowed: Bools = np.zeros(0, bool)
        self.held: dict[str, Held] = {}

    def ranked(self, allowed: Bools) -> list[Scored]:
        """The best that may be handed over; the pool is widened while the gate leaves too few."""
        self.allowed = allowed
        if self.request.profile == "default":
            signals = weigh(self.view, self.query, allowed, self.policy)
        else:
            signals = nearest(self.view, self.query, allowed, self.policy.candidates)
        if self.query.vector is not None and not known(self.view, self.query.tokens, signals, allowed, self.model):
            self.nothing_known = True
            return []
        size = max(self.policy.pool, 2 * self.request.limit)
        while True:
            pool = signals.pool(size)
            kept = self._best(signals, pool)
            if len(kept) == self.request.limit or len(pool) < size:
                return kept
            size *= 4

    def _best(self, signals: Signals, pool: Places) -> list[Scored]:
        """The best of one pool. Records are read in the order of promise, and only until there are enough.

        A message's place is known from the index alone; what else there is of its record (its text, its trust) matters
        only if it comes into question. Everything else is read at once, because its weight is in the record.
        """
        lazy = self.request.profile == "default"
        messages, others = self._apart(pool) if lazy else (pool[:0], pool)
        candidates = self._pass(signals, others, read(self.reader, self.view, others)) if len(others) else []
        replaced = self._replaced(signals, candidates) if self.outdated and lazy else []
        step = max(self.request.limit + self.request.limit // 2, scoring.FEW)
        more, doubt = 2 * step, 0.0
        if not (candidates or self.now or self.present):
            # Among messages alone nothing but a repetition can change their order: as many as wanted mostly do.
            step, more, doubt = self.request.limit, self.request.limit // 4 + 1, ROUNDING
        while True:
            some, messages = messages[:step], messages[step:]
            if len(some):
                candidates += self._pass(signals, some, self.reader.get_many(Message, self._ids(some)))
            ranked = scoring.score(candidates, self.request.profile, self.asked.now, self.policy, self.request.feeling)
            if len(messages):
                # What was not read yet cannot be better than its promise: the order holds down to there.
                promise = signals.promise(messages[0]) + doubt
                ranked = [one for one in ranked if one.score >= promise]
            if self.now:
                ranked = self._newest_first(ranked)
            elif self.present:
                ranked = self._change_first(ranked)
            if replaced:
                ranked = current_first(ranked, replaced, self.held)
                self.until = held_until(ranked, replaced, self.held)
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
        self._read_cited(records)
        passed, ids, asked = [], self.view.ids, self.asked
        for row, cosine, parts in zip(rows.tolist(), signals.near(rows), signals.weighed(rows), strict=True):
            record = records.get(ids[row])
            if record is None:
                continue
            admitted = self.gate.admit(record, cosine)
            if isinstance(admitted, Verdict):
                if admitted.rule == OUTDATED and isinstance(record, Memory):
                    self.outdated[record.id] = record
                continue
            self.admitted[record.id] = admitted
            if isinstance(record, Message):
                passed.append(as_said(record, cosine, self._unless_asked_again(record, parts)))
                continue
            left = strength(record, asked.now, self.fading) if isinstance(record, Memory) else 1.0
            at = from_micros(int(self.view.columns["at"][row]))
            passed.append(as_candidate(record, admitted.text, at, cosine, parts, left))
        return passed

    def _unless_asked_again(self, message: Message, parts: dict[str, float]) -> dict[str, float]:
        """The parts of a message, where it puts the same question as the query without what it gains by being alike."""
        if message.content.rstrip().endswith("?") and asked_again(
            message.content, words.tokens(message.content), self.tokens
        ):
            alike = max(parts.get("words", 0.0) + parts.get("meaning", 0.0), 0.0)
            return {**parts, "asked again": -alike}
        return parts

    def _read_cited(self, records: Mapping[str, Indexed]) -> None:
        """Show the gate what lines of derived texts rest on."""
        messages, memories = cited(records.values(), self.gate.holds)
        if messages or memories:
            rests_on = self.reader.get_many(Memory, memories) if memories else {}
            self.gate.know(self.reader.get_many(Message, messages) if messages else {}, rests_on)

    def _replaced(self, signals: Signals, candidates: list[Candidate]) -> list[Replaced]:
        """What the gate kept out as outdated, with what is true now, where the query reaches that too.

        The newer memory comes among the candidates even if it was not among the best.
        """
        pairs = []
        for old, new in self._successors(list(self.outdated.values())):
            row = self.index.row(new.id) if new is not None and new is not old else None
            if new is None or row is None or row >= self.view.size or not self.allowed[row]:
                continue
            if self.view.has_vector()[row] and self._reached(signals, old, new):
                if new.id not in self.admitted:
                    candidates += self._pass(signals, np.array([row]), {new.id: new})
                pairs.append(Replaced(old, new))
        return pairs

    def _reached(self, signals: Signals, *values: Memory) -> bool:
        """Whether the query asks about a thing: it is near one of its values, or not far and has a word of it."""
        for memory in values:
            row = self.index.row(memory.id)
            if row is not None and row < self.view.size:
                shared = not words.distinct_tokens(memory.content).isdisjoint(self.tokens)
                if float(signals.cosine[row]) >= (faint(self.model) if shared else self.model.floor):
                    return True
        return False

    def _successors(self, old: list[Memory]) -> list[tuple[Memory, Memory | None]]:
        """Each memory with the last that took its place, if it is still there: all of one step are read at once."""
        last: list[Memory | None] = list(old)
        for _ in range(LONGEST_CHAIN):
            wanted = {one.superseded_by for one in last if one and one.superseded_by}
            if not wanted:
                break
            read = {id: self.records.get(id) for id in wanted}
            known = {id: one for id, one in read.items() if isinstance(one, Memory)}
            if missing := sorted(wanted - known.keys()):
                known.update(self.reader.get_many(Memory, missing))
            last = [known.get(one.superseded_by) if one and one.superseded_by else one for one in last]
        return list(zip(old, last, strict=True))

    def _newest_first(self, ranked: list[Scored]) -> list[Scored]:
        if len(ranked) < 2 or self.query.vector is None:
            return ranked
        vectors = self.view.vectors(np.array(self._rows([one.candidate.id for one in ranked])))
        alike = vectors @ vectors[0]
        usual = scoring.LOOSE if len(ranked) < scoring.FEW else float(alike.mean() + alike.std())
        return scoring.newest_first(ranked, alike[: scoring.SUBJECT].tolist(), usual)

    def _change_first(self, ranked: list[Scored]) -> list[Scored]:
        if len(ranked) < 2:
            return ranked
        best = ranked[:LOOKED_AT]
        vectors = self.view.vectors(np.array(self._rows([one.candidate.id for one in best])))
        for one in best:
            if one.candidate.id not in self.held:
                self.held[one.candidate.id] = held(one.candidate.text)
        return change_first(ranked, (vectors @ vectors[0]).tolist(), self.held, self.tokens, self.model.floor)

    def reason(self) -> str:
        """Why nothing came back."""
        if not self.allowed.any():
            return "nothing is kept that these filters let through"
        if self.nothing_known:
            return "nothing that is kept is about this"
        if self.records:
            return "what was found may not be handed over for this query"
        if self.query.vector is None and self.request.profile != "default":
            return f"the profile {self.request.profile} ranks by meaning, and there is no vector for the query"
        return "no word of the query occurs in what is kept" if self.tokens else "the query holds no word to search for"

    def hits(self, ranked: list[Scored], notes: tuple[str, ...]) -> list[Hit]:
        records = [self.records[one.candidate.id] for one in ranked]
        passages = self._around(ranked) if self.request.passages else {}
        sources = {record.id: record for record in records if isinstance(record, Message)}
        if passages or len(sources) < len(records):
            wanted = {id for record in records for id in evidence_ids(record)}
            wanted.update(id for ids in passages.values() for id in ids)
            if missing := sorted(wanted - sources.keys()):
                sources.update(self.reader.get_many(Message, missing))
        made, spoken = [], {token: word for word in self.request.text.split() for token in words.tokens(word)}
        for one, record in zip(ranked, records, strict=True):
            admitted = self.admitted[record.id]
            said, around = self.held.get(record.id) or held(admitted.text), words_around(record)
            matched = tuple([token for token in self.tokens if token in said or token in around])
            near = [sources[id] for id in passages.get(record.id, ()) if id in sources]
            passed = [line for line in map(self.gate.admit, near) if isinstance(line, Admitted)]
            text = passage(passed) if passed else None
            place = self._place(record) if admitted.whole else None
            until = self.until.get(record.id, record.valid_to if isinstance(record, Memory) else None)
            hit = as_hit(one, admitted, self.request.profile, sources, matched, notes, text, place, until)
            said_at = [evidence.at for evidence in hit.why.evidence] or [hit.at]
            hit.why.plain = sentence(one.parts, [spoken.get(token, token) for token in matched], said_at, until)
            made.append(hit)
        return made

    def _place(self, record: Indexed) -> tuple[int, int] | None:
        """Where in a long text the passage lies that is nearest to the query."""
        if self.query.vector is None or len(record.content) <= WHOLE:
            return None
        found = self.view.best_passage(self._rows([record.id])[0], self.query.vector)
        places = cuts(record.content, self.view.dimension)
        return places[found] if found is not None and found < len(places) else None

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
