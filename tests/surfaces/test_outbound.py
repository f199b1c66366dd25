"""Addresses that a server must not be talked into fetching."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator

import httpx
import pytest

from tenuto.errors import Denied, ProviderError
from tenuto.privacy.keys import FileKeys
from tenuto.providers import outbound
from tenuto.providers.outbound import GuardedTransport, check, public
from tenuto.workflow import define
from tests.surfaces.kit import served

PRIVATE = [
    "127.0.0.1", "127.1.2.3", "127.255.255.255", "0.0.0.0", "0.1.2.3", "10.0.0.1", "10.255.255.255", "172.16.0.1",
    "172.31.255.254", "192.168.0.1", "192.168.255.255", "169.254.169.254", "169.254.0.1", "168.63.129.16", "100.64.0.1",
    "100.127.255.255",
    "192.0.0.1", "192.0.0.8", "192.0.2.1", "198.18.0.1", "198.19.255.255", "198.51.100.7", "203.0.113.9", "224.0.0.1",
    "239.255.255.255", "240.0.0.1", "255.255.255.255", "::", "::1", "fe80::1", "fe80::1%eth0", "fec0::1", "fc00::1",
    "fd00:ec2::254", "fdff::1", "ff02::1", "ff0e::1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:169.254.169.254",
    "::ffff:192.168.1.1", "::127.0.0.1", "::10.0.0.1", "64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe", "64:ff9b::10.0.0.1",
    "2002:7f00:1::", "2002:a00:1::1", "2002:c0a8:101::1", "2001:db8::1", "2001::1", "100::1", "3fff::1",
    "2001:0:4136:e378:8000:63bf:80ff:fffe", "", "localhost", "0x7f000001", "2130706433", "127.0.0.1.", "1.2.3", "[::1]",
]  # fmt: skip
OPEN = ["1.1.1.1", "8.8.8.8", "93.184.216.34", "2606:4700:4700::1111", "2a00:1450:4001:81b::200e", "::ffff:8.8.8.8"]


def test_there_are_enough_of_them() -> None:
    assert len(set(PRIVATE)) >= 60


@pytest.mark.parametrize("address", PRIVATE)
def test_no_private_address_is_fetched(address: str) -> None:
    reached = []
    transport = GuardedTransport(
        inner=httpx.MockTransport(lambda request: reached.append(request) or httpx.Response(200)),
        lookup=lambda host, port: [address],
    )
    with httpx.Client(transport=transport) as client, pytest.raises(Denied):
        client.get("http://friendly.example/")
    assert not reached


@pytest.mark.parametrize("address", OPEN)
def test_public_addresses_are_fetched(address: str) -> None:
    assert public(address)


def test_one_private_address_among_public_ones_is_enough_to_refuse() -> None:
    with pytest.raises(Denied):
        check("https", "mixed.example", ["8.8.8.8", "10.0.0.1"], ())
    with pytest.raises(Denied):
        check("file", "x", ["8.8.8.8"], ())
    with pytest.raises(ProviderError):
        check("https", "nowhere.example", [], ())


def test_the_checked_address_is_the_one_that_is_used_and_the_name_stays() -> None:
    seen = []
    answers = iter([["8.8.8.8"], ["127.0.0.1"]])
    transport = GuardedTransport(
        inner=httpx.MockTransport(
            lambda request: seen.append(request) or httpx.Response(302, headers={"Location": "http://127.0.0.1/"})
        ),
        lookup=lambda host, port: next(answers),
    )
    with httpx.Client(transport=transport) as client:
        assert client.get("https://rebinding.example/a").status_code == 302, "redirects are not followed"
    assert seen[0].url.host == "8.8.8.8" and seen[0].headers["host"] == "rebinding.example"
    assert seen[0].extensions["sni_hostname"] == "rebinding.example"


def test_the_operator_may_allow_a_host_by_name() -> None:
    assert check("http", "localhost", ["127.0.0.1"], ["localhost"]) == "127.0.0.1"


class Neighbour:
    """Something on a private address that must not hear from us."""

    def __init__(self) -> None:
        self.heard = 0
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            self.heard += 1
            connection.close()

    def close(self) -> None:
        self._listener.close()


@pytest.fixture
def neighbour() -> Iterator[Neighbour]:
    made = Neighbour()
    yield made
    made.close()


def forms(port: int) -> list[str]:
    """The private addresses as a user may write them into the address of a model.

    Without those that are names to a resolver, or another host's address: nothing here may ask anybody outside.
    """
    foreign = ("", "127.0.0.1.", "1.2.3")
    written = [f"[{one}]" if ":" in one and not one.startswith("[") else one for one in PRIVATE if one not in foreign]
    tricks = [
        "127.1",
        "0",
        "017700000001",
        "0x7f.1",
        "LOCALHOST",
        "user@127.0.0.1",
        "127.0.0.1%2f",
        "①②⑦.⓪.⓪.①",
    ]
    return [f"openai+http://{one}:{port}/v1:m" for one in (*written, *tricks)] + [
        f"anthropic+http://127.0.0.1:{port}/v1:m", f"openai+https://127.0.0.1:{port}/v1:m", "ollama:llama3.2"
    ]  # fmt: skip


def test_a_user_cannot_talk_the_server_into_its_neighbours(
    neighbour: Neighbour, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Row by row over HTTP: the model that a user names is asked only if its address is public."""
    monkeypatch.setattr("tenuto.providers.model.OLLAMA", f"http://127.0.0.1:{neighbour.port}/v1")
    specs = forms(neighbour.port)
    assert len(specs) >= 60
    with served(policy={"model": {"retries": 0, "timeout": 5}}) as server:
        server.store.define(define("note", {"type": "object", "properties": {"text": {"type": "string"}}}))
        assert (
            server.post("/api/users/ana/workflows", {"definition": "note", "id": "w"}, caller="user").status_code == 201
        )
        for spec in specs:
            said = server.post(
                "/api/users/ana/workflows/w/send", {"text": "Write that I like tea", "model": spec}, caller="user"
            )
            assert said.status_code in (200, 403, 422, 502), (spec, said.text)
            assert neighbour.heard == 0, spec


