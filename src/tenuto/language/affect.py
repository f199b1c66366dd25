"""How a sentence feels: valence −1…1 (painful to warm) and arousal 0…1 (quiet to intense), from a word list.

Negation within three words turns the valence and dampens it; intensifiers, capitals and exclamation marks raise the
arousal. Coarse on purpose: it orders memories, it judges nobody.
"""

from __future__ import annotations

import tomllib
from functools import lru_cache
from importlib import resources

from tenuto.language.lexicon import word_list
from tenuto.text import patterns
from tenuto.text.words import tokens

_NOT = word_list("negations")
_MORE = word_list("intensifiers")


@lru_cache(maxsize=1)
def _feelings() -> dict[str, tuple[float, float]]:
    data = tomllib.loads((resources.files("tenuto.language") / "lexicons" / "affect.toml").read_text(encoding="utf-8"))
    return {
        stem: (group["valence"], group["arousal"])
        for group in data["group"]
        for word in group["words"].split()
        for stem in (tokens(word) or [word])
    }


def affect(text: str) -> tuple[float, float]:
    """(valence, arousal) of a text; (0, 0) when it tells nothing."""
    feelings, found = _feelings(), list[tuple[float, float]]()
    said = patterns.findall(r"[\w']+", text.lower().replace("’", "'"))[:200]
    strong = sum(word in _MORE for word in said)
    for position, word in enumerate(said):
        stem = next(iter(tokens(word)), word)
        if stem not in feelings:
            continue
        valence, arousal = feelings[stem]
        if _NOT & set(said[max(0, position - 3) : position]):
            valence, arousal = -0.5 * valence, 0.7 * arousal
        found.append((valence, arousal))
    if not found:
        return 0.0, 0.0
    valence = max((one for one, _ in found), key=abs) if len(found) == 1 else sum(one for one, _ in found) / len(found)
    arousal = max(one for _, one in found) + 0.1 * min(2, strong) + 0.1 * min(2, text.count("!"))
    return round(max(-1.0, min(1.0, valence)), 2), round(min(1.0, arousal), 2)
