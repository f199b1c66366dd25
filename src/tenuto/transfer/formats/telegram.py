"""Telegram's JSON export (``result.json``): one chat, or all of an account. A whole account says who the user is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import ijson

from tenuto.records.conversation import Role
from tenuto.records.transfer import Parsed, Said, Skipped
from tenuto.transfer.parsing import Format, Options, mapping, moment, string, tidy
from tenuto.transfer.source import Member, Source
from tenuto.transfer.streams import json_events

CHATS = ("", "chats.list.item", "left_chats.list.item")


def _members(source: Source) -> list[Member]:
    found = source.named("result.json")
    return found or (source.members if len(source.members) == 1 else [])


def recognise(source: Source) -> bool:
    for member in _members(source)[:4]:
        head = member.head()
        if (b'"from_id"' in head or b'"actor_id"' in head or b'"personal_information"' in head) and (
            b'"messages"' in head or b'"chats"' in head
        ):
            return True
    return False


def parse(source: Source, options: Options) -> Iterator[Parsed]:
    for member in _members(source):
        yield from _document(source, member, options)


def _document(source: Source, member: Member, options: Options) -> Iterator[Parsed]:
    """Walks the events once: a chat's name and id stand before its messages."""
    chat: dict[str, Any] = {}
    account: str | None = None
    builder: ijson.ObjectBuilder | None = None
    inside = ""
    for prefix, event, value in json_events(source, member):
        if builder is not None:
            builder.event(event, value)
            if prefix == inside and event == "end_map":
                yield _message(mapping(builder.value), chat, account, f"{member.name}, {chat.get('name')}", options)
                builder = None
            continue
        if event == "start_map" and prefix in CHATS:
            chat = {}
        elif event == "start_map" and prefix.endswith("messages.item"):
            builder, inside = ijson.ObjectBuilder(), prefix
            builder.event(event, value)
        elif prefix == "personal_information.user_id":
            account = f"user{value}"
        elif prefix.rpartition(".")[0] in CHATS and event in ("string", "number"):
            chat[prefix.rpartition(".")[2]] = value


def _message(
    message: dict[str, Any], chat: dict[str, Any], account: str | None, where: str, options: Options
) -> Parsed:
    id = string(message.get("id"))
    where = f"{where}, message {id or '?'}"
    if message.get("type") != "message" or id is None:
        return Skipped(where=where, why="not something said")
    text = message.get("text")
    if isinstance(text, list):
        text = "".join(part if isinstance(part, str) else str(mapping(part).get("text") or "") for part in text)
    content = tidy(text)
    at = moment(message.get("date_unixtime")) or moment(message.get("date"), options.zone)
    if not content or at is None:
        return Skipped(where=where, why="no date" if at is None else "media without text")
    speaker, sender = string(message.get("from")), string(message.get("from_id"))
    mine = options.is_me(speaker, sender) or (account is not None and sender == account)
    metadata: dict[str, Any] = {}
    if message.get("reply_to_message_id"):
        metadata["reply_to"] = string(message["reply_to_message_id"])
    if kind := message.get("media_type") or ("photo" if message.get("photo") else None):
        metadata["attachments"] = [{"type": string(kind), "name": string(message.get("file_name"))}]
    thread = string(chat.get("id")) or string(chat.get("name")) or "chat"
    bot = chat.get("type") == "bot_chat" and not mine
    return Said(
        id=f"{thread}-{id}",
        content=content,
        role=Role.ASSISTANT if bot else Role.USER,
        at=at,
        thread=thread,
        title=string(chat.get("name")),
        speaker=speaker,
        mine=mine,
        metadata=metadata,
    )


FORMAT = Format("telegram", "Telegram export", recognise, parse, people=True)
