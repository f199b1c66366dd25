"""The door: from what a caller presents to the key behind it, cheaply, and never for longer than a moment on trust.

A key that was just seen is taken from memory for ``policy.server.key_cache``; revoking one in this process empties that
memory. Failures are not remembered, so a flood of wrong secrets costs the flooder's limit and not our memory.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from datetime import datetime
from hashlib import blake2b

from tenuto.access import keys
from tenuto.access.decide import usable
from tenuto.deps import Deps
from tenuto.records.access import ApiKey

REMEMBERED = 10_000


class Door:
    """Finds keys by their secret. Safe from several threads."""

    def __init__(self, deps: Deps) -> None:
        self._deps = deps
        self._lock = threading.Lock()
        self._seen: OrderedDict[bytes, tuple[ApiKey, datetime]] = OrderedDict()
        self._touched: dict[str, datetime] = {}
        self.on_forget: Callable[[], None] = lambda: None
        """Called after a revocation: whoever relied on a key for longer than a request looks again."""

    def remembered(self, secret: str) -> ApiKey | None:
        """The key from memory, without asking the store."""
        now = self._deps.clock()
        with self._lock:
            found = self._seen.get(_trace(secret))
        if found is None or now - found[1] >= self._deps.policy.server.key_cache or not usable(found[0], now):
            return None
        return found[0]

    def look_up(self, secret: str) -> ApiKey | None:
        """The key from the store; notes that it was used. ``None`` for one that is unknown, revoked or expired."""
        key = keys.find(self._deps, secret)
        if key is None:
            return None
        now = self._deps.clock()
        with self._lock:
            self._seen[_trace(secret)] = (key, now)
            while len(self._seen) > REMEMBERED:
                self._seen.popitem(last=False)
            last = self._touched.get(key.id)
            due = last is None or now - last >= self._deps.policy.server.key_touch
            if due:
                self._touched = {id: at for id, at in self._touched.items() if len(self._touched) < REMEMBERED}
                self._touched[key.id] = now
        if due:
            keys.touch(self._deps, key.id)
        return key

    def forget(self) -> None:
        """After a revocation: ask the store again for everyone."""
        with self._lock:
            self._seen.clear()
        self.on_forget()


def _trace(secret: str) -> bytes:
    """What is remembered of a secret, in memory only: like the digest that the store keeps, and quicker."""
    return blake2b(secret.encode("utf-8", "surrogatepass"), digest_size=32).digest()
