"""ChatGPT's data export: ``conversations.json``, a list of trees of which one branch was the conversation.

Only the branch that leads to ``current_node`` is taken: the others are answers that were thrown away. Reasoning
(``thoughts``) belongs to the answer after it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tenuto.records.conversation import Role
from tenuto.records.transfer import Parsed, Said, Skipped
from tenuto.transfer.parsing import Format, Options, listing, mapping, moment, string, tidy, words_of
from tenuto.transfer.source import Member, Source
from tenuto.transfer.streams import json_items

ROLES = {"user": Role.USER, "assistant": Role.ASSISTANT, "tool": Role.TOOL, "system": Role.SYSTEM}
QUIET = ("user_editable_context", "model_editable_context", "reasoning_recap", "system_error")
"""Kinds of content that were never said."""


def _members(source: Source) -> list[Member]:
    return [
        member
        for member in source.members
        if member.base.lower().startswith("conversations") and member.base.lower().endswith(".json")
    ] or (source.members if len(source.members) == 1 else [])


def recognise(source: Source) -> bool:
    return any(b'"mapping"' in member.head() for member in _members(source)[:4])


def parse(source: Source, options: Options) -> Iterator[Parsed]:
    for member in _members(source):
        for number, conversation in enumerate(json_items(source, member, "item"), 1):
            where = f"{member.name}, conversation {number}"
            if not isinstance(conversation, dict) or not isinstance(conversation.get("mapping"), dict):
                yield Skipped(where=where, why="not a conversation")
                continue
            yield from _conversation(conversation, where, options)


def _conversation(conversation: dict[str, Any], where: str, options: Options) -> Iterator[Parsed]:
    thread = string(conversation.get("conversation_id")) or string(conversation.get("id")) or where
    title = string(conversation.get("title"))
    at = moment(conversation.get("create_time"))
    thoughts: list[str] = []
    for node in _branch(conversation["mapping"], conversation.get("current_node")):
        message = mapping(mapping(node).get("message"))
        content = mapping(message.get("content"))
        kind = content.get("content_type")
        role = ROLES.get(str(mapping(message.get("author")).get("role")), Role.TOOL)
        at = moment(message.get("create_time")) or at
        if kind == "thoughts":
            thoughts += [words_of(mapping(one).get("content")) for one in listing(content.get("thoughts"))]
            continue
        hidden = mapping(message.get("metadata")).get("is_visually_hidden_from_conversation")
        text = tidy(_text(content))
        if not message or kind in QUIET or hidden or (role is Role.SYSTEM and not text):
            continue
        id = string(message.get("id"))
        if not text or id is None:
            yield Skipped(where=f"{where}, message {id or '?'}", why="no text")
            continue
        if at is None:
            yield Skipped(where=f"{where}, message {id}", why="no date")
            continue
        thinking = tidy("\n\n".join(thoughts)) if role is Role.ASSISTANT else ""
        if role is Role.ASSISTANT:
            thoughts = []
        yield Said(
            id=id,
            content=text,
            role=role,
            at=at,
            thread=thread,
            title=title,
            mine=role is Role.USER,
            thinking=thinking or None,
            model=string(mapping(message.get("metadata")).get("model_slug")),
            metadata=_attachments(message, content),
        )


def _branch(nodes: dict[str, Any], current: Any) -> list[Any]:
    """The nodes from the root to the current one; a loop in the data ends the walk."""
    if not isinstance(current, str) or current not in nodes:
        leaves = [id for id, node in nodes.items() if not listing(mapping(node).get("children"))]
        current = leaves[-1] if leaves else None
    branch, seen = [], set()
    while isinstance(current, str) and current in nodes and current not in seen:
        seen.add(current)
        branch.append(nodes[current])
        current = mapping(nodes[current]).get("parent")
    return branch[::-1]


def _text(content: dict[str, Any]) -> str:
    if "parts" in content:
        parts = [
            part if isinstance(part, str) else words_of(mapping(part).get("text")) for part in listing(content["parts"])
        ]
        return "\n".join(part for part in parts if part)
    return words_of(content.get("text") or content.get("result"))


def _attachments(message: dict[str, Any], content: dict[str, Any]) -> dict[str, Any]:
    named = [
        {
            "name": string(mapping(one).get("name")),
            "type": string(mapping(one).get("mime_type") or mapping(one).get("mimeType")),
        }
        for one in listing(mapping(message.get("metadata")).get("attachments"))[:20]
    ]
    pointers = [
        {"type": string(mapping(part).get("content_type"))}
        for part in listing(content.get("parts"))[:20]
        if isinstance(part, dict) and "asset_pointer" in part
    ]
    found = named or pointers
    return {"attachments": found} if found else {}


FORMAT = Format("chatgpt", "ChatGPT export", recognise, parse)
