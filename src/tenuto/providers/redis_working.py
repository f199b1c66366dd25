"""Working memory in Redis, for many processes that serve the same people.

``context:working:{user}`` is a list of messages, ``context:variables:{user}`` a hash of variables; both expire
together, and both are sealed where content is encrypted. Redis may be gone at any moment: a call that cannot reach it
behaves as if nothing were kept, tells the log once, and tries again a little later, so that an outage costs a
conversation nothing but this cache.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import msgspec
import redis

from tenuto.errors import SettingError, TenutoError
from tenuto.policy import WorkingPolicy
from tenuto.ports import Vault

T = TypeVar("T")
log = logging.getLogger("tenuto.redis")
PAUSE = 2.0
"""Seconds without asking after a failure: an outage must not add a timeout to every message."""
TIMEOUT = 0.5
"""Seconds to wait for Redis."""


class RedisWorking:
    """Safe to use from many threads and processes."""

    def __init__(self, url: str, policy: WorkingPolicy, vault: Vault) -> None:
        self._policy = policy
        self._vault = vault
        try:
            self._client = redis.Redis.from_url(url, socket_timeout=TIMEOUT, socket_connect_timeout=TIMEOUT)
        except ValueError as error:
            raise SettingError(f"'redis' takes an address such as redis://127.0.0.1:6379/0: {error}.") from error
        self._lock = threading.Lock()
        self._away_until = 0.0

    def append(self, user: str, message: Mapping[str, Any]) -> None:
        sealed = self._seal(user, "message", dict(message))

        def push() -> None:
            with self._client.pipeline(transaction=True) as pipe:
                pipe.rpush(_key(user), sealed)
                pipe.ltrim(_key(user), -self._policy.messages, -1)
                self._keep(pipe, user)
                pipe.execute()

        self._try(push, None)

    def recent(self, user: str) -> list[dict[str, Any]]:
        """The last messages, oldest first."""

        def read() -> list[dict[str, Any]]:
            found: Any = self._client.lrange(_key(user), 0, -1)
            return [self._open(user, "message", message) for message in found]

        return self._try(read, [])

    def channel(self, user: str) -> str | None:
        """Where the user was last heard."""
        heard = (m.get("channel") for m in reversed(self.recent(user)) if m.get("role", "user") == "user")
        found = next(heard, None)
        return str(found) if found else None

    def set(self, user: str, name: str, value: Any) -> None:
        """Keep a value under a name for as long as the conversation is alive; ``None`` takes it away."""
        sealed = self._seal(user, "variable", value)

        def put() -> None:
            with self._client.pipeline(transaction=True) as pipe:
                if value is None:
                    pipe.hdel(_variables(user), name)
                else:
                    pipe.hset(_variables(user), name, sealed)
                self._keep(pipe, user)
                pipe.execute()

        self._try(put, None)

    def variables(self, user: str) -> dict[str, Any]:
        def read() -> dict[str, Any]:
            found: Any = self._client.hgetall(_variables(user))
            return {name.decode(): self._open(user, "variable", value) for name, value in found.items()}

        return self._try(read, {})

    def drop(self, user: str) -> bool:
        """Forget everything of a user at once; ``False`` if Redis cannot be reached: then it goes with its hour."""
        try:
            self._client.delete(_key(user), _variables(user))
        except (redis.RedisError, OSError):
            return False
        return True

    def close(self) -> None:
        self._client.close()

    def _seal(self, user: str, column: str, value: Any) -> bytes:
        return self._vault.seal(user, f"working/{column}", 0, msgspec.json.encode(value))

    def _open(self, user: str, column: str, data: bytes) -> Any:
        return msgspec.json.decode(self._vault.open(user, f"working/{column}", 0, data))

    def _keep(self, pipe: Any, user: str) -> None:
        seconds = max(1, int(self._policy.ttl.total_seconds()))
        pipe.expire(_key(user), seconds)
        pipe.expire(_variables(user), seconds)

    def _try(self, ask: Callable[[], T], otherwise: T) -> T:
        if time.monotonic() < self._away_until:
            return otherwise
        try:
            found = ask()
        except (TenutoError, msgspec.DecodeError):
            return otherwise  # sealed by a key that is gone, or not ours: as good as lost
        except (redis.RedisError, OSError) as error:
            with self._lock:
                first, self._away_until = self._away_until == 0.0, time.monotonic() + PAUSE
            if first:
                log.warning("Redis does not answer (%s): going on without working memory.", type(error).__name__)
            return otherwise
        self._away_until = 0.0
        return found


def _key(user: str) -> str:
    return f"context:working:{user}"


def _variables(user: str) -> str:
    return f"context:variables:{user}"
