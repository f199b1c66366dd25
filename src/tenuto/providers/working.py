"""Working memory: the last messages of a user, the active channel and temporary variables. Fast, and losable.

Everything here is also in the store, or was never meant to last: losing it loses nothing. It lives for an hour after
the last message, in this process or, where many processes serve the same people, in Redis
(:mod:`tenuto.providers.redis_working`). The clock comes in, so tests need not wait.
"""

from __future__ import annotations

import threading
from collections import OrderedDict, deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import msgspec

from tenuto.errors import SettingError
from tenuto.policy import WorkingPolicy
from tenuto.ports import Clock, Vault, WorkingMemory

USERS = 10_000
"""Most users whose working memory one process holds; the least recently active one goes first."""


@dataclass(slots=True)
class _Desk:
    until: datetime
    messages: deque[bytes]
    variables: dict[str, bytes] = field(default_factory=dict)


class InProcessWorking:
    """Safe to use from many threads. Values are kept as JSON, so nothing that is handed out can be changed in here."""

    def __init__(self, policy: WorkingPolicy, clock: Clock) -> None:
        self._policy = policy
        self._clock = clock
        self._lock = threading.Lock()
        self._desks: OrderedDict[str, _Desk] = OrderedDict()

    def append(self, user: str, message: Mapping[str, Any]) -> None:
        encoded = msgspec.json.encode(dict(message))
        with self._lock:
            self._desk(user).messages.append(encoded)

    def recent(self, user: str) -> list[dict[str, Any]]:
        """The last messages, oldest first."""
        with self._lock:
            desk = self._find(user)
            found = list(desk.messages) if desk is not None else []
        return [msgspec.json.decode(message) for message in found]

    def channel(self, user: str) -> str | None:
        """Where the user was last heard."""
        found = next((message.get("channel") for message in reversed(self.recent(user)) if _by_user(message)), None)
        return str(found) if found else None

    def set(self, user: str, name: str, value: Any) -> None:
        """Keep a value under a name for as long as the conversation is alive; ``None`` takes it away."""
        encoded = msgspec.json.encode(value)
        with self._lock:
            variables = self._desk(user).variables
            if value is None:
                variables.pop(name, None)
            else:
                variables[name] = encoded

    def variables(self, user: str) -> dict[str, Any]:
        with self._lock:
            desk = self._find(user)
            found = dict(desk.variables) if desk is not None else {}
        return {name: msgspec.json.decode(value) for name, value in found.items()}

    def drop(self, user: str) -> bool:
        """Forget everything of a user at once."""
        with self._lock:
            self._desks.pop(user, None)
        return True

    def close(self) -> None:
        """Forget everything."""
        with self._lock:
            self._desks.clear()

    def _find(self, user: str) -> _Desk | None:
        desk = self._desks.get(user)
        if desk is not None and desk.until <= self._clock():
            del self._desks[user]
            return None
        return desk

    def _desk(self, user: str) -> _Desk:
        until = self._clock() + self._policy.ttl
        desk = self._find(user)
        if desk is None:
            desk = self._desks[user] = _Desk(until, deque(maxlen=self._policy.messages))
            while len(self._desks) > USERS:
                self._desks.popitem(last=False)
        desk.until = until
        self._desks.move_to_end(user)
        return desk


def open_working(redis: str | None, policy: WorkingPolicy, vault: Vault, clock: Clock) -> WorkingMemory:
    """In Redis where one is named, else in this process."""
    if redis is None:
        return InProcessWorking(policy, clock)
    try:
        from tenuto.providers.redis_working import RedisWorking
    except ModuleNotFoundError:
        raise SettingError("Redis needs its client: pip install 'tenuto[redis]'.") from None
    return RedisWorking(redis, policy, vault)


def _by_user(message: Mapping[str, Any]) -> bool:
    return str(message.get("role", "user")) == "user"
