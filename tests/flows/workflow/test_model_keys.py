"""People's own keys: sealed where they lie, tried against a real server, gone when removed."""

from __future__ import annotations

import logging
import pickle
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

import tenuto
from tenuto.errors import Denied, InputError, NotFound, SettingError
from tenuto.facade.store import Tenuto
from tenuto.privacy.keys import FileKeys, FixedKeys
from tenuto.privacy.model_keys import Secret, seal, unseal
from tenuto.records.base import evolve, to_plain
from tenuto.records.operations import Event
from tenuto.records.workflow import NEVER_EXPORTED, ModelKey

KEY = "sk-live-0123456789abcdefghijklmnop"


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Tenuto]:
    monkeypatch.setenv("TENUTO_MODEL_KEYS", f"file:{tmp_path / 'seals'}")
    opened = tenuto.open(tmp_path / "keys.db", background=False)
    yield opened
    opened.close()


@pytest.fixture
def provider() -> Iterator[str]:
    """A server that knows one key."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            known = self.headers.get("authorization") == f"Bearer {KEY}"
            self.send_response(200 if known else 401)
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/v1"
    server.shutdown()
    server.server_close()


def test_a_key_is_sealed_wherever_it_lies(
    store: Tenuto, tmp_path: Path, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.DEBUG)
    keys = store.user("ana").model_keys
    record = keys.set("openai", KEY)
    assert keys.reveal("openai").reveal() == KEY
    assert KEY not in repr(keys.reveal("openai")) + str(keys.reveal("openai")) + repr(record) + repr(keys.list())
    with pytest.raises(TypeError):
        pickle.dumps(keys.reveal("openai"))
    with store.deps.store.reading("ana") as reader:
        assert KEY not in repr([to_plain(event) for event in reader.find(Event)])
    for part in tmp_path.iterdir():
        assert KEY.encode() not in part.read_bytes(), f"{part.name} holds the plain key"
    output = capfd.readouterr()
    assert KEY not in caplog.text + output.out + output.err
    assert ModelKey in NEVER_EXPORTED


def test_a_key_can_be_tried_out(store: Tenuto, provider: str) -> None:
    keys = store.user("ana").model_keys
    keys.set("openai", KEY)
    assert keys.test("openai", base_url=provider).working is True
    assert keys.list()[0].working is True
    keys.set("openai", "sk-wrong")
    assert keys.list()[0].working is None, "a new key has not been tried"
    assert keys.test("openai", base_url=provider).working is False
    nobody = keys.test("openai", base_url="http://127.0.0.1:9/v1")
    assert nobody.working is None
    assert keys.list()[0].working is False, "an unreachable provider says nothing about the key"
    assert "sk-wrong" not in nobody.reason


def test_a_removed_key_is_gone(store: Tenuto) -> None:
    keys = store.user("ana").model_keys
    keys.set("openai", KEY)
    assert keys.remove("openai")
    assert not keys.remove("openai")
    assert keys.list() == []
    with pytest.raises(NotFound):
        keys.reveal("openai")
    store.user("ana").model_keys.set("openai", KEY)
    store.deps.store.erase_user("ana")
    assert keys.list() == []


def test_a_sealed_key_opens_only_where_it_was_sealed(store: Tenuto, tmp_path: Path) -> None:
    ana, bob = store.user("ana").model_keys, store.user("bob").model_keys
    sealed = ana.set("openai", KEY)
    bob.set("openai", "sk-other")
    ana.set("anthropic", "sk-third")
    with store.deps.store.writing("bob") as tx:
        tx.put(evolve(sealed, id="openai"))
    with store.deps.store.writing("ana") as tx:
        tx.put(evolve(sealed, id="anthropic"))
    for keys, name in ((bob, "openai"), (ana, "anthropic")):
        with pytest.raises(Denied) as refused:
            keys.reveal(name)
        assert KEY not in str(refused.value)
    seals = FileKeys(tmp_path / "seals")
    box = seal(seals, "ana", "openai", Secret(KEY), b"n" * 12)
    assert unseal(seals, "ana", "openai", box).reveal() == KEY
    for user, provider, keys_at_hand, data in (
        ("bob", "openai", seals, box),
        ("ana", "open", seals, box),
        ("ana", "openai", FixedKeys(b"k" * 32), box),
        ("ana", "openai", FixedKeys(b"k" * 32, version=7), box),
        ("ana", "openai", seals, box[:-1] + bytes([box[-1] ^ 1])),
        ("ana", "openai", seals, b""),
    ):
        with pytest.raises(Denied):
            unseal(keys_at_hand, user, provider, data)


def test_older_seals_open_until_they_are_retired(store: Tenuto, tmp_path: Path) -> None:
    keys = store.user("ana").model_keys
    keys.set("openai", KEY)
    seals = FileKeys(tmp_path / "seals")
    newest = seals.rotate()
    assert keys.reveal("openai").reveal() == KEY
    keys.set("anthropic", "sk-third")
    seals.retire(newest)
    assert keys.reveal("anthropic").reveal() == "sk-third"
    with pytest.raises(Denied):
        keys.reveal("openai")


def test_without_something_to_seal_with_nothing_is_kept(tmp_path: Path) -> None:
    with tenuto.open(tmp_path / "a.db", background=False) as store:
        with pytest.raises(SettingError) as refused:
            store.user("ana").model_keys.set("openai", KEY)
        assert "TENUTO_MODEL_KEYS" in str(refused.value)
        assert store.user("ana").model_keys.list() == []


@pytest.mark.parametrize("key", ["", "   ", "sk\n", "schlüssel", "x" * 5000])
def test_keys_that_cannot_be_taken(store: Tenuto, key: str) -> None:
    with pytest.raises(InputError) as refused:
        store.user("ana").model_keys.set("openai", key)
    assert not key.strip() or key not in str(refused.value)
