"""One way for every request: odd bodies and paths, what must come once, what nobody caught, layers around ours."""

from __future__ import annotations

import json
from typing import Any

import pytest
from starlette.testclient import TestClient

from tenuto.facade.user import UserMemory
from tenuto.surfaces.http.app import create_app
from tenuto.surfaces.http.outgoing import HEADERS
from tests.surfaces.kit import Served, bearer, make_store

HELLO = b'{"text": "hello"}'
WHOLE = {"type": "http.request", "body": HELLO, "more_body": False}
ODD_BODIES = {
    "empty": b"", "not JSON": b"{", "a list": b"[]", "deep": b"[" * 100_000, "half a character": b'{"query": "\xff"}',
    "no query": b"{}", "unknown field": b'{"query": "tea", "colour": "red"}', "wrong type": b'{"query": 1}',
    "out of range": b'{"query": "tea", "limit": 0}', "NaN": b'{"query": "tea", "limit": NaN}',
}  # fmt: skip


@pytest.mark.parametrize("name", ODD_BODIES)
def test_an_odd_body_is_refused_in_the_form_of_every_problem(server: Served, name: str) -> None:
    headers = server.headers(content_type="application/json")
    answered = server.client.post("/api/users/ana/recall", content=ODD_BODIES[name], headers=headers)
    assert answered.status_code in (400, 422) and answered.headers["content-type"] == "application/problem+json"
    assert answered.json()["code"]


ODD_PATHS = ("users//recall", "users/a%2Fb/recall", "users/%00/recall", "users/~!/recall", "users/ana/recall/", "users")


@pytest.mark.parametrize("path", ODD_PATHS)
def test_an_odd_path_is_refused(server: Served, path: str) -> None:
    answered = server.post(f"/api/{path}", {"query": "tea"})
    assert 400 <= answered.status_code < 500 and answered.json()["code"]


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
    assert call(server, half, {"type": "http.disconnect"})[0]["status"] == 400 and server.store.users() == []


@pytest.mark.parametrize(
    ("name", "value", "status"),
    [
        ("host", "testserver", 421), ("origin", "http://testserver", 403), ("authorization", "Bearer tnk_x", 401),
        ("content-length", "9" * 5000, 413), ("content-length", "-1", 413), ("accept", "text/html", 201),
    ],
)  # fmt: skip
def test_what_must_come_once_is_refused_twice(server: Served, name: str, value: str, status: int) -> None:
    twice = ((name, value),) * (2 if name == "origin" else 1)
    assert call(server, WHOLE, headers=twice)[0]["status"] == status


def test_what_nobody_caught_is_a_problem_of_our_own(
    server: Served, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a route and before it: the same answer, with the headers of every other one, and one log line without the
    error's words."""

    def fail(*_: Any, **__: Any) -> None:
        raise RuntimeError("secret words")

    monkeypatch.setattr(UserMemory, "recall", fail)
    answers = [server.post("/api/users/a/recall", {"query": "tea"})]
    monkeypatch.setattr(server.client.app.state.door, "look_up", fail)
    answers.append(server.get("/health"))
    for one in answers:
        assert one.status_code == 500 and one.json()["code"] == "internal"
        assert all(one.headers[name] == value for name, value in HEADERS.items())
    assert "secret words" not in caplog.text
    lines = [json.loads(record.getMessage()) for record in caplog.records if record.name == "tenuto.http"]
    assert [line["status"] for line in lines] == [500] * 2
    assert all(line["failure"].startswith("RuntimeError at test_direct.py:") for line in lines)


def test_an_answer_that_fails_half_way_is_cut_off_without_a_word_of_why(
    server: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def half(self: Any, scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        raise RuntimeError("secret words")

    monkeypatch.setattr("starlette.responses.Response.__call__", half)
    with pytest.raises(ConnectionAbortedError) as cut:
        call(server, WHOLE)
    assert "secret" not in str(cut.value) and cut.value.__suppress_context__


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
