"""HTTP/1.1 for connections that take their time: one that does not send its whole head in time is closed.

Without this a few thousand half-sent requests, one byte a minute each, hold the server for ever. Idle connections
between requests are closed after uvicorn's keep-alive time; bodies have the guard's. Each connection has one timer,
which is looked at when it fires and not set anew for every request. And an answer goes out whole: its head waits for
the body that follows at once, so that there is one call to the kernel and one packet instead of two.
"""

from __future__ import annotations

import asyncio
from typing import Any
from urllib.parse import unquote

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from tenuto.surfaces.http import whole
from tenuto.surfaces.http.whole import Whole, WholeCycle

HELD = 64 * 1024
"""Bytes that are held back at most."""


class Joined:
    """A transport that sends together what is written in one turn of the loop."""

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        self._transport = transport
        self._loop = loop
        self._held: list[bytes] = []
        self._size = 0
        self.is_closing = transport.is_closing

    def write(self, data: bytes) -> None:
        if not data:
            return
        if not self._held:
            self._loop.call_soon(self.flush)
        self._held.append(data)
        self._size += len(data)
        if self._size > HELD:
            self.flush()

    def send(self, data: bytes) -> None:
        """Write now, after what is held back."""
        self.flush()
        self._transport.write(data)

    def flush(self) -> None:
        if self._held:
            held, self._held, self._size = self._held, [], 0
            self._transport.write(b"".join(held))

    def close(self) -> None:
        self.flush()
        self._transport.close()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)


class HeadTimeout(H11Protocol):
    """uvicorn's protocol with a time limit on request heads, and a short way for requests that arrive whole."""

    seconds: float
    """That the head of a request may take."""
    whole_fits: bool
    """Whether uvicorn is one that takes requests which were read already."""
    _head: float | None = None
    """When the head of the next request must be there, if a connection has begun it or has never sent any."""
    _idle: float | None = None
    """When a connection that was answered is closed, if nothing comes."""
    _timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        super().connection_made(Joined(transport, self.loop))  # type: ignore[arg-type]
        reset = getattr(self.config, "reset_contextvars", False)
        self._takes_whole = self.whole_fits and not self.root_path and not reset
        self._head = self.loop.time() + self.seconds
        self._look()

    def connection_lost(self, exc: Exception | None) -> None:
        if self._timer is not None:
            self._timer.cancel()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        self._idle = None
        if isinstance(self.cycle, WholeCycle) and not self.cycle.response_complete:
            self.cycle.show()
        elif self._takes_whole and self._free() and (request := whole.read(data)) is not None:
            self._begin(data, request)
            return
        super().data_received(data)
        if self.conn.their_state is not h11.IDLE:
            self._head = None
        elif self._head is None:
            self._head = self.loop.time() + self.seconds

    def on_response_complete(self) -> None:
        self._head = None
        super().on_response_complete()

    def _free(self) -> bool:
        """Whether nothing is at work or half there, and there is room for one more request."""
        if self.conn.their_state is not h11.IDLE or self.conn.our_state is not h11.IDLE:
            return False
        most = self.limit_concurrency
        room = most is None or (len(self.connections) < most and len(self.tasks) < most)
        return room and not self.conn.trailing_data[0]

    def _begin(self, data: bytes, request: Whole) -> None:
        """What uvicorn does with a request from h11, with one that was read already."""
        self._head = None
        self._unset_keepalive_if_required()
        raw_path, _, query = request.target.partition(b"?")
        scope = {
            "type": "http",
            "asgi": {"version": self.asgi_version, "spec_version": "2.3"},
            "http_version": "1.1",
            "server": self.server,
            "client": self.client,
            "scheme": self.scheme,
            "method": request.method,
            "root_path": "",
            "path": unquote(raw_path.decode()),
            "raw_path": raw_path,
            "query_string": query,
            "headers": request.headers,
            "state": self.app_state.copy(),
            "extensions": {whole.BODY: request.body},
        }
        self.cycle = cycle = WholeCycle(
            data,
            request,
            scope=scope,
            conn=self.conn,
            transport=self.transport,
            flow=self.flow,
            logger=self.logger,
            access_logger=self.access_logger,
            access_log=self.access_log,
            default_headers=self.server_state.default_headers,
            message_event=asyncio.Event(),
            on_response=self._answered,
        )
        task = self.loop.create_task(cycle.run_asgi(self.app))
        task.add_done_callback(self.tasks.discard)
        self.tasks.add(task)

    def _answered(self) -> None:
        """After an answer that h11 may not know of."""
        if self.conn.our_state is not h11.IDLE:
            self.on_response_complete()
            return
        self.server_state.total_requests += 1
        self._idle = self.loop.time() + self.timeout_keep_alive

    def _look(self) -> None:
        """Close what is late; look again when something can be late next."""
        now, due = self.loop.time(), self._head or self._idle
        if due is not None and due <= now:
            if not self.transport.is_closing():
                self.transport.close()
            return
        soonest = now + min(self.seconds, self.timeout_keep_alive)
        self._timer = self.loop.call_at(soonest if due is None else min(due, soonest), self._look)


def patient_for(seconds: float) -> type[H11Protocol]:
    """The protocol with so much time for a request's head."""
    return type("Patient", (HeadTimeout,), {"seconds": seconds, "whole_fits": whole.fits()})
