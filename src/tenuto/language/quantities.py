"""Numbers as they are said: digits, words, doses with their unit, how often, clock times and telephone numbers.

Made to compare two wordings of one thing: "seven and a half milligrams" and "7.5 mg", "half seven" and "19:30", "0047
9550 1188" and "+47 95501188". In the five languages that are read.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from tenuto.language.lexicon import packaged
from tenuto.text import patterns

LANGUAGES = ("en", "de", "es", "fr", "pt")
_DIGITS = patterns.compile(
    r"(?P<whole>(?P<n>\d{1,3}(?:[.,' ]\d{3})+)(?P<half>½)?)(?:\D|$)|(?P<whole2>(?P<n2>\d+(?:[.,]\d+)?)(?P<half2>½)?)",
    not_after=r"[\w.,:]",
)
_WORD = patterns.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_PHONE = patterns.compile(r"(?:\+|00)?\d[\d\s()/.-]{5,20}\d", not_after=r"\w", not_before=r"\w")
_JOINED = patterns.compile(r"\s(?:and|und|y|et|e)\s+(?:a\s+|una?\s+|um\s+|une\s+)?$")
_CLOCK = patterns.compile(
    r"(?P<h>[01]?\d|2[0-4])(?:[:h](?P<m>[0-5]\d)|\s*(?:uhr|h\b|o'clock)(?:\s*(?P<m2>[0-5]\d))?)",
    not_after=r"[\d.,]",
    not_before=r"\d",
)
_HALFDAY = patterns.compile(
    r"(?P<h>1[0-2]|0?[1-9])(?:[:.](?P<m>[0-5]\d))?\s*(?P<ap>[ap])\.?m\b\.?", not_after=r"[\d.,]"
)
HALF_DAY = 12 * 60


@dataclass(frozen=True, slots=True)
class Number:
    """One number; ``unit`` is that of a dose where one stands behind it."""

    value: float
    start: int
    end: int
    unit: str | None = None


@lru_cache(maxsize=1)
def _tables() -> dict[str, dict[str, float]]:
    found = packaged("quantities")["numbers"]
    return {
        language: {word: float(value) for word, value in (pair.split("=") for pair in found[language].split())}
        for language in LANGUAGES
    }


@lru_cache(maxsize=1)
def _units() -> tuple[tuple[str, patterns.Pattern], ...]:
    return tuple(
        (name, patterns.compile(rf"\s*-?(?:{forms})\b", "i")) for name, forms in packaged("quantities")["units"].items()
    )


@lru_cache(maxsize=1)
def _often() -> tuple[tuple[int, patterns.Pattern], ...]:
    table = packaged("quantities")["often"]
    return tuple(
        (count, patterns.compile(rf"(?:{table[name]})\b", "i", not_after=r"[\w.,]"))
        for count, name in enumerate(("each", "once", "twice", "thrice", "four"))
    )


def numbers(text: str, *languages: str) -> list[Number]:
    """The numbers of a text, in order; words are read in the languages given, or else in all."""
    lowered = text.lower()
    found = [_digits(lowered, match) for match in _DIGITS.finditer(lowered)]
    table: dict[str, float] = {}
    for language in languages or LANGUAGES:
        table |= _tables().get(language, {})
    found += _words(lowered, table)
    found.sort(key=lambda one: one.start)
    return [Number(one.value, one.start, one.end, _unit(lowered, one.end)) for one in _joined(lowered, found)]


def _digits(text: str, match: patterns.Match) -> Number:
    name, half = ("n", "half") if match["n"] else ("n2", "half2")
    said = match[name].replace(" ", "").replace("'", "")
    if patterns.fullmatch(r"\d{1,3}(?:[.,]\d{3})+", said):
        value = float(patterns.sub(r"[.,]", "", said))
    else:
        value = float(said.replace(",", "."))
    end = max(match.end(name), match.end(half))
    return Number(value + (0.5 if match[half] else 0.0), match.start(), end)


def _words(text: str, table: dict[str, float]) -> list[Number]:
    found = []
    for match in _WORD.finditer(text):
        value = table.get(match[0])
        if value is None and "-" in match[0]:
            parts = [table.get(part) for part in match[0].split("-")]
            value = sum(part for part in parts if part is not None) if all(part is not None for part in parts) else None
        if value is None:
            value = _german(match[0], table)
        if value is not None:
            found.append(Number(value, match.start(), match.end()))
    return found


def _german(word: str, table: dict[str, float]) -> float | None:
    """ "vierundzwanzig"."""
    if "zwanzig" not in table or "und" not in word:
        return None
    ones, _, tens = word.partition("und")
    low, high = (1.0 if ones == "ein" else table.get(ones)), table.get(tens)
    return low + high if low is not None and high is not None and high >= 20 else None


def _joined(text: str, found: list[Number]) -> list[Number]:
    """ "Seven and a half", "twenty five", "two hundred" are one number each."""
    kept: list[Number] = []
    for one in found:
        last = kept[-1] if kept else None
        gap = text[last.end : one.start] if last is not None else ""
        if last is not None and one.value in (0.5, 0.25) and _JOINED.search(gap) and gap.strip(" ") and last.value >= 1:
            kept[-1] = Number(last.value + one.value, last.start, one.end)
        elif last is not None and gap == " " and one.value in (100, 1000) and 0 < last.value < 100:
            kept[-1] = Number(last.value * one.value, last.start, one.end)
        elif (
            last is not None
            and gap in (" ", " y ", " e ", " et ")
            and last.value in range(20, 100, 10)
            and 0 < one.value < 10
        ):
            kept[-1] = Number(last.value + one.value, last.start, one.end)
        else:
            kept.append(one)
    return kept


def _unit(text: str, end: int) -> str | None:
    return next((name for name, pattern in _units() if pattern.match(text, end)), None)


def often(text: str) -> set[int]:
    """How many times something is done by its words: 1 once, 2 twice …; 0 stands for "every" without a count."""
    return {count for count, pattern in _often() if pattern.search(text)}


def phones(text: str) -> set[str]:
    """Telephone numbers as the digits that do not change with how they are written: without country and leading zeros."""
    found = set()
    for match in _PHONE.finditer(text):
        digits = patterns.sub(r"\D", "", match[0])
        if len(digits) >= 7:
            found.add(digits.lstrip("0"))
    return found


def same_phone(one: str, other: str) -> bool:
    """Whether two telephone numbers are the same but for the country's code."""
    short, long = sorted((one, other), key=len)
    return len(short) >= 7 and long.endswith(short)


