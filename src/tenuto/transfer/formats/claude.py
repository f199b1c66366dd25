"""Claude's data export: ``conversations.json`` with ``chat_messages``; ``memories.json`` where memory was on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tenuto.records.conversation import Role
from tenuto.records.memory import Domain, Kind
from tenuto.records.transfer import Noted, Parsed, Said, Skipped
from tenuto.transfer.parsing import Format, Options, digest, listing, mapping, moment, string, tidy, words_of
from tenuto.transfer.source import Member, Source
from tenuto.transfer.streams import json_items


def _members(source: Source) -> list[Member]:
    found = source.named("conversations.json")
    return found or (source.members if len(source.members) == 1 else [])


def recognise(source: Source) -> bool:
    return any(b'"chat_messages"' in member.head() for member in _members(source)[:4])


def parse(source: Source, options: Options) -> Iterator[Parsed]:
    for member in _members(source):
        for number, conversation in enumerate(json_items(source, member, "item"), 1):
            where = f"{member.name}, conversation {number}"
            if not isinstance(conversation, dict):
                yield Skipped(where=where, why="not a conversation")
                continue
            thread = string(conversation.get("uuid")) or where
            for message in listing(conversation.get("chat_messages")):
                yield _message(mapping(message), conversation, thread, where)
    for member in source.named("memories.json"):
        yield from _memories(source, member, options)


def _message(message: dict[str, Any], conversation: dict[str, Any], thread: str, where: str) -> Parsed:
    id = string(message.get("uuid"))
    parts = [mapping(part) for part in listing(message.get("content"))]
    text = tidy("\n".join(words_of(part.get("text")) for part in parts if part.get("type", "text") == "text"))
    text = text or tidy(message.get("text"))
    thinking = tidy("\n\n".join(words_of(part.get("thinking")) for part in parts if part.get("type") == "thinking"))
    at = moment(message.get("created_at")) or moment(conversation.get("created_at"))
    if not text or id is None or at is None:
        return Skipped(
            where=f"{where}, message {id or '?'}", why="no text" if not text else "no id" if not id else "no date"
        )
    mine = message.get("sender") in ("human", "user")
    files = [
        {"name": string(mapping(one).get("file_name"))}
        for one in [*listing(message.get("attachments")), *listing(message.get("files"))][:20]
    ]
    return Said(
        id=id,
        content=text,
        role=Role.USER if mine else Role.ASSISTANT,
        at=at,
        thread=thread,
        title=string(conversation.get("name")),
        mine=mine,
        thinking=thinking or None,
        metadata={"attachments": files} if files else {},
    )


def _memories(source: Source, member: Member, options: Options) -> Iterator[Parsed]:
    for item in json_items(source, member, "item"):
        texts = [words_of(mapping(item).get("conversations_memory"))]
        texts += [words_of(text) for text in mapping(mapping(item).get("project_memories")).values()]
        for paragraph in (part for text in texts for part in text.split("\n\n")):
            if content := tidy(paragraph):
                yield Noted(
                    id=digest(content), content=content, at=options.now, domain=Domain.PROFILE, kind=Kind.CONTEXT_NOTE
                )


FORMAT = Format("claude", "Claude export", recognise, parse)
