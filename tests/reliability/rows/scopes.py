"""Rows 8 and 9: nobody reads what is another's, whatever is asked, whichever guard is gone, whoever hangs up."""

from __future__ import annotations

import asyncio
import json
import random
import re
from collections import Counter, deque
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from unittest import mock

import tenuto
from tenuto.errors import TenutoError
from tenuto.facade.asynchronous import AsyncTenuto
from tenuto.storage import postgres, sqlite
from tenuto.surfaces.proxy import Upstream as Where
from tests import servers
from tests.reliability.scorecard import Measured, Work, row
from tests.reliability.spelled import spelled
from tests.reliability.test_row_security import as_application
from tests.surfaces.kit import Served, bearer, make_store, served
from tests.upstream import Served as Listening
from tests.upstream import Upstream

USERS = [f"user{number}" for number in range(6)]
MARK = re.compile(r"zq(user\d)zq")
"""Everything that a user says holds the user's own mark."""


def fill(store: tenuto.Tenuto) -> dict[str, dict[str, str]]:
    """Something of every kind for every user; by user the ids of it."""
    ids = {}
    for user in USERS:
        person = store.user(user, persona="coach")
        for number in range(5):
            person.observe(
                f"My boat number {number} is called zq{user}zq and I love sailing on Fridays.", thinking=f"zq{user}zq"
            )
        memory = person.remember(f"My boat is called zq{user}zq", pin=True)
        person.edit(memory.id, content=f"My best boat is called zq{user}zq")
        store.settle()
        person.close_session()
        store.settle()
        person.observe(f"Remind me to paint zq{user}zq tomorrow.")
        store.settle()
        ids[user] = {"memories": memory.id, "messages": person.messages()[0].id, "sessions": person.sessions()[0].id}
    return ids


def reads(
    server: Served, ids: dict[str, dict[str, str]], folder: Path, dice: random.Random, upstream: Upstream
) -> dict[str, Callable[[str, str], Any]]:
    """Every way to read: (who asks, whose ids are tried) → what came back."""
    store, client = server.store, server.client
    keys = {user: bearer(store.create_key(user, scope="user", user=user)[1]) for user in USERS}

    def of(user: str) -> tenuto.UserMemory:
        return store.user(user, persona="coach")

    def export(user: str, other: str) -> str:
        path = folder / "export.json"
        path.unlink(missing_ok=True)
        of(user).export(path)
        return path.read_text()

    def http(path: str) -> Callable[[str, str], str]:
        return lambda user, other: client.get(path.format(user=user, **ids[other]), headers=keys[user]).text

    def mcp(user: str, other: str) -> str:
        call = {"name": "recall", "arguments": {"query": f"boat zq{other}zq"}}
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
        headers = {**keys[user], "Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2025-06-18"}
        return without_question(client.post("/mcp", json=body, headers=headers).text, other)

    def post(path: str, body: Callable[[str], dict[str, Any]]) -> Callable[[str, str], str]:
        def ask(user: str, other: str) -> str:
            return without_question(
                client.post(path.format(user=user), json=body(other), headers=keys[user]).text, other
            )

        return ask

    def proxied(user: str, other: str) -> str:
        """What the model behind the proxy was sent."""
        upstream.asked.clear()
        body = {"model": "m", "messages": [{"role": "user", "content": f"Which boat? {dice.random()}"}]}
        headers = {**keys[user], "Tenuto-Persona": "coach"}
        client.post("/v1/chat/completions", json=body, headers=headers)
        return repr(upstream.asked)

    return {
        "get": lambda user, other: of(user).get("memories", ids[other]["memories"]),
        "get message": lambda user, other: of(user).get("messages", ids[other]["messages"]),
        "list": lambda user, other: [of(user).page(what).items for what in ("messages", "memories", "todos", "summaries")],
        "memories": lambda user, other: of(user).memories(status="*"),
        "recall": lambda user, other: of(user).recall(f"boat zq{other}zq"),
        "context": lambda user, other: [one["content"] for one in of(user).context("Which boat?").messages],
        "history": lambda user, other: of(user).history(ids[other]["memories"]),
        "messages": lambda user, other: of(user).messages(session_id=ids[other]["sessions"]),
        "entities": lambda user, other: [of(user).entities(), of(user).todos(), of(user).key_points(), of(user).summaries()],
        "export": export,
        "http list": http("/api/users/{user}/messages"),
        "http get": http("/api/users/{user}/memories/{memories}"),
        "http history": http("/api/users/{user}/memories/{memories}/history"),
        "http recall": post("/api/users/{user}/recall?persona=coach", lambda other: {"query": f"boat zq{other}zq"}),
        "http events": http("/api/users/{user}/changes"),
        "page": http("/u/{user}/memories"),
        "page memory": http("/u/{user}/memories/{memories}"),
        "page timeline": http("/u/{user}/timeline"),
        "mcp": mcp,
        "proxy": proxied,
        "other's path": lambda user, other: client.get(f"/api/users/{other}/messages", headers=keys[user]).text,
    }  # fmt: skip


