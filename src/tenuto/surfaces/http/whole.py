"""Requests that arrive whole, as most do: read with one strict expression, answered with one write.

h11 takes a request line by line and an answer event by event, ready for anything; that takes as long as the guard, the
routing and the encoding together. A request whose head and body are there at once, and that asks for nothing special,
is read here instead. The expression takes less than h11 does, and what it takes means the same to both, so there is one
opinion on where a request ends. As soon as anything is not plain (a stream, an answer that closes the connection, a
second request before the first is answered), h11 is shown the bytes that it has missed, and goes on from there.
"""

from __future__ import annotations

import inspect
import re
from typing import Any, NamedTuple

import h11
from uvicorn.protocols.http.h11_impl import STATUS_PHRASES, RequestResponseCycle

BODY = "tenuto.body"
"""The extension of an ASGI scope that holds the whole body, for whoever need not wait for it."""
_HEAD = re.compile(
    rb"(GET|POST|PUT|PATCH|DELETE) (/[!-~]*) HTTP/1\.1"
    rb"((?:\r\n[A-Za-z0-9_-]+: [!-~](?:[ -~]*[!-~])?)+)\r\n\r\n"
)
_FIELDS = re.compile(rb"\r\n([^:]+): ([^\r]+)")
_SPECIAL = frozenset({b"transfer-encoding", b"upgrade", b"expect"})
_FRAMING = frozenset({b"transfer-encoding", b"connection"})
_PRINTABLE = bytes(range(0x20, 0x7F))
_DIGITS = 9
"""Of a length, at most."""

Headers = list[tuple[bytes, bytes]]


class Whole(NamedTuple):
    """A request, read."""

    method: str
    target: bytes
    headers: Headers
    body: bytes


def read(data: bytes) -> Whole | None:
    """The request that ``data`` is, no more and no less; ``None`` where it is not, or not plain."""
    found = _HEAD.match(data)
    if found is None:
        return None
    method, target, fields = found.groups()
    headers = [(name.lower(), value) for name, value in _FIELDS.findall(fields)]
    sent = dict(headers)
    if len(sent) != len(headers) or b"host" not in sent or not _SPECIAL.isdisjoint(sent):
        return None
    if sent.get(b"connection", b"keep-alive").lower() != b"keep-alive":
        return None
    body = data[found.end() :]
    length = sent.get(b"content-length", b"0")
    if not length.isdigit() or len(length) > _DIGITS or int(length) != len(body):
        return None
    return Whole(method.decode(), target, headers, body)


def write(status: int, headers: Headers, body: bytes) -> bytes | None:
    """The answer as h11 would write it; ``None`` where that is for h11 to decide."""
    sent = dict(headers)
    if len(sent) != len(headers) or not _FRAMING.isdisjoint(sent) or sent.get(b"content-length") != b"%d" % len(body):
        return None
    if not 200 <= status < 600 or status in (204, 304):
        return None
    fields = b"\r\n".join(map(b": ".join, headers))
    if fields.translate(None, _PRINTABLE) != b"\r\n" * (len(headers) - 1):
        return None  # a line break within a field would be a second answer
    return b"HTTP/1.1 %d %b\r\n%b\r\n\r\n%b" % (status, STATUS_PHRASES[status], fields, body)


class WholeCycle(RequestResponseCycle):
    """uvicorn's cycle of one request and its answer, of which h11 does not know yet."""

    def __init__(self, data: bytes, whole: Whole, **given: Any) -> None:
        super().__init__(**given)
        self._unseen: bytes | None = data
        self._start: Any = None
        self._body: bytes | None = whole.body
        self.more_body = False
        self.message_event.set()

    async def receive(self) -> Any:
        if self._body is not None:
            self.body, self._body = bytearray(self._body), None
        return await super().receive()

    def show(self) -> None:
        """Show h11 the request, so that it can take over."""
        if self._unseen is not None:
            self.conn.receive_data(self._unseen)
            self._unseen = None
            for _ in range(3):  # a head, perhaps a body, the end
                if isinstance(self.conn.next_event(), h11.EndOfMessage):
                    break

    async def send(self, message: Any) -> None:
        if self.disconnected:
            return
        if self._unseen is None:
            start, self._start = self._start, None
            if start is not None:
                self.response_started = False
                await super().send(start)
            await super().send(message)
        elif self._start is None and b"content-length" in dict(message.get("headers", ())):
            self._start, self.response_started = message, True
        elif not self._answer(message):
            self.show()
            await self.send(message)

    def _answer(self, message: Any) -> bool:
        """Send head and body together, where both are plain; whether that was so."""
        if self._start is None or message["type"] != "http.response.body" or message.get("more_body", False):
            return False
        if not self.keep_alive or self.flow.write_paused or self.access_log:
            return False
        headers = [*self.default_headers, *self._start["headers"]]
        output = write(self._start["status"], headers, message.get("body", b""))
        if output is None:
            return False
        self.response_complete = True
        self._unseen = self._body = self._start = None  # a connection that idles holds nothing of what was said
        self.scope["extensions"] = {}
        self.message_event.set()
        self.transport.send(output)  # type: ignore[attr-defined]
        self.on_response()
        return True


def fits() -> bool:
    """Whether uvicorn's cycle is still made the way that :class:`WholeCycle` knows."""
    known = "scope conn transport flow logger access_logger access_log default_headers message_event on_response"
    return list(inspect.signature(RequestResponseCycle).parameters) == known.split()
