"""A Slack workspace export: ``users.json``, ``channels.json`` and one folder per channel with one file per day."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tenuto.records.conversation import Role
from tenuto.records.transfer import Parsed, Said, Skipped
from tenuto.text import patterns
from tenuto.transfer.parsing import Format, Options, mapping, moment, string, tidy
from tenuto.transfer.source import Member, Source
from tenuto.transfer.streams import json_items

DAY = patterns.compile(r"(?:^|/)([^/]+)/(\d{4}-\d{2}-\d{2})\.json$")
MARK = patterns.compile(r"<([@#!]?)([^<>|]+)(?:\|([^<>]*))?>")
NOISE = (
    "channel_join",
    "channel_leave",
    "channel_topic",
    "channel_purpose",
    "channel_name",
    "group_join",
    "group_leave",
)


def _days(source: Source) -> list[tuple[str, str, Member]]:
    found = [(match[1], match[2], member) for member in source.members if (match := DAY.search(member.name))]
    return sorted(found, key=lambda day: day[:2])


def recognise(source: Source) -> bool:
    return bool(source.named("users.json")) and bool(_days(source))


def parse(source: Source, options: Options) -> Iterator[Parsed]:
    people: dict[str, dict[str, Any]] = {}
    for member in source.named("users.json"):
        for user in json_items(source, member, "item"):
            if id := string(mapping(user).get("id")):
                people[id] = mapping(user)
    names = {id: _name(user) for id, user in people.items()}
    mine = {id for id, user in people.items() if options.is_me(id, *_all_names(user))}
    for channel, _, member in _days(source):
        for message in json_items(source, member, "item"):
            parsed = _message(mapping(message), channel, member.name, names, mine)
            if parsed is not None:
                yield parsed


def _message(message: dict[str, Any], channel: str, where: str, names: dict[str, str], mine: set[str]) -> Parsed | None:
    if message.get("type") != "message" or message.get("subtype") in NOISE:
        return None
    stamp, user = string(message.get("ts")), string(message.get("user"))
    at, text = moment(message.get("ts")), tidy(_plain(str(message.get("text") or ""), names))
    if at is None or stamp is None or not text:
        return Skipped(where=f"{where}, {message.get('ts')}", why="no date" if at is None else "no text")
    profile = mapping(message.get("user_profile"))
    speaker = names.get(user or "") or string(profile.get("real_name")) or string(message.get("username")) or user
    root = string(message.get("thread_ts"))
    metadata: dict[str, Any] = {"reply_to": f"{channel}-{root}"} if root and root != stamp else {}
    bot = message.get("subtype") == "bot_message" or bool(message.get("bot_id"))
    return Said(
        id=f"{channel}-{stamp}",
        content=text,
        role=Role.TOOL if bot else Role.USER,
        at=at,
        thread=f"{channel}/{root}" if root else channel,
        title=f"#{channel}",
        speaker=speaker,
        mine=bool(user) and user in mine,
        metadata=metadata,
    )


def _plain(text: str, names: dict[str, str]) -> str:
    """Slack's marks as plain words."""

    def word(match: patterns.Match) -> str:
        sign, target, label = match.groups()
        if sign == "@":
            return "@" + (label or names.get(target, target))
        return ("#" if sign == "#" else "") + (label or target)

    return MARK.sub(word, text).replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")


def _name(user: dict[str, Any]) -> str:
    return next((name for name in _all_names(user) if name), "")


def _all_names(user: dict[str, Any]) -> list[str | None]:
    profile = mapping(user.get("profile"))
    found = [
        user.get("real_name"),
        profile.get("real_name"),
        profile.get("display_name"),
        user.get("name"),
        profile.get("email"),
    ]
    return [string(name) for name in found]


FORMAT = Format("slack", "Slack export", recognise, parse, people=True)
