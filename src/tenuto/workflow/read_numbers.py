"""Numbers and counts for a field: with its label, beside a word for it, or as the answer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tenuto.text import patterns
from tenuto.workflow import stance
from tenuto.workflow.dates import days
from tenuto.workflow.numbers import Amount, amounts, counts, number_words
from tenuto.workflow.reading import (
    Reading,
    Said,
    Span,
    Unclear,
    clause_at,
    hint,
    labelled,
    places_of,
    sentence_words,
    texts,
    words,
)
from tenuto.workflow.weigh import AND, LINKS, around, weigh

ONE_NUMBER = "it needs one number"
EACH_COUNT = "say how many of each"
_COUNTED_WORDS = 2
"""Words between a number and what it counts: "3 rather easy problems"."""
_REST = frozenset({"rest", "others", "other", "remaining", "all", "half"})
_PARTS = patterns.compile(r"\W*(\d{1,6}(?:\s*[/,+-]\s*\d{1,6})+)\W*")
_FIGURE = patterns.compile(r"\d+")


def count_names(schema: Mapping[str, Any]) -> tuple[str, ...]:
    """The properties of an object that holds whole numbers and nothing else."""
    properties = schema.get("properties") or {}
    whole = [name for name, part in properties.items() if isinstance(part, Mapping) and part.get("type") == "integer"]
    return tuple(whole) if whole and len(whole) == len(properties) else ()


def read_number(said: Said) -> Reading | Unclear | None:
    """The one number in the answer, or the one beside a word for the field."""
    found = amounts(said.text, [day.span for day in days(said.text, said.now)])
    label = labelled(said)
    corrected = bare = False
    if label is not None:
        chosen = [one for one in found if label[0] <= one.span[0] < label[1]]
    else:
        chosen = [one for one in found if _beside(said.text, one, said.names)]
        rest = [one for one in found if one not in chosen and not _beside(said.text, one, said.others)]
        if chosen and _adds_up(said.text, chosen, rest):
            return Unclear(why=ONE_NUMBER, span=around(one.span for one in (*chosen, *rest)))
        if chosen and rest and (all(one.away for one in chosen) or stance.corrects(_sentence(said, chosen))):
            chosen, corrected = rest[-1:], True
        elif not chosen and said.asked:
            chosen, bare = rest, True
    if not chosen:
        return None
    span = around(one.span for one in chosen)
    meant = [one for one in chosen if not one.away]
    values = {counts(one.value, whole=said.schema.get("type") == "integer") for one in meant}
    value = next(iter(values), None)
    if len(values) != 1 or value is None or any(one.limit for one in meant):
        return Unclear(why=ONE_NUMBER, span=span)
    reading = weigh(said, value, _with_name(said, meant[-1]), label, bare=bare)
    return hint(reading) if corrected or any(one.about for one in meant) else reading


def read_counts(said: Said) -> Reading | Unclear | None:
    """Counts by name, such as "2 easy, 1 medium, 2 hard", or "2/1/2" in the schema's order when it was asked."""
    names = count_names(said.schema)
    label = labelled(said)
    start, end = label if label is not None else (0, len(said.text))
    if (said.asked or label is not None) and (parts := _PARTS.fullmatch(said.text[start:end])):
        values = [int(part) for part in _FIGURE.findall(parts.group(1))]
        if len(values) == len(names):
            return Reading(value=dict(zip(names, values, strict=True)), span=(start, end))
    found: dict[str, list[Amount]] = {}
    read = amounts(said.text)
    for name in names:
        shown = (name.replace("_", " "),)
        beside = [one for one in (*read, *_articles(said.text, shown)) if _counts(said.text, one, shown)]
        found[name] = [one for one in beside if start <= one.span[0] < end or label is None]
    every = [one for amounts_ in found.values() for one in amounts_]
    if not every:
        return None
    ends = [_counted(said.text, one, (name.replace("_", " "),)) for name, some in found.items() for one in some]
    span = around([*(one.span for one in every), *(part for part in ends if part is not None)])
    values_of = {name: {one.value for one in some if not one.away} for name, some in found.items()}
    vague = any(one.limit for one in every) or any(word in _REST for word in sentence_words(said.text, span))
    if vague or any(len(values) > 1 for values in values_of.values()):
        return Unclear(why=EACH_COUNT, span=span)
    value = {name: int(next(iter(values_of[name]), 0)) for name in names}
    reading = weigh(said, value, span, label, also=[part for name in names for part in name.split("_")])
    return hint(reading) if any(one.about for one in every) else reading


def _beside(text: str, amount: Amount, names: Iterable[str]) -> bool:
    """Does a word for the field stand behind the number ("5 problems") or before it ("pain 7", "count of 5")?"""
    return _counts(text, amount, names) or any(
        last <= amount.first
        and all(word.text in LINKS for word in words(text)[last : amount.first])
        and clause_at(text, last - 1) == clause_at(text, amount.first)
        for _, last in places_of(names, text)
    )


def _counts(text: str, amount: Amount, names: Iterable[str]) -> bool:
    return _counted(text, amount, names) is not None


def _counted(text: str, amount: Amount, names: Iterable[str]) -> Span | None:
    """Where the word for the field stands that the number counts: behind it, or before it with a colon."""
    found, known = words(text), number_words()
    clause = clause_at(text, amount.last - 1)
    for first, last in places_of(names, text):
        span = (found[first].start, found[last - 1].end)
        between = found[amount.last : first]
        if amount.last <= first and last <= clause.last and len(between) < _COUNTED_WORDS:
            numbered = any(word.text in known or word.text[0].isdigit() for word in between)
            return None if numbered or any(word.text in ("or", "and") for word in between) else span
        counted = first > clause_at(text, first).first and (
            found[first - 1].text in known or found[first - 1].text[0].isdigit()
        )
        if last == amount.first and not counted and text[span[1] : amount.span[0]].strip() in (":", "="):
            return span
    return None


def _articles(text: str, names: Iterable[str]) -> list[Amount]:
    """ "A hard one" is one, "no hard ones" is none."""
    found = words(text)
    return [
        Amount(value=0 if found[first - 1].text == "no" else 1, first=first - 1, last=first,
               span=(found[first - 1].start, found[last - 1].end))
        for first, last in places_of(names, text)
        if first and found[first - 1].text in ("a", "an", "no")
    ]  # fmt: skip


def _adds_up(text: str, chosen: Sequence[Amount], rest: Sequence[Amount]) -> bool:
    """Does the person count something else with it? "2 adults and 3 kids"."""
    found = words(text)
    for one in chosen:
        for other in rest:
            first, last = sorted((one, other), key=lambda amount: amount.first)
            between = texts(found[first.last : last.first])
            if len(between) <= _COUNTED_WORDS + 1 and any(
                word in AND or word in ("or", "oder", "ou") for word in between
            ):
                return True
    return False


def _with_name(said: Said, amount: Amount) -> Span:
    """The stretch of a number and the word for the field beside it."""
    found = words(said.text)
    start, end = amount.span
    clause = clause_at(said.text, amount.first)
    for first, last in places_of(said.names, said.text):
        if clause.first <= first < clause.last:
            start, end = min(start, found[first].start), max(end, found[last - 1].end)
    return start, end


def _sentence(said: Said, chosen: Sequence[Amount]) -> list[str]:
    return sentence_words(said.text, around(one.span for one in chosen))
