"""Marks by hand: a sentence in the notation of the reader's corpus becomes what a reader would mark, and what is read
from it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

from training.reader.corpus import parse_marks

from tenuto.ingest.extract.exchange import Exchange, Extraction
from tenuto.ingest.extract.propositions import propositions
from tenuto.policy import MemoryPolicy
from tenuto.records.conversation import Message, Role
from tenuto.records.reading import Mark

SURE = 0.9
AT = datetime(2026, 5, 13, 14, 0, tzinfo=UTC)
"""A Wednesday."""


def marked(text: str, score: float = SURE) -> tuple[str, list[Mark]]:
    """ "I live in {home:Oslo}" → the text without braces, and its marks."""
    plain, spans = parse_marks(text)
    return plain, [Mark(one.layer, one.type, one.start, one.end, one.owner, one.state, score) for one in spans]


def read(text: str, *, score: float = SURE, policy: MemoryPolicy | None = None, **more) -> Extraction:
    """What a message with these marks proposes."""
    plain, marks = marked(text, score)
    about = {
        name: more.pop(name) for name in ("before", "registry", "own_names", "user_name", "people") if name in more
    }
    message = Message(
        **{
            "id": "m",
            "session_id": "s",
            "role": Role.USER,
            "content": plain,
            "at": AT,
            "channel": "api",
            "persona": "coach",
            **more,
        }
    )
    return propositions(Exchange(message=message, **about), marks, policy or MemoryPolicy())


class MarkedReader:
    """Reads sentences that the test marked by hand, wherever they stand in a message, and nothing else.

    For tests of what happens after reading: they hold whatever the weights of the day see.
    """

    model = "marked-by-hand"

    def __init__(self, *sentences: str) -> None:
        self._known = [marked(sentence) for sentence in sentences]

    def read_many(self, turns: Sequence[tuple[str, str | None]]) -> list[list[Mark]]:
        return [self.read(message, before) for message, before in turns]

    def read(self, message: str, before: str | None = None) -> list[Mark]:
        found = []
        for plain, marks in self._known:
            at = message.find(plain)
            if at >= 0:
                found += [replace(one, start=one.start + at, end=one.end + at) for one in marks]
        return sorted(found, key=lambda one: one.start)
