"""The memory proxy on the server: its keys, its users, its limits."""

from __future__ import annotations

import openai
import pytest

from tenuto.surfaces.http.app import create_app
from tenuto.surfaces.proxy import Upstream as Where
from tests.surfaces.kit import make_store
from tests.surfaces.proxy.kit import kept, say
from tests.upstream import Served, Upstream


@pytest.fixture
def serving():
    upstream = Upstream()
    with Served(upstream.app()) as behind, make_store() as store:
        where = Where(openai=f"{behind.url}/v1", key="sk-upstream")
        with Served(create_app(store, upstream=where)) as server:
            yield store, upstream, server


def client(server: Served, secret: str) -> openai.OpenAI:
    return openai.OpenAI(base_url=f"{server.url}/v1", api_key=secret, max_retries=0)


def test_the_user_comes_from_the_key_and_the_upstream_sees_its_own(serving):
    store, upstream, server = serving
    secret = store.create_key("ana's", scope="user", user="ana")[1]
    with client(server, secret) as mine:
        say(mine, "somebody else", "Hello")
        assert [model.id for model in mine.models.list()] == ["scripted"]
    assert kept(store, "ana") == [("user", "Hello"), ("assistant", "Hello from upstream.")]
    assert kept(store, "somebody else") == []
    assert {headers["authorization"] for headers in upstream.headers} == {"Bearer sk-upstream"}


def test_a_key_of_many_users_names_one(serving):
    store, _, server = serving
    with client(server, store.create_key("app", scope="app")[1]) as app:
        say(app, "ben", "Hello")
        say(app, "ben", "Hello again", extra_headers={"Tenuto-User": "carla"})
        stream = app.chat.completions.create(
            model="m", messages=[{"role": "user", "content": "Hi"}], user="dora", stream=True
        )
        assert "".join(chunk.choices[0].delta.content or "" for chunk in stream).strip() == "Hello from upstream."
    assert [len(kept(store, user)) for user in ("ben", "carla", "dora")] == [2, 2, 2]


def test_who_may_not_is_refused_before_the_upstream_hears_of_it(serving):
    store, upstream, server = serving
    reader = store.create_key("reader", scope="read", user="ana")[1]
    mine = store.create_key("ana's", scope="user", user="ana")[1]
    for secret, headers, status in (
        ("tnk_wrong", {}, 401),
        (reader, {}, 403),
        (mine, {"Tenuto-User": "ben"}, 403),
        (mine, {"Host": "evil.example"}, 421),
        (mine, {"Origin": "https://evil.example"}, 403),
    ):
        with client(server, secret) as one, pytest.raises(openai.APIStatusError) as caught:
            say(one, "ana", "Hello", extra_headers=headers)
        assert caught.value.status_code == status
    assert upstream.asked == []
    assert kept(store, "ana") == []


def test_without_an_upstream_there_is_no_proxy():
    with make_store() as store, Served(create_app(store)) as server:
        secret = store.create_key("ana's", scope="user", user="ana")[1]
        with client(server, secret) as mine, pytest.raises(openai.NotFoundError):
            say(mine, "ana", "Hello")
