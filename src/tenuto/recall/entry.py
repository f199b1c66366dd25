"""What is indexed of each kind of record: one place, so that writing, re-embedding and recall agree.

The words of a message are those of its content, of whoever spoke and of the day: names and dates carry more than style.
Who spoke is written a second time as a mark of its own, so that a question about Ana prefers what Ana said over what
was said to her, also where words are kept as keyed numbers. The vector is made from the content alone: names and dates
mean little to an encoder, and measured better left to the words.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime
from functools import lru_cache

from tenuto.recall.passages import WHOLE, cuts
from tenuto.records.conversation import KeyPoint, Message, Summary
from tenuto.records.memory import Memory, Todo
from tenuto.records.operations import Entry, EntryKind
from tenuto.text import patterns, words

Indexed = Message | Memory | Summary | KeyPoint | Todo
"""The records that recall can find."""

SPEAKER = "\x01"
"""Begins the mark of a speaker: no word of a text can begin with it."""
MAY = "may"
"""The month, which is a stop word otherwise."""
_MAY = patterns.compile(r"\bMay\b")


def kind_of(record: Indexed) -> EntryKind:
    return _KINDS[type(record)]


def record_type(kind: EntryKind) -> type[Indexed]:
    return _TYPES[kind]


_TYPES: dict[EntryKind, type[Indexed]] = {
    EntryKind.MESSAGE: Message,
    EntryKind.MEMORY: Memory,
    EntryKind.SUMMARY: Summary,
    EntryKind.KEY_POINT: KeyPoint,
    EntryKind.TODO: Todo,
}
_KINDS = {type_: kind for kind, type_ in _TYPES.items()}


def embedding_texts(record: Indexed, dimension: int) -> list[str]:
    """What the vectors of a record are made from: a memory or a todo is one sentence, anything longer has passages."""
    if isinstance(record, (Memory, Todo)):
        return [embedding_text(record)]
    return [record.content[start:end] for start, end in cuts(record.content, dimension)]


def embedding_text(record: Memory | Todo) -> str:
    """What the one vector of a memory or a todo is made from."""
    return record.content[:WHOLE]


def entry_tokens(record: Indexed) -> list[str]:
    """The words that a record is found by: names, the day, what was said; and the mark of whoever spoke."""
    return [*_around(record), *words.tokens(record.content)]


def packed_tokens(record: Indexed, key: bytes = b"") -> bytes:
    """``pack(entry_tokens(record), key)``, the quick way."""
    if isinstance(record, Message) and not record.speaker:
        return _day_packed(record.at.date(), key) + words.packed(record.content, key)
    return words.pack(_around(record), key) + words.packed(record.content, key)


def words_around(record: Indexed) -> Sequence[str]:
    """The words that a record is found by besides what it says."""
    if isinstance(record, Message) and not record.speaker:
        return _day_tokens(record.at.date())
    return _around(record)


@lru_cache(maxsize=4096)
def _day_packed(day: date, key: bytes) -> bytes:
    return words.pack(_day_tokens(day), key)


def _around(record: Indexed) -> list[str]:
    marks = _marks(record.speaker) if isinstance(record, Message) and record.speaker else ()
    names = [token for name in _names(record) for token in _name_tokens(name)]
    return [*marks, *names, *_day_tokens(moment_of(record).date())]


def speaker_marks(text: str) -> list[str]:
    """The marks of the names in ``text``: of a speaker, or of everyone whom a query may name."""
    return [f"{SPEAKER}{word}" for word in dict.fromkeys(words.words(text))]


@lru_cache(maxsize=4096)
def _marks(speaker: str) -> tuple[str, ...]:
    return tuple(speaker_marks(speaker))


@lru_cache(maxsize=4096)
def _name_tokens(name: str) -> tuple[str, ...]:
    return tuple(words.tokens(name))


@lru_cache(maxsize=4096)
def _day_tokens(day: date) -> tuple[str, ...]:
    """The day in the words that people ask with: Monday, 15, December, 2025."""
    month = MAY if day.month == 5 else words.tokens(f"{day:%B}")[0]
    return (*words.tokens(f"{day:%A} {day.day} {day.year}"), month)


def query_tokens(text: str) -> list[str]:
    """What a query is searched for, each once. ``May`` is a month where it is written as one."""
    found = words.tokens(text)
    if _MAY.search(text):
        found.append(MAY)
    return list(dict.fromkeys(found))


def moment_of(record: Indexed) -> datetime:
    """When it was said, or became true, or was written."""
    if isinstance(record, Message):
        return record.at
    if isinstance(record, Memory):
        return record.valid_from or record.created_at
    return record.created_at


def make_entry(record: Indexed, key: bytes = b"", *, vector: bytes | None = None, model: str | None = None) -> Entry:
    """The index entry of a record. ``key`` is ``Vault.index_key(user)``; the vector may follow later."""
    speaker = (record.speaker or "") if isinstance(record, Message) else ""
    role = str(record.role) if isinstance(record, Message) else ""
    return Entry(
        kind=kind_of(record),
        id=record.id,
        at=moment_of(record),
        persona=record.persona,
        session_id=record.session_id,
        role=role,
        speaker=speaker,
        tokens=packed_tokens(record, key),
        vector=vector,
        model=model if vector is not None else None,
        links=tuple(dict.fromkeys(_links(record))),
    )


def _names(record: Indexed) -> Sequence[str]:
    if isinstance(record, Message):
        return (record.speaker,) if record.speaker else ()
    if isinstance(record, Memory):
        slugs = [entity.partition(":")[2].replace("_", " ") for entity in record.entities]
        return [record.label or "", *slugs, *record.retrieval_keywords]
    if isinstance(record, Todo):
        return [entity.partition(":")[2].replace("_", " ") for entity in record.entities]
    if isinstance(record, Summary):
        return (record.topic,) if record.topic else ()
    return ()


def _links(record: Indexed) -> list[str]:
    """The messages that a record came from."""
    if isinstance(record, KeyPoint):
        return [record.message_id] if record.message_id else []
    if isinstance(record, Summary):
        return [id for id in (record.start_message_id, record.end_message_id) if id]
    if isinstance(record, (Memory, Todo)):
        return [evidence.message_id for evidence in record.evidence if evidence.message_id]
    return []
