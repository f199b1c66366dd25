"""Connections that take their time or come in crowds: a head, a body and an address have limits here.

uvicorn reads HTTP with httptools and closes connections that idle between two requests. What it leaves out is added:

    head        ``policy.header_wait`` from its first byte, and at most :data:`HEAD_BYTES`
    body        the guard gives it ``policy.body_wait`` while somebody reads it; one that goes on after the answer was
                given has :data:`LEFTOVER` seconds more, whatever the route
    address     at most ``policy.connections_per_address`` connections at a time

Without these a few thousand half-sent requests, one byte a minute each, hold the server for ever. Each connection has
one timer, which is looked at when it fires and not set anew for every request.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from tenuto.policy import ServerPolicy

HEAD_BYTES = 32 * 1024
"""Of a request's head, at most."""
TARGETS = (b"/", b"http://", b"https://")
"""How what a request is for begins; ``*`` and the forms of a proxy are refused."""
LEFTOVER = 2.0
"""Seconds that the rest of a body may take once its request was answered."""
CROWDED = b"HTTP/1.1 503 Service Unavailable\r\nretry-after: 5\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"


class LimitedProtocol(HttpToolsProtocol):
    """uvicorn's protocol with a deadline for whatever a connection has begun and not finished."""

    head_seconds: float
    per_address: int
    trusted: str | None
    """A reverse proxy's address: its connections are many people's."""
    addresses: Counter[str]
    """Open connections by address, of all connections of this server."""
    _counted: str | None = None
    _due: float | None = None
    """When what was begun must be there."""
    _timer: asyncio.TimerHandle | None = None
    _head_size: int | None = 0
    """Bytes of a head that is not complete; ``None`` while a body is awaited."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._due = self.loop.time() + self.head_seconds
        self._look()
        if self.client is None or self.client[0] == self.trusted:
            return
        self._counted = self.client[0]
        self.addresses[self._counted] += 1
        if self.addresses[self._counted] > self.per_address:
            transport.write(CROWDED)
            transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        if self._timer is not None:
            self._timer.cancel()
        if self._counted is not None:
            self.addresses[self._counted] -= 1
            if not self.addresses[self._counted]:
                del self.addresses[self._counted]
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self.transport.is_closing():
            return
        if self._head_size is not None:
            self._head_size += len(data)
            if self._due is None:
                self._due = self.loop.time() + self.head_seconds
        super().data_received(data)
        if self._head_size is not None and self._head_size > HEAD_BYTES and not self.transport.is_closing():
            self.send_400_response("The request's head is too large.")

    def on_headers_complete(self) -> None:
        """What is raised here is answered with 400."""
        if not self.url.startswith(TARGETS) or self.parser.get_method() == b"CONNECT":
            raise ValueError("not a request for something of this server")
        if len(self.url) + sum(len(name) + len(value) + 4 for name, value in self.headers) > HEAD_BYTES:
            raise ValueError("too large a head")
        self._head_size = self._due = None
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        self._head_size = 0
        if self.cycle.response_complete:
            self._due = self.loop.time() + self.timeout_keep_alive
        super().on_message_complete()

    def on_response_complete(self) -> None:
        if not self.pipeline and self.cycle.more_body:
            self._due = self.loop.time() + LEFTOVER
            self._look()
        super().on_response_complete()

    def _look(self) -> None:
        """Close a connection that is late; look again when it can be late next."""
        if self._timer is not None:
            self._timer.cancel()
        now = self.loop.time()
        if self._due is not None and self._due <= now:
            self.transport.close()
            return
        soonest = now + self.head_seconds
        self._timer = self.loop.call_at(soonest if self._due is None else min(self._due, soonest), self._look)


def protocol_of(policy: ServerPolicy, *, trusted: str | None = None) -> type[LimitedProtocol]:
    """The protocol of one server, with its limits and its count of connections."""
    limits: dict[str, Any] = {
        "head_seconds": policy.header_wait.total_seconds(),
        "per_address": policy.connections_per_address,
        "trusted": trusted,
        "addresses": Counter(),
    }
    return type("Protocol", (LimitedProtocol,), limits)
