"""Google Takeout's record of Gemini: ``MyActivity.json``, newest first, a prompt and its answer as HTML."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tenuto.records.conversation import Role
from tenuto.records.transfer import Parsed, Said, Skipped
from tenuto.text.html import to_text
from tenuto.transfer.parsing import Format, Options, digest, listing, mapping, moment, string, tidy
from tenuto.transfer.source import Member, Source
from tenuto.transfer.streams import json_items

HEADERS = (b"Gemini Apps", b"Bard")
PROMPTED = ("Prompted ", "Asked ", "Said ")


def _members(source: Source) -> list[Member]:
    named = [member for member in source.ending(".json") if "myactivity" in member.base.lower().replace(" ", "")]
    return [member for member in named or source.members[:1] if any(header in member.head() for header in HEADERS)]


def recognise(source: Source) -> bool:
    return any(b'"title"' in member.head() and b'"time"' in member.head() for member in _members(source))


def parse(source: Source, options: Options) -> Iterator[Parsed]:
    for member in _members(source):
        for number, item in enumerate(json_items(source, member, "item"), 1):
            yield from _exchange(mapping(item), f"{member.name}, entry {number}", options)


def _exchange(item: dict[str, Any], where: str, options: Options) -> Iterator[Parsed]:
    at = moment(item.get("time"))
    title = tidy(item.get("title"))
    prompt = next((title.removeprefix(word) for word in PROMPTED if title.startswith(word)), "")
    if at is None or not prompt:
        yield Skipped(where=where, why="no date" if at is None else "not a prompt")
        return
    id, day = digest(str(item.get("time")), prompt), f"gemini {at:%Y-%m-%d}"
    files = [{"name": string(mapping(one).get("name"))} for one in listing(item.get("subtitles"))[:20]]
    attached = {"attachments": files} if files else {}
    yield Said(id=f"{id}-q", content=prompt, role=Role.USER, at=at, thread=day, mine=True, metadata=attached)
    html = "\n".join(str(mapping(part).get("html") or "") for part in listing(item.get("safeHtmlItem")))
    if answer := tidy(to_text(html[: options.policy.html_bytes])):
        yield Said(id=f"{id}-a", content=answer, role=Role.ASSISTANT, at=at, thread=day, mine=False)


FORMAT = Format("gemini", "Gemini activity (Google Takeout)", recognise, parse)
