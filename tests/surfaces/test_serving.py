"""Several processes over one listening socket."""

from __future__ import annotations

import contextlib
import socket
import time
from typing import Any

from tests.surfaces.kit import listening, make_store


def test_processes_take_connections_one_at_a_time_and_many_may_wait() -> None:
    """A process that takes all that arrive together leaves none to the others; a short queue would turn some away."""
    server: Any
    with make_store() as store, listening(store, workers=2) as (address, server):
        assert server.config.backlog == 1
        place = ("127.0.0.1", int(address.rpartition(":")[2]))
        begun = time.monotonic()
        with contextlib.ExitStack() as stack:
            clients = [stack.enter_context(socket.create_connection(place, timeout=30)) for _ in range(200)]
            for client in clients:
                client.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
            assert all(client.recv(1024).startswith(b"HTTP/1.1 200") for client in clients)
        # One that is turned away tries again only after a second, then after two more.
        assert time.monotonic() - begun < 20
