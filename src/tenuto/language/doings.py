"""What a todo is made of: its doing, the thing that it is done to, and the rest. Pure.

"Book a flight to Oslo" is a booking, of a flight, and Oslo is only where to. Whoever says that a hotel in Oslo is
booked has done another thing: the doing and the rest fit, the thing does not.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from tenuto.language.lexicon import ordered, word_list
from tenuto.text import patterns
from tenuto.text.words import tokens, words

_IRREGULAR = dict(pair.split(":") for pair in ordered("irregular"))
_SAME = {
    "phone": "call", "ring": "call", "mail": "email", "e-mail": "email", "complet": "finish",
    "purchas": "buy", "mom": "mother", "mum": "mother", "dad": "father", "doc": "doctor", "speak": "talk", "chat": "talk",
    "reserv": "book", "schedul": "book", "repair": "fix", "enrol": "regist", "inscrib": "regist", "sign": "regist",
    "mend": "fix",
}  # fmt: skip
_DOINGS = {
    stem: group[0]
    for group in (
        ["buy", "get", "order", "pick", "find", "fetch", "grab", "purchase", "collect"],
        ["call", "ask", "talk", "email", "write", "message", "text", "contact", "tell", "speak", "remind", "follow"],
        ["send", "post", "submit", "hand", "return", "give", "deliver", "upload", "email", "drop", "file"],
        ["book", "arrange", "make", "organise", "organize"],
        ["finish", "do", "complete", "prepare", "write", "draft", "sort", "make", "learn"],
    )
    for word in group
    for stem in (tokens(word) or [word])
}
"""Doings that one word may stand for: what was to be bought was got."""
_SAYS_NOTHING = frozenset(stem for word in ordered("done_fillers") for stem in (tokens(word) or [word]))
_LINKS = word_list("todo_links")
_DETERMINERS = word_list("todo_determiners")
SHORT = 4
"""Letters of a word below which only the same word counts."""


@dataclass(frozen=True, slots=True)
class Parts:
    """The stem of the doing, the stems of the thing in order (its head last, or first in Romance languages), the rest."""

    doing: str
    thing: tuple[str, ...]
    rest: frozenset[str]

    @property
    def about(self) -> frozenset[str]:
        return frozenset(self.thing) | self.rest


@lru_cache(maxsize=4096)
def parts(content: str) -> Parts:
    """The parts of a todo: it begins with its doing, and in German it may end with it."""
    said = words(content)
    if not said:
        return Parts("", (), frozenset())
    shown = content.split()
    last = said[0] in _DETERMINERS or (
        len(said) > 1 and shown[0][:1].isupper() and said[-1].endswith(("en", "ern", "eln"))
    )
    place = len(said) - 1 if last else 0
    doing = next(iter(stems(said[place])), "")
    things: list[str] = []
    rest: list[str] = []
    linked = False
    for at, word in enumerate(said):
        if at == place:
            continue
        if word in _LINKS:
            linked = linked or bool(things)
            continue
        (rest if linked else things).extend(stems(word))
    if last and not things and not rest:
        return Parts("", (doing,), frozenset())  # "zum Zahnarzt": a thing without a doing
    return Parts(doing, tuple(things), frozenset(rest) - set(things))


@lru_cache(maxsize=4096)
def stems(text: str) -> frozenset[str]:
    """The words that tell todos apart, as stems with irregular verbs in their base form."""
    return frozenset(base(token) for token in tokens(text)) - _SAYS_NOTHING


@lru_cache(maxsize=4096)
def base(token: str) -> str:
    """The one form in which a word is compared."""
    plain = _IRREGULAR.get(token, token)
    plain = next(iter(tokens(plain)), plain)
    return _SAME.get(plain, plain)


def is_said(stem: str, said: frozenset[str]) -> bool:
    """Whether a word occurs in what was said, in any of its forms."""
    return any(alike(stem, word) for word in said)


def does(doing: str, said: str) -> bool:
    """Whether the words say the doing, in any of its forms or by a word that stands for it."""
    forms = {base(token) for word in words(said) for token in (tokens(word) or [word])}
    if not doing or is_said(doing, frozenset(forms)):
        return True
    group = _DOINGS.get(doing)
    return group is not None and any(_DOINGS.get(form) == group for form in forms)


@lru_cache(maxsize=8192)
def alike(one: str, other: str) -> bool:
    """Two forms of a word: "llamar" and "llamé", "anrufen" and "angerufen"."""
    if one == other:
        return True
    if min(len(one), len(other)) < SHORT:
        return False
    short, long = sorted((one, other.replace("ge", "", 1) if "ge" in other[:5] else other), key=len)
    same = next((at for at, (a, b) in enumerate(zip(short, long, strict=False)) if a != b), len(short))
    return same >= max(3, 0.6 * len(short)) and len(long) - same <= 6


def another_thing(todo: Parts, said: str) -> bool:
    """Whether a report names a different thing of the same kind: the gas bill where the electricity bill is meant."""
    heard = words(said)
    known = todo.about | {todo.doing}
    for place, word in enumerate(heard[1:], 1):
        here = next(iter(stems(word)), "")
        if not here or not any(alike(here, one) for one in todo.thing):
            continue
        before = stems(heard[place - 1])
        at = next(index for index, one in enumerate(todo.thing) if alike(here, one))
        wanted = todo.thing[at - 1] if at else ""
        strange = before and not any(alike(one, other) for one in before for other in known)
        if strange and wanted and not any(alike(wanted, one) for one in stems(said)):
            return True
    return False


_TO_ME = patterns.compile(
    r"\b(?:sent|gave|wrote|returned|handed|posted|emailed|texted|lent|showed|told|asked|rang|called|phoned|brought|messaged) (?:to )?(?:me|us|my)\b",
    "i",
)
_AWAY = frozenset({"send", "call"})


def came_to_me(doing: str, said: str) -> bool:
    """Whether what was to go out came in: "Claire sent me photos" where photos were to be sent to her."""
    if _DOINGS.get(doing) not in _AWAY:
        return False
    match = _TO_ME.search(said)
    return match is not None and not _MY_SUBJECT.search(said[: match.start()])


_MY_SUBJECT = patterns.compile(r"(?:^|\W)(?:i|we|i've|we've)\s(?:\w+\s)?$|^\W*$", "i")
