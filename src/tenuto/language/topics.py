"""What a wish is about, and whether a text speaks of it. Pure.

A topic is a few names or words: "Callum", "Tom's mother", "the smoothie pirate thing". A text speaks of it when one
sentence holds all words of one of its names, whatever their endings; words that say who has what ("Tom's mother") must
follow each other. What would break it: taking a filler for the subject ("that stupid thing"): those are listed.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

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


@dataclass(frozen=True, slots=True)
class Name:
    """One name of a topic: its words as stems, in order; ``together`` when they must follow each other."""

    stems: tuple[str, ...]
    hint: str
    """Letters that every text which speaks of it holds: the start of its longest word."""
    together: bool = False


@dataclass(frozen=True, slots=True)
class Topic:
    names: tuple[Name, ...]

    def __bool__(self) -> bool:
        return bool(self.names)

    @property
    def stems(self) -> frozenset[str]:
        return frozenset(stem for name in self.names for stem in name.stems)


def subject(about: str) -> str:
    """The words of a wish that name its subject, without what is said about it besides."""
    cut = _CUT.sub("", about, 1).strip()
    return cut or about.strip()


@lru_cache(maxsize=1024)
def topic_of(about: str, names: tuple[str, ...] = ()) -> Topic:
    """The topic that a wish is about, under all its names; empty where nothing is left that names anything."""
    found = [_name(text) for text in (subject(about), *names)]
    return Topic(tuple(dict.fromkeys(name for name in found if name is not None)))


def _name(text: str) -> Name | None:
    plain = [word for word in words(text) if word not in STOP_WORDS and word not in _fillers()][:MOST_WORDS]
    stems = tuple(dict.fromkeys(token for word in plain for token in tokens(word)))
    if not stems:
        return None
    together = len(stems) > 1 and bool(_OWNER.search(text))
    if not together and (own := tuple(stem for stem in stems if stem not in kin_stems())):
        plain, stems = [word for word in plain if set(tokens(word)) & set(own)], own
    longest = max(plain, key=len)
    return Name(stems, longest[: max(3, min(len(longest) - 1, 5))], together)


@lru_cache(maxsize=1)
def _fillers() -> frozenset[str]:
    return _listed("fillers") | _listed("small_words")


def _listed(name: str) -> frozenset[str]:
    return frozenset(packaged("wishes")[name].split())


def mentions(topic: Topic, text: str) -> bool:
    """Whether a text speaks of the topic."""
    lowered = text.casefold()
    return any(name.hint in lowered and _holds(name, text) for name in topic.names)


def _holds(name: Name, text: str) -> bool:
    wanted = frozenset(name.stems)
    if not wanted <= distinct_tokens(text):
        return False
    if len(wanted) == 1:
        return True
    return any(_in_sentence(name, wanted, sentence) for sentence in _SENTENCE.split(text))


def _in_sentence(name: Name, wanted: frozenset[str], sentence: str) -> bool:
    if not name.together:
        return wanted <= distinct_tokens(sentence)
    spoken = tokens(sentence)
    return any(tuple(spoken[at : at + len(name.stems)]) == name.stems for at in range(len(spoken)))


# --- asking for something that is not brought up ----------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Described:
    """How something can be asked for: by a name of its own, by its value, or in so many of its words."""

    names: frozenset[str] = frozenset()
    value: frozenset[str] = frozenset()
    words: frozenset[str] = frozenset()
    shared: frozenset[str] = frozenset()
    """Words that other things are spoken of with, too: naming them names more than this."""

    def named_by(self, asked: frozenset[str], *, near: bool = False) -> bool:
        """Whether a question names the thing itself; ``near`` says that their meanings are close."""
        own = self.words - self.shared
        if asked & (self.names - self.shared):
            return True
        value = self.value - self.shared
        if value and value <= asked:
            return True
        held = asked & self.words
        return bool(held & own) and (near or len(held) > 1)


def described(texts: Iterable[str], value: str | None, shared: Iterable[str]) -> Described:
    """How what ``texts`` say can be asked for; ``shared`` are names that stand for more than this."""
    listed = list(texts)
    names = frozenset(token for text in listed for word in _capitalised(text) for token in tokens(word))
    held = frozenset(token for text in listed for token in tokens(text)) - _plain_stems()
    common = frozenset(token for text in shared for token in tokens(text)) | kin_stems()
    return Described(names, frozenset(tokens(value or "")) - _plain_stems(), held, common)


_CAPITALISED = patterns.compile(r"\b[A-Z]\w+")


def _capitalised(text: str) -> list[str]:
    """Words that are written like names, not at the beginning of a sentence."""
    found = []
    for match in _CAPITALISED.finditer(text):
        before = text[: match.start()].rstrip()
        if before and before[-1] not in '.!?:\n"“' and match.group().casefold() not in STOP_WORDS:
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
