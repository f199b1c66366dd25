"""Words for who somebody is to somebody, in the languages that are read: which there are, and which of them one has one of."""

from __future__ import annotations

from functools import lru_cache

from tenuto.language.lexicon import packaged, shipped, word_list
from tenuto.text import patterns


@lru_cache(maxsize=1)
def kin_words() -> tuple[dict[str, str], frozenset[str], frozenset[str], frozenset[str]]:
    """Words for relations, the relations of which one has one at a time, those of women, those of men."""
    data = packaged("kin")
    words: dict[str, str] = {}
    for relation, listed in data["words"].items():
        for word in listed.split():
            words.setdefault(word.replace("_", " "), relation)
    one, female, male = (frozenset(data[name].split()) for name in ("one", "female", "male"))
    return words, one, female, male


def relation_of(word: str) -> str:
    """The relation that a word stands for; a word that is not listed stands for itself."""
    words = kin_words()[0]
    low = word.casefold().strip(" .,'’")
    parts = low.split() or [low]
    if len(parts) > 1 and parts[-1] in _PAIRED and parts[0] not in _CLOSE:
        return "_".join(parts)  # a tandem partner is no partner
    found = words.get(low) or words.get(parts[-1])
    if found is None and low.endswith("s"):
        found = words.get(low[:-1])
    return found or patterns.sub(r"\s+", "_", low)


_PAIRED = frozenset(["partner", "partnerin", "pareja", "partenaire", "parceiro", "parceira", "friend", "mate"])
_CLOSE = frozenset(
    ["life", "civil", "domestic", "long-term", "old", "best", "childhood", "school", "new", "ex", "my", "good", "close"]
)


def is_relation_word(word: str) -> bool:
    """Whether a word says who somebody is to somebody: a listed relation, or an occupation; not "lady" or "home"."""
    low = word.casefold().strip(" .,'’")
    last = low.split()[-1] if low.split() else low
    listed = (kin_words()[0], shipped().relations, word_list("roles"))
    return any(form in known for form in (low, last, low.removesuffix("s")) for known in listed)


def is_kin_word(label: str) -> bool:
    """Whether a label is only the word for a relation: nobody's name yet."""
    return label.casefold() in kin_words()[0]


def only_one(relation: str) -> bool:
    """Whether somebody has one of these at a time, so that a new one replaces the old."""
    return relation in kin_words()[1]