_PAST_HOUR = patterns.compile(
    r"\b(?:(?P<half>half)\s+(?:past\s+)?|(?P<halb>halb)\s+|(?P<n>[^\W\d_]+(?:-[^\W\d_]+)?|[1-5]?\d)\s+(?:minutes?\s+|minuten\s+)?"
    r"(?:(?P<past>past|after|nach)|(?P<to>to|til|till|vor))\s+)(?P<h>[^\W\d_]+|\d{1,2})\b"
)
_LATIN_HOUR = patterns.compile(
    r"\b(?P<h>[^\W\d_]+|\d{1,2})(?:\s*(?:heures?|horas?|h))?\s+(?:(?P<half>y media|et demie|e meia)|(?P<quarter>y cuarto|et quart|e (?:um )?quarto)|"
    r"(?P<to>menos cuarto|moins le quart|menos (?:um )?quarto))\b"
)


def clocks(text: str, language: str = "en") -> set[int]:
    """Clock times as minutes of half a day: seven in the evening and seven in the morning are the same here."""
    lowered = text.lower()
    found: set[int] = set()
    for match in _HALFDAY.finditer(lowered):
        found.add((int(match["h"]) * 60 + int(match["m"] or 0)) % HALF_DAY)
    for match in _CLOCK.finditer(lowered):
        found.add((int(match["h"]) * 60 + int(match["m"] or match["m2"] or 0)) % HALF_DAY)
    for match in _PAST_HOUR.finditer(lowered):
        shift = 30 if match["half"] else -30 if match["halb"] else _minutes(match["n"]) * (1 if match["past"] else -1)
        if (hour := _hour(match["h"])) is not None and shift:
            found.add((hour * 60 + shift) % HALF_DAY)
    for match in _LATIN_HOUR.finditer(lowered):
        if (hour := _hour(match["h"])) is not None:
            found.add((hour * 60 + (30 if match["half"] else 15 if match["quarter"] else -15)) % HALF_DAY)
    if patterns.search(
        r"\b(?:noon|midday|mittag|mediodía|midi|meio-dia|midnight|mitternacht|medianoche|minuit|meia-noite)\b", lowered
    ):
        found.add(0)
    return found


def _minutes(said: str) -> int:
    if said in ("quarter", "viertel"):
        return 15
    value = numbers(said)
    return int(value[0].value) if value and value[0].value in (5, 10, 15, 20, 25) else 0


def _hour(said: str) -> int | None:
    if said.isdigit():
        return int(said) if int(said) <= 24 else None
    for table in _tables().values():
        value = table.get(said)
        if value is not None and value == int(value) and 1 <= value <= 24:
            return int(value)
    return None


def without_clocks(text: str) -> str:
    """The text with its clock times taken out."""
    lowered = text.lower()
    for pattern in (_HALFDAY, _CLOCK, _LATIN_HOUR):
        lowered = pattern.sub(lambda match: " " * len(match[0]), lowered)
    return _PAST_HOUR.sub(lambda match: " " * len(match[0]) if clocks(match[0]) else match[0], lowered)


_CHANGE = patterns.compile(
    r"\b(?:from|von|de|desde|du)\s+(?:every\s+|alle\s+|cada\s+)?(?P<a>\d+(?:[.,]\d+)?|[^\W\d_]+)\s*(?:[^\W\d_]+\s+){0,2}?"
    r"(?:to|auf|a|à|para|zu)\s+(?:every\s+|alle\s+|cada\s+)?(?P<b>\d+(?:[.,]\d+)?|[^\W\d_]+)"
)
_CHANGES = patterns.compile(
    r"\b(?:cut|rais\w+|lower\w*|up|upped|down|chang\w+|mov\w+|switch\w*|increas\w+|reduc\w+|went|goes|going|bump\w*|put|drop\w*|doubl\w+|"
    r"erhöht|gesenkt|reduziert|umgestellt|sub\w+|baj\w+|aument\w+|augment\w+|baiss\w+|pass\w+|baix\w+|mud\w+|cambi\w+)\b"
)


def replaced(text: str) -> list[tuple[float, float]]:
    """(old, new) of "from 900 to 600" where the words say that something changed."""
    lowered = text.lower()
    if not _CHANGES.search(lowered):
        return []
    pairs = []
    for match in _CHANGE.finditer(lowered):
        old, new = numbers(match["a"]), numbers(match["b"])
        if old and new:
            pairs.append((old[0].value, new[0].value))
    return pairs
