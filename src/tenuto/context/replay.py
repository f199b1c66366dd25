"""What memory added to the turns of this session, so that it can be sent again in the same place.

A note that is shown once and then gone is paid for twice: it breaks the prompt cache at its turn, and it is recalled
and sent anew for the next one. So a turn is replayed together with what memory had added to it, word for word, and what
is in sight is not said again. The list of what was added lives in working memory as ids: losing it costs a cache, never
a fact, and a memory that was forgotten meanwhile is not shown again, because the lines are made from the records as
they are now.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo
from hashlib import blake2b
from typing import Any

from tenuto.context import render
from tenuto.context.templates import Templates
from tenuto.records.conversation import KeyPoint, Message, Summary
from tenuto.records.memory import RECALLED, Memory, Todo

Record = Memory | Message | Summary | KeyPoint | Todo
MOST = 32
"""Turns whose notes are kept at hand."""


@dataclass(frozen=True, slots=True)
class Remembered:
    """What was added to one turn: the digest of what the user said, the text, and what the text holds."""

    said: str
    text: str
    shows: tuple[tuple[str, str], ...]


def digest(text: str) -> str:
    return blake2b(text.encode("utf-8", "replace"), digest_size=9).hexdigest()


def name(persona: str | None, session: str | None) -> str:
    """The variable of working memory that holds the list; a name with an underscore in front is not shown to models."""
    return f"_recalled/{persona or ''}/{session or ''}"


def noted(
    kept: Any, anchor: str, place: int, message: str, at: datetime, items: Sequence[tuple[str, str, str]]
) -> dict[str, Any]:
    """The list with this turn in it. ``items`` are (block, kind, id) in the order shown."""
    turns = {number: turn for number, turn in _turns(kept, anchor).items() if number < place}
    turns[place] = {"place": place, "said": digest(message), "at": at.isoformat(), "items": [list(i) for i in items]}
    return {"anchor": anchor, "turns": [turns[number] for number in sorted(turns)[-MOST:]]}


def wanted(kept: Any, anchor: str) -> list[tuple[str, str]]:
    """(kind, id) of the records that are needed to make the texts again."""
    return [(kind, id) for turn in _turns(kept, anchor).values() for _, kind, id in _items(turn)]


def remembered(
    kept: Any,
    anchor: str,
    records: Mapping[tuple[str, str], Record],
    labels: Mapping[str, str],
    templates: Templates,
    zone: tzinfo,
    clock: Callable[[datetime], str],
    text: Callable[[str, Sequence[tuple[str, Sequence[str]]]], str],
) -> dict[int, Remembered]:
    """By the place of the turn in the session: what was added to it, made anew from the records."""
    found = {}
    for place, turn in _turns(kept, anchor).items():
        blocks: dict[str, list[str]] = {}
        shows = []
        for block, kind, id in _items(turn):
            record = records.get((kind, id))
            if record is not None and block in labels and _usable(record):
                blocks.setdefault(block, []).append(record_line(templates, record, zone)[1])
                shows.append((kind, id))
        ordered = [(labels[block], blocks[block]) for block in labels if block in blocks]
        made = text(clock(datetime.fromisoformat(turn["at"])), ordered)
        found[place] = Remembered(turn["said"], made, tuple(shows))
    return found


def record_line(templates: Templates, record: Record, zone: tzinfo) -> tuple[str, str]:
    """The kind of a record, and its line."""
    if isinstance(record, Memory):
        return "memory", render.memory(templates, record, zone)
    if isinstance(record, Message):
        return "message", render.message(templates, record, zone)
    if isinstance(record, Summary):
        return "summary", render.summary(templates, record, zone)
    if isinstance(record, KeyPoint):
        return "key_point", render.key_point(templates, record, zone)
    return "todo", render.todo(templates, record, zone)


def _usable(record: Record) -> bool:
    return not isinstance(record, Memory) or record.status in RECALLED


def _turns(kept: Any, anchor: str) -> dict[int, dict[str, Any]]:
    """What is kept of this session; anything that does not look like it is nothing."""
    if not isinstance(kept, Mapping) or kept.get("anchor") != anchor or not isinstance(kept.get("turns"), list):
        return {}
    return {
        turn["place"]: turn for turn in kept["turns"] if isinstance(turn, dict) and isinstance(turn.get("place"), int)
    }


def _items(turn: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    return [(str(item[0]), str(item[1]), str(item[2])) for item in turn.get("items", []) if len(item) == 3]
