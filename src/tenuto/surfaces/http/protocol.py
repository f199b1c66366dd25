"""HTTP/1.1 for connections that take their time: one that does not send its whole head in time is closed.

Without this a few thousand half-sent requests, one byte a minute each, hold the server for ever. Idle connections
between requests have uvicorn's own keep-alive timer; bodies have the guard's.
"""

from __future__ import annotations

import asyncio
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol


def patient_for(seconds: float) -> type[H11Protocol]:
    """The protocol with a time limit on request heads."""

    class HeadTimeout(H11Protocol):
        _head: asyncio.TimerHandle | None = None

        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            self._arm()

        def connection_lost(self, exc: Exception | None) -> None:
            self._disarm()
            super().connection_lost(exc)

        def data_received(self, data: bytes) -> None:
            if self.conn.their_state is h11.IDLE and self._head is None:
                self._arm()
            super().data_received(data)
            if self.conn.their_state is not h11.IDLE:
                self._disarm()

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
