"""What is held back of a user: by the wishes that stand, by memories that were forgotten, by those not to be raised.

Read from the store and kept in memory for as long as nothing happens to the user, like the index of search. A wish
therefore holds from the next call on, in every process. What decides with it is :mod:`tenuto.recall.gate`.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from threading import Lock

from tenuto.language.topics import Described, Topic, described, mentions, topic_of
from tenuto.lifecycle import retention
from tenuto.lifecycle.retention import Rules
from tenuto.policy import RetentionPolicy
from tenuto.ports import Reader, Where
from tenuto.records.conversation import Message
from tenuto.records.memory import RECALLED, Entity, Memory, Proactive, Status
from tenuto.records.scope import Revision
from tenuto.records.wishes import StandingWish, WishKind

USERS = 1024
"""Users whose holds are kept in memory."""
MOST = 2000
"""Forgotten and silenced memories that are looked at, the latest changed ones."""
FORGOTTEN, SILENCED, SPOKEN = "forgotten", "not to be brought up", "speaks a wish"
NAME_KEY = "profile|person|user|fact|name"


@dataclass(frozen=True, slots=True)
class Held:
    """Why something is held back. What is silenced passes when a question names it; the rest never does."""

    why: str
    topic: Topic | None = None
    until: datetime | None = None
    """Of a topic: only what was said up to then is meant."""
    since: datetime | None = None
    """When the wish was spoken."""
    asked: Described | None = None
    """How a question names what is silenced."""

    @property
    def silenced(self) -> bool:
        return self.why == SILENCED

    def meant(self, at: datetime | None) -> bool:
        """Whether what was said then is meant."""
        return self.until is None or at is None or at <= self.until


@dataclass(frozen=True, slots=True)
class Place:
    """Where a message that is held back stands, for texts that only know their range."""

    persona: str | None
    session_id: str
    seq: int
    held: Held


@dataclass(frozen=True, slots=True)
class Holds:
    """Everything that is held back of one user."""

    messages: Mapping[str, Held] = field(default_factory=dict)
    memories: Mapping[str, Held] = field(default_factory=dict)
    entities: Mapping[str, Held] = field(default_factory=dict)
    topics: tuple[Held, ...] = ()
    places: tuple[Place, ...] = ()
    boundaries: tuple[StandingWish, ...] = ()
    """Wishes that the model must know of to keep them: whom or what not to raise."""
    questions: tuple[tuple[StandingWish, tuple[Memory, ...]], ...] = ()
    """Wishes to forget that wait for the person's yes, with what they are about."""
    kept: frozenset[str] = frozenset()
    """Memories that no topic holds back, because the person did not confirm that they are to be forgotten."""
    rules: Rules | None = None
    """The rules of how long each kind of thing is kept, where it is not kept for ever."""

    spoken: dict[int, tuple[Held, ...]] = field(default_factory=dict, compare=False, repr=False)
    """The topics that a text speaks of, by its hash: one context asks about the same lines several times."""

    def __bool__(self) -> bool:
        return bool(self.messages or self.memories or self.entities or self.topics)

    def question(self, channel: str | None, persona: str | None, now: datetime) -> tuple[Memory, ...]:
        """What the latest question is about that waits for an answer here; a model's is asked everywhere."""
        here = (
            memories
            for wish, memories in reversed(self.questions)
            if wish.waits(now) and wish.concerns(persona) and (wish.proposed or wish.channel == channel)
        )
        return next(here, ())

    def topic_in(self, text: str, at: datetime | None = None) -> Held | None:
        """The topic held back that a text speaks of; a forgotten one before a silenced one."""
        if not self.topics:
            return None
        key = hash(text)
        found = self.spoken.get(key)
        if found is None:
            found = tuple(held for held in self.topics if held.topic is not None and mentions(held.topic, text))
            self.spoken[key] = found
        if not found:
            return None
        return min((held for held in found if held.meant(at)), key=lambda held: held.silenced, default=None)


NOTHING = Holds()


class HoldsCache:
    """The holds of the users who were read last; safe to use from many threads."""

    def __init__(self, users: int = USERS) -> None:
        self._lock = Lock()
        self._users = users
        self._known: OrderedDict[str, tuple[Revision, Holds]] = OrderedDict()

    def fresh(self, reader: Reader, policy: RetentionPolicy, at: Revision | None = None) -> Holds:
        """The reader's user's holds as they are now; ``at`` is where the user's data stands, if that is known."""
        revision = reader.revision() if at is None else at
        if revision is None:
            return NOTHING
        with self._lock:
            known = self._known.get(reader.user)
        if known is not None and known[0] == revision:
            return known[1]
        found = load(reader, policy)
        with self._lock:
            self._known[reader.user] = revision, found
            self._known.move_to_end(reader.user)
            while len(self._known) > self._users:
                self._known.popitem(last=False)
        return found

    def drop(self, user: str) -> None:
        with self._lock:
            self._known.pop(user, None)


