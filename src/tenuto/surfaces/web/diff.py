"""What changed between two wordings, word by word: pure, for reading."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from difflib import SequenceMatcher

from tenuto.records.memory import Version

_WORDS = re.compile(r"\s+|\w+|[^\w\s]")


@dataclass(frozen=True, slots=True)
class Step:
    """One version as a reader wants it: when, why, and what changed since the one before."""

    at: datetime
    reason: str
    status: str
    pieces: tuple[tuple[str, str], ...]
    changed: tuple[tuple[str, str], ...] = ()


def words(before: str, after: str) -> tuple[tuple[str, str], ...]:
    """``same``, ``gone`` and ``new`` runs of text that spell out the change."""
    left, right = _WORDS.findall(before), _WORDS.findall(after)
    found: list[tuple[str, str]] = []
    for tag, a, b, c, d in SequenceMatcher(None, left, right, autojunk=False).get_opcodes():
        if tag == "equal":
            found.append(("same", "".join(left[a:b])))
        else:
            found += [
                (kind, text) for kind, text in (("gone", "".join(left[a:b])), ("new", "".join(right[c:d]))) if text
            ]
    return tuple(found)


def steps(history: Sequence[Version]) -> list[Step]:
    """The versions, newest first, each against the one before it."""
    found = []
    for number, version in enumerate(history):
        before = history[number - 1].content if number else version.content
        changed = tuple(
            (name.replace("_", " "), str(value)) for name, value in version.changed.items() if value and name != "slot"
        )
        found.append(
            Step(
                at=version.at,
                reason=version.reason,
                status=str(version.status),
                pieces=words(before, version.content),
                changed=changed,
            )
        )
    return found[::-1]
