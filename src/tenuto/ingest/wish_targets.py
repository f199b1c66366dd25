"""What a wish means: which memories and messages it is about. Reads, decides nothing about them.

"That" is what the message itself said before, or else the latest earlier words of the person that say something. A
named topic is found by its words and those of the same subject, by whom or what a memory is of, and by meaning: what
is close enough by itself, or near and in some of the topic's words. What would break it: an embedder that takes all
talk in a language for close; so closeness alone counts only where it was calibrated, in English.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from tenuto.ingest.write import LIVE, Writing
from tenuto.language.detect import language_of
from tenuto.language.pronouns import PRONOUN
from tenuto.language.topics import Topic, hints, is_attribute, mentions, named_in, says_something, subject, topic_of
from tenuto.language.wishes import Consent, Wish
from tenuto.ports import Transaction, Vectors, Where
from tenuto.records.conversation import Message, Role
from tenuto.records.memory import Entity, Memory, first_said
from tenuto.records.operations import EntryKind, Receipt
from tenuto.records.wishes import StandingWish
from tenuto.text import patterns
from tenuto.text.words import tokens

LOOK_BACK = 3
"""Earlier messages of the user that "that" may mean."""
_FEELING = frozenset(
    stem
    for word in ["like", "love", "hate", "enjoy", "prefer", "dislike", "live", "work", "have", "want", "be", "feel"]
    for stem in tokens(word)
)
"""Verbs that may be worded otherwise in what was kept."""
TOPIC = 200
"""Memories that a named topic is looked for among."""
SAID = 2000
"""Messages, the latest, that a named topic is looked for among."""
NEAR = 20
"""Neighbours in meaning that are looked at."""
NAMED = 500
"""Entities, the most mentioned ones, that a topic may name."""
T = TypeVar("T", Memory, Message)


@dataclass(frozen=True, slots=True)
class Meant:
    """What a wish is about, as far as it is known."""

    memories: tuple[Memory, ...] = ()
    messages: tuple[Message, ...] = ()
    unsure: bool = False
    """Something else may have been meant."""


def meant_by(writing: Writing, wish: Consent, message: Message, own: Sequence[Memory], vector: Vectors | None) -> Meant:
    """What a wish is about; ``own`` is what its message left itself."""
    if wish.about:
        return _about(writing, wish.about, message, vector)
    before = message.content.partition(wish.quote)[0]
    said = says_something(before) and not _ABOUT_TELLING.search(before)
    if (own or said) and wish.wish is not Wish.DO_NOT_SAVE:
        return Meant(tuple(own), (message,))
    for distance, earlier in enumerate(_said_before(writing.tx, message)):
        left = _left_by(writing.tx, earlier)
        if left or says_something(earlier.content):
            elsewhere = earlier.session_id != message.session_id
            return Meant(tuple(left), (earlier,), unsure=distance > 0 or len(left) > 1 or elsewhere)
    return Meant()


_ABOUT_TELLING = patterns.compile(
    r"\b(?:told you|tell you|said (?:it|that|this)|have said|mentioned|brought (?:it|that) up|gesagt|erzahlt|"
    r"sagen sollen|dicho|contado|contarte|dit|raconte|disse|contei|contar-te)\b",
    "i",
)
"""What speaks of having told something says nothing itself that could be meant."""


def _said_before(tx: Transaction, message: Message) -> list[Message]:
    """What the user said before a message, the latest first: in its session, or else the last words before that."""
    before = Where("role", "=", Role.USER.value), Where("seq", "<", message.seq)
    found = tx.find(Message, Where("session_id", "=", message.session_id), *before, order="-seq", limit=LOOK_BACK)
    if found:
        return found
    persona = Where("persona", "is", None) if message.persona is None else Where("persona", "=", message.persona)
    return tx.find(Message, persona, *before, order="-seq", limit=1)


def _left_by(tx: Transaction, message: Message) -> list[Memory]:
    """The memories that a message left."""
    for receipt in tx.find(Receipt, Where("message_id", "=", message.id), limit=1):
        made = [one.subject_id for one in receipt.results if one.subject_id and one.subject_kind == "memory"]
        return [one for one in tx.get_many(Memory, made).values() if one.status in LIVE]
    return []


def _about(writing: Writing, about: str, message: Message, vector: Vectors | None) -> Meant:
    """What a named topic is about: by its names and words, by what a memory is of, and by meaning."""
    topic, _, entities = topic_named(writing.tx, about)
    live = Where("status", "in", [status.value for status in LIVE])
    listed = writing.tx.find(Memory, live, order="-updated_at", limit=TOPIC)
    by_words = [one for one in listed if speaks_of(topic, about, entities, one)]
    meant = {
        one.id: one
        for one in (*by_words, *_close(writing, Memory, EntryKind.MEMORY, topic, about, vector))
        if one.persona in (None, message.persona) and one.status in LIVE and first_said(one) <= message.at
    }
    return Meant(tuple(meant.values()), tuple(_messages_about(writing, topic, about, message, vector)))


def speaks_of(topic: Topic, about: str, entities: Sequence[str], memory: Memory) -> bool:
    """Whether a memory is about a topic by its words, those it was said in, its attribute, or whom it is about."""
    said = set(tokens(subject(about)))
    wanted = (said - _FEELING) or said
    return (
        mentions(topic, memory.content)
        or any(one.quote and mentions(topic, one.quote) for one in memory.evidence)
        or is_attribute(topic, memory.attribute, memory.content)
        or (bool(wanted) and wanted <= _words(memory))
        or not set(memory.entities).isdisjoint(entities)
    )


def _messages_about(writing: Writing, topic: Topic, about: str, wish: Message, vector: Vectors | None) -> list[Message]:
    """What was said of a topic before a wish, by words and by meaning."""
    spoken = {one.message_id for one in writing.tx.find(StandingWish)} | {wish.id}
    latest = writing.tx.find(Message, Where("at", "<=", wish.at), order="-at", limit=SAID)
    by_words = [one for one in latest if mentions(topic, one.content)]
    by_words += _going_on(by_words, latest) if _is_somebody(topic) else []
    close = [one for one in _close(writing, Message, EntryKind.MESSAGE, topic, about, vector) if one.at <= wish.at]
    return [one for one in {one.id: one for one in (*by_words, *close)}.values() if one.id not in spoken]


def _is_somebody(topic: Topic) -> bool:
    """Whether a topic is a name, not a subject of talk."""
    return any(len(name.parts) == 1 and name.parts[0].said is None for name in topic.names)


def _going_on(held: Sequence[Message], messages: Sequence[Message]) -> list[Message]:
    """What was said right after, about "him" or "her" and nobody else."""
    ids, found = {one.id for one in held}, []
    previous: Message | None = None
    for one in sorted(messages, key=lambda message: (message.at, message.seq)):
        if one.role is not Role.USER:
            continue
        follows = previous is not None and previous.id in ids and previous.session_id == one.session_id
        if follows and one.id not in ids and PRONOUN.search(one.content) and not named_in(one.content):
            found.append(one)
            ids.add(one.id)
        previous = one
    return found


def _close(
    writing: Writing, type_: type[T], kind: EntryKind, topic: Topic, about: str, vector: Vectors | None
) -> list[T]:
    """What means the same as a topic, or something near it in some of its words."""
    if vector is None:
        return []
    near = dict(writing.near(kind, vector, NEAR))
    found = writing.tx.get_many(type_, list(near)).items() if near else ()
    return [one for id, one in found if _near_enough(writing, topic, about, one.content, near[id])]


def _near_enough(writing: Writing, topic: Topic, about: str, text: str, cosine: float) -> bool:
    calibration = writing.deps.embedder.calibration
    if cosine >= calibration.anchor and language_of(about) == language_of(text) == "en":
        return True
    return cosine >= calibration.related and hints(topic, text)


def _words(memory: Memory) -> set[str]:
    return set(tokens(f"{memory.content} {' '.join(memory.entities).replace('_', ' ').replace(':', ' ')}"))


def topic_named(tx: Transaction, about: str) -> tuple[Topic, tuple[str, ...], tuple[str, ...]]:
    """The topic of a wish with all names of whom it names: (topic, names, entities)."""
    plain = topic_of(about)
    asked = plain.stems
    named = [
        one
        for one in tx.find(Entity, order="-mentions", limit=NAMED)
        if any(stems and stems == asked for stems in (set(tokens(name)) for name in (one.label, *one.aliases)))
        or (one.relation and set(tokens(one.relation)) == asked)
    ]
    names = tuple(dict.fromkeys(name for one in named for name in (one.label, *one.aliases) if len(name) > 2))
    return topic_of(about, names), names, tuple(one.id for one in named)


def is_of(writing: Writing, topic: Topic, about: str, message: Message, near: float) -> bool:
    """Whether a message speaks of a topic; ``near`` is the cosine of the two."""
    return mentions(topic, message.content) or _near_enough(writing, topic, about, message.content, near)


def cosine(one: Vectors | None, other: Vectors | None) -> float:
    """How close two vectors are; nothing is close to none."""
    if one is None or other is None:
        return 0.0
    return float(one @ other) / (float(np.linalg.norm(one)) * float(np.linalg.norm(other)) or 1.0)
