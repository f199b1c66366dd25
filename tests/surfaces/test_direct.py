"""The short way of a route that takes a person and a body gives the same answers as the long one, to anything."""

from __future__ import annotations

import json
from typing import Any

import pytest
from starlette.testclient import TestClient

from tenuto.surfaces.http.app import create_app
from tenuto.surfaces.http.outgoing import HEADERS
from tenuto.surfaces.http.whole import BODY
from tenuto.user import UserMemory
from tests.surfaces.kit import Served, bearer, make_store

HELLO = b'{"text": "hello"}'

ODD_BODIES = {
    "empty": b"", "not JSON": b"{", "a list": b"[]", "deep": b"[" * 100_000, "half a character": b'{"query": "\xff"}',
    "no query": b"{}", "unknown field": b'{"query": "tea", "colour": "red"}', "wrong type": b'{"query": 1}',
    "out of range": b'{"query": "tea", "limit": 0}', "NaN": b'{"query": "tea", "limit": NaN}',
    "plain": b'{"query": "tea"}', "everything": b'{"query": "tea", "limit": 3, "since": "2020-01-01T00:00:00Z"}',
}  # fmt: skip


@pytest.mark.parametrize("name", ODD_BODIES)
def test_the_short_way_of_a_route_answers_as_the_long_one(server: Served, name: str) -> None:
    """A parameter in the query, which changes nothing here, sends the same request the long way."""
    server.store.user("ana").observe("I drink green tea")
    headers = server.headers(content_type="application/json")
    path = "/api/users/ana/recall"
    short = server.client.post(path, content=ODD_BODIES[name], headers=headers)
    long = server.client.post(f"{path}?channel=api", content=ODD_BODIES[name], headers=headers)
    assert (short.status_code, short.headers["content-type"]) == (long.status_code, long.headers["content-type"])
    if short.status_code == 200:
        assert [hit["id"] for hit in short.json()["hits"]] == [hit["id"] for hit in long.json()["hits"]]
    else:
        assert short.json() == long.json() and 400 <= short.status_code < 500


ODD_PATHS = ("users//recall", "users/a%2Fb/recall", "users/%00/recall", "users/~!/recall", "users/ana/recall/", "users")


@pytest.mark.parametrize("path", ODD_PATHS)
def test_odd_paths_get_the_same_answer_both_ways(server: Served, path: str) -> None:
    """The content type with a parameter sends the same request the long way."""
    body, plain = b'{"query": "tea"}', server.headers(content_type="application/json")
    short = server.client.post(f"/api/{path}", content=body, headers=plain)
    plain["content-type"] = "application/json; charset=utf-8"
    long = server.client.post(f"/api/{path}", content=body, headers=plain)
    assert (short.status_code, short.json()) == (long.status_code, long.json()) and short.status_code >= 400


def call(server: Served, *waiting: dict[str, Any], headers: tuple[tuple[str, str], ...] = (), **more: Any) -> list[Any]:
    """What the application answers to an observation, as a server hands it over."""
    left, sent = list(waiting), []
    given = {"host": "testserver", "content-type": "application/json", **server.headers()}
    scope = {
        "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": "POST", "scheme": "http",
        "path": "/api/users/ana/observe", "raw_path": b"/api/users/ana/observe", "query_string": b"", "root_path": "",
        "headers": [(name.lower().encode(), value.encode()) for name, value in (*given.items(), *headers)],
        "client": ("testclient", 1), "server": ("testserver", 80), "state": {}, **more,
    }  # fmt: skip

    async def receive() -> dict[str, object]:
        return left.pop(0) if left else {"type": "http.disconnect"}

    async def send(message: object) -> None:
        sent.append(message)

    server.client.portal.call(server.client.app, scope, receive, send)
    return sent


def test_half_a_body_does_nothing_however_whole_it_looks(server: Served) -> None:
    """The client said that more would come, and went."""
    half = {"type": "http.request", "body": HELLO, "more_body": True}
    assert not call(server, half, {"type": "http.disconnect"}) and server.store.users() == []


def test_a_body_that_is_there_already_is_not_waited_for(server: Served) -> None:
    """Nothing is left to receive; one that does not fit goes the long way, where it is received."""
    assert call(server, extensions={BODY: HELLO})[0]["status"] == 201
    assert len(server.store.user("ana").messages()) == 1
    odd = b'{"text": 1}'
    assert call(server, {"type": "http.request", "body": odd}, extensions={BODY: odd})[0]["status"] == 422


@pytest.mark.parametrize(
    ("name", "value", "status"),
    [
        ("host", "testserver", 421), ("origin", "http://testserver", 403), ("authorization", "Bearer tnk_x", 401),
        ("content-length", "9" * 5000, 413), ("content-length", "-1", 413), ("accept", "text/html", 201),
    ],
)  # fmt: skip
def test_what_must_come_once_is_refused_twice(server: Served, name: str, value: str, status: int) -> None:
    twice = ((name, value),) * (2 if name == "origin" else 1)
    assert call(server, extensions={BODY: HELLO}, headers=twice)[0]["status"] == status


def test_what_nobody_caught_is_a_problem_of_our_own(
    server: Served, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The short way, the long way and before either: the same answer, with the headers of every other one, and a log
    line without its words; what raised it goes on to the server."""

    def fail(*_: Any, **__: Any) -> None:
        raise RuntimeError("secret words")

    monkeypatch.setattr(UserMemory, "recall", fail)
    asked = {"query": "tea"}
    answers = [server.post(path, asked) for path in ("/api/users/a/recall", "/api/users/a/recall?channel=api")]
    monkeypatch.setattr(server.client.app.state.door, "look_up", fail)
    answers.append(server.get("/health"))
    for one in answers:
        assert one.status_code == 500 and one.json()["code"] == "internal"
        assert all(one.headers[name] == value for name, value in HEADERS.items())
    lines = [json.loads(record.getMessage()) for record in caplog.records if record.name == "tenuto.http"]
    assert [line["status"] for line in lines] == [500] * 3
    assert all(line["failure"].startswith("RuntimeError at test_direct.py:") for line in lines)
    with pytest.raises(RuntimeError):
        call(server, extensions={BODY: HELLO})


def test_a_layer_that_was_put_around_the_application_comes_first() -> None:
    """Whoever serves the application inside theirs sees every request, plain ones too."""
    seen: list[str] = []

    class Around:
        def __init__(self, app: Any) -> None:
            self.app = app

        async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
            seen.append(scope["type"])
            await self.app(scope, receive, send)

    store = make_store()
    app = create_app(store, hosts=["testserver"])
    app.add_middleware(Around)
    with TestClient(app) as client:
        headers = bearer(store.create_key("k", scope="admin")[1])
        assert client.post("/api/users/ana/recall", json={"query": "tea"}, headers=headers).status_code == 200
    assert seen == ["lifespan", "http"]
    store.close()
