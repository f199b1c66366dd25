"""The threads that the verbs run in, and as few changes between threads as possible.

A verb is half a millisecond of Python between two waits. A pool that wakes a thread for each and the event loop for
each answer spends more time on handing the interpreter over than on the verbs. Here the loop first takes in all that
has arrived, then rests while a thread works through it, and sends the answers together. It rests for ``REST`` at most,
and whenever a verb waits and none was begun for ``PACE``, one more thread is called: what is slow (another machine's
database, an embedder, an import) goes on beside the rest. A thread that is done leaves what waits to another one that
has just begun something: so many short verbs stay in one thread, and cost little more than plain calls.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
import time
from collections import deque
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any

PACE = 0.003
"""Seconds within which a verb that waits is begun, or gets one more thread."""
QUICK = 0.012
"""Seconds within which another thread has begun a verb if it is quick enough for what waits: longer than ``PACE``,
because a thread that waits for the interpreter, which changes hands every 5 ms, begins nothing meanwhile."""
REST = 0.012
"""Seconds that the loop rests at most."""
AT_ONCE = 8
"""Answers after which the loop is told, though there is more to do."""


class Unstarted:
    """For an application that is called without having been started."""

    async def run(self, work: Callable[[], Any]) -> Any:
        return await asyncio.to_thread(work)


class Crew:
    """At most ``most`` threads for the verbs of one event loop."""

    def __init__(self, most: int, loop: asyncio.AbstractEventLoop) -> None:
        self._most, self._loop = most, loop
        self._lock = threading.Lock()
        self._waiting: deque[tuple[Callable[[], Any], asyncio.Future[Any]]] = deque()
        self._done: deque[tuple[asyncio.Future[Any], Any, BaseException | None]] = deque()
        self._calls: SimpleQueue[bool] = SimpleQueue()
        self._threads = self._at_work = self._coming = 0
        self._begun, self._beginner = 0.0, 0
        self._bell = threading.Lock()
        self._bell.acquire()
        self._resting = False
        self._begins = False
        self._look: asyncio.TimerHandle | None = None

    async def run(self, work: Callable[[], Any]) -> Any:
        """What ``work`` returns or raises, from a thread."""
        answer: asyncio.Future[Any] = self._loop.create_future()
        self._waiting.append((work, answer))
        if not self._begins:
            self._begins = True
            self._loop.call_soon(self._begin)
        return await answer

    def close(self) -> None:
        """Let the threads end, each after what it has at hand."""
        for _ in range(self._threads):
            self._calls.put(False)

    # --- on the loop --------------------------------------------------------------------------------------------------

    def _begin(self) -> None:
        """Everything that arrived is in: rest while it is worked through."""
        self._begins = False
        until = time.monotonic() + REST
        with self._lock:
            rests = self._resting = bool(self._waiting) and self._someone()
        while rests and not self._bell.acquire(timeout=PACE):
            with self._lock:
                rung = not self._resting
                self._resting = rests = (
                    not rung and time.monotonic() < until and bool(self._waiting) and self._someone()
                )
            if rung:
                self._bell.acquire()
        self._hand_over()
        if self._waiting and self._look is None:
            self._look = self._loop.call_later(PACE, self._look_after)

    def _someone(self) -> bool:
        """Whether a thread takes the next verb soon; where none has begun one lately, one more is called."""
        if self._coming or (self._at_work and time.monotonic() - self._begun < PACE):
            return True
        if self._at_work < self._threads:
            self._calls.put(True)
        elif self._threads < self._most:
            try:
                threading.Thread(target=self._member, name=f"tenuto-http-{self._threads}", daemon=True).start()
            except RuntimeError:  # the system has no thread to give now; it is asked again in a moment
                return False
            self._threads += 1
        else:
            return False
        self._at_work += 1
        self._coming += 1
        return True

    def _look_after(self) -> None:
        """Something waited: hand over what is done, and see that the rest does not wait for something slow."""
        self._look = None
        self._hand_over()
        if self._waiting:
            with self._lock:
                self._someone()
            self._look = self._loop.call_later(PACE, self._look_after)

    def _hand_over(self) -> None:
        while self._done:
            answer, value, error = self._done.popleft()
            if answer.done():
                continue  # whoever asked has gone
            if error is not None:
                answer.set_exception(error)
            else:
                answer.set_result(value)

    # --- in a thread --------------------------------------------------------------------------------------------------

    def _member(self) -> None:
        """Verbs as long as there are any, then wait to be called."""
        held, called = 0, True
        while True:
            item = self._next(held, called)
            called = item is None
            if item is None:
                held = 0
                if not self._calls.get():
                    return
                continue
            work, answer = item
            try:
                self._done.append((answer, work(), None))
            except BaseException as error:  # noqa: BLE001 - it goes to whoever asked
                self._done.append((answer, None, error))
            held += 1
            if held >= AT_ONCE and not self._resting:
                self._tell()
                held = 0

    def _next(self, held: int, called: bool) -> tuple[Callable[[], Any], asyncio.Future[Any]] | None:
        """The verb that waited longest. Where there is none, or another thread is quick enough, the work ends here."""
        with self._lock:
            self._coming -= called
            now, me = time.monotonic(), threading.get_ident()
            another = self._beginner != me and self._at_work > 1 and now - self._begun < QUICK
            if self._waiting and (called or not another):
                self._begun, self._beginner = now, me
                return self._waiting.popleft()
            self._at_work -= 1
            if self._resting:
                held = 0  # the loop looks after it in a moment
                if not self._waiting:
                    self._resting = False
                    self._bell.release()
        if held:
            self._tell()
        return None

    def _tell(self) -> None:
        with contextlib.suppress(RuntimeError):  # the loop has ended, and everyone who asked with it
            self._loop.call_soon_threadsafe(self._hand_over)
