"""Taking away what retention says has had its time, with a report, and without residue.

A purged message goes with its index entry, its receipt, its quote in every memory and todo, the rolling versions that
were made of it, and every sentence of it that a summary, a session's record or a key point repeats. What is left of
these stands in its place, and so do memories and todos, unless its channel's rule takes ``all``: then those that were
made of nothing else go as well. Done in small transactions, oldest first; stopped anywhere, the next run goes on. At
the end the store rewrites its files.

Text that has no topic summary yet is not taken by the ordinary rule: a summary must be able to stand in its place.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from tenuto.deps import Deps
from tenuto.lifecycle import due, retention, scrub
from tenuto.lifecycle.due import Due
from tenuto.lifecycle.queue import enqueue
from tenuto.lifecycle.retention import Rules
from tenuto.lifecycle.scrub import Said
from tenuto.lifecycle.upkeep import topic_mark
from tenuto.lifecycle.write import FOUND_BY_RECALL, index, tell
from tenuto.ports import Reader, Transaction, Where
from tenuto.records.base import evolve, from_micros
from tenuto.records.conversation import KeyPoint, Message, Session, SessionState, Summary, SummaryKind
from tenuto.records.memory import RECALLED, Entity, EntityMerge, Memory, Todo
from tenuto.records.operations import EntryKind, Job, JobStatus, Receipt
from tenuto.records.scope import User

PART = 200
"""Messages of one transaction."""


@dataclass(frozen=True, slots=True)
class PurgeReport:
    """What was taken, or would be."""

    user: str
    as_of: datetime
    dry_run: bool = False
    messages: int = 0
    memories: int = 0
    todos: int = 0
    summaries: int = 0
    key_points: int = 0
    quotes: int = 0
    scrubbed: int = 0
    """Summaries that lost sentences."""
    wholly: int = 0

    def plus(self, **more: int) -> PurgeReport:
        return evolve(self, **{name: getattr(self, name) + count for name, count in more.items()})

    def counts(self) -> dict[str, int]:
        return {
            name: getattr(self, name)
            for name in ("messages", "memories", "todos", "summaries", "key_points", "quotes", "scrubbed")
        }


def on_purge(deps: Deps, user: str, jobs: list[Job]) -> None:
    """The handler of ``purge`` jobs: what had expired when they were written, and a lag ago by the clock of now."""
    lagging = deps.clock() - retention.LAG
    wanted = max((int(job.payload.get("as_of", 0)) for job in jobs), default=0)
    purge(deps, user, as_of=min(lagging, from_micros(wanted)) if wanted else lagging)


def purge(deps: Deps, user: str, *, as_of: datetime | None = None, dry_run: bool = False) -> PurgeReport:
    """Take what has expired as of a time (default: now)."""
    as_of = as_of or deps.clock()
    with deps.store.reading(user) as reader:
        profile = reader.profile()
        rules = rules_of(profile, deps)
        marks = {persona: topic_mark(reader, persona) for persona in _personas(reader)}
    report = PurgeReport(user, as_of, dry_run)
    if not rules:
        return report
    if dry_run:
        return _count(deps, user, rules, marks, report)
    after: tuple[Any, str] | None = None
    while True:
        with deps.store.writing(user) as tx:
            listed = _old(tx, rules, as_of, after)
            if not listed:
                break
            report = _take(deps, tx, _due(listed, rules, marks, as_of), rules, report)
        after = (listed[-1].at, listed[-1].id)
    report = _take_memories(deps, user, rules, report)
    if any(report.counts().values()):
        now = deps.clock()
        with deps.store.writing(user) as tx:
            data: dict[str, Any] = report.counts()
            tell(deps, tx, "retention.purged", ("user", user), now, **data)
            if report.wholly:
                report = _renew_portraits(deps, tx, report, now)
                _take_entities(tx)
            _new_epoch(tx)
        deps.store.compact()
    return report


def rules_of(profile: User | None, deps: Deps) -> Rules:
    return retention.rules(profile.settings.get(retention.SETTING) if profile else None, deps.policy.retention)


def _personas(reader: Reader) -> set[str | None]:
    return {state.id or None for state in reader.find(SessionState)}


def _old(reader: Reader, rules: Rules, as_of: datetime, after: tuple[Any, str] | None) -> list[Message]:
    shortest = retention.shortest(rules)
    if shortest is None:
        return []
    return reader.find(Message, Where("at", "<=", as_of - shortest), order="at", limit=PART, after=after)


def _due(listed: Iterable[Message], rules: Rules, marks: dict[str | None, int], as_of: datetime) -> list[Message]:
    """Those whose time is over and, unless their channel takes all, in whose place a topic stands."""
    return [
        message
        for message in listed
        if not retention.keeps_text(message, as_of, rules)
        and (retention.takes_all(message, rules) or message.seq <= marks.get(message.persona, 0))
    ]


def _count(deps: Deps, user: str, rules: Rules, marks: dict[str | None, int], report: PurgeReport) -> PurgeReport:
    after: tuple[Any, str] | None = None
    with deps.store.reading(user) as reader:
        while listed := _old(reader, rules, report.as_of, after):
            report = report.plus(messages=len(_due(listed, rules, marks, report.as_of)))
            after = (listed[-1].at, listed[-1].id)
        gone = [m for m in reader.find(Memory) if not retention.keeps_memory(m, report.as_of, rules)]
    return report.plus(memories=len(gone))


def _take(deps: Deps, tx: Transaction, messages: Sequence[Message], rules: Rules, report: PurgeReport) -> PurgeReport:
    if not messages:
        return report
    ids = {message.id for message in messages}
    wholly = {message.id for message in messages if retention.takes_all(message, rules)}
    said = Said(messages)
    report = _unquote(deps, tx, ids, wholly, report)
    report = _take_points(tx, said, wholly, report)
    report = _take_summaries(deps, tx, messages, said, wholly, report)
    _scrub_sessions(tx, messages, said)
    receipts = [receipt.id for id in ids for receipt in tx.find(Receipt, Where("message_id", "=", id))]
    tx.remove(Receipt, *receipts)
    tx.unindex(EntryKind.MESSAGE, *ids)
    removed = tx.remove(Message, *ids)
    _take_traces(tx, messages, wholly)
    return report.plus(messages=removed, wholly=len(wholly))


def _unquote(deps: Deps, tx: Transaction, ids: set[str], wholly: set[str], report: PurgeReport) -> PurgeReport:
    """Quotes of purged messages go; memories and todos that rest only on wholly purged ones go with them."""
    now = deps.clock()
    records: list[Memory | Todo] = [*tx.find(Memory), *tx.find(Todo)]
    for record in records:
        rests_on = {evidence.message_id for evidence in record.evidence}
        if not rests_on & ids:
            continue
        memory = isinstance(record, Memory)
        if rests_on <= wholly and not (isinstance(record, Memory) and record.pinned):
            tx.unindex(EntryKind.MEMORY if memory else EntryKind.TODO, record.id)
            tx.remove(type(record), record.id)
            report = report.plus(**{"memories" if memory else "todos": 1})
            continue
        bare = tuple(
            evolve(evidence, quote=None, message_id=None) if evidence.message_id in ids else evidence
            for evidence in record.evidence
        )
        bared = evolve(record, evidence=bare)
        tx.put(bared)
        if isinstance(bared, Todo) or bared.status in RECALLED:
            index(deps, tx, [bared], now)
        report = report.plus(quotes=1)
    return report


def _take_points(tx: Transaction, said: Said, wholly: set[str], report: PurgeReport) -> PurgeReport:
    """Key points that repeat the text, or are of wholly purged messages, go; the others lose their link."""
    for id in said.ids:
        for point in tx.find(KeyPoint, Where("message_id", "=", id)):
            if id in wholly or said.repeated(point.content):
                tx.unindex(EntryKind.KEY_POINT, point.id)
                report = report.plus(key_points=tx.remove(KeyPoint, point.id))
            else:
                tx.put(evolve(point, message_id=None))
    return report


def _take_summaries(
    deps: Deps, tx: Transaction, messages: Sequence[Message], said: Said, wholly: set[str], report: PurgeReport
) -> PurgeReport:
    """Old rolling versions go, and where all is taken what was made of nothing else; others lose what they repeat."""
    low, high = min(message.seq for message in messages), max(message.seq for message in messages)
    seqs = {message.seq for message in messages if message.id in wholly}
    now = deps.clock()
    for summary in _made_since(tx, messages, low, high):
        repeats = summary.kind is SummaryKind.ROLLING and not summary.current and summary.end_seq <= high
        within = low <= summary.end_seq and summary.start_seq <= high
        if repeats or (seqs and within and not _rests_on_others(tx, summary, seqs)):
            tx.unindex(EntryKind.SUMMARY, summary.id)
            report = report.plus(summaries=tx.remove(Summary, summary.id))
            continue
        left = scrub.without(summary, said, messages)
        if left is not summary:
            tx.put(left)
            report = report.plus(scrubbed=1)
            if left.current and left.kind in FOUND_BY_RECALL:
                index(deps, tx, [left], now)
    return report


def _made_since(tx: Transaction, messages: Sequence[Message], low: int, high: int) -> list[Summary]:
    """Summaries over these messages, and the portraits that were made since: those quote what sessions left open."""
    over = tx.find(Summary, Where("end_seq", ">=", low), Where("start_seq", "<=", high), order="end_seq")
    first = min(message.at for message in messages)
    for kind in (SummaryKind.SPINE, SummaryKind.BRIEF):
        over += tx.find(Summary, Where("kind", "=", kind), Where("created_at", ">=", first))
    return list({summary.id: summary for summary in over}.values())


def _scrub_sessions(tx: Transaction, messages: Sequence[Message], said: Said) -> None:
    """The record of a session without the sentences that were purged."""
    for session in tx.get_many(Session, sorted({message.session_id for message in messages})).values():
        told = {
            name: said.without(text) or None
            for name in ("headline", "detailed_summary", "diary_entry")
            if (text := getattr(session, name))
        }
        tx.put(evolve(session, **told, thinking_highlights=tuple(said.scrubbed(session.thinking_highlights))))


def _rests_on_others(tx: Transaction, summary: Summary, seqs: set[int]) -> bool:
    within = Where("seq", ">=", summary.start_seq), Where("seq", "<=", summary.end_seq)
    return any(message.seq not in seqs and message.persona == summary.persona for message in tx.find(Message, *within))


def _take_traces(tx: Transaction, messages: Sequence[Message], wholly: set[str]) -> None:
    """What repeats the text elsewhere: the last message in the session state, records of sessions, finished jobs."""
    for state in tx.find(SessionState):
        last = state.last_user_message
        if last is not None and any(message.content.startswith(last) for message in messages):
            tx.put(evolve(state, last_user_message=None))
    for session_id in {message.session_id for message in messages if message.id in wholly}:
        session = tx.get(Session, session_id)
        if session is not None and not tx.count(Message, Where("session_id", "=", session_id)):
            tx.put(
                evolve(
                    session,
                    headline=None,
                    detailed_summary=None,
                    diary_entry=None,
                    thinking_highlights=(),
                    semantic_context=None,
                )
            )
    ended = [str(status) for status in (JobStatus.DONE, JobStatus.CANCELLED)]
    tx.remove(Job, *tx.ids(Job, Where("status", "in", ended)))


def _take_memories(deps: Deps, user: str, rules: Rules, report: PurgeReport) -> PurgeReport:
    if not rules.domains:
        return report
    with deps.store.writing(user) as tx:
        for domain in rules.domains:
            for memory in tx.find(Memory, Where("domain", "=", domain)):
                if not retention.keeps_memory(memory, report.as_of, rules):
                    tx.unindex(EntryKind.MEMORY, memory.id)
                    report = report.plus(memories=tx.remove(Memory, memory.id))
    return report


def _renew_portraits(deps: Deps, tx: Transaction, report: PurgeReport, now: datetime) -> PurgeReport:
    """Spine, profile and brief are made of everything, what was taken included: all versions go and are made anew."""
    kinds = [str(kind) for kind in (SummaryKind.SPINE, SummaryKind.PROFILE, SummaryKind.BRIEF)]
    removed = tx.remove(Summary, *tx.ids(Summary, Where("kind", "in", kinds)))
    again = [Due(due.SPINE, due.SPINE, now), Due(due.PROFILE, due.PROFILE, now)]
    for state in tx.find(SessionState):
        again.append(Due(due.BRIEF, f"{due.BRIEF}:{state.id}", now, {"persona": state.id}))
    enqueue(deps.ids, tx, again, now)
    return report.plus(summaries=removed)


def _take_entities(tx: Transaction) -> None:
    """Names that nothing refers to any more. One that is still spoken of comes back with its next mention."""
    records: list[Memory | Todo] = [*tx.find(Memory), *tx.find(Todo)]
    used = {entity for record in records for entity in record.entities}
    idle = {entity.id for entity in tx.find(Entity) if entity.id not in used}
    tx.remove(Entity, *idle)
    tx.remove(EntityMerge, *(merge.id for merge in tx.find(EntityMerge) if {merge.duplicate, merge.into} & idle))


def _new_epoch(tx: Transaction) -> None:
    """Tell whoever caches that something was taken away."""
    profile = tx.profile()
    if profile is not None:
        tx.set_user(evolve(profile, epoch=profile.epoch + 1))