def load(reader: Reader, policy: RetentionPolicy) -> Holds:
    """Read what is held back."""
    rules = _rules(reader, policy)
    wishes = reader.find(StandingWish, order="created_at")
    forgotten = reader.find(Memory, Where("status", "=", Status.FORGOTTEN), order="-updated_at", limit=MOST)
    silent = Where("proactive_use", "=", Proactive.NO), Where("status", "in", RECALLED)
    silenced = reader.find(Memory, *silent, order="-updated_at", limit=MOST)
    if not (wishes or forgotten or silenced):
        return NOTHING if rules is None else Holds(rules=rules)
    messages: dict[str, Held] = {}
    memories: dict[str, Held] = {}
    entities: dict[str, Held] = {}
    shared = _Shared(reader)
    for memory in silenced:
        held = Held(SILENCED, asked=shared.described(memory))
        memories[memory.id] = held
        messages |= {one.message_id: held for one in memory.evidence if one.message_id}
    topics = []
    active = [wish for wish in wishes if wish.active]
    for wish in (one for one in active if one.kind is WishKind.SILENCE):
        topic = topic_of(wish.about, wish.names) if wish.about else None
        by_id = wish.messages if not (wish.about or wish.memories) else ()
        said = list(reader.get_many(Message, by_id).values()) if by_id else []
        asked = described([one.content for one in said], None, ()) if said else None
        own = next((memories[id].asked for id in wish.memories if id in memories), None)
        held = Held(SILENCED, topic or None, since=wish.created_at, asked=asked or own)
        for id in wish.memories:
            if topic and id in memories:
                memories[id] = replace(memories[id], topic=topic, since=wish.created_at)
        messages |= {id: held for id in wish.messages if topic or id not in messages}
        entities |= dict.fromkeys(wish.entities, held)
        topics += [held] if topic else []
    for memory in forgotten:
        held = Held(FORGOTTEN)
        memories[memory.id] = held
        messages |= {one.message_id: held for one in memory.evidence if one.message_id}
    for wish in (one for one in active if one.kind is WishKind.FORGET):
        topic = topic_of(wish.about, wish.names) if wish.about else None
        held = Held(FORGOTTEN, topic or None, None if wish.lasting else wish.created_at)
        messages |= dict.fromkeys(wish.messages, held)
        topics += [held] if topic else []
    messages |= {wish.message_id: Held(SPOKEN) for wish in wishes if wish.message_id}
    asked_first = [one for one in wishes if one.waits_until is not None and not one.active]
    known = reader.get_many(Memory, [id for one in asked_first for id in one.memories]) if asked_first else {}
    questions = tuple((one, tuple(known[id] for id in one.memories if id in known)) for one in asked_first)
    told = tuple(one for one in active if one.kind is WishKind.SILENCE and one.about)
    return Holds(
        messages=messages,
        memories=memories,
        entities=entities,
        topics=tuple(topics),
        places=_places(reader, messages),
        boundaries=told,
        questions=questions,
        kept=frozenset(known),
        rules=rules,
    )


def _rules(reader: Reader, policy: RetentionPolicy) -> Rules | None:
    profile = reader.profile()
    rules = retention.rules(profile.settings.get(retention.SETTING) if profile else None, policy)
    return rules if rules.purge_text or rules.channels or rules.domains else None


def _places(reader: Reader, messages: Mapping[str, Held]) -> tuple[Place, ...]:
    found = reader.get_many(Message, list(messages)) if messages else {}
    return tuple(Place(one.persona, one.session_id, one.seq, messages[id]) for id, one in found.items())


class _Shared:
    """Names that stand for more than what is silenced: those of which other things are known, and the user's own."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._names: dict[str, tuple[str, ...]] = {}
        self._own: tuple[str, ...] | None = None

    def described(self, memory: Memory) -> Described:
        quotes = [one.quote for one in memory.evidence if one.quote]
        common = [name for entity in memory.entities for name in self._of(entity)]
        return described([memory.content, *quotes], memory.value, [*common, *self._user()])

    def _of(self, entity: str) -> Sequence[str]:
        if entity not in self._names:
            of = Where("entities", "has", entity), Where("status", "in", RECALLED)
            others = self._reader.count(Memory, *of, Where("proactive_use", "!=", Proactive.NO))
            known = self._reader.get(Entity, entity) if others else None
            self._names[entity] = (known.label, *known.aliases) if known is not None else ()
        return self._names[entity]

    def _user(self) -> Iterable[str]:
        if self._own is None:
            told = self._reader.find(Memory, Where("key", "=", NAME_KEY), limit=4)
            self._own = tuple(memory.value for memory in told if memory.value)
        return self._own
