"""HTTP/1.1 for connections that take their time: one that does not send its whole head in time is closed.

Without this a few thousand half-sent requests, one byte a minute each, hold the server for ever. Idle connections
between requests have uvicorn's own keep-alive timer; bodies have the guard's. And an answer goes out whole: its head
waits for the body that follows at once, so that there is one call to the kernel and one packet instead of two.
"""

from __future__ import annotations

import asyncio
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

HELD = 64 * 1024
"""Bytes that are held back at most."""


class Joined:
    """A transport that sends together what is written in one turn of the loop."""

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        self._transport = transport
        self._loop = loop
        self._held: list[bytes] = []
        self._size = 0

    def write(self, data: bytes) -> None:
        if not data:
            return
        if not self._held:
            self._loop.call_soon(self.flush)
        self._held.append(data)
        self._size += len(data)
        if self._size > HELD:
            self.flush()

    def flush(self) -> None:
        if self._held:
            held, self._held, self._size = self._held, [], 0
            self._transport.write(b"".join(held))

    def close(self) -> None:
        self.flush()
        self._transport.close()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)


def patient_for(seconds: float) -> type[H11Protocol]:
    """The protocol with a time limit on request heads."""

    class HeadTimeout(H11Protocol):
        _head: asyncio.TimerHandle | None = None

        def connection_made(self, transport: Any) -> None:
            super().connection_made(Joined(transport, self.loop))  # type: ignore[arg-type]
            self._arm()

        def connection_lost(self, exc: Exception | None) -> None:
            self._disarm()
            super().connection_lost(exc)

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            if self.conn.their_state is not h11.IDLE:
                self._disarm()
            elif self._head is None:
                self._arm()

        def on_response_complete(self) -> None:
            self._disarm()
            super().on_response_complete()

        def _arm(self) -> None:
            self._head = self.loop.call_later(seconds, self._late)

        def _disarm(self) -> None:
            if self._head is not None:
                self._head.cancel()
                self._head = None

        def _late(self) -> None:
            self._head = None
            if not self.transport.is_closing():
                self.transport.close()

    return HeadTimeout