SILENT = ("other's path", "http events")
"""What is refused, and what carries no content: they may show nothing."""


def without_question(text: str, other: str) -> str:
    """An answer that repeats the question has shown nothing."""
    return text.replace(f"boat zq{other}zq", "")


def look(work: Work, url: str, *, broken: type[Any] | None = None) -> Measured:
    """Random reads by random users with random others' ids; whatever carries another's mark is a leak.

    ``broken`` is a connection that loses the store's own condition on the user once everything is filled in.
    """
    dice, leaks, shown = random.Random(6), Counter[str](), Counter[str]()
    direct = broken is not None
    with ExitStack() as stack:
        upstream = Upstream()
        behind = stack.enter_context(Listening(upstream.app()))
        server = stack.enter_context(served(make_store(url), Where(openai=f"{behind.url}/v1", key="sk-upstream")))
        ids = fill(server.store)
        ways = reads(server, ids, work.folder, dice, upstream)
        if broken is not None:
            stack.enter_context(unfiltered(broken))
        names = [name for name in ways if not direct or not name.startswith(("http", "page", "mcp", "proxy", "other"))]
        for _ in work:
            user = dice.choice(USERS)
            other = user if dice.random() < 0.3 else dice.choice(USERS)
            name = dice.choice(names)
            if dice.random() < 0.02:
                server.store.deps.indexes.drop(dice.choice(USERS))
            try:
                found = ways[name](user, other)
            except TenutoError:
                continue
            text = found if isinstance(found, str) else spelled(found)
            marks = set(MARK.findall(text.replace(f"boat zq{other}zq", "") if name == "recall" else text))
            leaks[name] += bool(marks - {user})
            shown[name] += user in marks
    blind = [name for name in names if not shown[name] and name not in SILENT] if work.done > 500 else []
    found = ", ".join(f"{name} {count}" for name, count in leaks.items() if count)
    found += f" (shows nothing at all: {', '.join(blind)})" if blind else ""
    return Measured(
        done=work.done, bad=sum(leaks.values()) + len(blind), words=f"{sum(leaks.values())} leaks {found}".strip()
    )


def unfiltered(connection: type[Any]) -> Any:
    """The store's own condition on the user is taken out of every reading statement."""
    rows = connection.rows

    def careless(self: Any, sql: str, parameters: Any) -> Any:
        if sql.lstrip().upper().startswith("SELECT"):
            sql = sql.replace("user_id = :user", "(user_id = :user OR :user = :user)")
        return rows(self, sql, parameters)

    return mock.patch.object(connection, "rows", careless)


