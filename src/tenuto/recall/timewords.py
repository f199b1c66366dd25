"""What a query says about time, in rules: is it about now, about the past, or about certain days?

Words decide, not grammar: "now", "currently" and the like ask for the newest; "before", "used to" and the like let
superseded facts answer; a month, a year, a day or "last week" prefers what was said then. The preference is soft:
people misremember dates, and what happened in June is often told in July.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from tenuto.text import patterns

_NOW = patterns.compile(
    r"\b(?:now|current(?:ly)?|now(?:adays)|these\s+days|at\s+(?:the\s+moment|present)|presently|today|still|"
    r"latest|newest|most\s+recent(?:ly)?|up\s+to\s+date|any\s?more|actually)\b",
    "i",
)
_PAST = patterns.compile(
    r"\b(?:before|previous(?:ly)?|former(?:ly)?|used\s+to|once|earlier|originally|in\s+the\s+past|back\s+(?:then|when)|"
    r"at\s+(?:first|the\s+time)|past|ex|prior|ago|until|history|changed?|instead\s+of|first(?:ly)?|"
    r"initially|at\s+one\s+point|in\s+(?:19|20)\d\d|no\s+longer)\b",
    "i",
)
_OLD = patterns.compile(r"\bold(?:er)?\b", "i", not_after=r"how\s")
MONTHS = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
    "december",
)  # fmt: skip
_MONTH = patterns.compile(
    r"\b(?:(?P<before>\d{1,2})(?:st|nd|rd|th)?\s+(?:of\s+)?)?(?P<month>" + "|".join(MONTHS) + r")\b"
    r"(?:\s+(?P<after>\d{1,2})(?:st|nd|rd|th)?\b)?(?:,?\s+(?P<year>(?:19|20)\d\d))?",
    "i",
)
_YEAR = patterns.compile(r"\b(?:in|during|of|since)\s+(?P<year>(?:19|20)\d\d)\b", "i")
_RELATIVE = patterns.compile(
    r"\b(?:(?P<day>yesterday|last\s+night|this\s+morning|today)|(?P<which>last|this|past)\s+(?P<unit>week|weekend|month|year)|"
    r"(?P<count>\d{1,3}|a|an|one|two|three|four|five|six|seven|eight|nine|ten|a\s+few|a\s+couple\s+of)\s+"
    r"(?P<units>day|week|month|year)s?\s+ago)\b",
    "i",
)
_HINTS = frozenset(
    """
    now nowadays current currently days moment present presently today still latest newest recent recently date more
    anymore actually before previous previously former formerly used once earlier originally past back first firstly
    time old older ex prior ago until history change changed instead initially point longer yesterday night morning
    week weekend month year
    """.split()  # noqa: SIM905
).union(MONTHS)
"""Whatever the patterns find in ASCII text holds one of these words, or a digit."""
_WORD, _DIGIT = patterns.compile(r"\w+"), patterns.compile(r"\d")
_COUNTS = {
    "a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9,
    "ten": 10, "a few": 3, "a couple of": 2,
}  # fmt: skip
_DAYS = {"day": 1, "week": 7, "weekend": 7, "month": 30, "year": 365}


@dataclass(frozen=True, slots=True)
class Span:
    """Days that a query prefers; ``slack`` days beside them count less and less."""

    start: datetime
    end: datetime
    slack: float


@dataclass(frozen=True, slots=True)
class Times:
    """All that a query says about time."""

    now: bool = False
    past: bool = False
    span: Span | None = None


TIMELESS = Times()


def times(query: str, now: datetime) -> Times:
    """Most queries say nothing about time, which their words alone tell."""
    if query.isascii() and not _DIGIT.search(query) and _HINTS.isdisjoint(_WORD.findall(query.lower())):
        return TIMELESS
    return Times(about_now(query), about_past(query), span(query, now))


def about_now(query: str) -> bool:
    """Whether the newest of several answers is meant."""
    return bool(_NOW.search(query))


def about_past(query: str) -> bool:
    """Whether what was true before may answer."""
    return bool(_PAST.search(query) or _OLD.search(query)) and not about_now(query)


def span(query: str, now: datetime) -> Span | None:
    """The days that a query names, seen from ``now``; a month without a year is the last one that began."""
    if found := _RELATIVE.search(query):
        return _relative(found, now)
    for found in _MONTH.finditer(query):
        if found["month"].casefold() == "may" and not (found["month"][0] == "M" or found["year"]):
            continue
        return _month(found, now)
    if found := _YEAR.search(query):
        year = int(found["year"])
        return Span(now.replace(year=year, month=1, day=1), now.replace(year=year, month=12, day=31), 14)
    return None


def _month(found: patterns.Match, now: datetime) -> Span | None:
    month = MONTHS.index(found["month"].casefold()) + 1
    year = int(found["year"]) if found["year"] else (now.year if month <= now.month else now.year - 1)
    first = now.replace(year=year, month=month, day=1, hour=0, minute=0, second=0, microsecond=0)
    following = first.replace(year=year + month // 12, month=month % 12 + 1)
    day = int(found["before"] or found["after"] or 0)
    if 1 <= day <= (following - first).days:
        start = first + timedelta(days=day - 1)
        return Span(start, start + timedelta(days=1), 7)
    return Span(first, following, 7)


def _relative(found: patterns.Match, now: datetime) -> Span:
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
    if found["day"]:
        back = 1 if found["day"].casefold() in ("yesterday", "last night") else 0
        return Span(midnight - timedelta(days=back), midnight - timedelta(days=back - 1), 1)
    if found["unit"]:
        days = _DAYS[found["unit"].casefold()]
        start = midnight - timedelta(days=days if found["which"].casefold() == "this" else 2 * days)
        return Span(start, midnight + timedelta(days=1), days / 2)
    words = " ".join(found["count"].casefold().split())
    days = _DAYS[found["units"].casefold()]
    middle = midnight - timedelta(days=days * (int(words) if words.isdigit() else _COUNTS[words]))
    return Span(middle - timedelta(days=days / 2), middle + timedelta(days=days / 2), days / 2)
