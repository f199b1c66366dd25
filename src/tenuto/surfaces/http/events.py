"""Live events: what happened to one user, in order, resumable. Server-sent events over the events table.

Every event has the user's own growing number; a client that comes back says the last one it saw (``Last-Event-ID``) and
misses nothing. Streams of one user share one reader. It looks as soon as the bus says that something was written, here
or in another process, and then gathers what comes within ``policy.context.batch``; beside that it looks by itself every
``policy.server.poll``, in case that word of a change was lost. So a hundred open pages cost as much as one, and idle
ones next to nothing. A stream whose client does not read is not read for either, until it does. Revoking a key ends its
streams: at once in this process, with the next heartbeat in others.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import Annotated

from fastapi import Header, Query
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import StreamingResponse

from tenuto.access.decide import Need
from tenuto.errors import StoreError
from tenuto.facade.store import Tenuto
from tenuto.policy import ServerPolicy
from tenuto.ports import Where
from tenuto.records.operations import Event
from tenuto.surfaces.http.answers import encode
from tenuto.surfaces.http.metrics import Metrics
from tenuto.surfaces.http.problems import Refused
from tenuto.surfaces.http.routing import UserId, needs, router

routes = router("/api/users/{user}", "events")
BATCH = 500
QUEUE = 1000


class Feed:
    """All streams of this process."""

    def __init__(self, store: Tenuto, metrics: Metrics) -> None:
        self._store = store
        self.policy: ServerPolicy = store.deps.policy.server
        self._metrics = metrics
        self._readers: dict[str, _Reader] = {}
        self._open = 0
        self.checks = 0
        """Grows when a key was taken back: every stream then looks whether its own still holds."""
        self.closing = asyncio.Event()

    @contextlib.asynccontextmanager
    async def subscribe(self, user: str, after: int | None) -> AsyncIterator[Stream]:
        """The user's events after ``after`` (``None``: from now on)."""
        reader = self._readers.get(user)
        if self._open >= self.policy.streams or self.closing.is_set():
            raise Refused(
                503, "too_many_streams", "Too many live streams are open: come back later.", {"Retry-After": "5"}
            )
        if reader is not None and len(reader.streams) >= self.policy.streams_per_user:
            raise Refused(429, "too_many_streams", "This user has too many live streams.", {"Retry-After": "5"})
        if reader is None:
            reader = self._readers[user] = _Reader(self._store, user, self.policy)
        stream = Stream(asyncio.Queue(QUEUE), after, reader.look, reader.over)
        self._count(1)
        try:
            reader.join(stream)
            yield stream
        finally:
            self._count(-1)
            if reader.leave(stream):
                self._readers.pop(user, None)

    def stop(self) -> None:
        """The server is going down: wake every stream, so that it ends by itself."""
        self.closing.set()
        self._wake()

    def recheck(self) -> None:
        """A key was taken back: let every stream look at its own."""
        self.checks += 1
        self._wake()

    def _wake(self) -> None:
        for reader in self._readers.values():
            for stream in reader.streams:
                if not stream.queue.full():
                    stream.queue.put_nowait(None)

    def _count(self, by: int) -> None:
        self._open += by
        self._metrics.streams_open.inc(by)


@dataclass(eq=False)
class Stream:
    """One client: what waits for it, the last number that was put there, and how to ask for more."""

    queue: asyncio.Queue[Event | None]
    last: int | None
    more: Callable[[], None]
    over: Callable[[], bool] = lambda: False
    """Nobody reads for it any more: let the client come back."""
    stalled: bool = False
    """There is more than it had room for."""

    def place(self, newest: int) -> None:
        """Where it begins: now, if it did not say; at the first event of all, if the user was erased since."""
        if self.last is None:
            self.last = newest
        elif self.last > newest:
            self.last = 0


