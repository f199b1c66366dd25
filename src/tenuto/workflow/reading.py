"""What a parser is given, what it gives back, and how a text is taken apart for it.

A text is seen as words with their places, and as clauses: what stands between commas, stops and "but". A label is a
word for a field with a colon, an equals sign, "is" or "to" behind it; what it labels ends where the next label begins.
"""

from __future__ import annotations

import unicodedata
from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache
from typing import Any

from tenuto.text import patterns

STATED = 1.0
"""Confidence of a value that was stated."""
HINTED = 0.6
"""Confidence of a value in a question, beside a hedge, or in words that may mean something else."""

MOST_FOUND = 40
"""Names, numbers and days that are looked at in one text: shorthand has fewer."""

Span = tuple[int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What a parser sees: the text, the words for the field, its schema and value, and whether it was just asked."""

    text: str
    names: tuple[str, ...]
    schema: Mapping[str, Any]
    asked: bool
    now: datetime
    value: Any = None
    """What the field holds now."""
    others: tuple[str, ...] = ()
    """The words for the other fields."""
    hard: bool = False
    """A hard field takes a bare free text for stated only if it is written like a name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """A value read from a text. ``explicit``: the person said so, in words that mean it; ``span``: where it stands."""

    value: Any
    confidence: float = STATED
    explicit: bool = True
    span: Span | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Unclear:
    """The field is spoken of and its value stays open. ``why`` is told to the person and quotes nothing."""

    why: str
    span: Span | None = None


Parser = Callable[[Said], Reading | Unclear | None]


@dataclass(frozen=True, slots=True)
class Word:
    """A word or a number in digits, as it is compared, and where it stands."""

    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Clause:
    """``first`` to ``last`` are places in the list of words, the last exclusive; ``sentence`` counts sentences."""

    first: int
    last: int
    sentence: int
    asks: bool = False


_WORD = patterns.compile(r"[0-9]+(?:[.,'][0-9]+)*|[A-Za-z]+(?:['’][A-Za-z]+)*")
_BREAK = patterns.compile(r"[,;:.!?\n…]|\s[–—-]\s")
_STOP = patterns.compile(r"[.!?\n…]")
_LABEL_AHEAD = patterns.compile(r"[,.;]\s*(?:and\s+)?\w+(?:[ _]\w+){0,2}\s*[:=]", "i")
_END = patterns.compile(r"[;\n]")
_SENTENCE_END = patterns.compile(r"(\w+)[.!?]\s+\w")
_LONGEST_ABBREVIATION = 3
"""Letters: "Dr." and "Mrs." do not end a sentence."""
_BEFORE_LABEL = frozenset({"the", "my", "our", "set", "change", "and", "make"})
_CHANGING = frozenset({"set", "change", "switch", "move", "make"})


def fold(text: str) -> str:
    """Text as it is compared."""
    return unicodedata.normalize("NFKC", text).casefold().replace("’", "'")


def hint(reading: Reading) -> Reading:
    """The same value as an inference."""
    return replace(reading, confidence=HINTED, explicit=False)


@lru_cache(maxsize=64)
def words(text: str) -> tuple[Word, ...]:
    return tuple(Word(fold(match.group()), match.start(), match.end()) for match in _WORD.finditer(text))


@lru_cache(maxsize=16)
def clauses(text: str) -> tuple[Clause, ...]:
    """The clauses of a text, in order. Every word is in exactly one."""
    found = words(text)
    if not found:
        return ()
    starts: list[tuple[int, int]] = []
    sentence, asking = 0, set()
    for place, word in enumerate(found):
        gap = text[found[place - 1].end : word.start] if place else ""
        if _STOP.search(gap):
            if "?" in gap:
                asking.add(sentence)
            sentence += 1
        if not place or word.text == "but" or _BREAK.search(gap):
            starts.append((place, sentence))
    if any(mark in text[found[-1].end :] for mark in "?？؟"):
        asking.add(sentence)
    ends = [place for place, _ in starts[1:]] + [len(found)]
    return tuple(
        Clause(first, last, number, number in asking) for (first, number), last in zip(starts, ends, strict=True)
    )


def clauses_over(text: str, span: Span) -> list[Clause]:
    """The clauses that a stretch of the text touches."""
    found = words(text)
    return [one for one in clauses(text) if found[one.first].start < span[1] and span[0] < found[one.last - 1].end]


def clause_at(text: str, place: int) -> Clause:
    """The clause of the word at a place."""
    found = clauses(text)
    return found[bisect_right(found, place, key=lambda one: one.first) - 1]


def sentence_words(text: str, span: Span) -> list[str]:
    """The words of the sentences that a stretch of the text touches."""
    touched = {one.sentence for one in clauses_over(text, span)}
    return [word.text for one in clauses(text) if one.sentence in touched for word in words(text)[one.first : one.last]]


def asks(text: str, span: Span) -> bool:
    """Does the stretch stand in a question?"""
    return any(one.asks for one in clauses_over(text, span))


def places_of(names: Iterable[str], text: str) -> tuple[tuple[int, int], ...]:
    """Where one of the names stands, as places in the list of words; the longest name wins. The first ones only."""
    return _places_of(tuple(names), text)


@lru_cache(maxsize=256)
def _places_of(names: tuple[str, ...], text: str) -> tuple[tuple[int, int], ...]:
    said = [word.text for word in words(text)]
    wanted = sorted({_parts(name) for name in names} - {()}, key=len, reverse=True)
    places: list[tuple[int, int]] = []
    at = 0
    while at < len(said) and len(places) < MOST_FOUND:
        length = next((len(parts) for parts in wanted if tuple(said[at : at + len(parts)]) == parts), 0)
        if length:
            places.append((at, at + length))
        at += length or 1
    return tuple(places)


def labelled(said: Said) -> Span | None:
    """The stretch after ``name:``, ``name =``, "the name is" or "set name to"."""
    for first, last in places_of(said.names, said.text):
        if (start := _label_end(said.text, first, last)) is not None:
            return start, _segment_end(said, start)
    return None


def rest_of(said: Said, start: int) -> Span:
    """The stretch from a place on to where another label, another line or another sentence begins."""
    return start, _segment_end(said, start)


def label_start(said: Said, span: Span) -> int:
    """Where the name stands that labels a stretch."""
    found = words(said.text)
    before = [found[first].start for first, last in places_of(said.names, said.text) if found[last - 1].end <= span[0]]
    return before[-1] if before else span[0]


def blanked(text: str, spans: Iterable[Span | None]) -> str:
    """The text with stretches that are read already crossed out; every other character keeps its place."""
    for span in spans:
        if span is not None:
            text = text[: span[0]] + ";" * (span[1] - span[0]) + text[span[1] :]
    return text


@lru_cache(maxsize=512)
def _parts(name: str) -> tuple[str, ...]:
    return tuple(word.text for word in words(name))


def _label_end(text: str, first: int, last: int) -> int | None:
    """Where the value of a label begins, if the name at these places is a label."""
    found = words(text)
    gap_end = found[last].start if last < len(found) else len(text)
    gap = text[found[last - 1].end : gap_end]
    clause = clause_at(text, first)
    at_start = first == clause.first or found[first - 1].text in _BEFORE_LABEL
    for sign in ":=":
        if at_start and sign in gap and not _BREAK.search(gap.partition(sign)[0]):
            return found[last - 1].end + gap.index(sign) + 1
    if last >= len(found) or gap.strip():
        return None
    link = found[last].text
    changing = any(word.text in _CHANGING for word in found[clause.first : first])
    if at_start and (link in ("is", "are") or (link == "to" and (changing or first == clause.first))):
        return found[last].end
    return None


def _segment_end(said: Said, start: int) -> int:
    text = said.text
    ends = [len(text)]
    if match := _END.search(text, start):
        ends.append(match.start())
    if match := _LABEL_AHEAD.search(text, start):
        ends.append(match.start())
    found = words(text)
    for first, last in places_of((*said.names, *said.others), text):
        if found[first].start > start and _label_end(text, first, last) is not None:
            while first and found[first - 1].text in _BEFORE_LABEL and found[first - 1].start > start:
                first -= 1
            ends.append(found[first].start)
            break
    for match in _SENTENCE_END.finditer(text):
        if match.start(1) >= start and len(match.group(1)) > _LONGEST_ABBREVIATION:
            ends.append(match.end(1))
            break
    return min(ends)


def texts(found: Sequence[Word]) -> list[str]:
    return [word.text for word in found]
