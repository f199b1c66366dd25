"""Whom a marked value is about: the person named at that place, or whom "he" and "she" mean there.

A pronoun means the person spoken of last whom it fits: in the sentence, in the message, in the assistant's turn before,
in the talk before that. What fits nobody is nobody: a fact about "he" without a "he" is not kept under a wrong name.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import replace

from tenuto.language.people import Person, kin_words, treats

_HE = frozenset(["he", "him", "his", "er", "ihn", "ihm", "él", "le", "il", "lui", "ele", "dele"])
_SHE = frozenset(["she", "her", "hers", "sie", "ihr", "ella", "elle", "ela", "dela"])
PRONOUN = re.compile(
    r"(?<![\w'’])(?:he|she|him|her|his|hers|er|sie|ihm|ihr|ihn|él|ella|il|elle|lui|ele|ela)(?:['’]s)?(?![\w])", re.I
)
_ASIDE = re.compile(
    r"\b(?:with|w|mit|con|avec|com) (?:his|her|their|the|seine[rmn]?|ihre[rmn]?|su|son|sa|seu|sua|o|a)?\s*$", re.I
)


class Subjects:
    """Whom a marked value is about.

    ``earlier`` are the people spoken of before the message, the latest last; ``patients`` those of whom something about
    health is known: what is said of "his tablets" is about them rather than about the nurse who was mentioned last.
    """

    def __init__(
        self,
        text: str,
        sentences: Sequence[tuple[int, int]],
        people: Sequence[Person],
        earlier: Sequence[Person],
        patients: Sequence[Person] = (),
    ) -> None:
        self._starts = [start for start, _ in sentences]
        self._ends = [end for _, end in sentences]
        self._people = [
            replace(one, aside=bool(_ASIDE.search(text[max(0, one.start - 16) : one.start])))
            for one in sorted(people, key=lambda one: one.start)
        ]
        self._earlier, self._patients = list(earlier), list(patients)
        self._pronouns = [
            (match.start(), "m" if re.split(r"['’]", match[0].lower())[0] in _HE else "f")
            for match in PRONOUN.finditer(text)
            if not any(one.start <= match.start() < one.end for one in people)
        ]

    def named_here(self, start: int, *, patient: bool = False) -> list[Person]:
        """The people whom the sentence at this place names."""
        first, last = self._bounds(start)
        found = [one for one in self._people if first <= one.start < last and not (patient and treats(one))]
        return [one for one in found if not one.aside] or found

    def anybody_here(self, start: int) -> bool:
        """Whether the sentence at this place names somebody, or means somebody by "he" or "she"."""
        first, last = self._bounds(start)
        return bool(self.named_here(start)) or any(first <= place < last for place, _ in self._pronouns)

    def of(self, start: int, *, patient: bool = False) -> Person | None:
        """The person whom something said at this place is about, when it is not about the speaker.

        ``patient`` leaves out those who treat others.
        """
        first, last = self._bounds(start)
        named = self.named_here(start, patient=patient)
        pronouns = [(place, gender) for place, gender in self._pronouns if first <= place < last]
        person = next((one for one in reversed(named) if one.start <= start), None)
        said = next(((place, gender) for place, gender in reversed(pronouns) if place <= start), None)
        if person is not None and (said is None or person.start > said[0]):
            return person
        if said is None and named:
            return named[0]
        gender = said[1] if said else pronouns[0][1] if pronouns else None
        place = said[0] if said else first
        return self._meant(place, gender, patient)

    def _meant(self, place: int, gender: str | None, patient: bool) -> Person | None:
        """Whom "he" or "she", or nothing at all, means at a place."""
        before = [*self._earlier, *(one for one in self._people if one.end <= place)]
        able = [one for one in before if (gender is None or fits(one, gender)) and not (patient and treats(one))]
        if gender is None:
            able = [one for one in able if not one.aside] or able
        here = [one for one in able if one in self._people and self._bounds(one.start) == self._bounds(place)]
        if here:
            return here[-1]
        if patient and self._patients:
            ids = {one.id for one in self._patients}
            if known := [one for one in able if one.id in ids]:
                return known[-1]
            fitting = [one for one in self._patients if gender is None or fits(one, gender)]
            if len(fitting) == 1:
                return fitting[0]
        return able[-1] if able else None

    def _bounds(self, start: int) -> tuple[int, int]:
        place = max(0, bisect_right(self._starts, start) - 1)
        return self._starts[place], self._ends[place]


def fits(person: Person, gender: str) -> bool:
    """May "he" or "she" mean them? Who is not known to be the other may be meant."""
    _, _, female, male = kin_words()
    relation = person.relation or ""
    return relation not in (female if gender == "m" else male)
