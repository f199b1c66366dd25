"""A person's own key takes the place of the operator's and the client's, and is seen by the upstream alone."""

from __future__ import annotations

import logging

import httpx
import openai
import pytest

import tenuto
from tenuto.errors import SettingError
from tenuto.privacy.keys import FixedKeys
from tenuto.surfaces.chat import Chat
from tenuto.surfaces.http.app import create_app
from tenuto.surfaces.proxy import Upstream as Where
from tenuto.surfaces.proxy import proxy_app
from tenuto.surfaces.proxy_access import Alone, vendor_of
from tests.surfaces.proxy.kit import ask, kept, say
from tests.upstream import Served, Upstream

OWN = "sk-of-ana-0123456789"


@pytest.fixture
def behind():
    upstream = Upstream()
    with Served(upstream.app()) as server:
        yield upstream, server


@pytest.fixture
def store(tmp_path, monkeypatch):
    monkeypatch.setenv("TENUTO_MODEL_KEYS", f"file:{tmp_path / 'seals'}")
    with tenuto.open(tmp_path / "store.db", background=False) as opened:
        opened.user("ana").model_keys.set("own", OWN)
        opened.user("ana").model_keys.set("openai", "sk-for-the-vendor-alone")
        yield opened


def sent(upstream: Upstream, name: str = "authorization") -> list[str | None]:
    return [headers.get(name) for headers in upstream.headers]


@pytest.mark.parametrize("operator", ["sk-operator", None])
def test_the_proxy_asks_with_the_persons_own_key(store, behind, operator, caplog, capfd):
    caplog.set_level(logging.DEBUG)
    upstream, server = behind
    where = Where(openai=f"{server.url}/v1", anthropic=server.url, key=operator)
    with (
        Served(proxy_app(store, where, Alone(user="me", acts_for_users=True))) as proxy,
        openai.OpenAI(base_url=f"{proxy.url}/v1", api_key="sk-client", max_retries=0) as client,
    ):
        say(client, "ana", "Hello")
        say(client, "ana", "Hello", extra_headers={"Tenuto-Memory": "off"})
        say(client, "ben", "Hello")
        claude = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "Hi"}]}
        headers = {"x-api-key": "sk-client", "anthropic-version": "2023-06-01"}
        for user in ("ana", "ben"):
            body = claude | {"metadata": {"user_id": user}}
            assert httpx.post(f"{proxy.url}/v1/messages", json=body, headers=headers).status_code == 200
    others = operator or "sk-client"
    assert sent(upstream)[:3] == [f"Bearer {OWN}", f"Bearer {OWN}", f"Bearer {others}"]
    assert sent(upstream, "x-api-key")[3:] == [OWN, others]
    assert OWN not in str(upstream.asked) + str(kept(store, "ana")) + caplog.text + "".join(capfd.readouterr())


def test_on_the_server_the_key_of_the_credentials_user_is_used(store, behind):
    upstream, server = behind
    where = Where(openai=f"{server.url}/v1", key="sk-operator")
    mine = store.create_key("ana's", scope="user", user="ana")[1]
    bens = store.create_key("ben's", scope="user", user="ben")[1]
    many = store.create_key("app", scope="app")[1]
    with Served(create_app(store, upstream=where)) as app:
        for secret in (mine, bens, many):
            with openai.OpenAI(base_url=f"{app.url}/v1", api_key=secret, max_retries=0) as client:
                client.models.list()
                say(client, "ana", "Hello")
    operator, own = "Bearer sk-operator", f"Bearer {OWN}"
    assert sent(upstream) == [own, own, operator, operator, operator, own]


def test_a_vendors_key_goes_to_that_vendor_alone(store):
    assert vendor_of("https://api.openai.com/v1") == "openai"
    assert vendor_of("https://api.anthropic.com") == "anthropic"
    others = [
        "https://api.openai.com.evil.example/v1",
        "http://127.0.0.1:8080/v1",
        "https://evil.example/api.openai.com",
    ]
    assert {vendor_of(url) for url in others} == {"own"}


def test_a_key_that_does_not_open_is_an_error_and_nobody_elses_is_spent(store, behind):
    upstream, server = behind
    object.__setattr__(store.deps, "model_key_seals", FixedKeys(b"x" * 32))
    where = Where(openai=f"{server.url}/v1", key="sk-operator")
    with Served(proxy_app(store, where, Alone(user="ana"))) as proxy:
        refused = ask(proxy.url)
    assert (refused.status_code, refused.json()["error"]["code"]) == (403, "key_unreadable")
    assert upstream.asked == []


def test_the_chat_asks_with_the_persons_own_key(store, behind, tmp_path, monkeypatch):
    upstream, server = behind
    monkeypatch.setenv("TENUTO_MODEL_KEY", "sk-operator")
    with tenuto.open(tmp_path / "store.db", model=f"openai+{server.url}/v1:scripted", background=False) as again:
        for user in ("ana", "ben"):
            list(Chat(store=again, memory=again.user(user)).answer("Hello"))
    assert sent(upstream) == [f"Bearer {OWN}", "Bearer sk-operator"]


def test_a_vendor_that_the_operator_has_no_key_for(store, tmp_path, monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with tenuto.open(tmp_path / "store.db", model="openai:gpt-x", background=False) as again:
        assert again.deps.model is None, "the background works without one"
        assert Chat(store=again, memory=again.user("ana")).model.name == "gpt-x"
        with pytest.raises(SettingError, match="tenuto model-keys set openai"):
            Chat(store=again, memory=again.user("ben"))
    monkeypatch.delenv("TENUTO_MODEL_KEYS")
    with pytest.raises(SettingError, match="OPENAI_API_KEY"):
        tenuto.open(tmp_path / "store.db", model="openai:gpt-x")
