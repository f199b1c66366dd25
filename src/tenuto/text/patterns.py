"""Regular expressions for text from outside: the time they take grows with the text, whatever it says.

RE2 does the matching, so a pattern has no look-around and no back-references; RE2 refuses those when a module is
imported. What is left is written as for :mod:`re`, with two differences: ``$`` is the very end, and a pattern sees one
byte for each character. ASCII is itself; a letter with an accent is its bare letter; a letter of another script is
``x`` or ``X``, a digit ``0``, white space a space; a sign that some pattern names is itself, every other one is like
no sign that is named. So ``\\w``, ``\\b``, ``\\d`` and ``\\s`` know every script, ``cafe`` finds "café", and a match's
positions are those of the text. What must not stand right before or behind a match is given beside the pattern
(``not_after``, ``not_before``); a match that it rules out is passed over whole.

What would break it: a pattern that has to look far ahead for each of many matches. ``bench.linear`` measures them all.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterator
from functools import lru_cache
from re import escape as _escape
from typing import Any

import re2

FLAGS = frozenset("ims")
"""i: without regard to case; m: ``^`` and ``$`` at every line; s: ``.`` is any character."""
LOOK_BACK = 16
"""Characters before a match that may rule it out."""
OTHER = "\xff"
"""What every sign looks like that no pattern names."""
ALIKE = str.maketrans("ßæœøłđðþıŁØÆŒÐÞ", "saoolddtiLOAODT")
"""Letters that Unicode does not take apart."""


class _Seen(dict[int, str]):
    """What patterns see of each character, worked out once."""

    named = 0x80

    def __missing__(self, code: int) -> str:
        self[code] = seen = _seen(chr(code))
        return seen

    def name(self, sign: str) -> None:
        """Give a sign a byte of its own, because a pattern names it."""
        if self[ord(sign)] == OTHER:
            if chr(self.named) == OTHER:
                raise ValueError("patterns name more signs than there are bytes")
            self[ord(sign)] = chr(self.named)
            self.named += 1


def _seen(char: str) -> str:
    if char.isascii():
        return char
    bare = unicodedata.normalize("NFD", char)[0].translate(ALIKE)
    if bare.isascii():
        return bare
    if char.isspace():
        return " "
    if char.isdecimal():
        return "0"
    if char.isalnum():
        return "X" if char.isupper() else "x"
    return OTHER


_SEEN = _Seen()


@lru_cache(maxsize=32)
def _bytes(text: str) -> bytes:
    return (text if text.isascii() else text.translate(_SEEN)).encode("latin-1")


class Match:
    """Where a pattern was found in ``string``, and what its groups hold there."""

    __slots__ = ("_found", "_names", "string")

    def __init__(self, string: str, found: Any, names: dict[str, int]) -> None:
        self.string = string
        self._found = found
        self._names = names

    def span(self, group: int | str = 0) -> tuple[int, int]:
        start, end = self._found.span(self._names[group] if isinstance(group, str) else group)
        return start, end

    def start(self, group: int | str = 0) -> int:
        return self.span(group)[0]

    def end(self, group: int | str = 0) -> int:
        return self.span(group)[1]

    def group(self, group: int | str = 0) -> str:
        """The text of a group; empty where it took no part."""
        start, end = self.span(group)
        return self.string[start:end] if start >= 0 else ""

    __getitem__ = group

    def has(self, group: int | str) -> bool:
        """Whether a group took part."""
        return self.start(group) >= 0

    def groups(self) -> tuple[str, ...]:
        return tuple(self.group(number + 1) for number in range(len(self._found.groups())))

    def groupdict(self) -> dict[str, str]:
        return {name: self.group(name) for name in self._names}


class Pattern:
    """A compiled pattern. No method takes longer than the text is long."""

    __slots__ = ("_names", "_not_after", "_not_before", "_regexp", "pattern")

    def __init__(self, pattern: str, flags: str, not_after: str = "", not_before: str = "") -> None:
        self.pattern = pattern
        self._regexp = _compiled(pattern, flags)
        self._not_after = _compiled(rf"(?:{not_after})\z", flags) if not_after else None
        self._not_before = _compiled(not_before, flags) if not_before else None
        self._names = {name.decode(): number for name, number in self._regexp.groupindex.items()}

    def search(self, text: str, start: int = 0, end: int | None = None) -> Match | None:
        return next(self.finditer(text, start, end), None)

    def match(self, text: str, start: int = 0, end: int | None = None) -> Match | None:
        found = self._regexp.match(_bytes(text), start, end)
        return self._made(text, found if found is not None and self._stands(_bytes(text), found, end) else None)

    def fullmatch(self, text: str) -> Match | None:
        return self._made(text, self._regexp.fullmatch(_bytes(text)))

    def finditer(self, text: str, start: int = 0, end: int | None = None) -> Iterator[Match]:
        seen = _bytes(text)
        for found in self._regexp.finditer(seen, start, end):
            if self._stands(seen, found, end):
                yield Match(text, found, self._names)

    def findall(self, text: str) -> list[str]:
        """What was found, or its first group where there is one."""
        group = 1 if self._regexp.groups else 0
        return [one.group(group) for one in self.finditer(text)]

    def sub(self, put: str | Callable[[Match], str], text: str, count: int = 0) -> str:
        """The text with what was found replaced by ``put``, which is taken as it stands, or is called."""
        pieces: list[str] = []
        at = 0
        for number, one in enumerate(self.finditer(text)):
            if count and number == count:
                break
            start, end = one.span()
            pieces += text[at:start], put if isinstance(put, str) else put(one)
            at = end
        return "".join([*pieces, text[at:]]) if pieces else text

    def split(self, text: str) -> list[str]:
        """The parts between what was found."""
        pieces: list[str] = []
        at = 0
        for one in self.finditer(text):
            start, end = one.span()
            pieces.append(text[at:start])
            at = end
        return [*pieces, text[at:]]

    def __repr__(self) -> str:
        return f"<Pattern {self.pattern!r}>"

    def _stands(self, seen: bytes, found: Any, end: int | None) -> bool:
        """Whether nothing stands around a match that rules it out."""
        before, behind = self._not_after, self._not_before
        if before is not None and before.search(seen[max(0, found.start() - LOOK_BACK) : found.start()]) is not None:
            return False
        return behind is None or behind.match(seen, found.end(), end) is None

    def _made(self, text: str, found: Any) -> Match | None:
        return Match(text, found, self._names) if found is not None else None


def compile(pattern: str, flags: str = "", *, not_after: str = "", not_before: str = "") -> Pattern:
    """A pattern; raises ``re2.error`` for one that would need more than linear time.

    A match does not count right after what ``not_after`` matches (at most ``LOOK_BACK`` characters), nor right before
    what ``not_before`` matches.
    """
    if not FLAGS.issuperset(flags):
        raise ValueError(f"flags are among {''.join(sorted(FLAGS))}, not {flags!r}")
    return Pattern(pattern, flags, not_after, not_before)


def _compiled(pattern: str, flags: str) -> Any:
    options = re2.Options()
    options.encoding = re2.Options.Encoding.LATIN1
    options.log_errors = False
    options.case_sensitive = "i" not in flags
    options.dot_nl = "s" in flags
    return re2.compile(_source(f"(?m:{pattern})" if "m" in flags else pattern), options)


_known = lru_cache(maxsize=1024)(compile)
"""Patterns that are written where they are used."""


def search(pattern: str, text: str, flags: str = "") -> Match | None:
    return _known(pattern, flags).search(text)


def match(pattern: str, text: str, flags: str = "") -> Match | None:
    return _known(pattern, flags).match(text)


def fullmatch(pattern: str, text: str, flags: str = "") -> Match | None:
    return _known(pattern, flags).fullmatch(text)


def findall(pattern: str, text: str, flags: str = "") -> list[str]:
    return _known(pattern, flags).findall(text)


def sub(pattern: str, put: str | Callable[[Match], str], text: str, count: int = 0, flags: str = "") -> str:
    return _known(pattern, flags).sub(put, text, count)


def split(pattern: str, text: str, flags: str = "") -> list[str]:
    return _known(pattern, flags).split(text)


def escape(text: str) -> str:
    """A text that stands for itself in a pattern. Its signs are named by nobody: there are only so many bytes."""
    return "".join(r"\xff" if not char.isascii() and _SEEN[ord(char)] == OTHER else _escape(char) for char in text)


def _source(pattern: str) -> bytes:
    """The pattern in the bytes that it will see."""
    for at, char in enumerate(pattern):
        if not char.isascii():
            if _in_range(pattern, at):
                raise ValueError(f"no range of characters that are not ASCII: {pattern[max(0, at - 8) : at + 8]!r}")
            _SEEN.name(char)
    return pattern.replace(r"\Z", r"\z").translate(_SEEN).encode("latin-1")


def _in_range(pattern: str, at: int) -> bool:
    """Whether the character at ``at`` is an end of a range such as ``a-z``."""
    if pattern.rfind("[", 0, at) <= pattern.rfind("]", 0, at):
        return False
    before, after = pattern[:at], pattern[at + 1 :]
    starts = after.startswith("-") and not after.startswith("-]")
    ends = before.endswith("-") and not before.endswith(("[-", "[^-", "\\-"))
    return starts or ends
