"""What must be refused, and that the server stays up: hosts, origins, bodies, keys, slow senders, too many streams."""

from __future__ import annotations

import asyncio
import itertools
import json
import logging
import socket
import tempfile
import threading
import time
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi import FastAPI
from opentelemetry import trace
from starlette.testclient import TestClient

from tenuto.errors import InputError
from tenuto.facade.user import UserMemory
from tenuto.surfaces.http.guard import csrf_token
from tenuto.surfaces.http.outgoing import HEADERS
from tenuto.surfaces.http.serving import Serving, check_bind, sign_in_link
from tests.surfaces.kit import Served, bearer, listening, make_store, served

HOSTS = [
    "evil.example", "testserver.evil.example", "evil.example:80", "127.0.0.1.nip.io", "testserver@evil.example",
    "testserver:80:80", "testserver/..", "TESTSERVER.", "[::1", "::1]", "", "0.0.0.0", "testserver, evil.example", "*",
]  # fmt: skip
ORIGINS = [
    "http://evil.example", "https://evil.example", "null", "http://testserver.evil.example", "http://testserver:8080",
    "file://", "http://testserver/", "http://testserver@evil.example", "chrome-extension://abc", "", "testserver",
    "http://evil.example#http://testserver", "ftp://testserver", "http://testserver, http://evil.example", "http://[",
]  # fmt: skip
TYPES = [
    "text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "application/xml", "text/json", "",
    "json", "application/jsonx", "text/html", "application/octet-stream", "application/csp-report", "image/png",
]  # fmt: skip


@pytest.mark.parametrize("host", HOSTS)
def test_another_host_name_gets_nothing(server: Served, host: str) -> None:
    response = server.client.get("/api/users/ana/stats", headers={**server.headers(), "Host": host})
    assert response.status_code in (400, 421)


@pytest.mark.parametrize(("origin", "method"), list(itertools.product(ORIGINS, ["GET", "POST"])))
def test_another_origin_gets_nothing(server: Served, origin: str, method: str) -> None:
    headers = {**server.headers(), "Origin": origin}
    response = server.client.request(method, "/api/users/ana/recall", json={"query": "x"}, headers=headers)
    assert response.status_code == 403 and "access-control-allow-origin" not in response.headers


@pytest.mark.parametrize("kind", TYPES)
def test_a_body_that_is_not_json_is_not_taken_for_it(server: Served, kind: str) -> None:
    headers = {**server.headers(), "Content-Type": kind}
    response = server.client.post("/api/users/ana/observe", content=b'{"text": "hello"}', headers=headers)
    assert response.status_code in (403, 415, 422)
    assert server.store.user("ana").messages() == []


def test_other_sites_cannot_fetch_even_without_an_origin(server: Served) -> None:
    headers = {**server.headers(), "Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"}
    assert server.client.get("/api/users/ana/stats", headers=headers).status_code == 403
    preflight = {"Origin": "http://evil.example", "Access-Control-Request-Method": "POST"}
    assert server.client.options("/api/users/ana/observe", headers=preflight).status_code == 403


def test_every_answer_is_hardened(server: Served) -> None:
    for path in ("/health", "/api/nothing", "/api/users/ana/stats"):
        response = server.client.get(path)
        for name, value in HEADERS.items():
            assert response.headers[name] == value, (path, name)
    assert "'unsafe-inline'" not in HEADERS["Content-Security-Policy"]
    assert "server" not in response.headers