def test_a_host_that_the_operator_allowed_is_asked(neighbour: Neighbour) -> None:
    """The control: the same request reaches the neighbour once its host is named."""
    with served(policy={"model": {"retries": 0, "timeout": 5, "hosts": ["127.0.0.1"]}}) as server:
        server.store.define(define("note", {"type": "object", "properties": {"text": {"type": "string"}}}))
        server.post("/api/users/ana/workflows", {"definition": "note", "id": "w"}, caller="user")
        body = {"text": "Write that I like tea", "model": f"openai+http://127.0.0.1:{neighbour.port}/v1:m"}
        server.post("/api/users/ana/workflows/w/send", body, caller="user")
        assert neighbour.heard == 1


def test_a_model_of_ones_own_never_gets_the_operators_key(monkeypatch: pytest.MonkeyPatch, tmp_path: object) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-operator")
    monkeypatch.setenv("TENUTO_MODEL_KEY", "sk-operator")
    seen: list[httpx.Request] = []
    answering = httpx.MockTransport(lambda request: seen.append(request) or httpx.Response(500))
    monkeypatch.setattr(outbound.httpx, "HTTPTransport", lambda: answering)
    with served(policy={"model": {"retries": 0}}) as server:
        object.__setattr__(server.store.deps, "model_key_seals", FileKeys(tmp_path / "seals", create=True))
        server.store.define(define("note", {"type": "object", "properties": {"text": {"type": "string"}}}))
        begun = {"definition": "note", "id": "w", "model": "openai:gpt-5-mini"}
        assert server.post("/api/users/ana/workflows", begun, caller="user").json()["code"] == "model_key_missing"
        server.post("/api/users/ana/workflows", {"definition": "note", "id": "w"}, caller="user")
        body = {"text": "Write that I like tea", "model": "openai+http://8.8.8.8/v1:m"}
        server.post("/api/users/ana/workflows/w/send", body, caller="user")
        assert len(seen) == 1 and "sk-operator" not in str(seen[0].headers)
        kept = server.client.put(
            "/api/users/ana/model-keys/own", json={"key": "sk-anas"}, headers=server.headers("user")
        )
        assert kept.status_code == 200 and "sk-anas" not in kept.text
        server.post("/api/users/ana/workflows/w/send", {**body, "id": "2"}, caller="user")
        assert seen[1].headers["authorization"] == "Bearer sk-anas"
        shown = server.get("/api/users/ana/model-keys", caller="user")
        assert shown.json()[0]["id"] == "own" and "sealed" not in shown.text and "sk-anas" not in shown.text
