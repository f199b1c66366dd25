"""Live events: what happened to one user, in order, resumable. Server-sent events over the events table.

Every event has the user's own growing number; a client that comes back says the last one it saw (``Last-Event-ID``) and
misses nothing. Streams of one user share one reader, which looks as soon as something was written here and otherwise
every ``policy.server.poll``, so a hundred open pages cost as much as one. An idle stream looks at its key with every
heartbeat: one that was revoked ends its stream.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from typing import Annotated

from fastapi import Header, Query
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import StreamingResponse

from tenuto.access.decide import Need
from tenuto.engine import Tenuto
from tenuto.policy import ServerPolicy
from tenuto.ports import Where
from tenuto.records.operations import Event
from tenuto.surfaces.http.answers import encode
from tenuto.surfaces.http.problems import Refused
from tenuto.surfaces.http.routing import UserId, needs, router
from tenuto.surfaces.http.watch import Metrics

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
        self.closing = asyncio.Event()

    @contextlib.asynccontextmanager
    async def subscribe(self, user: str, after: int | None) -> AsyncIterator[asyncio.Queue[Event | None]]:
        """A queue of the user's events after ``after`` (``None``: from now on)."""
        reader = self._readers.get(user)
        if self._open >= self.policy.streams or self.closing.is_set():
            raise Refused(
                503, "too_many_streams", "Too many live streams are open: come back later.", {"Retry-After": "5"}
            )
        if reader is not None and len(reader.queues) >= self.policy.streams_per_user:
            raise Refused(429, "too_many_streams", "This user has too many live streams.", {"Retry-After": "5"})
        queue: asyncio.Queue[Event | None] = asyncio.Queue(QUEUE)
        self._count(1)
        try:
            if reader is None:
                reader = self._readers[user] = _Reader(self._store, user, self.policy)
            reader.queues[queue] = after
            reader.start()
            yield queue
        finally:
            self._count(-1)
            if reader is not None and reader.leave(queue):
                self._readers.pop(user, None)

    def stop(self) -> None:
        """The server is going down: wake every stream, so that it ends by itself."""
        self.closing.set()
        for reader in self._readers.values():
            for queue in reader.queues:
                if not queue.full():
                    queue.put_nowait(None)

    def _count(self, by: int) -> None:
        self._open += by
        self._metrics.add("streams_open", by)


class _Reader:
    """Reads one user's events for all of their streams."""

    def __init__(self, store: Tenuto, user: str, policy: ServerPolicy) -> None:
        self._store = store
        self._user = user
        self._policy = policy
        self._task: asyncio.Task[None] | None = None
        self._new = asyncio.Event()
        self._deaf: Callable[[], None] = lambda: None
        self.queues: dict[asyncio.Queue[Event | None], int | None] = {}

    def start(self) -> None:
        if self._task is None:
            loop = asyncio.get_running_loop()

            def heard() -> None:
                loop.call_soon_threadsafe(self._new.set)

            self._deaf = self._store.deps.bus.listen(self._user, heard)
            self._task = asyncio.create_task(self._run())

    def leave(self, queue: asyncio.Queue[Event | None]) -> bool:
        """``True`` when nobody is left."""
        self.queues.pop(queue, None)
        if not self.queues and self._task is not None:
            self._deaf()
            self._task.cancel()
        return not self.queues

    async def _run(self) -> None:
        while True:
            self._new.clear()
            newest = await run_in_threadpool(self._newest)
            for queue, after in list(self.queues.items()):
                self.queues[queue] = newest if after is None else after
            behind = sorted({after for after in self.queues.values() if after is not None and after < newest})
            for start in behind:
                await self._deliver(start, await run_in_threadpool(self._read, start))
            if behind:  # what follows at once travels together
                await asyncio.sleep(self._store.deps.policy.context.batch.total_seconds())
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._new.wait(), self._policy.poll.total_seconds())

    async def _deliver(self, start: int, events: list[Event]) -> None:
        for queue, after in list(self.queues.items()):
            if after != start:
                continue
            for event in events:
                if queue.full():
                    break
                queue.put_nowait(event)
                self.queues[queue] = event.seq

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
    queue = await stack.enter_async_context(feed.subscribe(request.state.user, after))
    holds = _holds(request)
    return StreamingResponse(
        _stream(feed, queue, stack, holds, plain),
        media_type="text/event-stream",
        headers={"X-Accel-Buffering": "no"},
    )


def _holds(request: Request) -> Callable[[], bool]:
    """Whether the key of this request is still good, asked of the store."""
    door, secret = request.app.state.door, request.state.secret
    return lambda: door.look_up(secret) is not None


async def _stream(
    feed: Feed,
    queue: asyncio.Queue[Event | None],
    stack: contextlib.AsyncExitStack,
    holds: Callable[[], bool],
    plain: bool,
) -> AsyncIterator[bytes]:
    loop, beat = asyncio.get_running_loop(), feed.policy.heartbeat.total_seconds()
    async with stack:
        yield b"retry: 2000\n: hello\n\n"
        due = loop.time() + beat
        while not feed.closing.is_set():
            try:
                event = await asyncio.wait_for(queue.get(), max(due - loop.time(), 0.001))
            except TimeoutError:
                event = None
            if event is not None:
                yield _frame(event, plain)
            if loop.time() >= due:
                if not await run_in_threadpool(holds):
                    yield b'event: revoked\ndata: {"code":"key_invalid"}\n\n'
                    return
                due = loop.time() + beat
                yield b": still here\n\n"


def _frame(event: Event, plain: bool) -> bytes:
    name = b"" if plain else b"event: %s\n" % event.kind.encode()
    return b"id: %d\n%sdata: %s\n\n" % (event.seq, name, encode(event))
