"""Where a value stands, and whether the words around it leave it as it is."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from tenuto.text import patterns
from tenuto.workflow import stance
from tenuto.workflow.numbers import number_words
from tenuto.workflow.reading import (
    Reading,
    Said,
    Span,
    asks,
    clause_at,
    clauses_over,
    fold,
    hint,
    label_start,
    sentence_words,
    texts,
    words,
)

AND = frozenset({"and", "plus", "und", "et", "y", "with"})
LINKS = frozenset(
    {"of", "to", "is", "at", "by", "on", "the", "level", "are", "about", "around", "roughly", "for", "score"}
)
"""Words between a word for a field and its value: "pain is about 7"."""
_SPLIT_OPTION = 6
"""Letters from which a choice is also known when it is written as two words: "java script"."""


def weigh(
    said: Said, value: Any, span: Span, label: Span | None, also: Sequence[str] = (), *, bare: bool = False
) -> Reading:
    """A statement, or an inference when the words beside it ask, hedge, tell of another time or are not known.

    Of a ``bare`` value, which no word for the field stands beside, the whole sentence has to be known.
    """
    if label is not None:
        span = (label_start(said, label), max(span[1], label[0]))
    reading = Reading(value=value, span=span)
    beside = [
        word.text
        for clause in clauses_over(said.text, span)
        for word in words(said.text)[clause.first : clause.last]
        if not span[0] <= word.start < span[1]
    ]
    known = {*words_of(said.names), *words_of(said.others), *number_words(), *also, *AND}
    known |= {word for option in said.schema.get("enum", ()) if isinstance(option, str) for word in words_of((option,))}
    sentence = sentence_words(said.text, span)
    certain = stance.plain(_without_purpose(said.text, span, beside), known)
    if bare:
        other = [word for word in sentence if word not in words_in(said.text, span) and not word[0].isdigit()]
        certain = certain and stance.plain((word for word in other if not stance.negation(word)), known)
    certain = certain and not stance.hedged(sentence) and not stance.corrects(sentence) and not asks(said.text, span)
    return reading if certain else hint(reading)


def words_in(text: str, span: Span) -> list[str]:
    return [word.text for word in words(text) if span[0] <= word.start < span[1]]


def _without_purpose(text: str, span: Span, beside: list[str]) -> list[str]:
    """The words beside a value without a "for …" behind it: "5 problems for my two kids"."""
    behind = [word for word in words(text) if word.start >= span[1]]
    cut = next((place for place, word in enumerate(behind) if word.text == "for"), None)
    if cut is None:
        return beside
    purpose = texts(behind[cut:])
    return [word for word in beside if word not in purpose]


def options_in(text: str, options: Iterable[str]) -> list[tuple[str, Span]]:
    """Where the options stand in the text, in order; a longer one hides the shorter ones in it."""
    found: list[tuple[str, Span]] = []
    for option in sorted(options, key=len, reverse=True):
        for match in _option_pattern(option).finditer(text):
            start, end = match.span()
            whole = not text[start - 1 : start].isalnum() and not (
                text[end : end + 1].isalnum() or (text[end : end + 1] in "+#" and text[end : end + 1])
            )
            same = option.isascii() or fold(match.group()).replace("_", " ") == fold(option).replace("_", " ")
            if whole and same and not any(first < end and start < last for _, (first, last) in found):
                found.append((option, (start, end)))
    return sorted(found, key=lambda one: one[1])


def _option_pattern(option: str) -> patterns.Pattern:
    letters = [patterns.escape(part) for part in option]
    if len(option) >= _SPLIT_OPTION and option.isalpha():
        return patterns.compile(r"[\s-]?".join(letters), "i")
    return patterns.compile("".join(r"[\s_-]" if part in ("_", r"\ ", r"\_") else part for part in letters), "i")


def turned_away(text: str, span: Span, names: Iterable[str] = ()) -> bool:
    """Is what stands here turned away? A word for the field is none that does it: "from 3 May"."""
    place = next((place for place, word in enumerate(words(text)) if word.end > span[0]), 0)
    clause = clause_at(text, place)
    found = words(text)
    before = [word for word in texts(found[clause.first : place]) if word not in words_of(names)]
    if (
        found[clause.first].text == "but"
        and clause.first
        and found[clause.first - 1].text.startswith(("any", "every", "all"))
    ):
        return True
    behind = [word.text for word in found[place : clause.last] if word.start >= span[1]][:2]
    return stance.away(before) or behind == ["is", "not"] or behind[:1] in (["isn't"], ["won't"], ["doesn't"])


def words_of(names: Iterable[str]) -> set[str]:
    return {word.text for name in names for word in words(name)}


def around(spans: Iterable[Span]) -> Span:
    found = list(spans)
    return (min(start for start, _ in found), max(end for _, end in found)) if found else (0, 0)
