"""Memories that another memory system kept: mem0, LangMem and LangGraph stores, Letta agent files, Zep.

Each is a document of moderate size, read as a whole. What such a system remembered was distilled by a model from
conversations that cannot be checked here, so it enters as a candidate with its dates and waits to be vouched for.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from tenuto.errors import InputError
from tenuto.records.conversation import Role
from tenuto.records.memory import Domain, Kind, PinKind
from tenuto.records.transfer import Noted, Parsed, Said, Skipped
from tenuto.transfer.parsing import Format, Options, digest, listing, mapping, moment, number, string, tidy, words_of
from tenuto.transfer.source import Member, Source
from tenuto.transfer.streams import decoded, not_json

WHOLE = 512 * 1024**2
"""Largest document that is read as a whole."""
KINDS = {
    "preference": Kind.PREFERENCE, "preferences": Kind.PREFERENCE, "likes": Kind.PREFERENCE, "habit": Kind.HABIT,
    "relationship": Kind.RELATIONSHIP, "family": Kind.RELATIONSHIP, "project": Kind.PROJECT, "work": Kind.PROJECT,
}  # fmt: skip


def document(source: Source, *endings: str) -> tuple[Member, Any] | None:
    """The one JSON document of a source, decoded; ``None`` when there is none."""
    members = source.ending(*endings)
    if len(members) != 1:
        return None
    return members[0], load(source, members[0])


def load(source: Source, member: Member) -> Any:
    if member.size > WHOLE:
        raise InputError(f"{member.name} is larger than {WHOLE // 2**20} MiB: split it.", code="import_too_large")
    with source.stream(member) as file:
        data = file.read(WHOLE)
    try:
        return msgspec.json.decode(decoded(data) if data[:3] == b"\xef\xbb\xbf" else data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise not_json(member.name, error) from error


def _head(source: Source, *endings: str) -> bytes:
    members = source.ending(*endings)
    return members[0].head() if len(members) == 1 else b""


def _rows(value: Any, *names: str) -> list[dict[str, Any]]:
    """The list itself, or the list under one of the names."""
    found = value
    if isinstance(value, dict):
        found = next((value[name] for name in names if isinstance(value.get(name), list)), [])
    return [row for row in listing(found) if isinstance(row, dict)]


def _kind(*words: Any) -> Kind:
    return next((KINDS[str(word).lower()] for word in words if str(word).lower() in KINDS), Kind.FACT)


# --- mem0 -------------------------------------------------------------------------------------------------------------


def recognise_mem0(source: Source) -> bool:
    head = _head(source, ".json")
    return b'"memory"' in head and (b'"hash"' in head or b'"user_id"' in head or b'"results"' in head)


def parse_mem0(source: Source, options: Options) -> Iterator[Parsed]:
    found = document(source, ".json")
    for place, row in enumerate(_rows(found[1] if found else [], "results", "memories"), 1):
        text = tidy(row.get("memory") or row.get("text"))
        at = moment(row.get("updated_at")) or moment(row.get("created_at"))
        if not text:
            yield Skipped(where=f"memory {place}", why="no text")
            continue
        created = moment(row.get("created_at")) or at
        yield Noted(
            id=string(row.get("id")) or digest(text),
            content=text,
            at=created or options.now,
            kind=_kind(*listing(row.get("categories"))),
            valid_from=created,
            metadata={"mem0": _kept(row, "metadata", "categories", "agent_id", "run_id")},
        )


# --- LangMem and LangGraph --------------------------------------------------------------------------------------------


def recognise_langmem(source: Source) -> bool:
    head = _head(source, ".json", ".jsonl")
    return b'"namespace"' in head and b'"key"' in head and b'"value"' in head


def parse_langmem(source: Source, options: Options) -> Iterator[Parsed]:
    member = source.ending(".json", ".jsonl")[0]
    if member.name.lower().endswith(".jsonl"):
        with source.stream(member) as file:
            rows = [row for line in file.read(WHOLE).splitlines() if isinstance(row := _line(line), dict)]
    else:
        rows = _rows(load(source, member), "items", "results", "data")
    for place, row in enumerate(rows, 1):
        value = mapping(row.get("value"))
        text = tidy(words_of(value.get("content", value.get("memory", value)))) or tidy(_sentence(value))
        if not text:
            yield Skipped(where=f"item {place}", why="no text")
            continue
        space = [str(part) for part in listing(row.get("namespace"))]
        yield Noted(
            id="/".join([*space, string(row.get("key")) or digest(text)]),
            content=text,
            at=moment(row.get("created_at")) or moment(row.get("updated_at")) or options.now,
            kind=_kind(value.get("kind"), *space),
            metadata={"langmem": {"namespace": space, "kind": string(value.get("kind"))}},
        )


def _line(line: bytes) -> Any:
    try:
        return msgspec.json.decode(line)
    except msgspec.DecodeError:
        return None


def _sentence(value: dict[str, Any]) -> str:
    """A profile's fields as one line."""
    content = value.get("content") if isinstance(value.get("content"), dict) else value
    pairs = [(key, words_of(inner) or string(inner)) for key, inner in mapping(content).items() if key != "kind"]
    return "; ".join(f"{key}: {text}" for key, text in pairs if text)


# --- Letta ------------------------------------------------------------------------------------------------------------


