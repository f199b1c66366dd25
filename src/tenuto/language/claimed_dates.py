"""Does a date that somebody wrote down follow from what was said?

A note says "on 14 April 2026"; the message said "next Tuesday" on 8 April. Every absolute date of the note is compared
with the times that the words could mean at the time they were said, in each reading that people use ("next Friday" is
the coming one or that of next week). A note may be coarser than what was said, never finer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, tzinfo

from dateutil.relativedelta import relativedelta

from tenuto.language import times
from tenuto.language.dates import in_english
from tenuto.language.time_rules import COUNT, UNIT, delta, number
from tenuto.text import patterns

_MONTHS = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november", "december",
)  # fmt: skip
_MONTH = (
    r"(?P<month>"
    + "|".join(f"{name[:3]}(?:{name[3:]})?" if len(name) > 3 else name for name in _MONTHS)
    + r"|sept)\b\.?"
)
_YEAR = r"(?P<year>(?:19|20)\d\d)"
_DAY = r"(?P<d>[0-3]?\d)(?:st|nd|rd|th)?"
_SEASON = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}
_CLAIMS = [
    patterns.compile(r"\b(?P<year>(?:19|20)\d\d)-(?P<mm>[01]\d)-(?P<d>[0-3]\d)\b"),
    patterns.compile(
        rf"\b{_DAY}(?:\s*(?:to|-|–|until|and|bis)\s*(?P<d2>[0-3]?\d)(?:st|nd|rd|th)?)?\.? (?:of )?{_MONTH},?(?: of)?(?:\s+{_YEAR})?"
    ),
    patterns.compile(rf"\b{_MONTH} {_DAY}\b(?:,? {_YEAR})?", not_before=":"),
    patterns.compile(rf"\b(?P<season>spring|summer|autumn|fall|winter)(?: of)? {_YEAR}\b"),
    patterns.compile(rf"\b(?P<easter>easter|christmas),? {_YEAR}\b"),
    patterns.compile(rf"\b{_MONTH},? (?:of )?{_YEAR}\b"),
    patterns.compile(
        rf"\b{_YEAR}\b",
        not_after=r"[\d.,/+]",
        not_before=r"[\d./]|\s*(?:mg|mcg|g|ml|kg|km|euros?|€|\$|£|pounds?|dollars?|people|steps|calories|kcal)",
    ),
]
_THIS_DAY = patterns.compile(r"\b(?:today|now|just|right now|as of|this (?:morning|evening|afternoon)|finally)\b")
_LASTED = patterns.compile(
    rf"\b(?:for |been |the (?:past|last) |since |over |about |almost |nearly ){{0,4}}{COUNT} {UNIT}\b"
)
_BARE_DAY = patterns.compile(r"\bthe (?P<d>[0-3]?\d)(?:st|nd|rd|th)\b|\b(?:am|le|el|dia) (?P<d2>[0-3]?\d)\b")
_RANGE = patterns.compile(
    rf"\b(?P<d>[0-3]?\d)(?:st|nd|rd|th|\.)?\s*(?:to|-|–|until|and|&|bis|al?|au|at)\s*(?P<d2>[0-3]?\d)(?:st|nd|rd|th|\.)?\s*(?:of )?{_MONTH}"
)
_RANGE_BEHIND = patterns.compile(
    rf"\b{_MONTH},? (?:the )?(?P<d>[0-3]?\d)(?:st|nd|rd|th)?\s*(?:to|-|–|until|and|&)\s*(?P<d2>[0-3]?\d)(?:st|nd|rd|th)?\b"
)
_SHORT_YEAR = patterns.compile(r"'(\d\d)\b", not_after=r"\w", not_before="'")
_BARE_SHORT_YEAR = patterns.compile(
    r"\b(?:in|since|back in|em|en|im|seit|desde|depuis) ([3-9]\d)\b", not_before=r"[.,:]?\d| \w"
)
_POINTED = patterns.compile(
    r"(?P<d>[0-3]?\d)[./](?P<m>[01]?\d)(?:[./](?P<y>(?:19|20)?\d\d))?", not_after=r"[\d.,]", not_before=r"\d"
)
_TENSED = patterns.compile(r"\b(?:is|are|am|'s|will|'ll|going|gonna|due|was|were|did|had|have|has)\b")
_PART = patterns.compile(r"[,;!?\n]|\.", not_before=r"\S")
"""What a clause of its own tense ends with."""
_WEEK_DAYS = timedelta(days=7)


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of days, ``end`` exclusive. A claim without a year has none."""

    start: datetime
    end: datetime
    text: str = ""
    yearless: bool = False

    @property
    def days(self) -> int:
        return max(1, (self.end - self.start).days)


