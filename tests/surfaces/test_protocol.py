"""Connections that take their time, come in crowds, or speak something else: on real sockets, against a real server."""

from __future__ import annotations

import contextlib
import socket
import time
from collections.abc import Iterator

import httpx
import pytest

from tenuto.facade.store import Tenuto
from tenuto.surfaces.http import protocol
from tests.surfaces.kit import listening, make_store

HOST = b"Host: 127.0.0.1\r\n"
STRANGE = {
    "all of the server": b"OPTIONS * HTTP/1.1\r\n" + HOST + b"\r\n",
    "a tunnel": b"CONNECT example.org:443 HTTP/1.1\r\n" + HOST + b"\r\n",
    "a tunnel to a path": b"CONNECT / HTTP/1.1\r\n" + HOST + b"\r\n",
    "two lengths": b"POST /health HTTP/1.1\r\n" + HOST + b"Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello",
    "chunks with a length": (
        b"POST /health HTTP/1.1\r\n" + HOST + b"Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n"
    ),
    "a length with chunks": (
        b"POST /health HTTP/1.1\r\n" + HOST + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
    ),
    "an unknown encoding": b"POST /health HTTP/1.1\r\n" + HOST + b"Transfer-Encoding: gzip\r\n\r\n",
    "a large head": b"GET /health HTTP/1.1\r\n" + HOST + b"X: " + b"a" * 40_000 + b"\r\n\r\n",
    "a head that goes on": b"GET /health HTTP/1.1\r\n" + HOST + b"X: " + b"a" * 40_000,
    "a space before the colon": b"GET /health HTTP/1.1\r\nHost : 127.0.0.1\r\n\r\n",
    "bare line feeds": b"GET /health HTTP/1.1\nHost: 127.0.0.1\n\n",
    "another protocol": b"\x16\x03\x01\x02\x00\x01",
}


def test_what_is_no_plain_request_is_refused_and_the_connection_closed() -> None:
    with make_store() as store, listening(store) as (address, _):
        place = ("127.0.0.1", int(address.rpartition(":")[2]))
        for name, request in STRANGE.items():
            with socket.create_connection(place, timeout=60) as client:
                client.sendall(request)
                assert client.recv(4000).startswith(b"HTTP/1.1 400 "), name
                assert client.recv(1) == b"", name
        assert httpx.get(f"{address}/health", timeout=60).status_code == 200


@contextlib.contextmanager
def connected(store: Tenuto) -> Iterator[socket.socket]:
    """A connection to a real server over the store."""
    with contextlib.ExitStack() as stack:
        address, _ = stack.enter_context(listening(store))
        place = ("127.0.0.1", int(address.rpartition(":")[2]))
        yield stack.enter_context(socket.create_connection(place, timeout=60))


@pytest.mark.parametrize("path", ["/health", "/nothing", "/openapi.json", "/api/users/ana/stats", "/sign-in"])
def test_a_body_that_drips_is_cut_off_on_every_route(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A GET whose body nobody reads holds a connection for a moment only, however often a byte of it comes."""
    monkeypatch.setattr(protocol, "LEFTOVER", 0.3)
    with make_store(policy={"server": {"body_wait": 0.3}}) as store, connected(store) as client:
        client.sendall(f"GET {path} HTTP/1.1\r\n".encode() + HOST + b"Content-Length: 100000\r\n\r\n")
        assert client.recv(4000).startswith(b"HTTP/1.1 ")
        drips = 0
        with contextlib.suppress(OSError):
            for drips in range(600):  # noqa: B007 - how many there were counts
                client.sendall(b"x")
                time.sleep(0.05)
        assert drips < 599


def test_the_rest_of_a_body_after_the_answer_does_not_end_the_connection() -> None:
    """A client that sends its body a little late is no attack."""
    with make_store() as store, connected(store) as client:
        for _ in range(3):
            client.sendall(b"GET /health HTTP/1.1\r\n" + HOST + b"Content-Length: 4\r\n\r\nxx")
            assert b"200 OK" in client.recv(4000)
            client.sendall(b"xx")


def test_connections_of_one_address_are_limited() -> None:
    with make_store(policy={"server": {"connections_per_address": 5}}) as store, listening(store) as (address, _):
        place = ("127.0.0.1", int(address.rpartition(":")[2]))
        kept = [socket.create_connection(place, timeout=60) for _ in range(5)]
        for one in kept:
            one.sendall(b"GET /health HTTP/1.1\r\n" + HOST + b"\r\n")
            assert b"200 OK" in one.recv(4000)
        with socket.create_connection(place, timeout=60) as sixth:
            assert sixth.recv(4000).startswith(b"HTTP/1.1 503 ") and sixth.recv(1) == b""
        kept.pop().close()
        for _ in range(600):
            with socket.create_connection(place, timeout=60) as again:
                again.sendall(b"GET /health HTTP/1.1\r\n" + HOST + b"\r\n")
                if b"200 OK" in again.recv(4000):
                    break
            time.sleep(0.05)
        else:
            raise AssertionError("a place that was given back is not given again")
        for one in kept:
            one.close()


def test_a_trusted_reverse_proxy_may_open_more() -> None:
    """Its connections are many people's."""
    with contextlib.ExitStack() as stack:
        store = stack.enter_context(make_store(policy={"server": {"connections_per_address": 1}}))
        address, _ = stack.enter_context(listening(store, behind="127.0.0.1"))
        for _ in range(3):
            client = stack.enter_context(httpx.Client(base_url=address, timeout=60))
            assert client.get("/health").status_code == 200


def test_slow_senders_are_cut_off_and_others_served() -> None:
    policy = {"server": {"header_wait": 0.3, "body_wait": 0.3}}
    store = make_store(policy=policy)
    _, secret = store.create_key("k", scope="admin")
    with listening(store) as (address, _):
        port = int(address.rpartition(":")[2])
        slow = [socket.create_connection(("127.0.0.1", port)) for _ in range(50)]
        for one in slow:
            one.sendall(b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ")
        body = socket.create_connection(("127.0.0.1", port))
        head = f"POST /api/users/a/observe HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {secret}\r\n"
        body.sendall(head.encode() + b"Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{")
        assert httpx.get(f"{address}/health", timeout=60).status_code == 200
        deadline = time.monotonic() + 60
        for one in slow:
            one.settimeout(max(0.1, deadline - time.monotonic()))
            assert one.recv(1000) == b"", "closed without an answer"
            one.close()
        body.settimeout(60)
        assert b" 408 " in body.recv(4000).split(b"\r\n")[0] + b" "
        body.close()
        assert httpx.get(f"{address}/health", timeout=60).status_code == 200
    store.close()
