"""Paging, repeated requests, conditional requests, problems, live events, and the routes by other names."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import pytest
from prometheus_client.multiprocess import mark_process_dead

from tenuto import settings
from tenuto.records.access import Replay
from tenuto.surfaces.http import names
from tenuto.surfaces.http.problems import Refused
from tenuto.surfaces.http.replay import _claim
from tenuto.workflow import Field, define
from tests.surfaces.kit import Served, bearer, listening, make_store, served


def test_pages_hold_every_row_once_while_rows_come(server: Served) -> None:
    ana = server.store.user("ana")
    wanted = [ana.observe(f"message number {n}").message_id for n in range(25)]
    seen: list[str] = []
    cursor = None
    while True:
        query = f"?limit=7&order=seq{f'&cursor={cursor}' if cursor else ''}"
        page = server.get(f"/api/users/ana/messages{query}").json()
        seen += [row["id"] for row in page["items"]]
        cursor = page["next"]
        if len(seen) == 14:
            wanted.append(ana.observe("one more").message_id)
        if cursor is None:
            break
    assert seen == wanted


@pytest.mark.parametrize("cursor", ["x", "AAAA", "WyJpZCIsMSwiYSJd", "", "é", "'; DROP TABLE messages; --"])
def test_a_cursor_that_is_not_ours_is_refused(server: Served, cursor: str) -> None:
    server.store.user("ana").observe("hello")
    response = server.client.get("/api/users/ana/messages", params={"cursor": cursor}, headers=server.headers())
    assert response.status_code == 422 and response.json()["code"] == "cursor_invalid"


def test_filters_choose_and_unknown_ones_are_refused(server: Served) -> None:
    ana = server.store.user("ana", channel="email")
    ana.observe("by mail")
    server.store.user("ana").observe("by api")
    found = server.get("/api/users/ana/messages?channel=email").json()["items"]
    assert [row["content"] for row in found] == ["by mail"]
    assert server.get("/api/users/ana/messages?colour=red").status_code == 422
    assert server.get("/api/users/ana/memories?status=nice").status_code == 422


def test_a_user_who_cannot_be_leaves_nothing_behind(server: Served) -> None:
    """An idempotency key is noted for the user before the verb is called: not for an id that no user can have."""
    for name in ("x" * 300, "bell\x07", " blank "):
        answer = server.post(f"/api/users/{names.write(name)}/observe", {"text": "hello"}, idempotency_key="once")
        assert answer.status_code == 422 and answer.json()["code"].startswith("name_"), name
    assert server.store.users() == []


def test_an_idempotency_key_does_the_work_once(server: Served) -> None:
    first = server.post("/api/users/ana/observe", {"text": "hello"}, idempotency_key="k1")
    again = server.post("/api/users/ana/observe", {"text": "hello"}, idempotency_key="k1")
    other = server.post("/api/users/ana/observe", {"text": "other"}, idempotency_key="k1")
    assert first.status_code == again.status_code == 201
    assert first.content == again.content and again.headers["idempotent-replay"] == "true"
    assert other.status_code == 422 and other.json()["code"] == "idempotency_key_reused"
    assert len(server.store.user("ana").messages()) == 1
    elsewhere = server.post("/api/users/ben/observe", {"text": "other"}, idempotency_key="k1")
    assert elsewhere.status_code == 201


def test_a_request_at_work_is_not_repeated(server: Served) -> None:
    store, clock = server.store, server.store.deps.clock
    assert _claim(store.deps, "ana", "id", "asked") is None
    with pytest.raises(Refused) as refused:
        _claim(store.deps, "ana", "id", "asked")
    assert refused.value.status_code == 409
    with store.deps.store.writing("ana") as tx:
        tx.put(Replay(id="id", at=clock().replace(year=2020), request="asked"))
    assert _claim(store.deps, "ana", "id", "asked") is None, "a claim whose process died is taken over"


def test_a_failed_request_can_be_repeated_with_its_key(server: Served) -> None:
    bad = server.post("/api/users/ana/observe", {"text": "x" * 70_000}, idempotency_key="k")
    again = server.post("/api/users/ana/observe", {"text": "x" * 70_000}, idempotency_key="k")
    assert bad.status_code == again.status_code == 422
    assert bad.json()["code"] == "text_too_long"


def test_an_unchanged_answer_is_not_sent_twice(server: Served) -> None:
    server.store.user("ana").observe("hello")
    first = server.get("/api/users/ana/stats")
    tag = first.headers["etag"]
    assert server.get("/api/users/ana/stats", if_none_match=tag).status_code == 304
    assert server.get("/api/users/ana/stats", if_none_match=f'"x", W/{tag}').status_code == 304
    server.store.user("ana").observe("hello again")
    changed = server.get("/api/users/ana/stats", if_none_match=tag)
    assert changed.status_code == 200 and changed.headers["etag"] != tag


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "code"),
    [
        ("GET", "/api/nothing", None, 404, "no_such_route"),
        ("PATCH", "/api/users/ana/observe", None, 405, "method_not_allowed"),
        ("POST", "/api/users/ana/observe", b"{", 422, "invalid_request"),
        ("POST", "/api/users/ana/observe", b'{"text": ""}', 422, "invalid_request"),
        ("POST", "/api/users/ana/observe", b'{"text": " "}', 422, "text_empty"),
        ("POST", "/api/users/ana/observe", b'{"text": "x", "txet": 1}', 422, "invalid_request"),
        ("POST", "/api/users/ana/observe", b'{"text": "a\\u0000b"}', 422, "text_nul"),
        ("POST", "/api/users/ana/recall", b'{"query": "x", "profile": "best"}', 422, "unknown_profile"),
        ("POST", "/api/users/ana/context", b'{"message": "x", "budget": 1}', 422, None),
        ("GET", "/api/users/ana/memories/mem_none", None, 404, "not_found"),
        ("GET", "/api/users/%20/stats", None, 422, None),
        ("GET", "/api/users/~!!/stats", None, 422, "name_invalid"),
    ],
)  # fmt: skip
def test_problems_are_of_one_form(
    server: Served, method: str, path: str, body: bytes | None, status: int, code: str
) -> None:
    headers = server.headers() | ({"Content-Type": "application/json"} if body else {})
    response = server.client.request(method, path, content=body, headers=headers)
    problem = response.json()
    assert response.headers["content-type"] == "application/problem+json"
    assert response.status_code == problem["status"] == status, problem
    assert {"type", "title", "status", "code", "detail"} <= set(problem)
    assert code is None or problem["code"] == code, problem


def test_what_is_not_ours_says_nothing_of_itself(server: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tenuto.facade.user.UserMemory.stats", lambda self: 1 / 0)
    response = server.get("/api/users/ana/stats")
    assert response.status_code == 500 and response.json()["code"] == "internal"
    assert "division" not in response.text


def test_user_ids_that_a_path_cannot_carry(server: Served) -> None:
    from tenuto.surfaces.http.names import read, write

    for user in ("a/b", "..", ".", "~x", "名前", "a b", "x?y#z", "ana@example.org"):
        assert read(write(user)) == user and "/" not in write(user)
        assert server.post(f"/api/users/{write(user)}/observe", {"text": "hello"}).status_code == 201
        assert len(server.store.user(user).messages()) == 1


def test_live_events_resume_where_they_stopped() -> None:
    store = make_store(policy={"server": {"poll": 0.02}})
    ana = store.user("ana")
    for n in range(3):
        ana.observe(f"message {n}")
    _, secret = store.create_key("k", scope="user", user="ana")
    with listening(store) as (address, _), httpx.Client(base_url=address, headers=bearer(secret), timeout=60) as client:
        first = _events(client, {"after": "0"}, 2)
        ana.observe("while away")
        rest = _events(client, {}, 2, {"Last-Event-ID": str(first[-1][0])})
        kinds = {kind for _, kind in first + rest}
    numbers = [number for number, _ in first + rest]
    assert kinds == {"message.observed"} and numbers == sorted(set(numbers)) and len(numbers) == 4
    store.close()


def test_a_stream_hears_of_changes_from_the_bus_and_misses_none(tmp_path: Path) -> None:
    """Polling is off. What this process and another one write comes at once, far more than a stream holds, in order."""
    path = str(tmp_path / "t.db")
    store = make_store(path, policy={"server": {"poll": 3600, "heartbeat": 60}})
    _, secret = store.create_key("k", scope="user", user="ana")
    ana, other = store.user("ana"), make_store(path)
    for n in range(700):
        ana.observe(f"message {n}")
    with listening(store) as (address, _), httpx.Client(base_url=address, headers=bearer(secret), timeout=60) as client:
        with client.stream("GET", "/api/users/ana/events", params={"after": "0"}) as response:
            numbers = (int(line[4:]) for line in response.iter_lines() if line.startswith("id: "))
            found = [next(numbers) for _ in range(700)]
            delays = []
            for store_ in (store, other, store):
                begun = time.monotonic()
                store_.user("ana").observe(f"one more at {begun}")
                found.append(next(numbers))
                delays.append(time.monotonic() - begun)
        ana.observe("while away")
        with client.stream("GET", "/api/users/ana/events", headers={"Last-Event-ID": str(found[-1])}) as response:
            numbers = (int(line[4:]) for line in response.iter_lines() if line.startswith("id: "))
            found.append(next(numbers))
    assert found == [event.seq for event in ana.events(limit=1000)] and len(found) == 704
    assert max(delays) < 60, "no poll was waited for"
    other.close()
    store.close()


def test_a_stream_begins_anew_when_its_user_was_erased(server: Served) -> None:
    from tenuto.surfaces.http.events import Stream

    stream = Stream(asyncio.Queue(), 500, lambda: None)
    stream.place(3)
    assert stream.last == 0
    fresh = Stream(asyncio.Queue(), None, lambda: None)
    fresh.place(3)
    assert fresh.last == 3


def _events(
    client: httpx.Client, params: dict[str, str], count: int, headers: dict[str, str] | None = None
) -> list[tuple[int, str]]:
    found: list[tuple[int, str]] = []
    number = 0
    with client.stream("GET", "/api/users/ana/events", params=params, headers=headers or {}) as response:
        assert response.headers["content-type"].startswith("text/event-stream")
        for line in response.iter_lines():
            if line.startswith("id: "):
                number = int(line[4:])
            if line.startswith("event: "):
                found.append((number, line[7:]))
            if len(found) == count:
                break
    return found


def test_the_routes_by_other_names(server: Served) -> None:
    as_ana = {**server.headers("app"), "Tenuto-User": "ana"}
    for n in range(4):
        body = {"text": f"Dad takes metformin, dose {n}", "id": f"msg-{n}", "role": "user"}
        made = server.client.post("/api/sessions/session-456/messages", json=body, headers=as_ana)
        assert made.status_code == 201, made.text
    assert set(made.json()) == {
        "id", "session_id", "role", "text", "model_id", "token_usage", "created_at", "importance_score"
    }  # fmt: skip
    assert made.json()["id"] == "msg-3" and made.json()["session_id"] == "session-456"
    listed = server.client.get("/api/sessions/session-456/messages", headers=as_ana).json()["items"]
    assert [row["id"] for row in listed] == ["msg-0", "msg-1", "msg-2", "msg-3"]
    asked = {"session_id": "session-456", "start_message_id": "msg-0", "end_message_id": "msg-2", "message_count": 3}
    summary = server.client.post("/api/memory/summaries", json=asked, headers=as_ana)
    assert summary.status_code == 201, summary.text
    assert set(summary.json()) == {
        "id", "session_id", "summary", "message_count", "start_message_id", "end_message_id", "importance_score",
        "created_at",
    }  # fmt: skip
    assert summary.json()["message_count"] == 3
    stats = server.client.get("/api/memory/stats/session-456", headers=as_ana).json()
    assert set(stats) == {
        "totalMessages", "totalSummaries", "totalPins", "oldestMessage", "newestMessage", "averageImportanceScore"
    }  # fmt: skip
    assert stats["totalMessages"] == 4 and stats["averageImportanceScore"] > 0
    assert datetime.fromisoformat(stats["oldestMessage"]) <= datetime.now(UTC)
    assert server.client.get("/api/memory/stats/nope", headers=as_ana).status_code == 404
    asked = {"session_id": "session-456", "content": "Dad takes metformin", "source_message_id": "msg-2"}
    pin = server.client.post("/api/memory/pins", json=asked, headers=as_ana).json()
    assert (pin["source_message_id"], pin["importance_score"], pin["pin_type"]) == ("msg-2", 5.0, "manual")
    listed = server.client.get("/api/memory/pins/session-456", headers=as_ana).json()["items"]
    assert [row["source_message_id"] for row in listed if row["id"] == pin["id"]] == ["msg-2"], "it was stored"
    (evidence,) = server.store.user("ana").memory(pin["id"]).evidence
    assert server.store.user("ana").get("messages", evidence.message_id).external_id == "msg-2"
    nowhere = server.client.post("/api/memory/pins", json={**asked, "source_message_id": "msg-99"}, headers=as_ana)
    assert nowhere.status_code == 404 and nowhere.json()["code"] == "message_not_found"


def test_erasing_needs_the_name_twice_and_takes_the_keys_along(server: Served) -> None:
    server.post("/api/users/ana/observe", {"text": "hello"}, caller="user")
    assert server.post("/api/users/ana/erase", {"user": "ben"}, caller="user").status_code == 422
    proof = server.post("/api/users/ana/erase", {"user": "ana"}, caller="user").json()
    assert not any(proof["left"].values())
    assert server.get("/api/users/ana/stats", caller="user").status_code == 401
    assert server.get("/api/users/ana/stats").json()["total_messages"] == 0
    assert server.store.users() == []


def test_metrics_and_health(server: Served) -> None:
    server.post("/api/users/secret-name/observe", {"text": "secret text"})
    assert server.client.get("/health").json()["status"] == "ok"
    assert server.client.get("/ready").json()["status"] == "ready"
    text = server.get("/metrics").text
    assert 'route="/api/users/{user}/observe",status="201"} 1.0' in text
    assert "secret" not in text
    server.store.close()
    assert server.client.get("/ready").status_code == 503


COUNT = """
import sys
from tenuto.surfaces.http.metrics import Metrics
metrics = Metrics(sys.argv[1])
for _ in range(int(sys.argv[2])):
    metrics.record("GET", "/health", 200, 0.002)