def claims(text: str, language: str, at: datetime) -> tuple[list[Span], str]:
    """The absolute dates that a note states, and the note (in English time words) without them."""
    rest = in_english(text, language)
    rest = patterns.sub(r"\b(?:end|beginning|middle|start) of (?:the )?((?:19|20)\d\d)", lambda match: match[1], rest)
    found: list[Span] = []
    for pattern in _CLAIMS:
        for match in list(pattern.finditer(rest)):
            span = _claim(match, at)
            if span is not None:
                found.append(span)
                rest = rest[: match.start()] + " " * len(match[0]) + rest[match.end() :]
    return found, rest


def _claim(match: patterns.Match, at: datetime) -> Span | None:
    parts = match.groupdict()
    year = int(parts.get("year") or at.year)
    try:
        if parts.get("season"):
            start = _midnight(at).replace(year=year, month=_SEASON[parts["season"]], day=1)
            return Span(start, start + relativedelta(months=3), match[0])
        if parts.get("easter"):
            start = _midnight(at).replace(year=year, month=1, day=1)
            return Span(start, start + relativedelta(years=1), match[0])
        month = int(parts["mm"]) if parts.get("mm") else _month(parts.get("month"))
        if month is None:
            start = _midnight(at).replace(year=year, month=1, day=1)
            return Span(start, start + relativedelta(years=1), match[0])
        if not parts.get("d"):
            start = _midnight(at).replace(year=year, month=month, day=1)
            return Span(start, start + relativedelta(months=1), match[0])
        start = _midnight(at).replace(year=year, month=month, day=int(parts["d"]))
        last = start.replace(day=int(parts["d2"])) if parts.get("d2") else start
        return Span(start, last + timedelta(days=1), match[0], yearless=not parts.get("year"))
    except ValueError:
        return None


def _month(said: str | None) -> int | None:
    if not said:
        return None
    return next((place for place, name in enumerate(_MONTHS, 1) if name.startswith(said.rstrip(".")[:3])), None)


def _midnight(at: datetime) -> datetime:
    return at.replace(hour=0, minute=0, second=0, microsecond=0, tzinfo=None)


def meant(text: str, at: datetime, language: str, zone: tzinfo | None = None) -> list[Span]:
    """Every stretch of time that the words may mean, said at ``at``."""
    parts = [part for part in _PART.split(text) if part.strip()]
    whole = _meant(text, (at.astimezone(zone) if zone is not None else at).replace(tzinfo=None), language)
    return whole + [one for part in parts if len(parts) > 1 for one in meant(part, at, language, zone)]


def _meant(text: str, at: datetime, language: str) -> list[Span]:
    said = in_english(text, language).replace("by the way", " ")
    clear = _TENSED.search(said) and not (times.PAST.search(said) and times.FUTURE.search(said))
    readings = [said] if language == "en" and clear else [said, "was " + said, "will " + said]
    found: list[Span] = []
    for reading in readings:
        for when in times.find(reading, at):
            span = Span(_midnight(when.start), _last(when.start, when.end), when.text)
            found.append(span)
            if when.relation == "since" and "since" in reading and span.start > at:
                found.append(Span(span.start - relativedelta(years=1), span.end - relativedelta(years=1), span.text))
            found += _other_readings(reading, when, span, at)
    if language != "en":
        found += [one for one in _meant(text, at, "en") if one not in found]
    else:
        found += _bare_days(said, at) + _pointed(said, at) + _ranges(said, at) + _short_years(said, at)
    found += _lasted(said, at)
    return found


def _last(start: datetime, end: datetime) -> datetime:
    day = _midnight(end)
    return day if day > _midnight(start) and day == end else _midnight(end) + timedelta(days=1)


def _other_readings(text: str, when: times.When, span: Span, at: datetime) -> list[Span]:
    """ "Next Friday" is that of next week, or the coming one."""
    before = text[max(0, when.position - 6) : when.position + 8]
    if when.precision not in ("day", "hour", "part") or "next" not in before or span.start - _WEEK_DAYS <= at:
        return []
    return [Span(span.start - _WEEK_DAYS, span.end - _WEEK_DAYS, span.text)]


