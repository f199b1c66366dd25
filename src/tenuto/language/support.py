"""Which words of a note stand in what was said, in other forms too: inflected, misspelt, in another language. Pure."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from rapidfuzz.distance import OSA

from tenuto.language.lexicon import packaged
from tenuto.text import patterns
from tenuto.text.words import STOP_WORDS, tokens

_WORD = patterns.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
_SMALL = frozenset(
    """
    user users user's self person people somebody someone something thing things year years month months week weeks day days old
    called named name names since until around about before after during now currently still also already more less than very
    has had have having been being does did done is are was were will would can could may might must should shall gets get got
    getting goes going go take takes taking took taken live lives living lived work works working worked want wants make makes
    made use uses keep keeps kept need needs like likes say says said come comes came give gives put puts let lets their his her
    its our your they them with from into onto because for and but not never the this that these those there here one ones both
    der die das und ist ein eine einen einem einer hat haben wird werden nicht mit auf für von bei seit aus als auch noch nur
    sich ihre ihr sein seine nutzer wohnt arbeitet nimmt heißt el la los las un una unos unas y es son está tiene han con por
    para que del desde hasta como su sus se le les vive trabaja toma llama usuario il elle le les des une et est sont a ont pas
    dans pour avec sur qui que depuis jusque son sa ses chez habite travaille prend appelle utilisateur o os as um uma e é são
    está tem têm com em no na nos nas por para que do da dos das desde até seu sua mora trabalha toma chama utilizador usuário
    january february march april june july august september october november december monday tuesday wednesday thursday friday
    saturday sunday spring summer autumn winter morning evening afternoon night today tomorrow yesterday
    """.split()  # noqa: SIM905
)


def folded(text: str) -> str:
    """Lower case without accents."""
    plain = unicodedata.normalize("NFKD", text.casefold().replace("’", "'"))
    return "".join(char for char in plain if not unicodedata.combining(char))


@dataclass(frozen=True, slots=True)
class Word:
    """A word as it stands in a text."""

    said: str
    plain: str
    start: int


def words(text: str) -> list[Word]:
    """All words, without "'s" behind them."""
    return [Word(match[0], patterns.sub(r"'s$", "", folded(match[0])), match.start()) for match in _WORD.finditer(text)]


def keywords(text: str) -> list[Word]:
    """The words that carry what a text says."""
    return [
        one for one in words(text) if len(one.plain) > 2 and one.plain not in STOP_WORDS and one.plain not in _SMALL
    ]


def same_word(one: str, other: str) -> bool:
    """Whether two plain words are forms, misspellings or sister words of one: swells and swollen, lactose and Laktose."""
    if one == other:
        return True
    short, long = sorted((one, other), key=len)
    if len(short) < 3:
        return False
    if _stem(one) == _stem(other):
        return True
    common = _common(short, long)
    if common >= 5 or (common >= 4 and len(short) <= 6 and common >= len(short) - 2 and len(long) <= len(short) + 4):
        return True
    if common == len(short) and len(short) >= 3 and len(long) <= len(short) + 3:
        return True
    if len(short) >= 5 and OSA.distance(one, other) <= (1 if len(short) < 8 else 2):
        return True
    return len(short) >= 6 and OSA.normalized_similarity(_sound(one), _sound(other)) >= 0.72


def same_form(one: str, other: str) -> bool:
    """Whether two plain words are forms of one: not "house" and "housemate"."""
    return one == other or _stem(one) == _stem(other) or (abs(len(one) - len(other)) <= 3 and same_word(one, other))


@lru_cache(maxsize=4096)
def _stem(plain: str) -> str:
    return next(iter(tokens(plain)), plain)


def _common(one: str, other: str) -> int:
    return next(
        (place for place, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other))
    )


def _sound(word: str) -> str:
    """Spellings that differ between the languages made one."""
    for old, new in (
        ("ph", "f"),
        ("th", "t"),
        ("ck", "k"),
        ("qu", "k"),
        ("c", "k"),
        ("z", "k"),
        ("y", "i"),
        ("ss", "s"),
        ("ll", "l"),
        ("mm", "m"),
    ):
        word = word.replace(old, new)
    return word


class Said:
    """The words of what was said, for looking up."""

    def __init__(self, texts: Iterable[str]) -> None:
        self.words = {one.plain for text in texts for one in words(text)}
        self._parts = {part for word in self.words for part in patterns.split(r"[-']", word)}
        self.relations = {relation for word in self.words if (relation := kin(word)) is not None}

    def __contains__(self, plain: str) -> bool:
        """A name: exactly as it was said but for accents, a genitive, or its name in another language."""
        if plain in self.words or plain in self._parts:
            return True
        return (
            any(other in self.words for other in other_names(plain))
            or any(word.startswith(plain) and len(word) - len(plain) <= 2 and len(plain) >= 3 for word in self.words)
            or (
                len(plain) >= 6
                and any(OSA.distance(plain, word) <= 1 for word in self.words if abs(len(word) - len(plain)) <= 1)
            )
        )

    def has(self, plain: str) -> bool:
        """A word in any form."""
        if plain in self:
            return True
        if kin(plain) in self.relations:
            return True
        return any(same_word(plain, word) for word in self._parts if len(word) > 2)


@lru_cache(maxsize=1)
def _names() -> dict[str, frozenset[str]]:
    table: dict[str, frozenset[str]] = {}
    for name, others in packaged("quantities")["places"].items():
        group = frozenset(folded(part.replace("_", " ")) for part in (name, *others.split()))
        for one in group:
            table[one] = table.get(one, frozenset()) | group
    return table


def other_names(plain: str) -> frozenset[str]:
    """What a place or a language is called elsewhere."""
    return _names().get(plain, frozenset())


@lru_cache(maxsize=1)
def _kin() -> dict[str, str]:
    found: dict[str, str] = {}
    for relation, listed in packaged("kin")["words"].items():
        for word in (relation, *listed.split()):
            found.setdefault(folded(word.replace("_", " ")), relation)
    return found


def kin(plain: str) -> str | None:
    """Who somebody is to somebody, where a word says it: "mam" and "Mutter" are mother."""
    return _kin().get(plain) or (_kin().get(plain[:-1]) if plain.endswith("s") else None)


TITLES = frozenset(["mr", "mrs", "ms", "dr", "prof", "frau", "herr", "sr", "sra", "dra", "don", "dona", "mme"])


def name_words(label: str) -> list[str]:
    """The words of a person's label that are a name: not "own husband", not "Dr", of "Auntie Phil" only "Phil"."""
    said = words(label)[:3]
    related = any(kin(one.plain) is not None for one in said)
    return [
        one.plain
        for place, one in enumerate(said)
        if len(one.plain) > 2
        and kin(one.plain) is None
        and one.plain not in STOP_WORDS
        and one.plain not in TITLES
        and (not related or (place > 0 and one.said[:1].isupper()))
    ]