metrics.streams_open.inc(int(sys.argv[2]))
if sys.argv[3] == "tell":
    metrics.record("GET", "/health", 200, 20.0)
    print(metrics.text({"jobs_pending": 3.0}).decode())
else:
    print("counted", flush=True)
    sys.stdin.read()
"""


def test_metrics_of_several_processes_are_told_by_any_of_them(tmp_path: Path) -> None:
    env = {**os.environ, settings.METRICS_FOLDER: str(tmp_path)}

    def process(times: int, then: str) -> subprocess.Popen[str]:
        call = [sys.executable, "-c", COUNT, str(tmp_path), str(times), then]
        return subprocess.Popen(call, env=env, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    alive, dead = process(2, "wait"), process(4, "wait")
    for one in (alive, dead):
        assert one.stdout is not None and one.stdout.readline() == "counted\n"
    dead.communicate()
    mark_process_dead(dead.pid, str(tmp_path))
    said = process(1, "tell").communicate()[0]
    alive.communicate()
    assert 'tenuto_requests_total{method="GET",route="/health",status="200"} 8.0' in said, "counters never fall"
    assert "tenuto_streams_open 3.0" in said, "the dead hold no streams"
    own = 'method="GET",route="/health"'
    assert f'seconds_bucket{{le="0.0025",{own}}} 7.0' in said and f'seconds_bucket{{le="+Inf",{own}}} 8.0' in said
    assert said.count("tenuto_jobs_pending 3.0") == 1


def test_a_workflow_in_a_session_takes_its_turn(server: Served) -> None:
    """Message in, draft and question out; a change to a hard field waits for the yes to exactly what was shown."""
    server.store.define(
        define(
            "trip",
            {
                "type": "object",
                "properties": {"destination": {"type": "string"}, "days": {"type": "integer", "minimum": 1}},
                "required": ["destination", "days"],
            },
            fields={"destination": Field(hard=True), "days": Field()},
        )
    )
    as_ana = {**server.headers("app"), "Tenuto-User": "ana"}

    def say(text: str, **more: object) -> dict[str, Any]:
        made = server.client.post("/api/sessions/trip-1/messages", json={"text": text, **more}, headers=as_ana)
        assert made.status_code == 201, made.text
        return made.json()

    first = say("destination: Lisbon", workflow="trip", id="t-1")["workflow"]
    assert first["definition"] == "trip" and first["spec"] == {"destination": "Lisbon"}
    assert first["question_key"] == "days" and first["missing"] == ["days"]
    assert say("destination: Lisbon", workflow="trip", id="t-1")["workflow"]["turn"] == first["turn"], "sent again"
    second = say("days: 4")["workflow"]
    assert second["spec"] == {"destination": "Lisbon", "days": 4} and second["missing"] == []
    listed = server.client.get("/api/sessions/trip-1/messages", headers=as_ana).json()["items"]
    assert [row["role"] for row in listed][:2] == ["user", "assistant"]
    path = f"/api/users/ana/workflows/{second['workflow_id']}/send"
    third = server.client.post(path, json={"text": "destination: Porto"}, headers=as_ana).json()
    assert third["pending"] and third["digest"]
    server.store.user("ana").workflow_of("trip-1").send("hm")
    listed = server.client.get("/api/sessions/trip-1/messages", headers=as_ana).json()["items"]
    assert [row["text"] for row in listed if row["role"] == "user"][-2:] == ["destination: Porto", "hm"], "one session"
    settled = say("yes", seen=third["digest"])["workflow"]
    assert settled["workflow_id"] == second["workflow_id"] and settled["spec"]["destination"] == "Porto"
    assert say("yes")["workflow"]["text"].startswith("Nothing waits for a yes or no")
    unknown = server.client.post("/api/sessions/x/messages", json={"text": "hi", "workflow": "no"}, headers=as_ana)
    assert unknown.status_code == 404
    assert server.client.get("/api/sessions/x/messages", headers=as_ana).status_code == 404, "nothing was written"


def test_what_lies_at_hand_is_bounded() -> None:
    with served(policy={"working": {"variables": 3, "variable_bytes": 100}}) as server:

        def put(name: str, value: Any) -> httpx.Response:
            return server.client.put(
                f"/api/users/ana/working/{name}", json={"value": value}, headers=server.headers("user")
            )

        assert [put(f"v{n}", n).status_code for n in range(4)] == [200, 200, 200, 422]
        assert put("v1", "again").status_code == 200 and put("v0", None).status_code == 200
        assert put("v9", "fits now").json()["variables"] == {"v1": "again", "v2": 2, "v9": "fits now"}
        assert put("v1", "x" * 101).json()["code"] == "value_too_large"
        assert put("x" * 2000, 1).status_code == 422
