"""Following a user's events.

Events are numbered per user inside the transaction that writes them, and writers of one user wait for each other: a
larger number is never visible before a smaller one. So "everything after number n" is all there is to resuming, with no
gap and no double, wherever the events are read from. The bus only says when to look; a look every ``poll`` catches what
it missed. A batch goes out at once, and what follows within ``window`` of it travels together.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from types import TracebackType

from tenuto.deps import Deps
from tenuto.ports import Where
from tenuto.records.operations import Event

BATCH = 500


def events(deps: Deps, user: str, after: int = 0, limit: int = BATCH) -> list[Event]:
    """The events after a number, oldest first."""
    with deps.store.reading(user) as reader:
        return reader.find(Event, Where("seq", ">", after), order="seq", limit=limit)


def newest(deps: Deps, user: str) -> int:
    """The number of the last event."""
    with deps.store.reading(user) as reader:
        found = reader.find(Event, order="-seq", limit=1)
    return found[0].seq if found else 0


def pause(now: float, delivered: float | None, window: float) -> float:
    """How long to wait before the next batch goes out."""
    return 0.0 if delivered is None else max(0.0, delivered + window - now)


class Subscription:
    """One follower. Iterate it for batches of events, or call :meth:`next`; close it, or use it in a ``with``."""

    def __init__(self, deps: Deps, user: str, after: int | None) -> None:
        self._deps = deps
        self._user = user
        self._new = threading.Event()
        self._new.set()
        self._closed = threading.Event()
        self._delivered: float | None = None
        self._stop: Callable[[], None] = deps.bus.listen(user, self._new.set)
        self.last = newest(deps, user) if after is None else after
        """The number of the last event handed out: what to resume after."""

    def next(self, timeout: float | None = None) -> list[Event]:
        """The events since the last batch; waits for some, and gives none if the time runs out or it is closed."""
        end = None if timeout is None else time.monotonic() + timeout
        poll = self._deps.policy.jobs.poll.total_seconds()
        while not self._closed.is_set():
            self._new.clear()
            if found := self._look():
                return found
            left = poll if end is None else min(poll, end - time.monotonic())
            if left <= 0:
                return []
            self._new.wait(left)
        return []

    def close(self) -> None:
        self._stop()
        self._closed.set()
        self._new.set()

    def _look(self) -> list[Event]:
        found = events(self._deps, self._user, self.last)
        wait = pause(time.monotonic(), self._delivered, self._deps.policy.context.batch.total_seconds())
        if found and wait:
            self._closed.wait(wait)
            found = events(self._deps, self._user, self.last)
        if found:
            self.last, self._delivered = found[-1].seq, time.monotonic()
        return found

    def __iter__(self) -> Iterator[list[Event]]:
        while not self._closed.is_set():
            if found := self.next():
                yield found

    async def __aiter__(self) -> AsyncIterator[list[Event]]:
        while not self._closed.is_set():
            if found := await asyncio.to_thread(self.next, self._deps.policy.jobs.poll.total_seconds()):
                yield found

    def __enter__(self) -> Subscription:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
