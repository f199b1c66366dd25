"""Recall: the right few things for a query, with reasons. The flow; what decides lies in the pure modules beside it.

    clean the query → bring the index up to date → embed (the query, and the few entries that wait) → pool (match)
    → read the pool's records → gate → score → hits with their reasons

Nothing is written. The embedder may fail: then words alone answer, and every hit says so. The index is a cache of the
store's own rows of this one user, and records are read through a reader bound to the user: there is no path by which
another user's row could come back.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from tenuto.deps import Deps
from tenuto.errors import EmbedderError, InputError
from tenuto.policy import Limits
from tenuto.ports import Reader
from tenuto.recall import filters, scoring
from tenuto.recall.entry import Indexed, embedding_text, kind_of, moment_of, record_type
from tenuto.recall.gate import Asked, Verdict, gate
from tenuto.recall.index import KINDS, Floats, UserIndex, View
from tenuto.recall.match import Pool, Weights, pool
from tenuto.recall.timewords import about_past
from tenuto.records.conversation import KeyPoint, Message
from tenuto.records.memory import Evidence, Memory, Todo
from tenuto.records.operations import EntryKind
from tenuto.records.recall import Candidate, Hit, Recalled, Why
from tenuto.records.scope import Scope
from tenuto.text import clean, words

QUERY_CHARACTERS = 4000
"""Of a longer query only this much is searched for."""


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
    scoring.check_profile(profile)
    limit = check_limit(limit, deps.policy.limits)
    wanted = filters.parse({"kinds": kinds, **given}, deps.policy.limits)
    if wanted.speaker is not None:
        wanted = replace(wanted, speaker=deps.vault.blind(scope.user, wanted.speaker))
    text = check_query(query, deps.policy.limits)
    tokens = list(dict.fromkeys(words.tokens(text)))
    vector, notes = embed_query(deps, text)
    with deps.store.reading(scope.user) as reader:
        index = deps.indexes.fresh(reader, deps.embedder.model, deps.embedder.dimension)
        waiting = _waiting(reader, index, deps.policy.recall.catch_up) if vector is not None else {}
    notes += _catch_up(deps, index, waiting)
    view = index.view()
    asked = Asked(
        now=deps.clock(),
        persona=scope.persona,
        any_persona=scope.persona is None and wanted.persona is not None,
        past=about_past(text) or wanted.until is not None,
        outside=wanted.outside,
        statuses=frozenset({wanted.status} if wanted.status else ()),
        anchor=deps.embedder.calibration.anchor,
    )
    key = deps.vault.index_key(scope.user)
    hashes = np.array([words.token_hash(token, key) for token in tokens], np.uint64)
    with deps.store.reading(scope.user) as reader:
        allowed = filters.mask(view, index, reader, wanted, scope.persona)
        if not allowed.any():
            return Recalled(notes=(*notes, "nothing is kept that these filters let through"))
        found = pool(view, hashes, vector, allowed, max(deps.policy.recall.pool, limit), Weights())
        if not len(found.rows):
            return Recalled(notes=(*notes, "no word of the query occurs in what is kept"))
        records = _records(reader, view, found)
        passed, verdicts = _gated(view, found, records, asked)
        ranked = scoring.score(passed, profile, asked.now, deps.policy.recall)[:limit]
        if not ranked:
            return Recalled(notes=(*notes, "what was found may not be handed over for this query"))
        sources = _sources(reader, [records[one.candidate.id] for one in ranked])
    matched = _matched(view, found, tokens)
    return Recalled(
        [_hit(one, records[one.candidate.id], verdicts, sources, matched, profile, tuple(notes)) for one in ranked],
        tuple(notes),
    )


def check_limit(value: object, limits: Limits) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise InputError(f"'limit' takes a whole number, not {value!r}.", code="limit_invalid")
    if not 1 <= value <= limits.recall_limit:
        raise InputError(f"'limit' is from 1 to {limits.recall_limit:,}, and is {value}.", code="limit_invalid")
    return value


def check_query(value: object, limits: Limits) -> str:
    """The part of a query that is searched for."""
    if isinstance(value, str) and len(value.encode("utf-8", "replace")) > limits.query_bytes:
        raise InputError(f"The query is longer than {limits.query_bytes:,} bytes: ask for less at once.", code="query_too_long")
    return clean.text(value, limits, what="query")[:QUERY_CHARACTERS]


def embed_query(deps: Deps, text: str) -> tuple[Floats | None, list[str]]:
    """The query's vector, or ``None`` and the reason."""
    try:
        vector = deps.embedder.embed([text], query=True)[0]
    except EmbedderError as error:
        return None, [f"searched by words only: {error.message}"]
    if vector.shape != (deps.embedder.dimension,):
        return None, [f"searched by words only: the embedder returned {vector.shape[0]} numbers instead of {deps.embedder.dimension}"]
    return np.asarray(vector, np.float32), []


