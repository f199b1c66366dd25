"""Filter names and values that want to be more than that: no row of another user comes back, and nothing breaks.

A few hundred here on each engine; ``TENUTO_TEST_CASES=2000`` for the full count. Every value goes through the library
and through HTTP, as a value, as the name of a filter, as an order, as a cursor and as an id. The control takes the
user out of the query, and must be caught.
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from starlette.testclient import TestClient

from tenuto.errors import TenutoError
from tenuto.facade.paging import LISTINGS
from tenuto.facade.store import Tenuto
from tenuto.records.base import to_plain
from tenuto.storage import conditions
from tenuto.surfaces.http.app import create_app
from tests.surfaces.kit import bearer, make_store

CASES = min(int(os.environ.get("TENUTO_TEST_CASES", "250")), 20_000)
MARK = "Xylophone"
"""A word that only ben ever said."""
PAYLOADS = [
    "' OR '1'='1", "' OR 1=1 --", '" OR ""="', "'; DROP TABLE messages; --", "x' UNION SELECT * FROM messages --",
    "ben", "ana' OR user_id='ben", "*", "%", "_", "%%", ":user", ":w0", "?", "$1", "%s", "{}", "{user}", "\\", "\\'",
    "user_id", "user_id=ben", "body", "id); --", "1); DELETE FROM memories; --", "-seq; SELECT 1", "-user_id",
    "CASE WHEN 1=1 THEN id END", "(SELECT body FROM messages LIMIT 1)", "' || (SELECT 1) || '", "/**/OR/**/1=1",
    "\x00", "a\x00' OR 1=1", "\ud800", "\u202e", "＇ OR 1=1", "ʼ OR 1=1", "' OR sleep(5)='", "0x31", "NULL", "null",
    "true", "[]", '["ben"]', '{"$ne": null}', '{"$gt": ""}', "__class__", "__proto__", "../ben", "..%2fben", "%27%20OR",
    "' AND pg_sleep(2) --", "$$ OR 1=1 $$", "E'\\047 OR 1=1'", "x" * 5000, "", " ", "\n", "\r\nTenuto-User: ben",
    "*:*", "content:*", "NEAR(a b)", '"unbalanced', "a AND (b", "-x", "^", "col:val", "9" * 400, "-1", "1e309", "NaN",
]  # fmt: skip
RECALL = ("kinds", "profile", "domain", "kind", "entity", "status", "channel", "session", "source", "role", "speaker",
          "persona", "since", "until", "outside", "limit")  # fmt: skip
FIND = ("status", "kind", "domain", "attribute", "entity", "pinned", "persona", "limit")


@pytest.fixture(params=["sqlite", "postgres"])
def store(request: pytest.FixtureRequest, tmp_path: object) -> Iterator[Tenuto]:
    url = f"{tmp_path}/t.db" if request.param == "sqlite" else request.getfixturevalue("fresh_database")()
    opened = make_store(url, upgrade=True)
    for user, words in (("ana", "I like tea with honey."), ("ben", f"My {MARK} is called {MARK} Junior.")):
        person = opened.user(user)
        for n in range(3):
            person.observe(f"{words} Number {n}.", id=f"{user}{n}", session="s1")
        person.remember(f"Loves the {MARK if user == 'ben' else 'piano'}", pin=True)
    opened.settle()
    yield opened
    opened.close()


def library(store: Tenuto, dice: random.Random, payload: str) -> Callable[[], Any]:
    ana, name, what = store.user("ana"), dice.choice(RECALL), dice.choice(list(LISTINGS))
    value: Any = (
        dice.choice([payload, [payload], {payload: payload}, (payload, None)]) if dice.random() < 0.3 else payload
    )
    filters = [*LISTINGS[what].filters, "entity", "since", "until", "order", "cursor", "limit"]
    return dice.choice([
        lambda: ana.recall(payload),
        lambda: ana.recall("what is called", **{name: value}),
        lambda: ana.recall("what is called", **{payload or "x": value}),
        lambda: ana.page(what, **{dice.choice(filters): value}),
        lambda: ana.page(what, **{payload or "x": value}),
        lambda: ana.page(payload),
        lambda: ana.get(what, value),
        lambda: ana.memories(**{dice.choice(FIND): value}),
        lambda: ana.todos(**{dice.choice(["status", "kind", "persona", "limit"]): value}),
        lambda: ana.messages(session_id=payload),
        lambda: ana.summaries(session_id=payload, versions=True),
        lambda: ana.entities(type=payload),
        lambda: ana.entity(payload),
        lambda: ana.memory(payload),
        lambda: ana.context("what is called", session=payload or None),
        lambda: store.user("ana", persona=payload or None, channel=payload or "api").recall("called"),
    ])  # fmt: skip


def over_http(client: TestClient, dice: random.Random, payload: str) -> Callable[[], Any]:
    what = dice.choice(["messages", "memories", "sessions", "entities", "todos", "event-log", "summaries"])
    listing = LISTINGS.get(what, LISTINGS["events"])
    query = dice.choice([*listing.filters, "entity", "order", "cursor", "limit", "persona", "since", payload or "x"])
    name, safe = dice.choice(RECALL), payload.encode("utf-8", "replace").decode()
    base = "/api/users/ana"
    return dice.choice([
        lambda: client.get(f"{base}/{what}", params={query: safe}),
        lambda: client.get(f"{base}/{what}/x", params={"persona": safe}),
        lambda: client.post(f"{base}/recall", json={"query": safe or "x"}),
        lambda: client.post(f"{base}/recall", json={"query": "what is called", name: safe}),
        lambda: client.post(f"{base}/recall", json={"query": "what is called", name: [safe]}),
        lambda: client.post(f"{base}/recall", json={"query": "what is called", safe: safe}),
        lambda: client.post(f"{base}/memories/find", json={dice.choice(FIND): safe}),
        lambda: client.post(f"{base}/memories/find", json={safe: {"$ne": None}}),
        lambda: client.post(f"{base}/context", json={"message": safe or "x", "session": safe}),
        lambda: client.get("/api/memory/pins/s1", headers={"Tenuto-User": safe.encode("ascii", "ignore")}),
    ])  # fmt: skip


def outcomes(store: Tenuto, cases: int) -> list[str]:
    """What went wrong, in words; empty when nothing did."""
    dice, wrong = random.Random(11), []
    key = store.create_key("ana's", scope="user", user="ana")[1]
    with TestClient(create_app(store, hosts=["testserver"]), raise_server_exceptions=False) as client:
        client.headers.update(bearer(key))
        for number in range(cases):
            payload = PAYLOADS[number % len(PAYLOADS)]
            try:
                found = to_text(library(store, dice, payload)())
            except TenutoError:
                found = ""
            except UnicodeEncodeError:
                found = ""  # a text that cannot be written at all
            except TypeError as error:
                if "unexpected keyword argument" not in str(error):
                    wrong.append(f"library, {payload!r}: {type(error).__name__}: {error}")
                continue
            except Exception as error:
                wrong.append(f"library, {payload!r}: {type(error).__name__}: {error}")
                continue
            if MARK in found:
                wrong.append(f"library, {payload!r}: a row of another user")
            try:
                response = over_http(client, dice, payload)()
            except (UnicodeError, ValueError):
                continue  # the client itself refuses to write such a request
            if response.status_code >= 500 or MARK in response.text:
                wrong.append(f"HTTP, {payload!r}: {response.status_code} {response.text[:200]}")
    return wrong


def to_text(found: Any) -> str:
    if isinstance(found, (list, tuple)):
        return " ".join(map(to_text, found))
    if hasattr(found, "messages") and hasattr(found, "volatile"):
        return str(found.messages)
    return str(to_plain(found)) if hasattr(found, "__dataclass_fields__") else str(found)


def test_no_filter_reaches_beyond_its_user(store: Tenuto) -> None:
    assert outcomes(store, CASES) == []
    assert len(store.user("ben").messages()) == 3 and len(store.user("ana").messages()) >= 3, "nothing was dropped"


def test_a_query_without_its_user_is_caught(store: Tenuto, monkeypatch: pytest.MonkeyPatch) -> None:
    real = conditions.where_sql

    def broken(*given: Any) -> Any:
        sql, parameters = real(*given)
        return sql.replace("user_id = :user", "(user_id = :user OR 1 = 1)"), parameters

    monkeypatch.setattr(conditions, "where_sql", broken)
    assert any("another user" in one or MARK in one for one in outcomes(store, 250))
