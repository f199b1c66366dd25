"""The user's own name in a query means "I": "Where does Kim live?" is answered by "I live in Munich". Pure.

Nearly everything that is kept is about the user and says "I", so the name finds only the one sentence in which it was
told. The query is put into the first person before it is searched for.
"""

from __future__ import annotations

import re
from collections.abc import Collection

from tenuto.text import words

NAME_KEY = "profile|person|user|fact|name"
"""The key of the memory that holds the user's name."""
_CAPITAL = re.compile(r"(?<![\w'])[^\W\d_a-z][\w-]*")
_AGREES = re.compile(r"\b(?P<verb>is|has|does|was)(?P<rest>n't)?(?= I\b)|(?<=\bI )(?P<after>is|has|does)\b", re.I)
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
    longest = sorted({re.escape(name) for name in known}, key=len, reverse=True)
    pattern = re.compile(rf"(?<![\w'@-])(?P<name>{'|'.join(longest)})(?P<own>['’]s?(?!\w))?(?![\w@-])", re.I)

    def said(match: re.Match[str]) -> str:
        if not match["name"][0].isupper():
            return match.group()
        return "my" if match["own"] else "I"

    changed = pattern.sub(said, text)
    return text if changed == text else _AGREES.sub(_agreeing, changed)


def _agreeing(match: re.Match[str]) -> str:
    verb = match["verb"] or match["after"]
    told = _FIRST_PERSON[verb.lower()]
    return (told.capitalize() if verb[0].isupper() else told) + (match["rest"] or "")
