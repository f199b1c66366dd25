"""Verbs on the event loop, over a real PostgreSQL: the same answers as elsewhere, and everybody gets their own."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest

from tenuto.errors import EmbedderError, InputError
from tenuto.recall import search
from tenuto.recall.outage import IN_A_ROW
from tenuto.stops import Away, Look
from tenuto.user import UserMemory, recalling
from tests.surfaces.kit import Served, make_store, served
from tests.surfaces.test_direct import ODD_BODIES

TALK = (
    "I drink green tea in the morning", "My sister Maria lives in Porto", "The dentist said it was the left molar",
    "Remember that I am allergic to peanuts", "We moved to Porto last winter", "The train to Braga was late again",
)  # fmt: skip
ASKED: tuple[dict[str, Any], ...] = (
    {"query": "tea in the morning"}, {"query": "Where does Maria live?"}, {"query": "Porto", "limit": 200},
    {"query": "peanuts", "kinds": ["memory"]}, {"query": "dentist", "kinds": ["message"], "limit": 1},
    {"query": "Porto", "since": "2020-01-01T00:00:00Z", "passages": True}, {"query": "xyzzy plugh"}, {"query": "?!"},
    {"query": "Porto", "until": "2020-01-01T00:00:00Z"}, {"query": "train", "channel": "api"}, {"query": "my name?"},
    {"query": "Maria", "speaker": "maria"}, {"query": "Porto", "profile": "companion"}, {"query": "a", "persona": "*"},
)  # fmt: skip


@pytest.fixture
def database(fresh_database: Callable[[], str]) -> str:
    return fresh_database()


@pytest.fixture
def server(database: str) -> Iterator[Served]:
    with served(make_store(database)) as made:
        yield made


def looks(server: Served, monkeypatch: pytest.MonkeyPatch) -> list[Look]:
    """What is looked up from the loop from now on, once that is possible."""
    desk: Any = server.client.app.state.desk  # type: ignore[attr-defined]
    until = time.monotonic() + 10
    while not server.client.portal.call(lambda: desk.ready):  # type: ignore[union-attr]
        assert time.monotonic() < until
        time.sleep(0.01)
    seen: list[Look] = []
    look = desk._looker.look

    def seeing(wanted: Look) -> Any:
        seen.append(wanted)
        return look(wanted)

    monkeypatch.setattr(desk._looker, "look", seeing)
    return seen


def found(server: Served, asked: dict[str, Any], user: str = "ana") -> list[tuple[str, float]]:
    response = server.post(f"/api/users/{user}/recall", asked)
    assert response.status_code == 200, response.text
    return [(hit["id"], round(hit["score"], 6)) for hit in response.json()["hits"]]


def said(response: httpx.Response) -> Any:
    """An answer without what depends on the moment it was given."""
    told = response.json()
    return [response.status_code, told.get("notes"), *(hit["id"] for hit in told.get("hits", ()))]


def test_the_loop_answers_as_the_threads_do(server: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    person = server.store.user("ana")
    for text in TALK:
        person.observe(text)
    server.store.settle()
    seen = looks(server, monkeypatch)
    for asked in ASKED:
        long = server.post("/api/users/ana/recall?channel=api", asked)
        short = server.post("/api/users/ana/recall", asked)
        assert said(short) == said(long), asked
    assert len(seen) > len(ASKED) // 2 and {wanted.user for wanted in seen} == {"ana"}


@pytest.mark.parametrize("name", ODD_BODIES)
def test_odd_bodies_get_the_same_answer_as_the_long_way(server: Served, name: str) -> None:
    server.store.user("ana").observe("I drink green tea")
    server.store.user("ana").recall("tea")
    headers = server.headers(content_type="application/json")
    path = "/api/users/ana/recall"
    for _ in range(3):  # the first may come before the line is ready
        short = server.client.post(path, content=ODD_BODIES[name], headers=headers)
        long = server.client.post(f"{path}?channel=api", content=ODD_BODIES[name], headers=headers)
        assert short.status_code == long.status_code
        assert short.status_code == 200 or short.json() == long.json()


def test_what_was_just_said_or_taken_away_is_known_at_once(
    server: Served, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.store.user("ana").observe("the first thing said")
    seen = looks(server, monkeypatch)
    with make_store(database) as elsewhere:
        other = elsewhere.user("ana")
        for number in range(15):
            text = f"harbour number {number} is foggy"
            server.post("/api/users/ana/observe", {"text": text})
            answer = server.post("/api/users/ana/recall", {"query": f"harbour number {number}"}).json()
            assert text in [hit["text"] for hit in answer["hits"]]
            kept = other.remember(f"The lantern of pier {number} is red")
            assert kept.id in dict(found(server, {"query": f"lantern of pier {number}", "limit": 50}))
            other.forget(kept.id)
            assert kept.id not in dict(found(server, {"query": f"lantern of pier {number}", "limit": 50}))
    assert seen


def test_everybody_gets_their_own(server: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    users = [f"user {number}" for number in range(8)]
    for user in users:
        for number in range(6):
            server.store.user(user).observe(f"{user} keeps the notebook {number} in the kitchen")
        server.store.user(user).recall("notebook")
    seen = looks(server, monkeypatch)

    def ask(number: int) -> bool:
        user = users[number % len(users)]
        response = server.post(f"/api/users/{user}/recall", {"query": "notebook kitchen", "kinds": ["message"]})
        return all(hit["text"].startswith(f"{user} keeps") for hit in response.json()["hits"]) and response.is_success

    with ThreadPoolExecutor(16) as pool:
        assert all(pool.map(ask, range(400)))
    assert len(seen) >= 400


def test_a_restart_of_the_database_is_survived(server: Served, database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from tests.contract.test_postgres_wire import end_others

    server.store.user("ana").observe(TALK[0])
    expected = found(server, {"query": "tea"})
    looks(server, monkeypatch)
    end_others(database)
    answers = [server.post("/api/users/ana/recall", {"query": "tea"}).status_code for _ in range(40)]
    assert set(answers) <= {200, 503} and answers[-1] == 200
    time.sleep(1.1)
    assert found(server, {"query": "tea"}) == expected
    seen = looks(server, monkeypatch)
    assert found(server, {"query": "tea"}) == expected and seen


# --- the stops themselves, on the store in memory ---------------------------------------------------------------------


def taken(person: UserMemory, answers: Callable[[Look], Any], **asked: Any) -> tuple[Any, list[str]]:
    """Take a recall through its stops; its result, and where it stopped."""
    steps, stopped, given = recalling(person, **asked), [], None
    try:
        while True:
            wanted = steps.send(given)
            stopped.append("away" if isinstance(wanted, Away) else wanted.type.__name__)
            given = wanted.work() if isinstance(wanted, Away) else answers(wanted)
    except StopIteration as end:
        return end.value, stopped


def test_a_recall_stops_where_it_would_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    with make_store() as store:
        person = store.user("ana")
        person.observe(TALK[0])
        store.settle()

        def read(wanted: Look) -> Any:
            with store.deps.store.reading(wanted.user, at=wanted.at) as reader:
                return reader.get_many(wanted.type, wanted.ids)

        plain = [hit.id for hit in person.recall("tea", kinds=["message"])]
        for answers, stops in ((read, ["away", "Message"]), (lambda _: None, ["away", "Message", "away"])):
            hits, stopped = taken(person, answers, query="tea", kinds=["message"])
            assert [hit.id for hit in hits] == plain and stopped == stops
        hits, stopped = taken(person, read, query="tea", kinds=["todo"])
        assert hits == [] and hits.notes and stopped == ["away", "Message"], "nothing is also looked up"
        assert taken(person, read, query="tea", channel="api")[1] == ["away", "away"], "only the store knows channels"
        monkeypatch.setattr(search, "SMALL", 0)
        assert taken(person, read, query="tea")[1] == ["away", "away"], "a large index takes longer than a loop may"
        monkeypatch.undo()
        with pytest.raises(InputError):
            taken(person, read, query="tea", limit=0)
        monkeypatch.setattr(store.deps.embedder, "embed", down)
        for number in range(5):
            hits, stopped = taken(person, read, query="tea", kinds=["message"])
            assert plain[0] in [hit.id for hit in hits] and hits.notes == ("searched by words only: down",)
            assert stopped == (["away", "Message"] if number < IN_A_ROW else ["Message"]), (
                "one that is down is not asked"
            )


def down(*given: Any, **named: Any) -> Any:
    raise EmbedderError("down")


def test_a_store_at_hand_needs_no_looker() -> None:
    with make_store() as store:
        assert store.deps.store.looker(asyncio.new_event_loop()) is None
