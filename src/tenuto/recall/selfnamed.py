"""The user's own name in a query means "I": "Where does Kim live?" is answered by "I live in Munich". Pure.

Nearly everything that is kept is about the user and says "I", so the name finds only the one sentence in which it was
told. The query is put into the first person before it is searched for.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import lru_cache

from tenuto.text import patterns, words

NAME_KEY = "profile|person|user|fact|name"
"""The key of the memory that holds the user's name."""
_CAPITAL = patterns.compile(r"[A-Zx][\w-]*", not_after=r"[\w']")
_AGREES = patterns.compile(
    r"\b(?P<verb>is|has|does|was)(?P<rest>n't)?(?P<i> I)\b|\b(?P<before>I )(?P<after>is|has|does)\b", "i"
)
_FIRST_PERSON = {"is": "am", "has": "have", "does": "do", "was": "was"}


def may_name(text: str) -> bool:
    """Is there a word in a query that can be a name?"""
    if text.isascii() and text.islower():
        return False
    return any(match.group().casefold() not in words.STOP_WORDS for match in _CAPITAL.finditer(text))


def first_person(text: str, names: Collection[str]) -> str:
    """The query with the user's name put as "I" and "my"; unchanged where it is not there."""
    known = [name for one in names for name in (one, one.split()[0] if one.split() else "") if len(name) > 1]
    if not known:
        return text

    def said(match: patterns.Match) -> str:
        if not match["name"][0].isupper():
            return match.group()
        return "my" if match["own"] else "I"

    changed = _named(tuple(sorted(set(known), key=lambda name: (-len(name), name)))).sub(said, text)
    return text if changed == text else _AGREES.sub(_agreeing, changed)


@lru_cache(maxsize=256)
def _named(names: tuple[str, ...]) -> patterns.Pattern:
    """Any of the names, the longest first, with or without "'s"."""
    listed = "|".join(patterns.escape(name) for name in names)
    return patterns.compile(
        rf"(?P<name>{listed})(?P<own>['’]s\b|['’])?", "i", not_after=r"[\w'@-]", not_before=r"[\w@-]"
    )


def _agreeing(match: patterns.Match) -> str:
    verb = match["verb"] or match["after"]
    told = _FIRST_PERSON[verb.lower()]
    return match["before"] + (told.capitalize() if verb[0].isupper() else told) + match["rest"] + match["i"]
