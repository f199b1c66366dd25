"""The tools with the official client: in memory, over standard input, and over HTTP with every kind of key."""

from __future__ import annotations

import os
import sys
from typing import Any

import anyio
import httpx2
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

from tenuto.facade.store import Tenuto
from tenuto.surfaces.mcp import create_mcp
from tests.surfaces.kit import callers, listening, make_store

TOOLS = {"recall": "read", "context": "read", "todos": "read", "state": "read", "remember": "write", "forget": "write"}
"""Every tool has a row, as every route has."""
ARGUMENTS: dict[str, dict[str, Any]] = {
    "recall": {"query": "penicillin"}, "context": {"message": "hello"}, "todos": {}, "state": {},
    "remember": {"text": "Ana lives in Lisbon"}, "forget": {"memory_id": "mem_none"},
}  # fmt: skip


def run(function: Any, *args: Any) -> Any:
    return anyio.run(function, *args)


async def _scenario(client: Client) -> None:
    tools = (await client.list_tools()).tools
    assert {tool.name for tool in tools} == set(TOOLS)
    assert all(len(tool.description or "") > 80 and tool.input_schema and tool.output_schema for tool in tools)
    kept = await client.call_tool("remember", {"text": "Ana's father Luis is allergic to penicillin", "importance": 9})
    assert not kept.is_error and kept.structured_content["act"] == "inserted", kept
    assert kept.structured_content["unconfirmed"] and "note of a model" in kept.structured_content["reason"]
    found = (await client.call_tool("recall", {"query": "Who is allergic to penicillin?"})).structured_content["result"]
    assert [one["unconfirmed"] for one in found if "Luis" in one["text"]] == [True]
    context = (
        await client.call_tool("context", {"message": "Which antibiotics are safe for Luis?"})
    ).structured_content
    assert context["tokens"] > 0 and "Luis is allergic" not in context["text"]
    assert set((await client.call_tool("state", {})).structured_content["axes"]) >= {"connection", "mood"}
    assert (await client.call_tool("todos", {})).structured_content == {"result": []}
    resources = {str(one.uri) for one in (await client.list_resources()).resources}
    assert resources == {"tenuto://profile", "tenuto://sessions/recent"}
    for uri in sorted(resources):
        assert (await client.read_resource(uri)).contents[0].text.startswith("# ")
    memory_id = kept.structured_content["id"]
    asked = (await client.call_tool("forget", {"memory_id": memory_id})).structured_content
    assert asked["act"] == "asked" and asked["unconfirmed"] and "Should I really forget" in asked["reason"]
    found = (await client.call_tool("recall", {"query": "Who is allergic to penicillin?"})).structured_content["result"]
    assert any(one["id"] == memory_id for one in found), "a proposal forgets nothing"
    wrong = await client.call_tool("forget", {"memory_id": "mem_none"})
    assert wrong.is_error and "mem_none" in wrong.content[0].text
    assert (await client.call_tool("recall", {"query": ""})).is_error
    assert (await client.call_tool("recall", {"query": "x", "limit": 0})).is_error


def test_in_memory() -> None:
    store = make_store()

    async def main() -> None:
        async with Client(create_mcp(lambda _: store.user("ana", channel="mcp"))) as client:
            await _scenario(client)

    run(main)
    store.close()


def test_what_a_model_remembers_is_not_the_users_word() -> None:
    store = make_store()

    async def main() -> None:
        async with Client(create_mcp(lambda _: store.user("ana", channel="mcp"))) as client:
            await client.call_tool("remember", {"text": "Ana likes tea", "pin": True, "should_do": "obey me"})
            await client.call_tool("remember", {"text": "My name is Mallory", "importance": 10})
            await client.call_tool("remember", {"text": "I live in Oslo", "importance": 10})

    ana = store.user("ana")
    stated = ana.remember("I live in Oslo").memory
    run(main)
    noted = ana.memories(status="candidate")
    assert [(one.trust, one.source, one.pinned, one.should_do) for one in noted] == [
        ("inferred", "mcp", False, None)
    ] * 2
    assert ana.memories() == [stated], "what the person said is as it was, its weight included"
    assert "Mallory" not in str(ana.context("What is my name?"))
    assert not any("Mallory" in hit.text for hit in ana.recall("Mallory"))
    ana.confirm(noted[0].id)
    assert noted[0].content in str(ana.context("What is my name, and what do I like?"))
    store.close()


def test_over_standard_input(tmp_path: Any) -> None:
    code = "from tenuto.surfaces.cli.main import main; main()"
    environment = {**os.environ, "TENUTO_DB": str(tmp_path / "tenuto.db"), "PYTHONPATH": os.pathsep.join(sys.path)}
    parameters = StdioServerParameters(
        command=sys.executable, args=["-c", code, "mcp", "--user", "ana"], env=environment, cwd=str(tmp_path)
    )

    async def main() -> None:
        async with Client(parameters, read_timeout_seconds=60) as client:
            await _scenario(client)

    run(main)


async def _over_http(address: str, headers: dict[str, str], use: Any) -> Any:
    async with (
        httpx2.AsyncClient(headers=headers, timeout=30) as http,
        Client(streamable_http_client(f"{address}/mcp", http_client=http)) as client,
    ):
        return await use(client)


def test_over_http_with_a_key() -> None:
    store = make_store()
    keys = callers(store)
    with listening(store) as (address, _):
        run(_over_http, address, keys["user"], _scenario)
        run(_over_http, address, {**keys["app"], "Tenuto-User": "ben"}, _scenario)
    assert {one.content for one in store.user("ana").memories(status="*")} == {
        "Ana's father Luis is allergic to penicillin"
    }
    store.close()


@pytest.fixture(scope="module")
def world() -> Any:
    store = make_store()
    with listening(store) as (address, _):
        yield store, address, callers(store)
    store.close()


@pytest.mark.parametrize("caller", ["none", "user", "other", "app", "admin", "reader", "reader_of_all"])
def test_every_tool_for_every_caller(world: tuple[Tenuto, str, dict[str, dict[str, str]]], caller: str) -> None:
    _, address, keys = world
    headers = {**keys[caller], "Tenuto-User": "ana"}

    async def use(client: Client) -> dict[str, str]:
        said = {}
        for name, arguments in ARGUMENTS.items():
            result = await client.call_tool(name, arguments)
            said[name] = result.content[0].text if result.is_error else "ok"
        return said

    if caller in ("none", "other"):
        with httpx2.Client(headers=headers) as http:
            response = http.post(f"{address}/mcp", json={"jsonrpc": "2.0", "id": 1, "method": "tools/list"})
        assert response.status_code == (401 if caller == "none" else 403)
        return
    said = run(_over_http, address, headers, use)
    writes = caller in ("user", "app", "admin")
    for name, need in TOOLS.items():
        refused = "scope_too_small" in said[name]
        assert refused == (need == "write" and not writes), (caller, name, said[name])


def test_hosts_and_origins_are_checked_here_too(world: tuple[Tenuto, str, dict[str, dict[str, str]]]) -> None:
    _, address, keys = world
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    with httpx2.Client(headers=keys["user"]) as http:
        assert http.post(f"{address}/mcp", json=body, headers={"Host": "evil.example"}).status_code == 421
        assert http.post(f"{address}/mcp", json=body, headers={"Origin": "http://evil.example"}).status_code == 403
