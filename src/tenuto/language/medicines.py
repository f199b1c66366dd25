"""Names of medicines: which word is one, and which substance it stands for, so that a brand and its substance are one.

The list (``lexicons/medicines.txt``, made by ``training/medicines.py``) has some 1,200 substances with 7,700 names;
``lexicons/brands.txt`` adds what patients in Europe and Brazil call them.
Other languages spell them with small differences ("metformina", "losartán"), so names are compared without accents,
doubled letters and endings.
"""

from __future__ import annotations

import unicodedata
from functools import lru_cache
from importlib import resources

from tenuto.language.lexicon import shipped

_SPELLED = (("ph", "f"), ("th", "t"), ("y", "i"), ("ae", "e"), ("oe", "e"))
_ENDINGS = ("um", "a", "e", "o")
_STEMS = (
    "pril", "sartan", "statin", "formin", "prazol", "cillin", "mycin", "cyclin", "oxacin", "xaban", "gliptin", "gliflozin",
    "olol", "dipin", "azepam", "zolam", "triptan", "tidin", "profen", "mab", "tinib", "setron", "conazol", "vir", "parin",
    "thiazid", "tropium", "terol", "sonid", "solon", "codon", "lukast", "glutid",
)  # fmt: skip
"""How names of substances end."""
SHORTEST = 5
"""Letters of a word whose ending may tell that it is a medicine."""


def substance_of(name: str) -> str | None:
    """The substance that a name stands for; ``None`` where the name is not known."""
    return _names().get(_plain(name))


def is_medicine(name: str) -> bool:
    """Whether a word is the name of a medicine, or ends like one."""
    plain = _plain(name)
    if plain in _names():
        return True
    return len(plain) >= SHORTEST and plain.isalpha() and plain.endswith(_endings())


def health_words(said: str) -> list[str]:
    """By what a medicine, an allergy or a condition is known again: its long words, a medicine's by its substance."""
    found = [one for word in said.split() if len(one := _plain(word)) >= SHORTEST and one.isalpha()]
    return list(dict.fromkeys(_names().get(one, one) for one in found if one not in _LOOSE_WORDS))


_LOOSE_WORDS = frozenset(["twice", "daily", "morning", "night", "evening", "severe", "units", "every", "before"])
"""Words of a dose, by which nothing is known again."""


@lru_cache(maxsize=4096)
def _plain(name: str) -> str:
    bare = unicodedata.normalize("NFD", name.casefold().strip(" .,;:!?()'’\""))
    plain = "".join(char for char in bare if not unicodedata.combining(char))
    for spelled, as_ in _SPELLED:
        plain = plain.replace(spelled, as_)
    single = "".join(char for at, char in enumerate(plain) if at == 0 or char != plain[at - 1])
    return next((single[: -len(end)] for end in _ENDINGS if single.endswith(end) and len(single) > SHORTEST), single)


@lru_cache(maxsize=1)
def _endings() -> tuple[str, ...]:
    return tuple(_plain(f"xxxxx{stem}").removeprefix("x") for stem in _STEMS)


@lru_cache(maxsize=1)
def _names() -> dict[str, str]:
    folder = resources.files("tenuto.language") / "lexicons"
    names: dict[str, str] = {}
    for file in ("medicines.txt", "brands.txt"):
        for line in (folder / file).read_text(encoding="utf-8").splitlines():
            substance, _, others = line.partition(":")
            substance = names.get(_plain(substance), substance)
            for name in (substance, *others.split()):
                names.setdefault(_plain(name), substance)
    for name in shipped().medications:
        if " " not in name:
            names.setdefault(_plain(name), name)
    return names
