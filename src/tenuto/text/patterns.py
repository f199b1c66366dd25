"""Regular expressions for text from outside: the time they take grows with the text, whatever it says.

RE2 does the matching, so a pattern has no look-around and no back-references; RE2 refuses those when a module is
imported. What is left is written as for :mod:`re`, with two differences: ``$`` is the very end, and a pattern sees one
byte for each character. ASCII is itself; a letter with an accent is its bare letter; a letter of another script is
``x`` or ``X``, a digit ``0``, white space a space; a sign that some pattern names is itself, every other one is like
no sign that is named. So ``\\w``, ``\\b``, ``\\d`` and ``\\s`` know every script, ``cafe`` finds "café", and a match's
positions are those of the text.

What would break it: a pattern that has to look far ahead for each of many matches. ``bench.linear`` measures them all.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterator
from functools import lru_cache
from re import escape as escape
from typing import Any

import re2

FLAGS = frozenset("ims")
"""i: without regard to case; m: ``^`` and ``$`` at every line; s: ``.`` is any character."""
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


class Pattern:
    """A compiled pattern. No method takes longer than the text is long."""

    __slots__ = ("_names", "_regexp", "pattern")

    def __init__(self, pattern: str, flags: str) -> None:
        options = re2.Options()
        options.encoding = re2.Options.Encoding.LATIN1
        options.log_errors = False
        options.case_sensitive = "i" not in flags
        options.dot_nl = "s" in flags
        source = f"(?m:{pattern})" if "m" in flags else pattern
        self.pattern = pattern
        self._regexp = re2.compile(_source(source), options)
        self._names = {name.decode(): number for name, number in self._regexp.groupindex.items()}

    def search(self, text: str, start: int = 0, end: int | None = None) -> Match | None:
        return self._made(text, self._regexp.search(_bytes(text), start, end))

    def match(self, text: str, start: int = 0, end: int | None = None) -> Match | None:
        return self._made(text, self._regexp.match(_bytes(text), start, end))

    def fullmatch(self, text: str) -> Match | None:
        return self._made(text, self._regexp.fullmatch(_bytes(text)))

    def finditer(self, text: str) -> Iterator[Match]:
        for found in self._regexp.finditer(_bytes(text)):
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

    def _made(self, text: str, found: Any) -> Match | None:
        return Match(text, found, self._names) if found is not None else None


def compile(pattern: str, flags: str = "") -> Pattern:
    """A pattern; raises ``re2.error`` for one that would need more than linear time."""
    if not FLAGS.issuperset(flags):
        raise ValueError(f"flags are among {''.join(sorted(FLAGS))}, not {flags!r}")
    return Pattern(pattern, flags)


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