def _waiting(reader: Reader, index: UserIndex, most: int) -> dict[str, str]:
    """Texts of the newest entries that have no vector yet."""
    view = index.view()
    rows = view.unembedded()[:most]
    found = _read(reader, view, rows)
    return {id: embedding_text(record) for id, record in found.items()}


def _catch_up(deps: Deps, index: UserIndex, waiting: dict[str, str]) -> list[str]:
    """Embed what waits, in memory: the background job writes it down."""
    if not waiting:
        return []
    try:
        vectors = deps.embedder.embed(list(waiting.values()))
    except EmbedderError as error:
        return [f"the newest entries were searched by words only: {error.message}"]
    index.set_vectors(dict(zip(waiting, np.asarray(vectors, np.float32), strict=True)))
    return []


def _read(reader: Reader, view: View, rows: Sequence[int] | Any) -> dict[str, Indexed]:
    by_kind: dict[EntryKind, list[str]] = {}
    column = view.column("kind")
    for row in rows:
        by_kind.setdefault(KINDS[int(column[row])], []).append(view.ids[row])
    found: dict[str, Indexed] = {}
    for kind, ids in by_kind.items():
        found.update(reader.get_many(record_type(kind), ids))
    return found


def _records(reader: Reader, view: View, found: Pool) -> dict[str, Indexed]:
    return _read(reader, view, found.rows.tolist())


def _gated(
    view: View, found: Pool, records: dict[str, Indexed], asked: Asked
) -> tuple[list[Candidate], dict[str, Verdict]]:
    passed: list[Candidate] = []
    verdicts: dict[str, Verdict] = {}
    for place, row in enumerate(found.rows.tolist()):
        record = records.get(view.ids[row])
        if record is None:
            continue
        cosine = float(found.cosine[place]) if found.has_vector[place] else None
        verdict = gate(record, asked, cosine)
        if verdict.passed:
            verdicts[record.id] = verdict
            passed.append(_candidate(view, row, record, cosine, {name: float(part[place]) for name, part in found.parts.items()}))
    return passed, verdicts


def _candidate(view: View, row: int, record: Indexed, cosine: float | None, parts: dict[str, float]) -> Candidate:
    return Candidate(
        kind=kind_of(record),
        id=record.id,
        at=moment_of(record),
        role=str(record.role) if isinstance(record, Message) else "",
        cosine=cosine,
        importance=record.weight if isinstance(record, KeyPoint) else record.importance,
        reinforcements=record.reinforcements if isinstance(record, Memory) else 0,
        valence=record.valence if isinstance(record, (Memory, KeyPoint)) else 0.0,
        arousal=record.arousal if isinstance(record, Memory) else 0.0,
        entities=record.entities if isinstance(record, (Memory, Todo)) else (),
        parts=parts,
    )


def _sources(reader: Reader, records: Iterable[Indexed]) -> dict[str, Message]:
    """The messages that the hits rest on."""
    ids = {evidence.message_id for record in records for evidence in _evidence(record, {}) if evidence.message_id}
    return reader.get_many(Message, sorted(ids))


def _evidence(record: Indexed, sources: dict[str, Message]) -> tuple[Evidence, ...]:
    if isinstance(record, Message):
        return (Evidence(message_id=record.id, at=record.at, session_id=record.session_id, channel=record.channel, trust=record.trust),)
    if isinstance(record, (Memory, Todo)):
        return record.evidence
    if isinstance(record, KeyPoint) and record.message_id:
        at = sources[record.message_id].at if record.message_id in sources else record.created_at
        return (Evidence(message_id=record.message_id, at=at, session_id=record.session_id, trust=record.trust),)
    return ()


def _matched(view: View, found: Pool, tokens: list[str]) -> dict[str, tuple[str, ...]]:
    """The query's words that each pooled row holds itself."""
    held: dict[int, list[str]] = {row: [] for row in found.rows.tolist()}
    for token, rows in zip(tokens, found.found, strict=True):
        for row in np.intersect1d(rows, found.rows).tolist():
            held[row].append(token)
    return {view.ids[row]: tuple(held[row]) for row in held}


def _hit(
    one: scoring.Scored,
    record: Indexed,
    verdicts: dict[str, Verdict],
    sources: dict[str, Message],
    matched: dict[str, tuple[str, ...]],
    profile: str,
    notes: tuple[str, ...],
) -> Hit:
    evidence = _evidence(record, sources)
    message: Message | None = record if isinstance(record, Message) else None
    first = message or next((sources[e.message_id] for e in evidence if e.message_id in sources), None)
    return Hit(
        text=record.content,
        score=one.score,
        why=Why(
            profile=profile,
            parts=one.parts,
            formula=one.formula,
            rule=verdicts[record.id].rule,
            evidence=evidence,
            matched=matched.get(record.id, ()),
            notes=notes,
        ),
        kind=one.candidate.kind,
        id=record.id,
        at=one.candidate.at,
        message_id=(first.external_id or first.id) if first else None,
        speaker=message.speaker if message else None,
        role=str(message.role) if message else None,
        persona=record.persona,
        session_id=record.session_id,
        importance=one.candidate.importance,
    )
