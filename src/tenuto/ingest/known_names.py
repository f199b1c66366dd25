"""The names that users' messages are read with, kept in memory so that a digest reads only what changed since the last.

A cache of the store and nothing else, like the index of search: entities that were written since are read by their
time, and when some were taken away, or the user was erased and came again, everything is read anew. It is filled from
what is committed, never from a transaction under way. The time is compared with some slack, because another process may
have another clock. At most ``USERS`` users are held, the latest ones.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from threading import Lock

from tenuto.language.mentions import EMPTY, Registry
from tenuto.ports import Reader, Where
from tenuto.records.memory import Entity, Trust

MOST = 2000
"""Entities of a user that are held against a message, the most mentioned ones."""
USERS = 256
"""Users whose names are held."""
SLACK = timedelta(minutes=2)
"""How far the clocks of two processes may be apart."""


@dataclass(frozen=True, slots=True)
class Known:
    """A user's entities at one moment, and how names are looked up in them."""

    entities: dict[str, Entity]
    registry: Registry
    born: datetime | None = None
    latest: datetime | None = None


NOTHING = Known({}, EMPTY)


class Names:
    """What is known of each user's names; safe to use from many threads."""

    def __init__(self, users: int = USERS) -> None:
        self._lock = Lock()
        self._users = users
        self._known: OrderedDict[str, Known] = OrderedDict()

    def fresh(self, reader: Reader) -> Known:
        """The user's names, holding at least all that the reader sees."""
        profile = reader.profile()
        if profile is None:
            return NOTHING
        with self._lock:
            held = self._known.get(reader.user)
        found = None
        if held is not None and held.born == profile.created_at and held.latest is not None:
            found = _grown(held, reader)
        if found is None:
            rows = reader.find(Entity, order="-mentions", limit=MOST)
            found = _made({one.id: one for one in rows}, profile.created_at)
        with self._lock:
            self._known[reader.user] = found
            self._known.move_to_end(reader.user)
            while len(self._known) > self._users:
                self._known.popitem(last=False)
        return found

    def held(self, user: str) -> Known | None:
        """What was read last, or ``None``."""
        with self._lock:
            return self._known.get(user)

    def drop(self, user: str) -> None:
        """Forget a user's names at once."""
        with self._lock:
            self._known.pop(user, None)


def _grown(held: Known, reader: Reader) -> Known | None:
    """What is held with what changed since; ``None`` when something was taken away."""
    assert held.latest is not None
    changed = reader.find(Entity, Where("updated_at", ">=", held.latest - SLACK), order="updated_at", limit=MOST)
    entities = {**held.entities, **{one.id: one for one in changed}}
    if len(entities) != (count := reader.count(Entity)) and (count < MOST or len(entities) > count):
        return None
    if all(one == held.entities.get(one.id) for one in changed):
        return held
    latest = max(held.latest, *(one.updated_at for one in changed))
    if all(_names(one) == _names(held.entities.get(one.id)) for one in changed):
        return Known(entities, held.registry, held.born, latest)
    return Known(entities, _registry(entities), held.born, latest)


def _made(entities: dict[str, Entity], born: datetime) -> Known:
    latest = max((one.updated_at for one in entities.values()), default=None)
    return Known(entities, _registry(entities), born, latest)


def _registry(entities: dict[str, Entity]) -> Registry:
    """Names that the person gave: whom only text from outside named is nobody yet, however it calls them."""
    return Registry.of(one for one in entities.values() if one.trust is not Trust.EXTERNAL)


def _names(one: Entity | None) -> tuple[object, ...] | None:
    return None if one is None else (one.label, one.aliases, one.relation, one.merged_into, one.trust)


def with_more(known: Known, more: Iterable[Entity]) -> Known:
    """With entities that are not written yet."""
    entities = {**known.entities, **{one.id: one for one in more}}
    return Known(entities, _registry(entities), known.born, known.latest)
