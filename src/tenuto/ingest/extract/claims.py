"""A proposal beside the talk that a model was shown: what is claimed, which message holds its quote. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, tzinfo
from functools import cached_property

from tenuto.language import stance
from tenuto.language.detect import language_of
from tenuto.language.quantities import numbers as numbers_in
from tenuto.language.quantities import phones, same_phone
from tenuto.language.sentences import straighten
from tenuto.language.support import Said, Word, folded, keywords, kin, same_word, words
from tenuto.text import patterns

LIFE_CRITICAL = ("allergy", "medication", "condition", "blood_type", "emergency_contact")
_CRITICAL = patterns.compile(
    r"allerg|alérg|alerg|anaphyla|anafil|emergency contact|notfallkontakt|contacto? de emerg|contact d.urgence", "i"
)
_CAPITAL = patterns.compile(r"[A-Z][\w’'&-]*", not_after=r"[\w'’.]")
NO_NAME = frozenset(
    """
    i i'm i've mr mrs ms dr prof st sr sra frau herr dra mme monday tuesday wednesday thursday friday saturday sunday january february
    march april may june july august september october november december mon tue wed thu fri sat sun gp mri ct tv phd uk us usa eu ceo
    cto hr it id ok a&e er mum dad mom mama papa grandma grandpa user christmas easter pm am usb pc cv ai the
    """.split()  # noqa: SIM905
)
_GERMAN_NAME = patterns.compile(r"\b(?:in|aus|nach|bei|namens|heißt|von)\s+(?P<name>[A-Z][\w-]+)")
SELF = frozenset(["self", "i", "me", "user", "the user", "speaker", "", "myself", "we"])


@dataclass(frozen=True, slots=True)
class Line:
    """A message as it is shown: ``own`` where it is the user's."""

    text: str
    at: datetime
    own: bool = True
    id: str = ""
    language: str = "en"
    speaker: str | None = None


@dataclass(frozen=True)
class Shown:
    """What a model saw: the talk in order, what is known, and what the user is called."""

    lines: tuple[Line, ...]
    known: tuple[str, ...] = ()
    own_names: frozenset[str] = frozenset()
    people: frozenset[str] = frozenset()
    """Names of people who are known, folded."""
    zone: tzinfo | None = None

    @cached_property
    def said(self) -> Said:
        return Said([*(line.text for line in self.lines), *self.known, *self.own_names])

    @cached_property
    def told(self) -> Said:
        """What the user said, and what is known."""
        return Said([*(line.text for line in self.lines if line.own), *self.known, *self.own_names])


@dataclass(frozen=True, slots=True)
class Claim:
    """What is checked of a proposal."""

    quote: str
    content: str
    message: int | None = None
    about: str = "self"
    attribute: str | None = None
    value: str | None = None
    ended: bool = False


@dataclass(frozen=True, slots=True)
class Verdict:
    """``reason`` is why not; otherwise ``line`` is the message that says it."""

    reason: str | None = None
    line: int = 0
    inferred: bool = False
    unconfirmed: bool = False
    named: bool = False
    """Whether its value stands in the messages, however the rest is worded."""


def flat(text: str) -> str:
    """A quote as it is compared: straight, lower case, one space, no closing marks."""
    return " ".join(straighten(text).casefold().split()).strip(" .!?,;:…\"'“”„«»")


def quote_of(said: str, message: int | None, shown: Shown) -> tuple[int | None, str]:
    """The message that holds the quote: the one that was named, or another that was shown."""
    quote = flat(said)
    if len(quote) < 2 or (not words(quote) and not any(char.isdigit() for char in quote)):
        return None, "it has no quote"
    wanted = (message or 0) - 1
    order = sorted(range(len(shown.lines)), key=lambda at: (at != wanted, not shown.lines[at].own, -at))
    for at in order:
        if quote in " ".join(straighten(shown.lines[at].text).casefold().split()):
            if not shown.lines[at].own:
                return None, "its quote is the assistant's word, not the user's"
            return at, ""
    return None, "its quote is in none of the messages shown"


class View:
    """One claim beside what was said, worked out once."""

    def __init__(self, claim: Claim, shown: Shown, place: int) -> None:
        self.claim, self.shown, self.place = claim, shown, place
        self.line = shown.lines[place]
        self.text = " ".join(straighten(self.line.text).split())
        self.language = language_of(self.text, self.line.language)
        self.content = straighten(claim.content)
        self.tongue = language_of(self.content, self.language)
        self.start = max(0, self.text.casefold().find(flat(claim.quote)))
        self.end = self.start + len(flat(claim.quote))
        whole = stance.clauses(self.text)
        self.clauses = [one for one in whole if one.start < self.end and self.start < one.end] or whole
        self.keywords = keywords(self.content)
        self.quoted = Said([self.text[self.start : self.end]])
        self.unconfirmed = self.inferred = False

    @property
    def critical(self) -> bool:
        return self.claim.attribute in LIFE_CRITICAL or bool(_CRITICAL.search(self.content))

    @cached_property
    def denies(self) -> bool:
        """Whether the content says that something is not so, or over."""
        denied = stance.denials(self.content, self.tongue) or stance.over(self.content, self.tongue)
        return bool(denied) or self.claim.ended

    @property
    def translated(self) -> bool:
        return self.tongue != self.language

    @cached_property
    def relevant(self) -> list[stance.Clause]:
        """The clauses of the quote that speak of what the content says; all of them where none does."""
        wanted = [*self.keywords, *self.names]
        counts = {one.value for one in numbers_in(self.content, self.tongue)}
        found = [
            clause
            for clause in self.clauses
            if any(same(one, word) for word in words(clause.text) for one in wanted)
            or counts & {one.value for one in numbers_in(clause.text, self.language)}
        ]
        return found or self.clauses

    @cached_property
    def names(self) -> list[Word]:
        """The capitalised words of the content that are names."""
        found = _CAPITAL.finditer(self.content)
        if self.tongue == "de":
            kept = [Word(m["name"], folded(m["name"]), m.start("name")) for m in _GERMAN_NAME.finditer(self.content)]
        else:
            kept = [
                Word(m[0], folded(patterns.sub(r"['’]s$", "", m[0])), m.start())
                for m in found
                if not _first(self.content, m.start())
            ]
        return [one for one in kept if one.plain not in NO_NAME and len(one.plain) > 1]

    @cached_property
    def support(self) -> float:
        """Share of the content's words and numbers that the messages hold."""
        weighed = [one.plain for one in self.keywords]
        return sum(self.shown.said.has(one) for one in weighed) / len(weighed) if weighed else 1.0

    @cached_property
    def named(self) -> bool:
        """Whether the user's messages hold the value, or the number that it is."""
        value = self.claim.value or ""
        texts = [line.text for line in self.shown.lines if line.own]
        if heard := phones(value):
            return any(same_phone(one, other) for one in heard for text in texts for other in phones(text))
        weighed = [one.plain for one in words(value) if len(one.plain) > 2]
        return bool(weighed) and self.shown.told.has(weighed[0])

    @property
    def before(self) -> Line | None:
        """The assistant's turn that the quoted message answers."""
        last = self.shown.lines[self.place - 1] if self.place else None
        return last if last is not None and not last.own else None


def _first(text: str, place: int) -> bool:
    """Whether a place begins a sentence."""
    return not text[:place].strip() or text[:place].rstrip()[-1:] in ".:;!?("


def same(one: Word, other: Word) -> bool:
    related = kin(one.plain)
    return same_word(one.plain, other.plain) or (related is not None and related == kin(other.plain))
