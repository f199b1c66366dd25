"""One message with what the reader marked in it: who is spoken of, and which mark belongs to which. Pure.

A value belongs to the person spoken of at that place, a dose to its medicine, a reaction to what causes it, a time to
what stands nearest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

from tenuto.ingest.extract.corrections import corrected
from tenuto.ingest.extract.exchange import Exchange, speaker_of
from tenuto.language.dates import Moment, resolve
from tenuto.language.detect import language_of
from tenuto.language.medicines import health_words
from tenuto.language.mentions import SELF, Mention, key
from tenuto.language.missed_people import missed_people
from tenuto.language.people import Person, in_turn, names_treater, people_in
from tenuto.language.pronouns import Subjects
from tenuto.language.relations import is_relation_word
from tenuto.language.safety import CALLED, plain_marks
from tenuto.language.sentences import spans
from tenuto.language.vital import JUDGED, Meant, Said, barred_allergens, meant
from tenuto.policy import MemoryPolicy
from tenuto.records.conversation import Role
from tenuto.records.memory import Trust
from tenuto.records.reading import Mark
from tenuto.text import patterns

VITAL_LEAST = 0.3
BIRTHDAY_LEAST = 0.4
DONE_LEAST = 0.3
"""That something is done counts only beside an open todo with the same words: little is enough to look."""
PEOPLE_BEFORE = 8
"""People spoken of before whom "he" and "she" may mean."""
LONGEST_TURN = 2000
"""Characters of the end of a turn in which its question is looked for."""
NAME_WORDS = 5
"""Words of the longest name of a place or a workplace."""
PARTED = 60
"""Characters that a word such as "and" between two marks counts for."""
SURE_OF_NAME = 0.75
"""How sure the reader must be of the user's name where no word says that it is one."""
UNSURE = 0.5
"""How sure something is at most that may be meant otherwise."""
LONG_AGO = timedelta(days=60)
"""An appointment that seems so long past is the coming one."""
VALUELESS = frozenset({"person", "rel", "pet", "animal", "when", "topic", "dose", "reaction"})
"""Marks that say who, when or how much: no statement by themselves."""
_UNSURE_TOO = frozenset(
    {"allergy", "med", "dose", "cond", "blood", "contact", "sos", "reaction", "limit", "person", "rel"}
)
"""Marks of life-critical things, and of who is meant: taken also where the reader is unsure."""
_HEALTH = frozenset({"med", "allergy", "cond", "blood", "limit", "event", "diet", "age"})
_PERSONAL = _HEALTH - {"event"} | {"birthday", "home", "origin", "job", "employer", "study", "reaction", "dose"}
"""What somebody is, has or takes: the subject of the clause tells whose it is."""
_THINGS = {"home": "place", "origin": "place", "employer": "org", "project": "project"}
"""Values that are entities of their own where they are names."""
YEAR = patterns.compile(r"\b(?:19|20)\d\d\b")
_YOU = patterns.compile(
    r"\b(?:you|your|du|dein\w*|dir|sie|ihr\w*|tu|tus|te|tienes|usted|vous|votre|vos|ton|ta|tes|toi|teu|tua|você|tens)\b",
    "i",
)
_FIRST = patterns.compile(
    r"\b(?:i|i'm|im|my|me|we|our|ich|mein\w*|mir|wir|yo|soy|mi|mis|tengo|je|j'|mon|ma|mes|eu|sou|meu|minha|tenho)\b",
    "i",
)
_PARTS = patterns.compile(r"\b(?:and|but|while|und|aber|y|pero|et|mais|e|mas)\b|[,;]", "i")
_STARTS_OWN = patterns.compile(
    r"(?:i|i'm|im|i've|we|my|our|ich|wir|mein|yo|mi|nos|je|j'|nous|mon|ma|eu|meu|minha|nós)\b", "i"
)
_STARTS_OWNING = patterns.compile(r"(?:my|our|mein|mi|mon|ma|meu|minha)", "i")
_STARTS_OTHER = patterns.compile(r"(?:he|she|er|sie|él|ella|il|elle|ele|ela)\b", "i")


