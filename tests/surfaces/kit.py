"""A server over a store in memory, with one key of every kind."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field

import httpx
from starlette.testclient import TestClient

import tenuto
from tenuto.facade.store import Tenuto
from tenuto.surfaces.http.app import create_app
from tenuto.surfaces.http.serving import Serving, _server
from tenuto.surfaces.proxy import Upstream
from tenuto.testing.fakes import FakeEmbedder, FakeTokens

GENEROUS = {
    "server": {
        "key_rate": 1e6, "key_burst": 10**6, "user_rate": 1e6, "user_burst": 10**6, "address_rate": 1e6,
        "address_burst": 10**6, "failure_rate": 1e6, "failure_burst": 10**6, "key_cache": 0,
    }
}  # fmt: skip
"""Limits that no test meets by accident."""


def make_store(url: str = "memory:", **options: object) -> Tenuto:
    policy = {group: dict(values) for group, values in GENEROUS.items()}
    for group, values in dict(options.pop("policy", {})).items():
        policy[group] = {**policy.get(group, {}), **values}
    given = {"embedder": FakeEmbedder(), "tokens": FakeTokens(), "background": False, **options}
    return tenuto.open(url, policy=policy, **given)


@dataclass
class Served:
    """A store, a client without a key, and the headers of every caller."""

    store: Tenuto
    client: TestClient
    callers: dict[str, dict[str, str]] = field(default_factory=dict)

    def headers(self, caller: str = "admin", **more: str) -> dict[str, str]:
        return {**self.callers[caller], **{name.replace("_", "-"): value for name, value in more.items()}}

    def get(self, path: str, caller: str = "admin", **more: str) -> httpx.Response:
        return self.client.get(path, headers=self.headers(caller, **more))

    def post(self, path: str, body: object, caller: str = "admin", **more: str) -> httpx.Response:
        return self.client.post(path, json=body, headers=self.headers(caller, **more))


def bearer(secret: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {secret}"}


def callers(store: Tenuto) -> dict[str, dict[str, str]]:
    """One of each: nobody, ana, ben, an app, an operator, a reader of ana, a reader of all."""
    return {
        "none": {},
        "user": bearer(store.create_key("ana's", scope="user", user="ana")[1]),
        "other": bearer(store.create_key("ben's", scope="user", user="ben")[1]),
        "app": bearer(store.create_key("app", scope="app")[1]),
        "admin": bearer(store.create_key("admin", scope="admin")[1]),
        "reader": bearer(store.create_key("reader", scope="read", user="ana")[1]),
        "reader_of_all": bearer(store.create_key("auditor", scope="read")[1]),
    }


@contextlib.contextmanager
def served(store: Tenuto | None = None, upstream: Upstream | None = None, **options: object) -> Iterator[Served]:
    opened = store or make_store(**options)
    app = create_app(opened, hosts=["testserver"], upstream=upstream)
    with TestClient(app, raise_server_exceptions=False, follow_redirects=False) as client:
        yield Served(opened, client, callers(opened))
    opened.close()


@contextlib.contextmanager
def listening(store: Tenuto, **options: object) -> Iterator[tuple[str, object]]:
    """A real server on a real socket: its address, and the uvicorn server behind it."""
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen(1024)
    port = listener.getsockname()[1]
    server = _server(Serving(port=port, logs=False, **options), store)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    for _ in range(6000):
        if server.started:
            break
        time.sleep(0.01)
    try:
        yield f"http://127.0.0.1:{port}", server
    finally:
        server.should_exit = True
        server._app.state.feed.stop()
        thread.join(60)
        assert not thread.is_alive()
