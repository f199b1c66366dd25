"""A request that arrives whole is read and answered as h11 would have done it, to the byte; the rest is h11's."""

from __future__ import annotations

import asyncio
import itertools
import json
from typing import Any

import h11
import pytest
import uvicorn
from hypothesis import example, given, settings
from hypothesis import strategies as st
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

from tenuto.surfaces.http import whole
from tenuto.surfaces.http.protocol import patient_for

BODY = b'{"query": "tea"}'
PLAIN = b"POST /a%20b?c=d HTTP/1.1\r\nHost: here\r\nContent-Length: 16\r\n\r\n" + BODY
GET = b"GET /whole HTTP/1.1\r\nHost: here\r\nConnection: keep-alive\r\n\r\n"


class Wire(asyncio.Transport):
    """A connection without a network."""

    def __init__(self) -> None:
        super().__init__()
        self.sent, self.closed, self.paused = b"", False, False

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        return {"peername": ("127.0.0.1", 5), "sockname": ("127.0.0.1", 8368)}.get(name, default)

    def write(self, data: Any) -> None:
        self.sent += data

    def close(self) -> None:
        self.closed = True

    def is_closing(self) -> bool:
        return self.closed

    def pause_reading(self) -> None:
        self.paused = True

    def resume_reading(self) -> None:
        self.paused = False


async def app(scope: Any, receive: Any, send: Any) -> None:
    """Says what it was asked, in the way that the path names."""
    way = scope["path"].strip("/")
    body, more = b"", way != "unread"
    while more:
        message = await receive()
        body, more = body + message.get("body", b""), message.get("more_body", False)
    said = {
        name: str(scope[name]) for name in ("method", "path", "raw_path", "query_string", "headers", "http_version")
    }
    answer = json.dumps({**said, "body": body.decode()}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(answer))]
    odd: dict[str, tuple[int, list[tuple[bytes, bytes]], list[bytes]]] = {
        "stream": (200, headers[:1], [b"one ", b"two"]),
        "parts": (200, headers, [answer[:5], answer[5:]]),
        "closing": (408, [*headers, (b"connection", b"close")], [answer]),
        "nothing": (204, [], [b""]),
        "unchanged": (304, headers, [b""]),
        "refused": (422, headers, [answer]),
        "cookies": (200, [*headers, (b"set-cookie", b"a=1"), (b"set-cookie", b"b=2")], [answer]),
        "latin": (200, [*headers, (b"x-name", "é".encode("latin-1"))], [answer]),
        "empty": (200, [(b"content-length", b"0")], [b""]),
        "injected": (200, [*headers, (b"x-name", b"a\r\nset-cookie: b")], [answer]),
        "late": (304, headers, [answer]),
        "short": (200, [(b"content-length", b"3")], [b"four"]),
    }
    status, given, parts = odd.get(way, (200, headers, [answer]))
    await send({"type": "http.response.start", "status": status, "headers": given})
    if way == "failing":
        raise RuntimeError("on purpose")
    for part in parts[:-1]:
        await asyncio.sleep(0)
        await send({"type": "http.response.body", "body": part, "more_body": True})
    await send({"type": "http.response.body", "body": parts[-1]})
    if way == "twice":
        await send({"type": "http.response.body", "body": parts[-1]})


def talk(
    kind: type[H11Protocol], *chunks: bytes, leave: bool = False, most: int = 100, turns: int = 10
) -> tuple[Wire, Any]:
    """What comes back when the chunks are sent one after the other, with some turns of the loop between them."""

    async def talked() -> tuple[Wire, Any]:
        config = uvicorn.Config(
            app, http=kind, lifespan="off", ws="none", log_config=None, access_log=False, limit_concurrency=most,
            proxy_headers=False,
        )  # fmt: skip
        config.load()
        protocol, wire = kind(config, ServerState(), {}), Wire()
        protocol.connection_made(wire)
        for chunk in chunks:
            protocol.data_received(chunk)
            if leave:
                break
            for _ in range(turns):
                await asyncio.sleep(0)
            if wire.closed:
                break
        for _ in range(0 if leave else 30):
            await asyncio.sleep(0)
        protocol.connection_lost(None)
        await asyncio.sleep(0)
        return wire, protocol

    return asyncio.run(talked())


def both(*chunks: bytes, turns: int = 10) -> None:
    """Plain uvicorn answers the same."""
    ours, theirs = (talk(kind, *chunks, turns=turns)[0] for kind in (patient_for(30), H11Protocol))
    assert ours.sent == theirs.sent and ours.closed == theirs.closed and ours.paused == theirs.paused