class Marked:
    """A message under way, with its marks."""

    def __init__(self, exchange: Exchange, marks: Sequence[Mark], policy: MemoryPolicy) -> None:
        self.exchange, self.message, self.policy = exchange, exchange.message, policy
        self.text = exchange.message.content
        self.language = language_of(self.text, exchange.language)
        self.spans = spans(self.text) or [(0, len(self.text))]
        found = corrected(self.text, [one for one in marks if _taken(one, policy.keep_confidence)], self.spans)
        found = [other for one in found for other in self._harmful(one, found)]
        found += plain_marks(self.text, found, self.spans)
        self.marks = sorted(found, key=lambda one: (one.start, -one.end))
        self.speaker = speaker_of(exchange.message, exchange.own_names)
        names = {
            self.text[one.start : one.end].casefold() for one in self.marks if one.type == "name"
        } | exchange.own_names
        asked = in_turn(exchange.before or "", exchange.registry, names=True)
        missed = missed_people(self.text, self.marks, exchange.registry)
        found_people = people_in(self.text, [*self.marks, *missed], exchange.registry, exchange.people[-PEOPLE_BEFORE:])
        found_people += self._unmarked(found_people)
        named = [one for one in found_people if one.label.casefold() not in names]
        self.people = _answered(sorted(named, key=lambda one: one.start), asked, exchange.before or "")
        patients = {one.id: one for one in exchange.health.values() if one.id != SELF}
        before = [*exchange.people[-PEOPLE_BEFORE:], *asked[-2:]]
        self.subjects = Subjects(self.text, self.spans, self.people, before, list(patients.values()), self.language)
        self.marks = self._as_meant([self._owned(self._of_the_asked(one)) for one in self.marks])
        self.things = [
            Mention(id=key(_THINGS[one.type], said), type=_THINGS[one.type], label=said, start=one.start, end=one.end)
            for one in self.marks
            if one.type in _THINGS and (said := self.said(one))[:1].isupper() and len(said.split()) <= NAME_WORDS
        ]

    def _harmful(self, mark: Mark, marks: Sequence[Mark]) -> list[Mark]:
        """A limit as the allergies that it tells, where it tells some that nobody marked."""
        if mark.type not in ("limit", "diet") or mark.state != "now":
            return [mark]
        known = [one for one in marks if one.type == "allergy"]
        found = barred_allergens(self.text, mark)
        new = [one for one in found if not any(other.start < one.end and one.start < other.end for other in known)]
        return new if found else [mark]

    @property
    def own(self) -> bool:
        """Whether these are the user's own words."""
        return self.message.role is Role.USER and self.message.trust is not Trust.EXTERNAL

    def said(self, mark: Mark) -> str:
        return " ".join(self.text[mark.start : mark.end].split()).strip(" ,;:.!?")

    def span(self, start: int) -> tuple[int, int]:
        return next(((a, b) for a, b in self.spans if a <= start < b), (0, len(self.text)))

    def sentence(self, mark: Mark) -> str:
        start, end = self.span(mark.start)
        return self.text[start:end].strip()

    def withheld(self, mark: Mark) -> bool:
        """Inside the words of a wish, or of a rule, nothing else is kept."""
        return any(
            one.layer == "clause"
            and one.type in ("forget", "silence", "unsilence", "offrec", "rule")
            and one.start <= mark.start < one.end
            for one in self.marks
        )

    def near(self, mark: Mark, type_: str, reach: int = 90) -> Mark | None:
        """The closest mark of a type in the same sentence, with the same owner where both have one."""
        start, end = self.span(mark.start)
        able = [
            one
            for one in self.marks
            if one.type == type_ and start <= one.start < end and gap(mark, one) <= reach and one is not mark
        ]
        if type_ in ("dose", "reaction"):
            able = [one for one in able if self.closest(one, mark.type) is mark]
        return min(able, key=lambda one: (gap(mark, one), one.start), default=None)

    def closest(self, mark: Mark, type_: str) -> Mark | None:
        """Of several medicines the one that a dose stands behind, or else the one before which it stands."""
        able = [one for one in self.marks if one.type == type_ and gap(mark, one) <= 90]
        return min(able, key=lambda one: gap(mark, one) + (0 if one.start < mark.start else 3), default=None)

    def species(self, pet: Mark) -> Mark | None:
        """What a pet is: of "Miso is a tabby and Rex a beagle" each its own."""
        start, end = self.span(pet.start)
        here = [one for one in self.marks if start <= one.start < end]
        pets, animals = ([one for one in here if one.type == kind] for kind in ("pet", "animal"))
        own = [one for one in animals if min(pets, key=lambda other: self._apart(other, one)) is pet]
        return min(own, key=lambda one: self._apart(pet, one), default=None)

    def _apart(self, one: Mark, other: Mark) -> int:
        """Characters between two marks; a word that begins another statement counts for many."""
        between = self.text[min(one.end, other.end) : max(one.start, other.start)]
        return gap(one, other) + (PARTED if _PARTS.search(between) else 0)

    def when(self, mark: Mark) -> Moment | None:
        start, end = self.span(mark.start)
        able = [
            one
            for one in self.marks
            if one.type == "when" and one.state != "neg" and start <= one.start < end and gap(mark, one) <= 80
        ]
        others = [
            one for one in self.marks if one.layer == "value" and one.type not in VALUELESS and start <= one.start < end
        ]
        for one in sorted(able, key=lambda one: gap(mark, one)):
            nearest = min(others, key=lambda other: gap(one, other), default=mark)
            of_work = {nearest.type, mark.type} == {"job", "employer"}
            if nearest is mark or of_work or gap(one, mark) <= gap(one, nearest) + 2:
                return self.resolved(one, ahead=mark.state == "plan")
        return None

    def resolved(self, when: Mark, *, ahead: bool = False) -> Moment | None:
        moment = self.moment(when, ahead)
        planned = any(one.type == "event" and one.state != "end" and gap(one, when) <= 80 for one in self.marks)
        if moment is None or ahead or not planned or YEAR.search(self.said(when)):
            return moment
        return moment if self.message.at - moment.end < LONG_AGO else self.moment(when, True)

    def moment(self, when: Mark, ahead: bool) -> Moment | None:
        return resolve(
            self.said(when), self.sentence(when), self.message.at, self.exchange.zone, self.language, ahead=ahead
        )

    def _unmarked(self, known: Sequence[Person]) -> list[Person]:
        """Whom a sentence names that says something of another person and in which nobody was marked."""
        found: list[Person] = []
        for start, end in self.spans:
            here = [one for one in self.marks if start <= one.start < end]
            others = any(one.owner == "other" and one.type in _HEALTH for one in here)
            if not others or any(start <= one.start < end for one in known):
                continue
            inside = [one for one in here if one.layer == "value"]
            found += [
                replace(one, start=one.start + start, end=one.end + start)
                for one in in_turn(self.text[start:end], self.exchange.registry, names=True)
                if not any(mark.start < one.end + start and one.start + start < mark.end for mark in inside)
            ]
        return found

    def _answers(self, mark: Mark) -> bool:
        """Whether something about health only answers a question: nobody is named beside it, nor the speaker."""
        alone = mark.type in _HEALTH and not self.subjects.anybody_here(mark.start)
        return alone and self.question() is not None and not _FIRST.search(self.sentence(mark))

    def _of_the_asked(self, mark: Mark) -> Mark:
        """An answer to "do you …?" is about the user."""
        question = self.question() or ""
        about_user = self._answers(mark) and not in_turn(question, self.exchange.registry) and _YOU.search(question)
        return replace(mark, owner="self") if about_user and mark.owner == "other" else mark

    def _owned(self, mark: Mark) -> Mark:
        """A mark with the owner that its clause names; where it names nobody, the reader's word stands."""
        if mark.type not in _PERSONAL or self._answers(mark):
            return mark
        if (known := self._takes(mark)) is not None and names_treater(self.sentence(mark)):
            return replace(mark, owner="self" if known.id == SELF else "other")  # only who treats is named
        told = self.subjects.told(mark.start, patient=mark.type in _HEALTH)
        own, other = self.subjects.speaker_here(mark.start), self.subjects.anybody_here(mark.start)
        if told.sure or (told.own and not other) or (told.person is not None and other and not own):
            return replace(mark, owner="self" if told.own else "other")
        if not own and not other and known is not None:
            return replace(mark, owner="self" if known.id == SELF else "other")
        return mark

    def _as_meant(self, marks: Sequence[Mark]) -> list[Mark]:
        """The marks without what is only played, supposed or asked; what may be meant otherwise is less sure."""
        found = []
        for mark in marks:
            how = self._meant(mark) if mark.type in JUDGED else Meant.SAID
            if how is Meant.SAID:
                found.append(mark)
            elif how is Meant.UNSURE:
                found.append(replace(mark, score=min(mark.score, UNSURE)))
            elif how is Meant.ANIMAL and self._named_pet(mark) is not None:
                found.append(mark)
        return found

    def _meant(self, mark: Mark) -> Meant:
        start, end = self.span(mark.start)
        told = self.subjects.told(mark.start, patient=True)
        answers = self._answers(mark)
        pet = told.person is not None and told.person.relation == "pet"
        reacted = any(one.type == "reaction" and start <= one.start < end for one in self.marks)
        asked = (self.exchange.before or "")[-LONGEST_TURN:]
        sure = told.sure or answers
        return meant(Said(self.text, mark, start, end, sure, asked, pet and not told.own, reacted))

    def _named_pet(self, mark: Mark) -> Person | None:
        """The pet by name whom something is about."""
        person = self.subjects.told(mark.start, patient=True).person
        return person if person is not None and person.relation == "pet" and person.named else None

    def whose(self, mark: Mark) -> Person | None:
        """The person whom a value is about; nobody where it is about the user."""
        if mark.owner != "self" and (known := self._takes(mark)) is not None and known.id != SELF:
            return known
        if self._answers(mark) and (asked := in_turn(self.question() or "", self.exchange.registry)):
            return asked[-1]
        if mark.owner != "other":
            return self.speaking()
        return self.subjects.of(mark.start, patient=mark.type in _HEALTH)

    def _takes(self, mark: Mark) -> Person | None:
        """Whose a medicine, an allergy or a condition is known to be, where the sentence names nobody."""
        if mark.type not in ("med", "allergy", "cond") or self.subjects.named_here(mark.start, patient=True):
            return None
        known = (self.exchange.health.get(one) for one in health_words(self.said(mark)))
        return next((one for one in known if one is not None), None)

    def knows(self, mark: Mark, person: Person | None) -> bool:
        """Whether it is told of somebody who is known, by name or by who they are: not of "a lady"."""
        if person is None:
            return mark.owner != "other" or self.speaker.subject != SELF
        return person.named or person.relation == "pet" or person.word is None or is_relation_word(person.word)

    def own_name(self, mark: Mark) -> bool:
        """Whether the user is called so: not "we're Jain", nor "Jaden, my brother"."""
        before = self.text[max(0, mark.start - 32) : mark.start]
        said = self.said(mark)
        if CALLED.search(before) or mark.score >= SURE_OF_NAME:
            return True
        first = not before.strip() and said[:1].isupper() and len(said.split()) > 1
        return first and self.exchange.user_name is None and said.casefold() not in self.exchange.registry.names

    def in_todo(self, mark: Mark) -> bool:
        """Whether an event stands inside an obligation: the todo says it."""
        return any(one.type == "todo" and one.start <= mark.start and mark.end <= one.end for one in self.marks)

    def speaking(self) -> Person | None:
        if self.speaker.subject == SELF:
            return None
        return Person(id=self.speaker.subject, label=self.speaker.name or "", start=0, end=0)

    def inside(self, mark: Mark) -> Person | None:
        """Whom a clause begins with, where it does not begin with the speaker."""
        first = next((one for one in self.people if mark.start <= one.start < mark.end), None)
        text = self.text[mark.start : mark.end].lower()
        if (
            first is not None
            and (first.start - mark.start <= 14)
            and (not _STARTS_OWN.match(text) or _STARTS_OWNING.match(text))
        ):
            return first
        if _STARTS_OTHER.match(text):
            return self.subjects.of(mark.start + 3)
        return self.speaking()

    def question(self) -> str | None:
        """The question that the message answers."""
        before = (self.exchange.before or "")[-LONGEST_TURN:]
        asked = [before[start:end].strip() for start, end in spans(before)] if "?" in before else []
        return next((one for one in reversed(asked) if one.endswith("?")), None)

    def asked_of_them(self) -> str | None:
        """The question that the message answers, where it asks about the user or somebody whom it names."""
        question = self.question()
        about = question is not None and (_YOU.search(question) or in_turn(question, self.exchange.registry))
        return question if about else None


