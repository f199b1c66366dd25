"""The short way of a route that takes a person and a body gives the same answers as the long one, to anything."""

from __future__ import annotations

import asyncio

import pytest

from tests.surfaces.kit import Served

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


def test_half_a_body_does_nothing_however_whole_it_looks(server: Served) -> None:
    """The client said that more would come, and went."""
    waiting = [
        {"type": "http.request", "body": b'{"text": "hello"}', "more_body": True},
        {"type": "http.disconnect"},
    ]
    sent: list[object] = []
    headers = {"host": "testserver", "content-type": "application/json", **server.headers()}
    scope = {
        "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": "POST", "scheme": "http",
        "path": "/api/users/ana/observe", "raw_path": b"/api/users/ana/observe", "query_string": b"", "root_path": "",
        "headers": [(name.lower().encode(), value.encode()) for name, value in headers.items()],
        "client": ("testclient", 1), "server": ("testserver", 80), "state": {},
    }  # fmt: skip

    async def receive() -> dict[str, object]:
        return waiting.pop(0) if waiting else {"type": "http.disconnect"}

    async def send(message: object) -> None:
        sent.append(message)

    asyncio.run(server.client.app(scope, receive, send))  # type: ignore[arg-type]
    assert not sent and server.store.users() == []
