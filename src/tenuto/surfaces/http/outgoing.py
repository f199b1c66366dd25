"""What every answer gets on its way out, whoever gives it: the headers that make a browser careful."""

from __future__ import annotations

from starlette.types import Message, Send

HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-store",
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; "
        "connect-src 'self'; manifest-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
}
"""A route that says something else under one of these names is left to it."""
_RAW = [(name.lower().encode(), value.encode()) for name, value in HEADERS.items()]


class Outgoing:
    """The way out of one request. ``status`` is ``None`` until an answer begins."""

    __slots__ = ("_send", "status")

    def __init__(self, send: Send) -> None:
        self._send = send
        self.status: int | None = None

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            given = list(message.get("headers", ()))
            present = {name.lower() for name, _ in given}
            message = {**message, "headers": [*given, *[one for one in _RAW if one[0] not in present]]}
        await self._send(message)