def test_a_body_over_the_limit_is_refused_before_it_is_read(server: Served) -> None:
    size = server.store.deps.policy.server.body_bytes
    big = server.client.post("/api/users/ana/observe", content=b"x" * (size + 1), headers=server.headers())
    assert big.status_code == 413

    def endless() -> object:
        for _ in range(size // 65536 + 2):
            yield b"x" * 65536

    headers = {**server.headers(), "Content-Type": "application/json"}
    assert server.client.post("/api/users/ana/observe", content=endless(), headers=headers).status_code == 413
    lied = {**headers, "Content-Length": "-5"}
    assert server.client.post("/api/users/ana/observe", content=b"{}", headers=lied).status_code == 413


def test_a_file_to_import_may_be_larger_and_is_counted_too(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    line = json.dumps({"role": "user", "content": "I live in Porto " + "and so on " * 30, "at": "2026-03-01T12:00:00Z"})
    file = (line + "\n").encode() * 10
    policy = {"server": {"body_bytes": 1000, "upload_bytes": 8000, "uploads": 1}}
    with served(policy=policy) as server:
        headers, state = server.headers(content_type="application/octet-stream"), server.client.app.state

        def send(path: str, content: object, headers: dict[str, str] = headers) -> int:
            return server.client.post(f"/api/users/ana/{path}", content=content, headers=headers).status_code

        assert send("observe", file) == send("imports/x/vouch", file) == 413, "no other route takes as much"
        assert send("imports", file + file * 2) == 413, "by its length"
        assert send("imports", iter([file] * 3)) == 413, "while it arrives"
        for caller, status in (("none", 401), ("other", 403), ("reader", 403)):
            assert send("imports", iter([file]), server.headers(caller)) == status
        assert send("imports/estimate", iter([file])) == 200
        assert send("imports", iter([file])) == 201
        assert server.store.user("ana").stats()["total_messages"] == 10
        state.uploads = 1
        assert send("imports", file) == 503
    assert list(tmp_path.iterdir()) == [], "nothing stays behind"


def test_the_key_is_checked_before_the_body_is_read(server: Served) -> None:
    """A body that would be an error is not even looked at."""
    for headers in ({}, bearer("tnk_wrong"), server.headers("other"), server.headers("reader")):
        response = server.client.post("/api/users/ana/observe", content=b"{", headers=headers)
        assert response.status_code in (401, 403)


def test_wrong_expired_and_revoked_keys(server: Served) -> None:
    store = server.store
    short, secret = store.create_key("short", scope="user", user="ana", lifetime=timedelta(milliseconds=1))
    time.sleep(0.01)
    assert server.client.get("/api/users/ana/stats", headers=bearer(secret)).json()["code"] == "key_invalid"
    key, secret = store.create_key("k", scope="user", user="ana")
    assert server.client.get("/api/users/ana/stats", headers=bearer(secret)).status_code == 200
    assert server.client.delete(f"/api/keys/{key.id}", headers=server.headers()).status_code == 200
    refused = server.client.get("/api/users/ana/stats", headers=bearer(secret))
    assert refused.status_code == 401 and refused.headers["www-authenticate"].startswith("Bearer")
    for header in ("Bearer", "Basic dXNlcjpwYXNz", "Bearer  ", f"bearer\t{secret}", "Bearer " + "x" * 10_000):
        assert server.client.get("/api/users/ana/stats", headers={"Authorization": header}).status_code == 401
    assert short.digest != secret


def test_an_app_mints_short_tokens_that_end_with_it(server: Served) -> None:
    app_key, secret = server.store.create_key("app", scope="app")
    minted = server.client.post("/api/users/ana/tokens", json={"seconds": 60}, headers=bearer(secret))
    assert minted.status_code == 201
    token = bearer(minted.json()["secret"])
    assert server.client.get("/api/users/ana/stats", headers=token).status_code == 200
    assert server.client.get("/api/users/ben/stats", headers=token).status_code == 403
    assert server.client.post("/api/users/ana/tokens", json={}, headers=token).status_code == 403
    long = server.client.post("/api/users/ana/tokens", json={"seconds": 10**9}, headers=bearer(secret)).json()["key"]
    assert long["expires_at"] < minted.json()["key"]["created_at"].replace("2026", "2028")
    server.store.revoke_key(app_key.id)
    assert server.client.get("/api/users/ana/stats", headers=token).status_code == 401


def test_secrets_are_kept_as_hashes_only(tmp_path: object) -> None:
    path = tmp_path / "tenuto.db"
    store = make_store(str(path))
    _, secret = store.create_key("k", scope="admin")
    store.close()
    raw = b"".join(one.read_bytes() for one in tmp_path.iterdir())
    assert secret.encode() not in raw and secret.split("_", 1)[1].encode() not in raw


def test_too_many_requests_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    with served(policy={"server": {"user_rate": 1, "user_burst": 3}}) as server:
        statuses = [server.get("/api/users/ana/stats").status_code for _ in range(5)]
        assert statuses[:3] == [200] * 3 and 429 in statuses[3:]
        refused = server.get("/api/users/ana/stats")
        assert refused.status_code == 429 and int(refused.headers["retry-after"]) >= 1
        assert server.get("/api/users/ben/stats").status_code == 200, "another user is not held up"
    with served(policy={"server": {"failure_rate": 0.01, "failure_burst": 3}}) as server:
        wrong = [server.client.get("/health", headers=bearer(f"tnk_{n}")).status_code for n in range(6)]
        assert wrong == [401, 401, 401, 429, 429, 429]


def test_a_browser_needs_more_than_its_cookie(server: Served) -> None:
    from tenuto.access import keys
    from tenuto.records.access import KeyKind

    link = sign_in_link(server.store, "http://testserver").partition("link=")[2]
    key, secret = keys.exchange(server.store.deps, link, timedelta(hours=1))
    assert keys.exchange(server.store.deps, link, timedelta(hours=1)) is None, "a link works once"
    assert key.kind is KeyKind.BROWSER
    cookie = {"Cookie": f"tenuto={secret}"}
    assert server.client.get("/api/users/ana/stats", headers=cookie).status_code == 200
    bare = server.client.post("/api/users/ana/observe", json={"text": "hello"}, headers=cookie)
    assert bare.status_code == 403 and bare.json()["code"] == "csrf_missing"
    form = {**cookie, "Content-Type": "application/x-www-form-urlencoded"}
    for path in ("/api/users/ana/observe", "/api/users/ana/erase", "/v1/chat/completions", "/mcp"):
        refused = server.client.post(path, content=b'{"text": "x"}', headers=form)
        assert refused.status_code == 403 and refused.json()["code"] == "csrf_missing", path
    signed = {**cookie, "X-CSRF-Token": csrf_token(secret)}
    assert server.client.post("/api/users/ana/observe", json={"text": "hello"}, headers=signed).status_code == 201
    assert server.client.get("/api/users/ana/stats", headers=bearer(secret)).status_code == 401, "not as a header"
    user_cookie = {"Cookie": "tenuto=" + server.callers["user"]["Authorization"].split()[1]}
    assert server.client.get("/api/users/ana/stats", headers=user_cookie).status_code == 401, "a key is no cookie"
    assert len(server.store.user("ana").messages()) == 1


def test_other_binds_need_a_key_first() -> None:
    store = make_store()
    check_bind(store, Serving())
    with pytest.raises(InputError, match="keys create"):
        check_bind(store, Serving(host="0.0.0.0"))
    store.create_key("k", scope="app")
    check_bind(store, Serving(host="0.0.0.0"))
    store.close()


def test_logs_hold_no_content_and_no_names(server: Served, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "tenuto.http")
    server.post("/api/users/marguerite/observe", {"text": "a very secret thing"})
    server.client.get("/api/users/marguerite/memories/mem_secret?persona=shy", headers=server.headers())
    server.client.get("/marguerite/secret?secret=1")
    lines = [json.loads(record.getMessage()) for record in caplog.records if record.name == "tenuto.http"]
    assert len(lines) == 3
    assert not any(word in json.dumps(lines) for word in ("marguerite", "secret", "shy", "tnk_"))
    assert lines[0]["route"] == "/api/users/{user}/observe" and lines[0]["key"].startswith("key_")


def test_streams_beyond_the_limit_are_refused_and_a_revoked_key_ends_its_stream() -> None:
    policy = {"server": {"streams": 5, "streams_per_user": 3, "heartbeat": 0.1, "poll": 0.05}}
    store = make_store(policy=policy)
    keys = {user: store.create_key(user, scope="user", user=user) for user in ("ana", "ben", "cleo")}
    with listening(store) as (address, _), httpx.Client(base_url=address, timeout=60) as client:
        streams, statuses = [], []
        for user in ("ana", "ana", "ana", "ana", "ben", "ben", "cleo"):
            request = client.build_request("GET", f"/api/users/{user}/events", headers=bearer(keys[user][1]))
            response = client.send(request, stream=True)
            statuses.append(response.status_code)
            streams.append(response)
        assert statuses == [200, 200, 200, 429, 200, 200, 503]
        assert all("retry-after" in streams[n].headers for n in (3, 6))
        store.revoke_key(keys["ana"][0].id)
        said = "".join(streams[0].iter_text())
        assert "event: revoked" in said
        for stream in streams:
            stream.close()
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            again = client.build_request("GET", "/api/users/cleo/events", headers=bearer(keys["cleo"][1]))
            response = client.send(again, stream=True)
            response.close()
            if response.status_code == 200:
                break
            time.sleep(0.05)
        assert response.status_code == 200, "closed streams make room"
    store.close()


def test_a_key_that_is_revoked_here_ends_its_streams_at_once() -> None:
    """Long before the heartbeat: the server itself took the key back."""
    store = make_store(policy={"server": {"heartbeat": 60, "poll": 60}})
    key, secret = store.create_key("ana", scope="user", user="ana")
    other = store.create_key("ben", scope="user", user="ben")[1]
    _, admin = store.create_key("admin", scope="admin")
    with listening(store) as (address, _), httpx.Client(base_url=address, timeout=60) as client:
        ended = client.send(client.build_request("GET", "/api/users/ana/events", headers=bearer(secret)), stream=True)
        goes_on = client.send(client.build_request("GET", "/api/users/ben/events", headers=bearer(other)), stream=True)
        lines = goes_on.iter_lines()
        assert next(lines).startswith("retry")
        begun = time.monotonic()
        assert client.delete(f"/api/keys/{key.id}", headers=bearer(admin)).status_code == 200
        assert "event: revoked" in "".join(ended.iter_text()) and time.monotonic() - begun < 50
        store.user("ben").observe("still here?")
        assert any(line.startswith("id: ") for line in lines), "another key's stream goes on"
        goes_on.close()
    store.close()


def test_stopping_finishes_what_is_at_work() -> None:
    """Every request that was answered is kept, and none that began is cut off."""
    store = make_store(policy={"server": {"shutdown": 60}})
    _, secret = store.create_key("k", scope="admin")
    answered: list[int] = []
    with listening(store) as (address, server):
        stop = threading.Event()

        def write(number: int) -> None:
            with httpx.Client(base_url=address, headers=bearer(secret), timeout=60) as client:
                for n in itertools.count():
                    if stop.is_set():
                        return
                    try:
                        response = client.post(f"/api/users/u{number}/observe", json={"text": f"message {n}"})
                    except httpx.HTTPError:
                        return
                    if response.status_code == 201:
                        answered.append(1)

        threads = [threading.Thread(target=write, args=(n,)) for n in range(4)]
        for thread in threads:
            thread.start()
        while not answered:
            time.sleep(0.05)
        server.should_exit = True
        for thread in threads:
            thread.join(60)
        stop.set()
    kept = sum(len(store.user(f"u{n}").messages(limit=10_000)) for n in range(4))
    assert answered and kept >= len(answered) and kept - len(answered) <= 4
    store.close()


def test_a_connection_that_is_made_while_the_server_stops_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    """It was accepted before, so it is not refused; it would hold the server up for as long as its client likes."""
    store = make_store(policy={"server": {"shutdown": 60, "header_wait": 60}})
    _, secret = store.create_key("k", scope="admin")
    begun, go_on = threading.Event(), threading.Event()

    def slow(self: Any) -> dict[str, Any]:
        begun.set()
        go_on.wait(60)
        return {}

    monkeypatch.setattr(UserMemory, "stats", slow)
    with listening(store) as (address, server):
        asking = threading.Thread(target=httpx.get, args=(f"{address}/api/users/ana/stats",),
                                  kwargs={"headers": bearer(secret), "timeout": 60})  # fmt: skip
        asking.start()
        assert begun.wait(60)
        server.should_exit = True
        while server.servers[0].is_serving():
            time.sleep(0.01)
        with socket.create_server(("127.0.0.1", 0)) as listener:
            ours = socket.create_connection(listener.getsockname(), 20)
            theirs, _ = listener.accept()
        protocol = server.config.http_protocol_class(server.config, server.server_state, {}, server._loop)
        made = server._loop.connect_accepted_socket(lambda: protocol, theirs)
        asyncio.run_coroutine_threadsafe(made, server._loop).result(60)
        assert protocol in server.server_state.connections or protocol.transport.is_closing()
        assert ours.recv(1) == b""
        ours.close()
        go_on.set()
        asking.join(60)
    store.close()


def test_no_request_is_told_to_a_tracer(server: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    """The framework traces by itself where the process has a tracer, with the path, which names a person."""
    asked: list[str] = []

    class Provider(trace.TracerProvider):
        def get_tracer(self, name: str, *_: Any, **__: Any) -> trace.Tracer:
            asked.append(name)
            return trace.NoOpTracer()

    monkeypatch.setattr(trace, "get_tracer_provider", Provider)
    plain = FastAPI()
    plain.add_api_route("/", lambda: "here")
    with TestClient(plain) as client:
        assert client.get("/").json() == "here"
    traces_by_itself = asked.copy()
    asked.clear()
    assert server.post("/api/users/ana/observe", {"text": "hello"}).status_code == 201
    assert server.get("/api/users/ana/stats").status_code == 200
    assert traces_by_itself and not asked


YEARS = ("0001-01-01T00:00:00+14:00", "0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z", "9999-12-31T23:59:59-12:00")


@pytest.mark.parametrize("at", YEARS)
def test_years_that_cannot_be_reckoned_with_are_refused(server: Served, at: str) -> None:
    kept = server.store.user("ana").remember("I like tea").memory
    asked = {
        "observe": {"text": "hello", "at": at}, "recall": {"query": "tea", "since": at, "until": at},
        "memories": {"content": "I like tea", "at": at}, "summaries": {"start": at, "end": at},
    }  # fmt: skip
    for path, body in asked.items():
        assert server.post(f"/api/users/ana/{path}", body).status_code == 422, path
    for name in ("valid_from", "valid_until"):
        changed = server.client.patch(f"/api/users/ana/memories/{kept.id}", json={name: at}, headers=server.headers())
        assert changed.status_code == 422
    for path in ("messages", "memories", "timeline"):
        assert server.client.get(
            f"/api/users/ana/{path}", params={"since": at, "until": at}, headers=server.headers()
        ).status_code in (200, 404, 422), path