def _bare_days(text: str, at: datetime) -> list[Span]:
    """ "The 13th": of this month or of the next one; of the last one where it is told as past."""
    found = []
    for match in _BARE_DAY.finditer(text):
        for step in (-1, 0, 1):
            try:
                start = (_midnight(at) + relativedelta(months=step)).replace(day=int(match["d"] or match["d2"]))
            except ValueError:
                continue
            if start < _midnight(at) and not times.PAST.search(text):
                continue
            found.append(Span(start, start + timedelta(days=1), match[0]))
    return found[:2] if not times.PAST.search(text) else found


def _ranges(text: str, at: datetime) -> list[Span]:
    """ "In August, 14 to 16" and "14-16 August": of this year or the next."""
    found = []
    for match in [*_RANGE.finditer(text), *_RANGE_BEHIND.finditer(text)]:
        for year in (at.year, at.year + 1):
            try:
                start = _midnight(at).replace(year=year, month=_month(match["month"]) or 1, day=int(match["d"]))
                last = start.replace(day=int(match["d2"]))
            except ValueError:
                continue
            if last >= _midnight(at) - timedelta(days=60):
                found.append(Span(start, last + timedelta(days=1), match[0]))
                break
    return found


def _pointed(text: str, at: datetime) -> list[Span]:
    """ "1.9.", "5/6": day before month, and where a slash is written also month before day."""
    found = []
    for match in _POINTED.finditer(text):
        pairs = [(int(match["d"]), int(match["m"]))]
        if "/" in match[0]:
            pairs.append((pairs[0][1], pairs[0][0]))
        for day, month in pairs:
            for year in [_full_year(match["y"])] if match["y"] else [at.year - 1, at.year, at.year + 1]:
                try:
                    start = _midnight(at).replace(year=year, month=month, day=day)
                except ValueError:
                    continue
                if match["y"] or abs((start - at).days) <= 330:
                    found.append(Span(start, start + timedelta(days=1), match[0]))
    return found


def _short_years(text: str, at: datetime) -> list[Span]:
    """ "In '98", and at the end of a clause "in 98"."""
    found = []
    for match in [*_SHORT_YEAR.finditer(text), *_BARE_SHORT_YEAR.finditer(text)]:
        year = at.year - at.year % 100 + int(match[1])
        start = _midnight(at).replace(year=year if year <= at.year else year - 100, month=1, day=1)
        found.append(Span(start, start + relativedelta(years=1), match[0]))
    return found


def _full_year(said: str) -> int:
    return int(said) if len(said) == 4 else 2000 + int(said)


def _lasted(text: str, at: datetime) -> list[Span]:
    """ "For six years": it began so long ago."""
    found = []
    for match in _LASTED.finditer(text):
        count, unit = number(match["n"]), match["unit"]
        if match["n"] in ("a", "an") and not patterns.search(r"\bfor|been|past|last", match[0]):
            continue
        try:
            start = _midnight(at - delta(count, unit))
        except (ValueError, OverflowError):
            continue
        length = 1 if unit in ("day", "week") else 0
        found.append(Span(start, start + timedelta(days=1 + length), match[0]))
        if unit == "year":
            found.append(Span(start.replace(month=1, day=1), start.replace(month=12, day=31), match[0]))
    return found


def follows(claim: Span, spans: Sequence[Span], at: datetime, *, untimed: bool) -> bool:
    """Whether a claimed date follows from what was meant. ``untimed``: the words name no time, so it is that of the talk."""
    if any(_fits(claim, span) for span in spans):
        return True
    today = Span(_midnight(at), _midnight(at) + timedelta(days=1))
    return (untimed or claim.days >= 27) and _inside(today, claim)


def _fits(claim: Span, span: Span) -> bool:
    if claim.yearless:
        same = (claim.start.month, claim.start.day) == (span.start.month, span.start.day)
        return same or (span.days > 1 and span.days <= 7 and _inside(_moved(claim, span), span))
    if _inside(span, claim):
        return True
    if not _inside(claim, span):
        return False
    if span.days <= 8:
        return claim.start == span.start or claim.days > 1
    return claim.days >= 0.3 * span.days or (span.days > 300 and claim.days > 80)


def _moved(claim: Span, span: Span) -> Span:
    try:
        start = claim.start.replace(year=span.start.year)
    except ValueError:
        return claim
    return Span(start, start + (claim.end - claim.start))


def _inside(one: Span, other: Span) -> bool:
    return other.start <= one.start and one.end <= other.end


def names_a_time(text: str, language: str, at: datetime) -> bool:
    """Whether words name a time other than that of the talk itself."""
    said = in_english(text, language)
    return any(abs((one.start - _midnight(at)).days) >= 1 for one in meant(_THIS_DAY.sub(" ", said), at, "en"))