@row(
    8,
    "0 reads across users in 100,000 random operations over every read path (get, list, recall, context, export, history, MCP, "
    "proxy, cache, page), both engines; then again with the application's own filter removed (row-level security holds)",
    unit="operations",
    full=100_000,
    gate=300,
    share=4,
)
def across(work: Work) -> Measured:
    share = max(1, work.count // 4)
    file = look(work.part(work.count - 2 * share, "file", 0.4), str(work.folder / "tenuto.db"))
    role = as_application(servers.fresh_database())
    database = look(work.part(share, "postgres", 0.5), role)
    role = as_application(servers.fresh_database())
    bare = look(work.part(share, "bare"), role, broken=postgres.PostgresConnection)
    parts = {"SQLite": file, "PostgreSQL": database, "PostgreSQL without the filter": bare}
    return Measured(
        done=sum(one.done for one in parts.values()),
        bad=sum(one.bad for one in parts.values()),
        words="; ".join(f"{name}: {one.words} in {one.done:,}" for name, one in parts.items()),
    )


@across.control("drop one WHERE")
def one_where(work: Work) -> Measured:
    return look(work.part(150, "where"), str(work.folder / "where.db"), broken=sqlite.SqliteConnection)


# --- 9: cancellations -------------------------------------------------------------------------------------------------


async def hang_up(work: Work, ask: Callable[[str], Any], dice: random.Random) -> Measured:
    """Ask in many tasks at once and cancel some of them at any moment; every answer must be the asker's own."""
    foreign, cancelled, answered = 0, 0, 0

    async def one(user: str) -> None:
        nonlocal foreign, answered
        text = await ask(user)
        answered += 1
        foreign += any(mark != user for mark in MARK.findall(text))

    numbers = iter(work)
    while True:
        batch = [number for number, _ in zip(numbers, range(16), strict=False)]
        if not batch:
            break
        tasks = [asyncio.create_task(one(dice.choice(USERS))) for _ in batch]
        for task in tasks:
            if dice.random() < 0.5:
                await asyncio.sleep(dice.random() * 0.002)
                task.cancel()
                cancelled += 1
        await asyncio.gather(*tasks, return_exceptions=True)
    for user in USERS:
        text = await ask(user)
        foreign += any(mark != user for mark in MARK.findall(text)) or not MARK.findall(text)
    return Measured(
        done=cancelled,
        bad=foreign,
        words=f"{foreign} foreign replies, {cancelled:,} cancelled, {answered:,} answered",
    )


def asking(face: AsyncTenuto) -> Callable[[str], Any]:
    async def ask(user: str) -> str:
        person = face.user(user, persona="coach")
        return spelled([await person.recall("boat"), await person.messages(limit=3)])

    return ask


@row(9, "0 foreign replies in 10,000 random cancellations", unit="cancellations", full=10_000, gate=80, share=2)
def cancellations(work: Work) -> Measured:
    valkey = servers.valkey()

    def play(url: str, part: Work) -> Measured:
        with make_store(url, redis=valkey.url()) as store:
            fill(store)
            return asyncio.run(hang_up(part, asking(AsyncTenuto(store)), random.Random(3)))

    file = play(str(work.folder / "tenuto.db"), work.part(int(work.count * 1.1) + 40, "file", 0.5))
    database = play(as_application(servers.fresh_database()), work.part(int(work.count * 1.1) + 40, "postgres"))
    return Measured(
        done=file.done + database.done,
        bad=file.bad + database.bad,
        words=f"SQLite: {file.words}; PostgreSQL: {database.words}",
    )


@cancellations.control("return a connection without reset")
def not_reset(work: Work) -> Measured:
    """One connection on which answers come in the order of the questions: a cancelled one leaves its answer behind."""
    answers: deque[str] = deque()

    async def ask(user: str) -> str:
        answers.append(json.dumps(f"zq{user}zq"))
        await asyncio.sleep(0.001)
        return answers.popleft()

    return asyncio.run(hang_up(work.part(100, "reset"), ask, random.Random(3)))
