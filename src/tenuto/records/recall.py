"""What recall hands back: hits with their reasons, and the candidates that ranking decided on."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar

import msgspec

from tenuto.records.base import OneLine
from tenuto.records.memory import Evidence
from tenuto.records.operations import EntryKind


class Candidate(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One thing that search found, in plain numbers: all that the scorer may look at. Made by the hundred per query."""

    kind: EntryKind
    id: str
    at: datetime
    text: str = ""
    role: str = ""
    cosine: float | None = None
    """Similarity with the query; ``None``: no vector to compare with."""
    parts: dict[str, float] = {}
    """What each signal of the search brings, already weighed."""
    importance: float = 5.0
    pinned: bool = False
    reinforcements: int = 0
    strength: float = 1.0
    """What fading has left of a memory, 0–1."""
    valence: float = 0.0
    arousal: float = 0.0
    entities: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    """The messages that it came from; none for a message itself."""


@dataclass(slots=True, kw_only=True)
class Why:
    """The reasons of one hit. ``parts`` sum up (or multiply, as ``formula`` says) to the score."""

    profile: str
    parts: dict[str, float]
    formula: str
    rule: str
    """The rule of the gate that let it through."""
    evidence: tuple[Evidence, ...] = ()
    """The messages that it rests on, with their dates."""
    matched: tuple[str, ...] = ()
    """The words of the query that it holds."""
    notes: tuple[str, ...] = ()
    """What could not be done: no vectors, a word that nothing holds."""
    plain: str = ""
    """The reasons in one sentence for people."""

    def __str__(self) -> str:
        parts = ", ".join(f"{name} {value:+.3f}" for name, value in self.parts.items() if value)
        said = "; ".join(f"{evidence.at:%Y-%m-%d}" for evidence in self.evidence[:3])
        return (
            f"{parts} ({self.rule})" + (f" said {said}" if said else "") + "".join(f"; {note}" for note in self.notes)
        )


@dataclass(slots=True, kw_only=True, repr=False)
class Hit(OneLine):
    """One thing recalled. ``message_id`` is the caller's own id of the message where one was given, else ours.

    Made for one answer and the caller's own: not frozen, which would take three times as long to make.
    """

    _line: ClassVar[tuple[str, ...]] = ("score", "kind", "at", "text")
    text: str
    score: float
    why: Why
    kind: EntryKind
    id: str
    at: datetime
    message_id: str | None = None
    speaker: str | None = None
    role: str | None = None
    persona: str | None = None
    session_id: str | None = None
    importance: float = 5.0
    passage: str | None = None
    """The hit message with its neighbours, dated, where that was asked for."""
    place: tuple[int, int] | None = None
    """From which character of a long text to which the passage lies that is nearest in meaning; ``None``: all of it."""
    until: datetime | None = None
    """Until when what it tells was true; ``None``: as far as is known it still is."""
    mark: str = ""
    """What must be said with it, such as that it is known but not to be raised; empty mostly."""


class Recalled(list[Hit]):
    """The hits, best first. ``notes`` says what could not be done, and why the list is empty when it is."""

    def __init__(self, hits: Iterable[Hit] = (), notes: tuple[str, ...] = ()) -> None:
        super().__init__(hits)
        self.notes = notes