def asked(way: str, method: str = "POST", version: str = "1.1", more: str = "", body: bytes = BODY) -> bytes:
    length = f"Content-Length: {len(body)}\r\n" if body else ""
    return f"{method} /{way} HTTP/{version}\r\nHost: here\r\n{length}{more}\r\n".encode() + body


WAYS = (
    "plain", "stream", "parts", "closing", "nothing", "unchanged", "refused", "cookies", "latin", "empty", "unread",
    "twice",
)  # fmt: skip


@pytest.mark.parametrize("way", WAYS)
def test_every_kind_of_answer_is_the_one_that_h11_gives(way: str) -> None:
    """Kept connections: what comes after it is answered too."""
    request = asked(way)
    assert whole.read(request) is not None
    both(request)
    both(request, GET, request)
    both(request, GET, turns=0)
    both(request, GET[:9], GET[9:], turns=1)
    both(request + GET + request)
    both(request, GET[:20], GET[20:], request)
    both(request[:30], request[30:-5], request[-5:])


@pytest.mark.parametrize(
    "request_",
    [
        asked("plain", "HEAD", body=b""), asked("plain", "OPTIONS", body=b""), asked("plain", version="1.0"),
        asked("plain", more="Connection: close\r\n"), asked("plain", more="Connection: keep-alive, close\r\n"),
        asked("plain", more="Expect: 100-continue\r\n"), asked("plain", more="Expect: 100-continue\r\n", body=b""),
        asked("plain", more="Upgrade: h2c\r\nConnection: upgrade\r\n"), asked("plain", more="X-A: 1\r\nX-A: 2\r\n"),
        asked("plain", more="X-A:\r\n"), asked("plain", more="X-A: a \r\n"), asked("plain", more="X-A: a\r\n b\r\n"),
        asked("plain", more="Content-Length: 16\r\n"), asked("plain", more="Content-Length: 17\r\n"),
        asked("plain", more="Host: there\r\n"), asked("plain", more="Transfer-Encoding: chunked\r\n"),
        b"POST /plain HTTP/1.1\r\nHost: here\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
        b"GET /plain HTTP/1.1\r\n\r\n", b"GET /plain HTTP/1.1\nHost: here\n\n",
        b"GET http://here/ HTTP/1.1\r\nHost: h\r\n\r\n",
        b"\r\n" + GET, b"GET  /plain HTTP/1.1\r\nHost: here\r\n\r\n", b"nonsense\r\n\r\n", b"\x16\x03\x01",
        b"GET /plain HTTP/1.1\r\nHost : here\r\n\r\n", b"GET /plain HTTP/1.1\r\nHost: h\x00\r\n\r\n",
    ],
)  # fmt: skip
def test_what_is_not_plain_is_h11s(request_: bytes) -> None:
    assert whole.read(request_) is None
    both(request_)
    both(request_, GET)


NAMES = st.sampled_from(
    ["Host", "host", "Content-Length", "content-length", "Connection", "Transfer-Encoding", "X-A", "Accept", "Expect",
     "Upgrade", "Te", "X_y", "X:y", "é"]
)  # fmt: skip
VALUES = st.sampled_from(["here", "16", "0", "016", "+16", "1 6", "keep-alive", "Keep-Alive", "close", "chunked", "",
                          " a", "a ", "a\tb", "\x7f", "a\r\n b", "a\nb", "a: b", "ü"])  # fmt: skip
LINES = st.lists(st.tuples(NAMES, st.sampled_from([": ", ":", " : ", ":  "]), VALUES), max_size=4)
FIRST = st.builds(
    "{} {} HTTP/{}".format,
    st.sampled_from(["GET", "POST", "PUT", "HEAD", "CONNECT", "get", "P OST"]),
    st.sampled_from(["/", "/a?b", "/%2F#x", "*", "here:80", "/ü", "//a", ""]),
    st.sampled_from(["1.1", "1.0", "1.1 ", "2"]),
)


