"""Telling whoever listens that a user has new events: inside the process, through Redis, or through PostgreSQL.

A publication carries the user and the number of the newest event, nothing that was said; who hears it reads the events
from the store. So nothing is lost when a publication is: listeners look on their own from time to time as well, and
everything here may fail without harm. The first publication goes out at once; those that follow within half of
``window`` travel together. Only half, because whoever hears it waits up to a ``window`` of its own.
"""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable
from datetime import timedelta
from importlib.util import find_spec

from tenuto.errors import SettingError
from tenuto.ports import Bus

log = logging.getLogger("tenuto.bus")
Heard = Callable[[], None]
CHANNEL = "context:"
"""Redis: ``context:{user}``."""


class LocalBus:
    """Listeners of this process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._listeners: dict[str, dict[int, Heard]] = {}
        self._count = 0

    def publish(self, user: str, seq: int) -> None:
        with self._lock:
            heard = list(self._listeners.get(user, {}).values())
        _tell(heard)

    def listen(self, user: str, heard: Heard) -> Callable[[], None]:
        with self._lock:
            self._count += 1
            number = self._count
            self._listeners.setdefault(user, {})[number] = heard

        def stop() -> None:
            with self._lock:
                self._listeners.get(user, {}).pop(number, None)
                if not self._listeners.get(user):
                    self._listeners.pop(user, None)

        return stop

    def everyone(self) -> None:
        """Something may have been missed: let every listener look."""
        with self._lock:
            heard = [one for users in self._listeners.values() for one in users.values()]
        _tell(heard)

    def close(self) -> None:
        """Nothing to release."""


class FileBus(LocalBus):
    """Listeners of this process, for a SQLite file that other processes may write to: their commits move its log.

    Nobody is told which user it was, so every listener looks; it costs a glance at two files ten times a second, and
    only while somebody listens.
    """

    def __init__(self, path: str, every: float = 0.1) -> None:
        super().__init__()
        self._files = (path, f"{path}-wal")
        self._every = every
        self._over = threading.Event()
        self._watching: threading.Thread | None = None

    def listen(self, user: str, heard: Heard) -> Callable[[], None]:
        stop = super().listen(user, heard)
        with self._lock:
            if self._watching is None and not self._over.is_set():
                self._watching = threading.Thread(target=self._watch, name="tenuto-bus-file", daemon=True)
                self._watching.start()
        return stop

    def close(self) -> None:
        self._over.set()
        if self._watching is not None:
            self._watching.join(5.0)

    def _watch(self) -> None:
        known = self._look()
        while not self._over.wait(self._every):
            with self._lock:
                if not self._listeners:
                    self._watching = None
                    return
            if (now := self._look()) != known:
                known = now
                self.everyone()

    def _look(self) -> tuple[tuple[int, int], ...]:
        found = []
        for path in self._files:
            try:
                seen = os.stat(path)
                found.append((seen.st_mtime_ns, seen.st_size))
            except OSError:
                found.append((0, 0))
        return tuple(found)


def _tell(heard: list[Heard]) -> None:
    """A listener whose loop is gone must not hinder the writer or the others."""
    for one in heard:
        try:
            one()
        except RuntimeError as error:
            log.debug("A listener is gone: %s", error)


class RemoteBus:
    """Listeners of this and other processes. A subclass connects: it sends, and it calls ``received``."""

    def __init__(self, window: timedelta) -> None:
        self._local = LocalBus()
        self._window = window.total_seconds() / 2
        self._lock = threading.Lock()
        self._waiting: dict[str, int] = {}
        self._something = threading.Event()
        self._over = threading.Event()
        self._threads: dict[str, threading.Thread] = {}

    def publish(self, user: str, seq: int) -> None:
        self._local.publish(user, seq)
        with self._lock:
            self._waiting[user] = max(seq, self._waiting.get(user, 0))
        self._something.set()
        self._start("send", self._sending)

    def listen(self, user: str, heard: Heard) -> Callable[[], None]:
        stop = self._local.listen(user, heard)
        self._start("receive", self._receiving)
        return stop

    def close(self) -> None:
        self._over.set()
        self._something.set()
        for thread in self._threads.values():
            thread.join(5.0)

    def received(self, user: str) -> None:
        self._local.publish(user, 0)

    def send(self, publications: dict[str, int]) -> None:
        raise NotImplementedError

    def receive(self) -> None:
        """Connect, call :meth:`ready`, and hand on what arrives until :attr:`over`; raises when the line breaks."""
        raise NotImplementedError

    def ready(self) -> None:
        """Called once connected: what came before may have been missed."""
        self._local.everyone()

    @property
    def over(self) -> bool:
        return self._over.is_set()

    def _start(self, name: str, work: Callable[[], None]) -> None:
        with self._lock:
            if name not in self._threads and not self.over:
                thread = threading.Thread(target=work, name=f"tenuto-bus-{name}", daemon=True)
                self._threads[name] = thread
                thread.start()

    def _sending(self) -> None:
        while not self.over:
            self._something.wait()
            self._something.clear()
            with self._lock:
                publications, self._waiting = self._waiting, {}
            if publications:
                self._guarded("send", lambda found=publications: self.send(found))  # type: ignore[misc]
            self._over.wait(self._window)

    def _receiving(self) -> None:
        while not self.over:
            self._guarded("receive", self.receive)
            self._over.wait(0.5)

    def _guarded(self, what: str, work: Callable[[], None]) -> None:
        """Whatever breaks on the line must not end the thread: listeners fall back on looking by themselves."""
        try:
            work()
        except Exception as error:  # noqa: BLE001 (any driver may raise its own)
            if not self.over:
                log.warning("The bus could not %s: %s: %s", what, type(error).__name__, error)


def open_bus(redis: str | None, url: str, window: timedelta) -> Bus:
    """The bus that fits: Redis if there is one, else PostgreSQL's own for such a store, else the shared file."""
    if redis is not None:
        if find_spec("redis") is None:
            raise SettingError("Redis needs its client: pip install 'tenuto[redis]'.")
        from tenuto.providers.bus_redis import RedisBus

        return RedisBus(redis, window)
    if url.startswith(("postgresql://", "postgres://")):
        from tenuto.providers.bus_postgres import PostgresBus

        return PostgresBus(url, window)
    return LocalBus() if url in ("memory:", ":memory:") else FileBus(url.removeprefix("sqlite:///"))