_LESS_SURE = frozenset(
    {"person", "rel", "animal", "when", "topic", "dose", "reaction", "todo", "like", "dislike", "diet"}
)
"""What tells whose, when and how much (what it belongs to decides); todos, which can be struck off; likings."""
LESS_SURE = 0.5


def _taken(mark: Mark, sure: float) -> bool:
    vital = mark.type in _UNSURE_TOO or mark.type == "name"
    if mark.type == "birthday":
        return mark.score >= min(BIRTHDAY_LEAST, sure)
    if mark.type in ("done", "cancel"):
        return mark.score >= DONE_LEAST
    return mark.score >= (
        min(VITAL_LEAST, sure) if vital else min(LESS_SURE, sure) if mark.type in _LESS_SURE else sure
    )


def gap(one: Mark, other: Mark) -> int:
    """Characters between two marks."""
    return max(other.start - one.end, one.start - other.end, 0)


_ASKS_NAME = patterns.compile(r"name|called|who\b|heißt|llama|appelle|chama|wer\b|quién|qui\b|quem", "i")


def _answered(people: list[Person], asked: Sequence[Person], before: str) -> list[Person]:
    """ "What's your father's name?" — "Frank." is the father's name."""
    if not people or not asked or people[0].relation or people[0].start > 12 or not _ASKS_NAME.search(before):
        return people
    about = asked[-1]
    if about.named or about.relation is None:
        return people
    return [replace(people[0], id=about.id, relation=about.relation, word=about.word), *people[1:]]
