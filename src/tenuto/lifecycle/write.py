"""What the flows of this room share when they write: versions of summaries, jobs, events. No decisions here."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from tenuto.deps import Deps
from tenuto.lifecycle.due import Due
from tenuto.lifecycle.queue import enqueue
from tenuto.lifecycle.summarise import Draft
from tenuto.ports import Reader, Transaction, Where
from tenuto.recall.entry import make_entry
from tenuto.recall.gate import Asked, Gate
from tenuto.records.base import evolve
from tenuto.records.conversation import KeyPoint, Message, Summary, SummaryKind
from tenuto.records.memory import Memory, Todo
from tenuto.records.operations import EntryKind, Event

EMBED = "embed"
FOUND_BY_RECALL = frozenset({SummaryKind.RANGE, SummaryKind.SESSION, SummaryKind.TOPIC})
"""Kinds of summaries that are indexed. The others repeat what is indexed already and stand in contexts anyway."""


def same(column: str, value: str | None) -> Where:
    """A condition that also holds for ``None``."""
    return Where(column, "is", None) if value is None else Where(column, "=", value)


def tell(
    deps: Deps,
    tx: Transaction,
    kind: str,
    subject: tuple[str, str],
    now: datetime,
    *,
    persona: str | None = None,
    **data: Any,
) -> None:
    """Write an event. ``data`` holds counts and ids, never content."""
    tx.put(
        Event(
            id=deps.ids("evt", now),
            kind=kind,
            at=now,
            subject_kind=subject[0],
            subject_id=subject[1],
            actor="system",
            persona=persona,
            data=data,
        )
    )


def current(reader: Reader, kind: SummaryKind, *where: Where) -> Summary | None:
    """The newest version of one summary."""
    found = reader.find(
        Summary, Where("kind", "=", kind), Where("current", "=", True), *where, order="-version", limit=1
    )
    return found[0] if found else None


def tellable(deps: Deps, reader: Reader, messages: Sequence[Message]) -> list[Message]:
    """The messages that a derived text may be made of: without what was forgotten, silenced, or speaks a wish."""
    holds = deps.holds.fresh(reader, deps.policy.retention)
    if not holds:
        return list(messages)
    return Gate(holds, Asked(now=deps.clock(), any_persona=True, outside=True)).only(messages)


def record_of(reader: Reader, session_id: str) -> Summary | None:
    """The newest record of a session. The conditions are those of one index: no other summary is looked at."""
    is_record = Where("session_id", "=", session_id), Where("kind", "=", SummaryKind.SESSION)
    found = reader.find(Summary, *is_record, order="-version", limit=1)
    return found[0] if found else None


def write_summary(
    deps: Deps,
    tx: Transaction,
    kind: SummaryKind,
    draft: Draft,
    now: datetime,
    *,
    prior: Summary | None = None,
    messages: Sequence[Message] = (),
    count: int | None = None,
    persona: str | None = None,
    session_id: str | None = None,
    topic: str | None = None,
) -> Summary:
    """A new version, after ``prior`` where there is one, with its index entry where recall finds it."""
    first = min(messages, key=lambda message: message.seq, default=None)
    last = max(messages, key=lambda message: message.seq, default=None)
    continues = prior is not None and kind in (SummaryKind.ROLLING, SummaryKind.SESSION)
    summary = Summary(
        id=deps.ids("sum", now),
        kind=kind,
        content=draft.content,
        created_at=now,
        made_by=draft.made_by,
        persona=persona,
        session_id=session_id,
        topic=topic,
        version=1 if prior is None else prior.version + 1,
        replaces=None if prior is None else prior.id,
        start_message_id=prior.start_message_id if prior and continues else (first.id if first else None),
        end_message_id=last.id if last else None,
        start_seq=prior.start_seq if prior and continues else (first.seq if first else 0),
        end_seq=last.seq if last else 0,
        message_count=len(messages) if count is None else count,
        importance=draft.importance,
        compression=draft.compression,
        structured=draft.structured,
        trust=draft.trust,
        lines=draft.lines,
    )
    if prior is not None:
        tx.put(evolve(prior, current=False))
        tx.unindex(EntryKind.SUMMARY, prior.id)
    tx.put(summary)
    if kind in FOUND_BY_RECALL:
        index(deps, tx, [summary], now)
    return summary


def index(deps: Deps, tx: Transaction, records: Sequence[Summary | KeyPoint | Memory | Todo], now: datetime) -> None:
    """Make records findable by their words now; their vectors follow in the background, whatever the embedder does."""
    if records:
        key = deps.vault.index_key(tx.user)
        tx.index(*(make_entry(record, key) for record in records))
        enqueue(deps.ids, tx, [Due(EMBED, EMBED, now)], now)