def recognise_letta(source: Source) -> bool:
    head = _head(source, ".af", ".json")
    return (b'"core_memory"' in head or b'"blocks"' in head or b'"agent_type"' in head) and (
        b'"messages"' in head or b'"agents"' in head or b'"in_context_message_indices"' in head or b'"label"' in head
    )


def parse_letta(source: Source, options: Options) -> Iterator[Parsed]:
    found = document(source, ".af", ".json")
    whole = mapping(found[1] if found else {})
    agents = [mapping(agent) for agent in listing(whole.get("agents"))] or [whole]
    blocks = [*listing(whole.get("blocks")), *(b for agent in agents for b in listing(agent.get("core_memory")))]
    for block in map(mapping, blocks):
        label = string(block.get("label")) or "block"
        domain = Domain.AGENT if label == "persona" else Domain.PROFILE
        for paragraph in words_of(block.get("value")).split("\n"):
            if text := tidy(paragraph.strip("-*• ")):
                yield Noted(
                    id=digest(label, text),
                    content=text,
                    at=moment(block.get("updated_at")) or options.now,
                    domain=domain,
                    kind=Kind.CONTEXT_NOTE,
                    importance=7.0,
                    pin=PinKind.AUTO,
                    metadata={"letta": {"block": label}},
                )
    for passage in (
        mapping(one) for agent in agents for one in listing(agent.get("passages") or agent.get("archival_memory"))
    ):
        if text := tidy(passage.get("text")):
            at = moment(passage.get("created_at")) or options.now
            yield Noted(id=string(passage.get("id")) or digest(text), content=text, at=at)
    for agent in agents:
        yield from _letta_messages(agent, options)


def _letta_messages(agent: dict[str, Any], options: Options) -> Iterator[Parsed]:
    thread = string(agent.get("id")) or string(agent.get("name")) or "letta"
    roles = {"user": Role.USER, "assistant": Role.ASSISTANT, "tool": Role.TOOL}
    for place, message in enumerate(map(mapping, listing(agent.get("messages"))), 1):
        role = roles.get(str(message.get("role")))
        text = tidy(words_of(message.get("content") or message.get("text")))
        at = moment(message.get("created_at"))
        if role is None or not text or text.startswith('{"type": "heartbeat"') or at is None:
            yield Skipped(where=f"{thread}, message {place}", why="nothing that was said" if at else "no date")
            continue
        yield Said(
            id=f"{thread}-{string(message.get('id')) or place}",
            content=text,
            role=role,
            at=at,
            thread=thread,
            title=string(agent.get("name")),
            mine=role is Role.USER,
            model=string(message.get("model")),
        )


# --- Zep --------------------------------------------------------------------------------------------------------------


def recognise_zep(source: Source) -> bool:
    head = _head(source, ".json")
    return (b'"fact"' in head and (b'"edges"' in head or b'"facts"' in head or b'"valid_at"' in head)) or (
        b'"role_type"' in head and b'"messages"' in head
    )


def parse_zep(source: Source, options: Options) -> Iterator[Parsed]:
    found = document(source, ".json")
    whole = found[1] if found else {}
    for row in _rows(whole, "edges", "facts") or _rows(mapping(whole).get("facts"), "facts"):
        if not (text := tidy(row.get("fact"))):
            yield Skipped(where=f"fact {row.get('uuid')}", why="no text")
            continue
        ended = moment(row.get("invalid_at")) or moment(row.get("expired_at"))
        yield Noted(
            id=string(row.get("uuid")) or digest(text),
            content=text,
            at=moment(row.get("created_at")) or options.now,
            importance=number(row.get("rating"), 0, 1, 0.5) * 10,
            valid_from=moment(row.get("valid_at")),
            valid_to=ended,
            deprecated=ended is not None and ended <= options.now,
            metadata={"zep": _kept(row, "name", "source_node_uuid", "target_node_uuid")},
        )
    sessions = _rows(mapping(whole).get("sessions")) or [mapping(whole)]
    for session in sessions:
        yield from _zep_messages(session)


def _zep_messages(session: dict[str, Any]) -> Iterator[Parsed]:
    thread = string(session.get("session_id")) or string(session.get("thread_id")) or "zep"
    for row in map(mapping, [*listing(session.get("messages")), *listing(session.get("episodes"))]):
        kind = str(row.get("role_type") or row.get("role") or "user").lower()
        text, at = tidy(row.get("content")), moment(row.get("created_at"))
        if not text or at is None:
            yield Skipped(where=f"{thread}, message {row.get('uuid')}", why="no date" if text else "no text")
            continue
        mine = kind in ("user", "human")
        role = Role.USER if mine else Role.TOOL if kind in ("tool", "function") else Role.ASSISTANT
        speaker = string(row.get("role")) if row.get("role_type") else string(row.get("name"))
        id = string(row.get("uuid")) or digest(thread, at.isoformat(), text)
        yield Said(id=id, content=text, role=role, at=at, thread=thread, speaker=speaker, mine=mine)


def _kept(row: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: row[name] for name in names if row.get(name)}


MEM0 = Format("mem0", "mem0 memories", recognise_mem0, parse_mem0)
LANGMEM = Format("langmem", "LangMem or LangGraph store", recognise_langmem, parse_langmem)
LETTA = Format("letta", "Letta agent file", recognise_letta, parse_letta)
ZEP = Format("zep", "Zep export", recognise_zep, parse_zep)
