"""Row 26: filters whose names and values are SQL."""

from __future__ import annotations

import itertools
import random
import re
from collections.abc import Callable
from typing import Any
from unittest import mock

import apsw
import psycopg

import tenuto
from tenuto.errors import TenutoError
from tenuto.facade.paging import LISTINGS
from tenuto.storage import conditions
from tests import servers
from tests.reliability.scorecard import Measured, Work, row
from tests.reliability.spelled import spelled
from tests.surfaces.kit import make_store, served

SECRET = "marmalade"
"""A word of the other user: whoever sees it sees too much."""
EVIL = [
    "' OR '1'='1", "' OR 1=1 --", "x' OR user_id='ben", "ana' UNION SELECT body FROM messages --", "'; DROP TABLE messages; --",
    "\" OR \"\"=\"", "1 OR 1=1", "1) OR (1=1", "') OR ('a'='a", "%' OR '1'='1", "\\' OR 1=1 --", "ben", "*", "%", "_", "?", ":user",
    "%(user)s", "$1", "{user}", "user_id", "''", "\"", "'", ";", "--", "/*", "NULL", "null", "None", "true", "-1", "0", "1e309", "NaN",
    "0x7f", "\x00", "\x1f", "\n", "\ud800", "ʼ OR 1=1", "＇ OR 1=1", "‮", "a" * 5000, "[]", "{}", "[\"ben\"]", "{\"user\": \"ben\"}",
    "=cmd|' /C calc'!A0", "../../ben", "${jndi:ldap://x}", "{{7*7}}", "sleep(5)", "pg_sleep(5)", "randomblob(1000000000)",
]  # fmt: skip
KEYS = [
    "user", "user_id", "user_id = 'ben' OR", "1=1; --", "id", "body", "__class__", "scope", "self", "where", "order", "limit", "kind",
    "status", "persona", "channel", "source", "entity", "domain", "speaker", "role", "session", "since", "until", "cursor", "kinds",
    "x' OR '1'='1", "content", "sql",
]  # fmt: skip
Ask = Callable[[tenuto.UserMemory, str, Any], Any]


def _recall(person: tenuto.UserMemory, key: str, value: Any) -> Any:
    return person.recall("secret recipe", **{key: value})


def _query(person: tenuto.UserMemory, key: str, value: Any) -> Any:
    return person.recall(
        value if isinstance(value, str) else "x", **({key: "ben"} if key in ("speaker", "role") else {})
    )


def _page(person: tenuto.UserMemory, key: str, value: Any) -> Any:
    return [person.page(what, **{key: value}).items for what in ("messages", "memories", "todos")]


def _memories(person: tenuto.UserMemory, key: str, value: Any) -> Any:
    return person.memories(**{key: value})


def _get(person: tenuto.UserMemory, key: str, value: Any) -> Any:
    return [person.get(what, value) for what in LISTINGS if what in ("messages", "memories")]


def _messages(person: tenuto.UserMemory, key: str, value: Any) -> Any:
    return person.messages(session_id=value)


ASKS: tuple[Ask, ...] = (_recall, _page, _memories, _query, _get, _messages)


def fill(store: tenuto.Tenuto) -> None:
    for user, word in (("ana", "oatmeal"), ("ben", SECRET)):
        for number in range(3):
            store.user(user).observe(f"My secret recipe {number} needs {word}. I love {word}.", speaker=user)
        store.user(user).remember(f"I love {word}", pin=True)
    store.settle()


def inject(work: Work) -> Measured:
    """By the library's own verbs and through the server, on a file and on PostgreSQL."""
    half = work.count // 2
    file = inject_into(work.part(work.count - half, "file"), str(work.folder / "tenuto.db"))
    if not half:
        return file
    database = inject_into(work.part(half, "postgres"), servers.fresh_database(), offset=work.count - half)
    return Measured(
        done=file.done + database.done, bad=file.bad + database.bad, words=f"{file.words}; PostgreSQL: {database.words}"
    )


def inject_into(work: Work, url: str, offset: int = 0) -> Measured:
    leaked, broken = 0, 0
    cases = list(itertools.product(ASKS, KEYS, EVIL))
    random.Random(2).shuffle(cases)
    with served(make_store(url)) as server:
        fill(server.store)
        ana = server.store.user("ana")
        for number in work:
            ask, key, value = cases[(number + offset) % len(cases)]
            if number % 3 == 2:
                leak, error = over_http(server, key, value, number)
                leaked, broken = leaked + leak, broken + error
                continue
            try:
                leaked += SECRET in spelled(ask(ana, key, value))
            except TenutoError:
                pass
            except TypeError as error:
                if " argument" not in str(error):
                    print(f"{ask.__name__} {key}={value!r:.60}: {error}")
                    broken += 1
            except (apsw.Error, psycopg.Error, ValueError, KeyError, AttributeError) as error:
                print(f"{ask.__name__} {key}={value!r:.60}: {type(error).__name__}: {error}")
                broken += 1
        whole = len(server.store.user("ben").messages()) == 3 and len(ana.messages(limit=9)) == 3
    return Measured(
        done=work.done, bad=leaked + broken + (not whole), words=f"{leaked} saw another user, {broken} server errors"
    )


def over_http(server: Any, key: str, value: str, number: int) -> tuple[int, int]:
    headers = server.headers("user")
    try:
        if number % 2:
            path = ("messages", "memories", "todos", "sessions")[number % 4]
            response = server.client.get(f"/api/users/ana/{path}", params={key: value}, headers=headers)
        else:
            body = {"query": "secret recipe", key: value}
            response = server.client.post("/api/users/ana/recall", json=body, headers=headers)
    except (UnicodeEncodeError, ValueError):
        return 0, 0
    return int(SECRET in response.text), int(response.status_code >= 500)


@row(
    26,
    "2,000 filter-key and filter-value injections: 0 rows outside the scope, 0 server errors",
    unit="injections",
    full=2000,
    gate=150,
)
def injections(work: Work) -> Measured:
    return inject(work)


@injections.control("values that are written into the SQL")
def concatenated(work: Work) -> Measured:
    honest = conditions.where_sql

    def careless(table: Any, where: Any, vault: Any, user: str) -> Any:
        sql, parameters = honest(table, where, vault, user)
        for number, condition in enumerate(where):
            if condition.op == "=" and isinstance(condition.value, str):
                sql = re.sub(rf":w{number}\b", lambda _, said=condition.value: f"'{said}'", sql)
        return sql, parameters

    with mock.patch.object(conditions, "where_sql", careless):
        return inject_into(work.part(400, "sql"), str(work.folder / "tenuto.db"))
