"""What is indexed of each kind of record: one place, so that writing, re-embedding and recall agree.

The words of a message are those of its content, of whoever spoke and of the day: names and dates carry more than style.
The vector is made from the content with the speaker's name in front, where a name is known; role words ("user",
"assistant") and dates mean nothing to an encoder and are left out of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime
from functools import lru_cache

from tenuto.records.conversation import KeyPoint, Message, Summary
from tenuto.records.memory import Memory, Todo
from tenuto.records.operations import Entry, EntryKind
from tenuto.text import words

Indexed = Message | Memory | Summary | KeyPoint | Todo
"""The records that recall can find."""

EMBEDDED_CHARACTERS = 4000
"""An encoder reads a few hundred tokens: what lies behind this many characters is not handed to it."""


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


def embedding_text(record: Indexed) -> str:
    """What the vector of a record is made from."""
    if isinstance(record, Message) and record.speaker:
        return f"{record.speaker}: {record.content}"[:EMBEDDED_CHARACTERS]
    return record.content[:EMBEDDED_CHARACTERS]


def entry_text(record: Indexed) -> str:
    """What the words of a record are taken from: who spoke, the day, and what was said."""
    return " ".join(part for part in (*_names(record), date_words(moment_of(record)), record.content) if part)


def date_words(at: datetime) -> str:
    """The day in the words that people ask with: ``Monday 15 December 2025``."""
    return _date_words(at.date())


@lru_cache(maxsize=4096)
def _date_words(day: date) -> str:
    return f"{day:%A} {day.day} {day:%B} {day.year}"


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
        tokens=words.packed(entry_text(record), key),
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
    if isinstance(record, (Memory, Todo)):
        return [evidence.message_id for evidence in record.evidence if evidence.message_id]
    return []
