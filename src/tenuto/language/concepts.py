"""Common subjects of private talk under the words for them in every language that is read. Pure.

"My weight" is spoken of by "ich wiege 97 Kilo", and "the illness of my mother" by the name of one. A word names the
narrowest subject that lists it: "salary" is not all money. What would break it: a listed word that means something else in
another language ("die" is an article), because the language of a text is not asked for.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from tenuto.language.lexicon import packaged
from tenuto.text import patterns


@dataclass(frozen=True, slots=True)
class Concept:
    """One subject: its words, the words that only hint at it, its attributes of memories and its class."""

    name: str
    said: patterns.Pattern
    hinted: patterns.Pattern | None
    attributes: frozenset[str]
    kind: str
    size: int


def _pattern(listed: list[str]) -> patterns.Pattern:
    words = (patterns.escape(word.strip("*")).replace("_", r"\s+").replace(r"\#", r"[\d.,]+") for word in listed)
    ended = (word + (r"\w*" if given.endswith("*") else "") for word, given in zip(words, listed, strict=True))
    return patterns.compile(rf"\b(?:{'|'.join(ended)})\b", "i")


@lru_cache(maxsize=1)
def concepts() -> tuple[Concept, ...]:
    """All of them, the narrowest first."""
    found = []
    for name, one in packaged("concepts").items():
        words, loose = one["words"].split(), one.get("loose", "").split()
        attributes = frozenset(one.get("attributes", ()))
        hinted = _pattern(loose) if loose else None
        found.append(Concept(name, _pattern(words), hinted, attributes, one.get("class", ""), len(words)))
    return tuple(sorted(found, key=lambda one: one.size))


@lru_cache(maxsize=4096)
def concept_of(word: str) -> Concept | None:
    """The subject that a word names, the narrowest where it could be several."""
    return next((one for one in concepts() if one.said.search(word)), None)


@lru_cache(maxsize=1)
def _kin() -> dict[str, patterns.Pattern]:
    listed = packaged("kin")["words"]
    composed = sorted(listed.items(), key=lambda one: "_" not in one[0])
    return {name: _pattern([name, *words.split()]) for name, words in composed}


@lru_cache(maxsize=4096)
def kin_of(word: str) -> patterns.Pattern | None:
    """All words for who somebody is, where a word is one of them: "mum" is "madre", too."""
    return next((pattern for pattern in _kin().values() if pattern.search(word)), None)