class _Reader:
    """Reads one user's events for all of their streams."""

    def __init__(self, store: Tenuto, user: str, policy: ServerPolicy) -> None:
        self._store = store
        self._user = user
        self._policy = policy
        self._task: asyncio.Task[None] | None = None
        self._new = asyncio.Event()
        self._deaf: Callable[[], None] = lambda: None
        self.look: Callable[[], None] = self._new.set
        self.streams: set[Stream] = set()

    def join(self, stream: Stream) -> None:
        self.streams.add(stream)
        self.look()
        if self._task is None:
            loop = asyncio.get_running_loop()

            def heard() -> None:
                loop.call_soon_threadsafe(self._new.set)

            self._deaf = self._store.deps.bus.listen(self._user, heard)
            self._task = asyncio.create_task(self._run())

    def over(self) -> bool:
        return self._task is not None and self._task.done()

    def leave(self, stream: Stream) -> bool:
        """``True`` when nobody is left."""
        self.streams.discard(stream)
        if not self.streams and self._task is not None:
            self._deaf()
            self._task.cancel()
        return not self.streams

    async def _run(self) -> None:
        while True:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._new.wait(), self._policy.poll.total_seconds())
            self._new.clear()
            try:
                present = list(self.streams)
                newest = await run_in_threadpool(self._newest)
                for stream in present:
                    stream.place(newest)
                while behind := self._behind(newest):
                    start = min(behind)
                    self._deliver(start, await run_in_threadpool(self._read, start), newest)
                for stream in self.streams:
                    stream.stalled = stream.last is not None and stream.last < newest
            except StoreError:
                continue  # it looks again with the next change, or the next poll
            await asyncio.sleep(self._store.deps.policy.context.batch.total_seconds())

    def _behind(self, newest: int) -> set[int]:
        """Where the streams stand that wait for something and have room for it."""
        return {one.last for one in self.streams if one.last is not None and one.last < newest and not one.queue.full()}

    def _deliver(self, start: int, events: list[Event], newest: int) -> None:
        for stream in [one for one in self.streams if one.last == start]:
            stream.last = start if events else newest
            for event in events:
                if stream.queue.full():
                    break
                stream.queue.put_nowait(event)
                stream.last = event.seq

    def _newest(self) -> int:
        with self._store.deps.store.reading(self._user) as reader:
            found = reader.find(Event, order="-seq", limit=1)
        return found[0].seq if found else 0

    def _read(self, start: int) -> list[Event]:
        with self._store.deps.store.reading(self._user) as reader:
            return reader.find(Event, Where("seq", ">", start), order="seq", limit=BATCH)


@routes.get(
    "/events",
    **needs(Need.READ),
    response_class=StreamingResponse,
    summary="Live events",
    description="A `text/event-stream` of what happens to the user. Each event carries ids, never content.",
)
async def events(
    request: Request,
    user: UserId,
    after: Annotated[
        int | None, Query(ge=0, le=2**62, description="The last number seen; nothing: from now on.")
    ] = None,
    plain: Annotated[bool, Query(description="Leave the names out: browsers then hand on every kind alike.")] = False,
    last_event_id: Annotated[str | None, Header(description="Sent by browsers when they come back.")] = None,
) -> StreamingResponse:
    if last_event_id is not None and last_event_id.isascii() and last_event_id.isdigit():
        after = min(int(last_event_id), 2**62)
    feed: Feed = request.app.state.feed
    stack = contextlib.AsyncExitStack()
    stream = await stack.enter_async_context(feed.subscribe(request.state.user, after))
    return StreamingResponse(
        _stream(feed, stream, stack, _holds(request), plain),
        media_type="text/event-stream",
        headers={"X-Accel-Buffering": "no"},
    )


def _holds(request: Request) -> Callable[[], bool]:
    """Whether the key of this request is still good, asked of the store."""
    door, secret = request.app.state.door, request.state.secret
    return lambda: door.look_up(secret) is not None


async def _stream(
    feed: Feed, stream: Stream, stack: contextlib.AsyncExitStack, holds: Callable[[], bool], plain: bool
) -> AsyncIterator[bytes]:
    loop, beat = asyncio.get_running_loop(), feed.policy.heartbeat.total_seconds()
    async with stack:
        yield b"retry: 2000\n: hello\n\n"
        due, checks = loop.time() + beat, feed.checks
        while not feed.closing.is_set() and not stream.over():
            try:
                event = await asyncio.wait_for(stream.queue.get(), max(due - loop.time(), 0.001))
            except TimeoutError:
                event = None
            if loop.time() >= due or checks != feed.checks:
                checks = feed.checks
                if not await run_in_threadpool(holds):
                    yield b'event: revoked\ndata: {"code":"key_invalid"}\n\n'
                    return
                if loop.time() >= due:
                    due = loop.time() + beat
                    yield b": still here\n\n"
            if event is not None:
                yield _frame(event, plain)
            if stream.stalled and stream.queue.empty():
                stream.more()


def _frame(event: Event, plain: bool) -> bytes:
    name = b"" if plain else b"event: %s\n" % event.kind.encode()
    return b"id: %d\n%sdata: %s\n\n" % (event.seq, name, encode(event))
