"""Word lists: what the shipped lexicons know, and how a file adds another.

A lexicon is a TOML (or JSON) file with ``name``, ``importance`` (0–10: what a memory that holds one of its terms is
worth at least) and ``terms``. The medical one ships. ``memory.lexicons`` in the policy names more files; a broken file
is one clear error when the store opens, not a silent gap later.
"""

from __future__ import annotations

import json
import tomllib
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import Any

from tenuto.errors import SettingError
from tenuto.text.words import words

LARGEST = 1 << 20
"""Bytes of a lexicon file."""
LOOKED_AT = 4000
"""Characters of a message that are looked at on the hot path."""


@dataclass(frozen=True, slots=True)
class Lexicon:
    """Terms of one domain, split into single words and phrases for quick looking up."""

    name: str
    importance: float
    single: frozenset[str]
    phrases: tuple[str, ...]

    def found(self, text: str) -> str | None:
        """The first term that occurs in ``text``, or ``None``."""
        lowered = text.lower()
        for word in words(text):
            if word in self.single:
                return word
        return next((phrase for phrase in self.phrases if phrase in lowered), None)


@dataclass(frozen=True, slots=True)
class Shipped:
    """The lists that the rules of extraction use."""

    given: frozenset[str]
    relations: dict[str, str]
    medications: frozenset[str]


@lru_cache(maxsize=1)
def shipped() -> Shipped:
    """The lists inside the package."""
    people, medical = packaged("people"), packaged("medical")
    return Shipped(
        given=frozenset(people["given"].split()),
        relations=dict(people["relations"]),
        medications=frozenset(medical["medications"]),
    )


@lru_cache(maxsize=8)
def lexicons(extra: str = "") -> tuple[Lexicon, ...]:
    """The shipped domain lexicons and those in the files that ``extra`` names, separated by ``;``."""
    medical = packaged("medical")
    own = _parse(
        {**medical, "terms": [*medical["terms"], *medical["conditions"], *medical["medications"]]}, "medical.toml"
    )
    return (own, *(_parse(_read(Path(part.strip())), part.strip()) for part in extra.split(";") if part.strip()))


def holds_domain_term(text: str, extra: str = "") -> bool:
    """Whether a message speaks of something that a lexicon knows; of a long one the beginning tells."""
    return any(lexicon.found(text[:LOOKED_AT]) for lexicon in lexicons(extra))


@lru_cache(maxsize=16)
def packaged(name: str) -> dict[str, Any]:
    """One of the data files in the package."""
    return tomllib.loads((resources.files("tenuto.language") / "lexicons" / f"{name}.toml").read_text(encoding="utf-8"))


def _read(path: Path) -> dict[str, Any]:
    try:
        if path.stat().st_size > LARGEST:
            raise SettingError(f"the lexicon {path} is larger than {LARGEST:,} bytes.")
        text = path.read_text(encoding="utf-8")
        data = json.loads(text) if path.suffix == ".json" else tomllib.loads(text)
    except OSError as error:
        raise SettingError(f"the lexicon {path} cannot be read: {error.strerror}.") from error
    except ValueError as error:
        raise SettingError(f"the lexicon {path} is neither TOML nor JSON: {error}.") from error
    if not isinstance(data, dict):
        raise SettingError(f"the lexicon {path} must be a table with name, importance and terms.")
    return data


def _parse(data: dict[str, Any], where: str) -> Lexicon:
    name, importance, terms = data.get("name"), data.get("importance", 7), data.get("terms")
    if not isinstance(name, str) or not isinstance(terms, list) or not all(isinstance(term, str) for term in terms):
        raise SettingError(f"the lexicon {where} needs 'name' (text) and 'terms' (a list of words).")
    if isinstance(importance, bool) or not isinstance(importance, (int, float)) or not 0 <= importance <= 10:
        raise SettingError(f"the lexicon {where} has importance {importance!r}; it must be a number from 0 to 10.")
    lowered = [term.lower().strip() for term in terms if term.strip()]
    return Lexicon(
        name=name,
        importance=float(importance),
        single=frozenset(term for term in lowered if len(words(term)) == 1 and " " not in term),
        phrases=tuple(term for term in lowered if " " in term),
    )


@lru_cache(maxsize=32)
def word_list(name: str) -> frozenset[str]:
    """One of the plain lists in ``words.toml``."""
    return frozenset(packaged("words")[name].split())


def ordered(name: str) -> tuple[str, ...]:
    """One of the plain lists, in its order."""
    return tuple(packaged("words")[name].split())
