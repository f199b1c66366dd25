"""Who may ask the memory proxy, what it refuses, and what it survives."""

from __future__ import annotations

import httpx
import pytest

import tenuto
from tenuto.surfaces.proxy import Upstream as Where
from tenuto.surfaces.proxy import proxy_app
from tenuto.surfaces.proxy_access import Alone
from tests.surfaces.proxy.kit import ask, kept, say
from tests.upstream import Served


def test_a_key_is_asked_for_and_the_user_comes_from_it(store, upstream, running, user):
    where = Where(openai=f"{running[2].url}/v1", key="sk-upstream")
    app = proxy_app(store, where, Alone(user=user, key="right"))
    with Served(app) as proxy:
        for headers in ({}, {"authorization": "Bearer wrong"}, {"authorization": "Basic right"}, {"x-api-key": "righ"}):
            refused = ask(proxy.url, headers=headers)
            assert refused.status_code == 401
            assert refused.json()["error"]["code"] == "key_refused"
        assert not upstream.asked
        assert ask(proxy.url, headers={"authorization": "Bearer right"}).status_code == 200
    assert upstream.headers[-1]["authorization"] == "Bearer sk-upstream"
    assert kept(store, user)[0] == ("user", "Hi")


def test_without_a_key_only_this_machine_is_served(running):
    url = running[2].url
    for headers in (
        {"host": "evil.example"},
        {"host": "127.0.0.1.evil.example"},
        {"origin": "https://evil.example"},
        {"origin": "null"},
    ):
        assert ask(url, headers=headers).status_code == 403
    assert ask(url, headers={"origin": "http://localhost:3000"}).status_code == 200


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'"x"', b"\xff\xfe", b'{"messages": "\\ud800"}'])
def test_a_body_that_is_no_request_is_a_clear_error(running, content):
    with httpx.Client() as client:
        refused = client.post(f"{running[2].url}/v1/chat/completions", content=content)
    assert refused.status_code == 400
    assert refused.json()["error"]["code"] == "body_invalid"


@pytest.mark.parametrize(
    "messages",
    [None, [], "text", [{"role": "system", "content": "x"}], [{"role": "user"}], [{"role": "user", "content": None}],
     ["x"], [{"role": "user", "content": ["x", 7]}], [{"role": "user", "content": "\x00"}]],
)  # fmt: skip
def test_what_is_not_a_turn_goes_to_the_upstream_as_it_is(running, upstream, messages):
    body = {"model": "m", "messages": messages}
    assert ask(running[2].url, json=body).status_code == 200
    if messages != [{"role": "user", "content": "\x00"}]:
        assert upstream.asked[-1] == body


def test_a_request_that_is_too_large(running):
    assert ask(running[2].url, json={"messages": "x" * (33 * 1024 * 1024)}).status_code == 413


def test_a_huge_message_is_kept_up_to_the_limit(store, upstream, client, user):
    say(client, user, "long " * 40_000)
    assert len(kept(store, user)[0][1].encode()) == 64 * 1024
    assert upstream.asked[-1]["messages"][-1]["content"].endswith("long " * 40_000)


def test_a_memory_that_fails_costs_the_memory_and_not_the_answer(upstream, running, tmp_path):
    store = tenuto.open(tmp_path / "gone.db", background=False)
    with Served(proxy_app(store, Where(openai=f"{running[2].url}/v1"), Alone(user="me"))) as proxy:
        store.close()
        answer = ask(proxy.url)
    assert answer.status_code == 200
    assert answer.headers["tenuto-memory"] == "failed; store_closed"


def test_no_upstream_for_a_format(store, user):
    with Served(proxy_app(store, Where(), Alone(user=user))) as proxy:
        assert ask(proxy.url).json()["error"]["code"] == "no_upstream"


def test_a_key_for_many_users_must_name_one(store):
    app = proxy_app(store, Where(openai="http://127.0.0.1:9"), Alone(user=None, acts_for_users=True))
    with Served(app) as proxy:
        refused = ask(proxy.url, json={"model": "m", "messages": [{"role": "user", "content": "Hi"}]})
    assert refused.status_code == 400
    assert refused.json()["error"]["code"] == "user_missing"
