"""Whom a place of a message is about: the subject of its clause, or whom "he" and "she" mean there.

A clause is about its subject; where that is somebody who treats others, about the one treated; without one, about the
owner ("her kidneys"), about whoever stands behind it, or about whom the clause before it was about. A pronoun means the
nearest person whom it fits: in this message, then in the talk before. Where two fit equally, it means nobody: a fact
about "he" without a "he" is not kept under a wrong name.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from tenuto.language.lexicon import packaged
from tenuto.language.people import Person, gender_of, treats
from tenuto.text import patterns

PRONOUN = patterns.compile(
    r"(?:he|she|him|her|his|hers|er|sie|ihm|ihr|ihn|él|ella|il|elle|lui|ele|ela)\b(?:['’]s\b)?",
    "i",
    not_after=r"[\w'’]",
)
LANGUAGES = ("en", "de", "es", "fr", "pt")
_WORD = patterns.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
_TOKEN = patterns.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*|[,;:()–—]")
_SMALL = frozenset(
    ["my", "our", "his", "her", "their", "the", "a", "an", "old", "new", "dear", "little", "big", "own", "mein", "meine", "meiner", "meinem", "meinen",
     "unser", "unsere", "mi", "mis", "su", "sus", "el", "la", "los", "las", "mon", "ma", "mes", "son", "sa", "ses", "le", "les", "o", "os", "as", "meu",
     "minha", "seu", "sua", "auntie", "uncle", "aunt"]
)  # fmt: skip
"""Words that may stand between a preposition and the person it belongs to."""
_ASIDE = patterns.compile(
    r"(?:i (?:think|guess|believe|mean|suppose|reckon|hope|swear|heard|hear|said|forget|forgot|dunno)|ich (?:glaube|denke|meine)|je (?:crois|pense|veux dire)|"
    r"eu (?:acho|penso)|yo creo)\b",
    "i",
)
_SAYS = patterns.compile(
    r"\s*(?:says?|said|thinks?|reckons?|told|sagt|sagte|meint|meinte|dice|dijo|dit|pense|disse|diz|acha)\b", "i"
)
_RELATIVE = patterns.compile(r"[,(\s]*(?:who|who['’]s|whos|qui|quien)\b", "i")
OWNER_REACH = 24
"""Characters between "my" and the person whom it belongs to: "my lovely old neighbour Ron"."""


@dataclass(frozen=True, slots=True)
class Reference:
    """A word that stands for somebody. ``role`` is subject, object or owner; no person and no gender is the speaker."""

    start: int
    end: int
    role: str
    person: Person | None = None
    gender: str | None = None

    @property
    def own(self) -> bool:
        return self.person is None and self.gender is None


@dataclass(frozen=True, slots=True)
class Told:
    """Of whom something is told: the speaker (``own``), a person, or nobody who is known.

    ``sure``: the clause itself says so."""

    person: Person | None = None
    own: bool = False
    sure: bool = True


@lru_cache(maxsize=8)
def _table(language: str) -> tuple[dict[str, tuple[str, str | None]], frozenset[str], frozenset[str], frozenset[str]]:
    """The pronouns of a language with role and gender; words that begin a clause; before objects; of giving."""
    data = packaged("pronouns")[language if language in LANGUAGES else "en"]
    kinds = {
        "i": ("subject", None), "me": ("object", None), "my": ("owner", None),
        "he": ("subject", "m"), "him": ("object", "m"), "his": ("owner", "m"),
        "she": ("subject", "f"), "her": ("object", "f"), "hers": ("owner", "f"),
        "they": ("subject", "x"), "their": ("owner", "x"),
    }  # fmt: skip
    pronouns = {word: kind for name, kind in kinds.items() for word in data[name].split()}
    clause, before, gives = (frozenset(data[name].split()) for name in ("clause", "before_object", "gives"))
    return pronouns, clause, before, gives


class Subjects:
    """Of whom each place of a message tells.

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
        language: str = "en",
    ) -> None:
        self._text, self._language = text, language
        self._starts = [start for start, _ in sentences]
        self._ends = [end for _, end in sentences]
        self._earlier, self._patients = list(earlier), list(patients)
        self._people = sorted(people, key=lambda one: one.start)
        self._references, self._cuts = self._read()
        placed = {one.start: one.role for one in self._references if one.person is not None}
        self._people = [replace(one, aside=placed.get(one.start) == "object") for one in self._people]

    def named_here(self, start: int, *, patient: bool = False) -> list[Person]:
        """The people whom the sentence at this place names."""
        first, last = self._bounds(start)
        found = [one for one in self._people if first <= one.start < last and not (patient and treats(one))]
        return [one for one in found if not one.aside] or found

    def anybody_here(self, start: int) -> bool:
        """Whether the sentence at this place names somebody, or means somebody by "he" or "she"."""
        first, last = self._bounds(start)
        return any(first <= one.start < last and not one.own for one in self._references)

    def speaker_here(self, start: int) -> bool:
        """Whether the sentence at this place says "I", "me" or "my"."""
        first, last = self._bounds(start)
        return any(first <= one.start < last and one.own for one in self._references)

    def told(self, start: int, *, patient: bool = False) -> Told:
        """Of whom something at this place is told, by its clause or else its sentence."""
        first, last = self._bounds(start)
        cuts = [first, *(cut for cut in self._cuts if first < cut < last), last]
        here = max(0, bisect_right(cuts, start) - 1)
        if (described := self._described(cuts[here], start)) is not None:
            return Told(described)
        for place in range(min(here, len(cuts) - 2), -1, -1):
            clause = [one for one in self._references if cuts[place] <= one.start < cuts[place + 1]]
            found = self._clause(clause, start, patient)
            if found is not None:
                return replace(found, sure=found.sure and place == here)
        for place in range(here + 1, len(cuts) - 1):
            clause = [one for one in self._references if cuts[place] <= one.start < cuts[place + 1]]
            found = self._clause([one for one in clause if one.role == "subject" and not one.gender], start, patient)
            if found is not None:
                return replace(found, sure=False)
        return Told(self._meant(start, None, patient), sure=False)

    def of(self, start: int, *, patient: bool = False) -> Person | None:
        """The person whom something said at this place is about, when it is not about the speaker.

        ``patient`` leaves out those who treat others.
        """
        found = self.told(start, patient=patient)
        if not found.own:
            return found.person
        first, last = self._bounds(start)
        others = [one for one in self._references if first <= one.start < last and not one.own]
        able = [one for one in others if not (patient and one.person is not None and treats(one.person))]
        if able:
            near = min(able, key=lambda one: (one.start > start, abs(one.start - start)))
            return self._who(near, patient).person
        return self._meant(start, None, patient)

    def _described(self, cut: int, start: int) -> Person | None:
        """ "My sister, who is allergic to soy": the person before "who"."""
        relative = _RELATIVE.match(self._text, cut, start)
        if relative is None or any(relative.end() <= one.start <= start for one in self._references):
            return None
        before = [one for one in self._people if one.end <= cut]
        near = before[-1] if before else None
        return near if near is not None and not self._text[near.end : cut].strip(" ,(") else None

    # --- one clause ---------------------------------------------------------------------------------------------------

    def _clause(self, clause: Sequence[Reference], start: int, patient: bool) -> Told | None:
        """Of whom a clause tells something at a place; nothing where it names nobody who is known."""
        able = [one for one in clause if not (patient and (self._reports(one) or (one.person and treats(one.person))))]
        before, after = [one for one in able if one.start <= start], [one for one in able if one.start > start]
        subject = next((one for one in reversed(before) if one.role == "subject"), None)
        objects = [one for one in before if one.role == "object" and (subject is None or one.start > subject.start)]
        if subject is None or not (patient and objects and self._gives(subject, objects[-1])):
            objects = objects if patient and subject is None else []
        owners = [one for one in before if one.role == "owner"] if subject is None else []
        ranked = [*reversed(objects), *([subject] if subject is not None else []), *reversed(owners)]
        ranked += [one for role in ("subject", "object", "owner") for one in after if one.role == role]
        told = [self._who(one, patient) for one in ranked]
        found = next((one for one in told if one.own or one.person is not None), None)
        return found if found is not None else told[0] if told else None

    def _reports(self, one: Reference) -> bool:
        """ "He says it is diabetes": whoever reports is not the one who has it."""
        return one.gender is not None and one.role == "subject" and bool(_SAYS.match(self._text, one.end))

    def _gives(self, subject: Reference, other: Reference) -> bool:
        """ "I put Mum on apixaban": what is given is the other's."""
        gives = _table(self._language)[3]
        return any(one[0].casefold() in gives for one in _WORD.finditer(self._text, subject.end, other.start))

    def _who(self, one: Reference, patient: bool) -> Told:
        if one.own:
            return Told(own=True)
        if one.person is not None:
            return Told(one.person)
        found = self._meant(one.start, one.gender, patient)
        return Told(found, sure=found is not None and one.gender in ("m", "f"))

    # --- pronouns -----------------------------------------------------------------------------------------------------

    def _meant(self, place: int, gender: str | None, patient: bool) -> Person | None:
        """Whom "he" or "she", or nothing at all, means at a place."""

        def able(people: Sequence[Person]) -> list[Person]:
            return [one for one in people if _may(one, gender) and not (patient and treats(one))]

        here = able([one for one in self._people if one.end <= place])
        if here:
            near = [one for one in here if self._bounds(one.start) == self._bounds(here[-1].start)]
            if gender is None:
                near = [one for one in near if not one.aside] or near
            return None if self._alike(near) else near[-1]
        if (named := self._named_after(place, gender)) is not None:
            return named
        before = able(self._earlier)
        if patient and self._patients:
            ids = {one.id for one in self._patients}
            if known := [one for one in before if one.id in ids]:
                return known[-1]
            fitting = able(self._patients)
            if len(fitting) == 1:
                return fitting[0]
        return before[-1] if before else None

    def _alike(self, people: Sequence[Person]) -> bool:
        """ "Tom and Jack are coming. He …": nothing tells which of them."""
        if len({one.id for one in people}) < 2:
            return False
        last, other = people[-1], next(one for one in reversed(people) if one.id != people[-1].id)
        between = self._text[other.end : last.start].casefold().split()
        return set(between) <= {"and", "&", "n", "und", "y", "et", "e", ",", "my", "mein", "meine", "mi", "mon", "ma"}

    def _named_after(self, place: int, gender: str | None) -> Person | None:
        """ "He's on insulin, my grandad that is": named behind, as an afterthought."""
        for one in self._people:
            if one.start <= place or not _may(one, gender):
                continue
            lead = self._text[max(0, one.start - 12) : one.start].casefold().rstrip()
            for word in ("my", "our", "mein", "meine", "unser", "unsere", "mi", "mon", "ma", "meu", "minha"):
                lead = lead.removesuffix(f" {word}").rstrip() if lead.endswith(f" {word}") or lead == word else lead
            rest = self._text[one.end : one.end + 16].casefold().strip(" ,")
            rest = "" if rest.startswith("sorry") else rest
            if lead[-1:] in (",", ".", "!", "?", "–", "—", "(", "") and (
                not rest
                or rest[0] in ".!?)"
                or rest.startswith(("i mean", "that is", "meine ich", "quiero", "je veux"))
            ):
                return one
        return None

    # --- reading ------------------------------------------------------------------------------------------------------

    def _read(self) -> tuple[list[Reference], list[int]]:
        """Every word that stands for somebody, in order, and where clauses begin."""
        pronouns, clause, before_object, _ = _table(self._language)
        found: list[Reference] = []
        cuts: list[int] = []
        starts = [one.start for one in self._people]
        said: list[str] = []
        for match in _TOKEN.finditer(self._text):
            word = match[0].casefold().replace("’", "'")
            place = bisect_right(starts, match.start()) - 1
            if place >= 0 and match.start() < self._people[place].end:
                if match.start() == self._people[place].start:
                    found += self._named(self._people[place], said, before_object)
                said.append("<person>")
                continue
            if not word[0].isalpha() or word in clause:
                cuts.append(match.start())
                said.append(word if word[0].isalpha() else ",")
                continue
            if self._language == "fr" and word.startswith("j'"):
                word = "je"
            if word in ("i", "ich", "je", "eu", "yo") and _ASIDE.match(self._text, match.start()):
                kind = None  # "I think" says nothing of the speaker
            else:
                kind = pronouns.get(word)
            if kind is not None and not self._belongs(kind, match.end(), starts):
                found.append(Reference(match.start(), match.end(), kind[0], gender=kind[1]))
            said.append(word)
        return self._as_owners(found), cuts

    def _named(self, person: Person, said: Sequence[str], before_object: frozenset[str]) -> list[Reference]:
        behind = self._text[person.end : person.end + 24]
        if behind.startswith(("'s ", "’s ")) and any(
            person.end < other.start <= person.end + 14 for other in self._people
        ):
            return []  # "Dr Rao's colleague": the colleague is spoken of
        leading = [word for word in said[-4:] if word not in _SMALL]
        role = "object" if leading and leading[-1] in before_object else "subject"
        return [Reference(person.start, person.end, role, person)]

    def _belongs(self, kind: tuple[str, str | None], end: int, starts: Sequence[int]) -> bool:
        """Whether an owner is named only to say whose relation somebody is: "my sister"."""
        if kind[0] != "owner" and kind != ("object", "f"):
            return False
        place = bisect_right(starts, end - 1)
        if place >= len(starts) or starts[place] - end > OWNER_REACH:
            return False
        between = self._text[end : starts[place]]
        return not patterns.search(r"[,.;:!?()]|['’]s\b", between) and len(between.split()) <= 3 and not _verb(between)

    def _as_owners(self, found: Sequence[Reference]) -> list[Reference]:
        """English "her" is an object before a verb or an end, and an owner before a noun."""
        if self._language != "en":
            return list(found)
        return [
            replace(one, role="owner")
            if one.gender == "f" and one.role == "object" and self._before_noun(one.end)
            else one
            for one in found
        ]

    def _before_noun(self, end: int) -> bool:
        following = _WORD.match(self._text, end + 1)
        return following is not None and following[0].casefold() not in _AFTER_OBJECT

    def _bounds(self, start: int) -> tuple[int, int]:
        place = max(0, bisect_right(self._starts, start) - 1)
        return self._starts[place], self._ends[place]


_AFTER_OBJECT = frozenset(
    "on in at to from with for and but so off a an the that this is was if when again today now up down".split()  # noqa: SIM905
)


def _verb(between: str) -> bool:
    return any(word in ("is", "are", "was", "has", "ist", "es", "est", "é", "tiene", "hat") for word in between.split())


def _may(person: Person, gender: str | None) -> bool:
    return gender not in ("m", "f") or fits(person, gender)


def fits(person: Person, gender: str) -> bool:
    """May "he" or "she" mean them? Who is not known to be the other may be meant."""
    return gender_of(person) in (None, gender)