@settings(max_examples=300, deadline=None)
@given(
    FIRST, LINES, st.sampled_from([BODY, b"", BODY + b"x", GET]), st.sampled_from(["\r\n", "\n"]), st.booleans()
)  # fmt: skip
@example("GET /a?b HTTP/1.1", [("X-A", ": ", "a: b")], b"", "\r\n", True)
@example("POST / HTTP/1.1", [("Content-Length", ": ", "016"), ("Connection", ": ", "Keep-Alive")], BODY, "\r\n", True)
def test_what_is_read_here_means_the_same_to_h11(
    first: str, lines: list[tuple[str, str, str]], body: bytes, end: str, host: bool
) -> None:
    fields = [("Host", ": ", "here")] * host + lines
    head = end.join([first, *("".join(field) for field in fields), "", ""])
    data = head.encode("latin-1") + body
    found = whole.read(data)
    if found is None:
        return
    theirs = h11.Connection(h11.SERVER)
    theirs.receive_data(data)
    request = theirs.next_event()
    assert isinstance(request, h11.Request) and request.http_version == b"1.1"
    assert (request.method.decode(), request.target, list(request.headers)) == found[:3]
    events = itertools.takewhile(lambda event: isinstance(event, h11.Data), iter(theirs.next_event, None))
    assert b"".join(bytes(event.data) for event in events) == found.body
    assert theirs.trailing_data == (b"", False) and theirs.their_state is h11.DONE


def test_no_field_begins_another_one() -> None:
    """h11 refuses it, and so nothing of it gets out."""
    wire, _ = talk(patient_for(30), asked("injected"))
    assert b"set-cookie" not in wire.sent and wire.closed
    for way, body in (("short", b"four"), ("late", b'"body"')):
        wire, _ = talk(patient_for(30), asked(way))
        assert body not in wire.sent and wire.closed


def test_a_client_that_leaves_gets_nothing_and_an_error_closes_the_connection() -> None:
    wire, protocol = talk(patient_for(30), PLAIN, leave=True)
    assert wire.sent == b"" and protocol.cycle.disconnected
    wire, _ = talk(patient_for(30), asked("failing"), GET)
    assert wire.sent == b"" and wire.closed


def test_a_connection_that_idles_holds_nothing_of_what_was_said() -> None:
    _, protocol = talk(patient_for(30), PLAIN)
    held = {name: value for name, value in vars(protocol.cycle).items() if BODY in repr(value).encode()}
    assert isinstance(protocol.cycle, whole.WholeCycle) and not held


def test_the_limit_on_requests_holds_for_whole_ones() -> None:
    wire, _ = talk(patient_for(30), PLAIN, most=1)
    assert wire.sent.startswith(b"HTTP/1.1 503 ")


def test_another_uvicorn_gets_everything_through_h11(monkeypatch: pytest.MonkeyPatch) -> None:
    """Should its cycle be made in another way one day, nothing is read here."""
    assert whole.fits()
    monkeypatch.setattr(whole, "fits", lambda: False)
    wire, protocol = talk(patient_for(30), PLAIN)
    assert wire.sent.startswith(b"HTTP/1.1 200 OK") and not isinstance(protocol.cycle, whole.WholeCycle)
    assert isinstance(talk(H11Protocol, PLAIN)[1].cycle, whole.RequestResponseCycle)


def test_each_connection_is_closed_when_it_is_late() -> None:
    """One that sends nothing, half a head, a head by drops, or nothing more after an answer."""
    wanted: dict[tuple[bytes | float, ...], float] = {
        (): 30, (GET[:9],): 30, (GET,): 5, (PLAIN, GET[:9]): 30, (asked("stream"),): 5, (GET, 4.0, GET): 5,
        (GET[:9], 20.0, GET[9:12]): 10, (GET, 4.0, GET[:9], 20.0, GET[9:12], 5.0, GET[12:14]): 5,
        (28.0, GET): 5, (GET, 4.0, asked("stream"), 4.0, GET): 5,
    }  # fmt: skip
    for chunks, seconds in wanted.items():
        assert closing(*chunks) == pytest.approx(seconds, abs=0.1), chunks


def closing(*chunks: bytes | float) -> float:
    """Seconds until the connection is closed, after the chunks and the seconds between them, on a clock of its own."""
    loop, late = asyncio.new_event_loop(), 0.0
    own = loop.time
    loop.time = lambda: own() + late  # type: ignore[method-assign]

    async def waited() -> float:
        config = uvicorn.Config(app, lifespan="off", ws="none", log_config=None, proxy_headers=False, access_log=False)
        config.load()
        protocol, wire = patient_for(30)(config, ServerState(), {}), Wire()
        protocol.connection_made(wire)
        for chunk in chunks:
            if isinstance(chunk, bytes):
                protocol.data_received(chunk)
                await passing(0)
            else:
                await passing(chunk)
            assert not wire.closed, chunks
        begun = late
        while not wire.closed and late < 100:
            await passing(0.05)
        protocol.connection_lost(None)
        return late - begun

    async def passing(seconds: float) -> None:
        nonlocal late
        for step in (seconds, *[0.0] * 9):
            late += step
            await asyncio.sleep(0)

    try:
        return loop.run_until_complete(waited())
    finally:
        loop.close()
