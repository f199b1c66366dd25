"""What a wish is about, and whether a text speaks of it. Pure.

A topic is a few names or words: "Callum", "Tom's mother", "the smoothie pirate thing". A text speaks of it when one
sentence holds all words of one of its names, whatever their endings, or a word of the same subject in any language that is
read (:mod:`tenuto.language.concepts`); two that say who belongs to whom ("Tom's mother") must stand beside each other. What would break it: taking a filler for the subject ("that stupid thing"): those are listed.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache

from tenuto.language.concepts import concept_of, kin_of
from tenuto.language.lexicon import packaged
from tenuto.text import patterns
from tenuto.text.words import STOP_WORDS, distinct_tokens, tokens, words

_CUT = patterns.compile(
    r"(?:[,;:.!?(]|\b(?:it|that|this|he|she|they) (?:was|is|were|wasnt|isnt)\b|\b(?:because|btw|by the way|until|till|"
    r"unless|for now|last (?:week|month|year|night|time)|weil|bis|porque|hasta|parce que|jusqu|ate que)\b).*$",
    "is",
)
"""Where a wish goes on about something else than its subject."""
_OWNER = patterns.compile(r"\w'?s \w", "i")
_SENTENCE = patterns.compile(r"[.!?\n;]+")
MOST_WORDS = 4
"""Words of a subject that are compared; of more the first."""
KNOWN = 1 << 13
"""Answers that a topic remembers."""
APART = 2
"""Words between somebody and what of theirs is meant: "Tom's mother", "la madre de Tom"."""


@dataclass(frozen=True, slots=True)
class Part:
    """One word of a topic: its stem, or any word of the subject that it names."""

    stem: str
    letters: str
    """What every text that holds the stem holds: the start of the word."""
    said: patterns.Pattern | None = None
    hinted: patterns.Pattern | None = None
    attributes: frozenset[str] = frozenset()

    def holds(self, text: str) -> bool:
        if self.said is not None and self.said.search(text) is not None:
            return True
        return self.letters in text.casefold() and self.stem in distinct_tokens(text)

    def hints(self, text: str) -> bool:
        """Whether a text holds it, or a word that may mean it."""
        return self.holds(text) or (self.hinted is not None and self.hinted.search(text) is not None)

    def like(self, other: Part) -> bool:
        """Whether two mean the same."""
        return self.stem == other.stem or (self.said is not None and self.said is other.said)


@dataclass(frozen=True, slots=True)
class Name:
    """One name of a topic: its words; ``together`` when they must stand beside each other."""

    parts: tuple[Part, ...]
    together: bool = False

    @property
    def stems(self) -> tuple[str, ...]:
        return tuple(part.stem for part in self.parts)


@dataclass(frozen=True, slots=True)
class Topic:
    names: tuple[Name, ...]
    known: dict[int, bool] = field(default_factory=dict, compare=False, repr=False)
    """What was asked before, by the hash of the text: the same talk is read at every turn."""

    def __bool__(self) -> bool:
        return bool(self.names)

    @property
    def stems(self) -> frozenset[str]:
        return frozenset(stem for name in self.names for stem in name.stems)


def says_something(text: str) -> bool:
    """Whether a text says anything that could be meant by "that", besides greetings and small words."""
    return any(word not in STOP_WORDS and word not in _small_talk() for word in words(text))


@lru_cache(maxsize=1)
def _small_talk() -> frozenset[str]:
    return _listed("small_talk") | _listed("small_words")


def subject(about: str) -> str:
    """The words of a wish that name its subject, without what is said about it besides."""
    cut = _CUT.sub("", about, 1).strip()
    return cut or about.strip()


@lru_cache(maxsize=1024)
def topic_of(about: str, names: tuple[str, ...] = ()) -> Topic:
    """The topic that a wish is about, under all its names; empty where nothing is left that names anything."""
    found = [_name(text) for text in (subject(about), *names)]
    return Topic(tuple(dict.fromkeys(name for name in found if name is not None)))


_COMPOUND = patterns.compile(r"\b(?:\w+-in-law|(?:belle|beau|grand|petite?|ex|step)-\w+)\b", "i")


def _name(text: str) -> Name | None:
    whole = _COMPOUND.search(text)
    if whole is not None and (kin := kin_of(whole.group())) is not None:
        rest = _name(text.replace(whole.group(), " "))
        part = Part(tokens(whole.group())[0], whole.group().casefold(), kin)
        return Name((*(rest.parts if rest else ()), part), rest is not None)
    plain = [word for word in words(text) if word not in STOP_WORDS and word not in _fillers()][:MOST_WORDS]
    if not plain:
        return None
    if len(plain) > 1:
        called = [word for word in plain if kin_of(word) is None]
        if called and any(_follows(text, kin, called) for kin in plain if kin_of(kin) is not None):
            plain = called
    parts: dict[str, Part] = {}
    for word in plain:
        for part in _parts(word):
            parts.setdefault(part.stem if part.said is None else str(id(part.said)), part)
    found = tuple(parts.values())
    return Name(
        found, len(found) > 1 and all(part.said is None or kin_of(part.stem) for part in found) and _owned(text)
    )


def _owned(text: str) -> bool:
    """Whether one of the words says whose the other is."""
    return _OWNER.search(text) is not None


def _follows(text: str, kin: str, called: list[str]) -> bool:
    """Whether a name stands right behind the word for who somebody is: "my sister Ailsa"."""
    spoken = words(text)
    after = spoken[spoken.index(kin) + 1 :][:1] if kin in spoken else []
    return bool(after) and after[0] in called and after[0].capitalize() in text


def _parts(word: str) -> list[Part]:
    concept = concept_of(word)
    said = concept.said if concept is not None else kin_of(word)
    hinted, attributes = (concept.hinted, concept.attributes) if concept is not None else (None, frozenset[str]())
    letters = word[: max(3, min(len(word) - 1, 5))]
    return [Part(stem, letters, said, hinted, attributes) for stem in tokens(word)[:1]]


@lru_cache(maxsize=1)
def _fillers() -> frozenset[str]:
    return _listed("fillers") | _listed("small_words")


def _listed(name: str) -> frozenset[str]:
    return frozenset(packaged("wishes")[name].split())


def mentions(topic: Topic, text: str) -> bool:
    """Whether a text speaks of the topic."""
    key = hash(text)
    if (before := topic.known.get(key)) is not None:
        return before
    if len(topic.known) >= KNOWN:
        topic.known.clear()
    found = topic.known[key] = any(_holds(name, text) for name in topic.names)
    return found


def hints(topic: Topic, text: str) -> bool:
    """Whether a text holds some word of the topic, so that a close meaning tells that it speaks of it."""
    return any(part.hints(text) for name in topic.names for part in name.parts)


def same(one: Topic, other: Topic) -> bool:
    """Whether two wishes are about the same thing, or one about a part of the other."""
    return any(_covers(name, also) or _covers(also, name) for name in one.names for also in other.names)


def _covers(longer: Name, shorter: Name) -> bool:
    if len(shorter.parts) < len(longer.parts) and all(kin_of(part.stem) for part in shorter.parts):
        return False
    return all(any(part.like(one) for one in longer.parts) for part in shorter.parts)


def is_attribute(topic: Topic, attribute: str | None, text: str) -> bool:
    """Whether a memory with an attribute is about the topic: "my birthday", whatever the words in it."""
    if attribute is None:
        return False
    for name in topic.names:
        others = [part for part in name.parts if not any(attribute.startswith(one) for one in part.attributes)]
        if len(others) < len(name.parts) and all(part.holds(text) for part in others):
            return True
    return False


def _holds(name: Name, text: str) -> bool:
    if not all(part.holds(text) for part in name.parts):
        return False
    if len(name.parts) == 1:
        return True
    return any(_in_sentence(name, sentence) for sentence in _SENTENCE.split(text))


def _in_sentence(name: Name, sentence: str) -> bool:
    if not all(part.holds(sentence) for part in name.parts):
        return False
    if not name.together:
        return True
    spoken = [word for word in words(sentence) if word not in STOP_WORDS]
    places = [[at for at, word in enumerate(spoken) if part.holds(word)] for part in name.parts]
    return any(0 < abs(one - other) <= APART for one in places[0] for other in places[-1])


# --- asking for something that is not brought up ----------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Described:
    """How something can be asked for: by a name of its own, by its value, or in so many of its words."""

    names: frozenset[str] = frozenset()
    value: frozenset[str] = frozenset()
    words: frozenset[str] = frozenset()
    shared: frozenset[str] = frozenset()
    """Words that other things are spoken of with, too: naming them names more than this."""

    def named_by(self, asked: frozenset[str], *, near: bool = False, only_names: bool = False) -> bool:
        """Whether a question names the thing itself; ``near`` says that their meanings are close.

        ``only_names`` where the person said what it is: then other words describe something else.
        """
        own = self.words - self.shared
        if asked & (self.names - self.shared):
            return True
        value = self.value - self.shared
        if value and value <= asked:
            return True
        if only_names:
            return False
        held = asked & self.words
        return bool(held & own) and (near or len(held) > 1)


def described(texts: Iterable[str], value: str | None, shared: Iterable[str]) -> Described:
    """How what ``texts`` say can be asked for; ``shared`` are names that stand for more than this."""
    listed = list(texts)
    names = frozenset(token for text in listed for word in named_in(text) for token in tokens(word))
    held = frozenset(token for text in listed for token in tokens(text)) - _plain_stems()
    common = frozenset(token for text in shared for token in tokens(text)) | kin_stems()
    return Described(names, frozenset(tokens(value or "")) - _plain_stems(), held, common)


_CALENDAR = frozenset(
    [
        "monday",
        "tuesday",
        "wednesday",
        "thursday",
        "friday",
        "saturday",
        "sunday",
        "january",
        "february",
        "march",
        "april",
        "may",
        "june",
        "july",
        "august",
        "september",
        "october",
        "november",
        "december",
        "montag",
        "dienstag",
        "mittwoch",
        "donnerstag",
        "freitag",
        "samstag",
        "sonntag",
        "januar",
        "februar",
        "märz",
        "mai",
        "juni",
        "juli",
        "oktober",
        "dezember",
    ]
)
"""What is written like a name and names a day."""
_CAPITALISED = patterns.compile(r"\b[A-Z]\w+")


def named_in(text: str) -> list[str]:
    """Words that are written like names, not at the beginning of a sentence."""
    found = []
    for match in _CAPITALISED.finditer(text):
        before = text[: match.start()].rstrip()
        word = match.group().casefold()
        if before and before[-1] not in '.!?:\n"“' and word not in STOP_WORDS and word not in _CALENDAR:
            found.append(match.group())
    return found


@lru_cache(maxsize=1)
def _plain_stems() -> frozenset[str]:
    """Words that any memory may hold and that describe nothing: "user", "name", "called"."""
    listed = "user name named called call people person like want need feel think time day year old new remember"
    return frozenset(tokens(listed)) | frozenset(tokens(" ".join(_fillers())))


@lru_cache(maxsize=1)
def kin_stems() -> frozenset[str]:
    """Words for who somebody is to somebody: "my exes" names a kind of people, not one."""
    listed = packaged("kin")["words"]
    return frozenset(tokens(" ".join([*listed, *listed.values()]).replace("_", " "))) | frozenset(tokens("ex exes"))


@lru_cache(maxsize=1)
def _care() -> frozenset[str]:
    return frozenset(tokens(" ".join(_listed("care"))))


def about_care(text: str) -> bool:
    """Whether a message is about food, medicine or health."""
    return not _care().isdisjoint(distinct_tokens(text))
