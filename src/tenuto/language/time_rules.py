"""Each kind of time expression and the span that it stands for: the table of :mod:`tenuto.language.times`.

Weeks begin on Monday. A rule takes the match, the time at which it was said and whether the sentence is in the past.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta

from dateutil import parser as dateutil_parser
from dateutil.easter import easter
from dateutil.relativedelta import relativedelta

from tenuto.language.lexicon import ordered
from tenuto.text import patterns

_NUMBERS: dict[str, float] = {word: number for number, word in enumerate(ordered("numbers"))} | {
    "a": 1, "an": 1, "couple": 2, "a couple": 2, "a couple of": 2, "few": 3, "a few": 3, "several": 4, "thirty": 30,
    "forty": 40, "fifty": 50, "half a": 0.5,
}  # fmt: skip
_DAYS = {word: number % 7 for number, word in enumerate(ordered("weekdays"))} | {"tues": 1, "thur": 3, "thurs": 3}
_MONTHS = {word: number % 12 + 1 for number, word in enumerate(ordered("months"))} | {"sept": 9}
_SEASONS = {"spring": (3, 1), "summer": (6, 1), "autumn": (9, 1), "fall": (9, 1), "winter": (12, 1)}
_HOLIDAYS = {
    "christmas": (12, 25),
    "christmas eve": (12, 24),
    "new year's eve": (12, 31),
    "new year's day": (1, 1),
    "halloween": (10, 31),
    "valentine's day": (2, 14),
}
_PARTS = {
    "morning": 9,
    "noon": 12,
    "lunchtime": 12,
    "afternoon": 15,
    "evening": 19,
    "night": 21,
    "tonight": 20,
    "midnight": 0,
}

COUNT = (
    r"(?P<n>\d{1,3}|a couple of|a couple|a few|half a|one|two|three|four|five|six|seven|eight|nine|ten|eleven|"
    r"twelve|fifteen|twenty|thirty|several|an?)"
)
UNIT = r"(?P<unit>minute|hour|day|week|weekend|fortnight|month|year|decade)s?"
_DAY = r"(?P<day>monday|tuesday|wednesday|thursday|friday|saturday|sunday|mon|tues?|wed|thurs?|thur|fri|sat|sun)\b\.?"
_MONTH = (
    r"(?P<month>january|february|march|april|may|june|july|august|september|october|november|december|jan|feb|"
    r"mar|apr|jun|jul|"
    r"aug|sept?|oct|nov|dec)\b\.?"
)
_ORD = r"(?P<dom>[0-3]?\d)(?:st|nd|rd|th)?"
_YEAR = r"(?P<year>(?:19|20)\d\d)"

Span = tuple[datetime, datetime, str]
"""Start, end and precision."""


def _midnight(at: datetime) -> datetime:
    return at.replace(hour=0, minute=0, second=0, microsecond=0)


def _day(at: datetime, days: int = 0) -> Span:
    start = _midnight(at) + timedelta(days=days)
    return start, start + timedelta(days=1), "day"


def _week(at: datetime, weeks: int = 0) -> Span:
    start = _midnight(at) - timedelta(days=at.weekday()) + timedelta(weeks=weeks)
    return start, start + timedelta(weeks=1), "week"


def _month(at: datetime, months: int = 0) -> Span:
    start = _midnight(at).replace(day=1) + relativedelta(months=months)
    return start, start + relativedelta(months=1), "month"


def _year(at: datetime, years: int = 0) -> Span:
    start = _midnight(at).replace(month=1, day=1) + relativedelta(years=years)
    return start, start + relativedelta(years=1), "year"


def _weekend(at: datetime, weeks: int) -> Span:
    start = _week(at, weeks)[0] + timedelta(days=5)
    return start, start + timedelta(days=2), "weekend"


def number(word: str) -> float:
    return float(word) if word.isdigit() else float(_NUMBERS[word])


_STEPS = {"fortnight": ("weeks", 2), "weekend": ("weeks", 1), "decade": ("years", 10)}


def delta(count: float, unit: str) -> relativedelta:
    name, factor = _STEPS.get(unit, (unit + "s", 1))
    if count != int(count):
        name, count = {"years": ("months", 6), "hours": ("minutes", 30), "days": ("hours", 12)}.get(name, (name, 1))
    return relativedelta(**{name: int(count * factor)})  # type: ignore[arg-type]


def back(at: datetime, count: float, unit: str) -> datetime:
    return at - delta(count, unit)


def _around(moment: datetime, unit: str) -> Span:
    if unit in ("minute", "hour"):
        return moment, moment + timedelta(hours=1), "hour"
    if unit == "day":
        return _day(moment)
    if unit in ("week", "fortnight", "weekend"):
        return _week(moment)
    return _month(moment) if unit == "month" else _year(moment)


def _ago(match: patterns.Match, at: datetime, past: bool) -> Span:
    unit = "month" if match["n"] == "half a" else match["unit"]
    return _around(back(at, number(match["n"]), match["unit"]), unit)


def _ahead(match: patterns.Match, at: datetime, past: bool) -> Span:
    count, unit = number(match["n"]), match["unit"]
    moment = at + delta(count, unit)
    if unit in ("week", "fortnight"):
        return _day(moment)
    return _around(moment, unit)


def _relative_unit(match: patterns.Match, at: datetime, past: bool) -> Span | None:
    which, unit = match["which"], match["unit2"]
    step = {
        "last": -1,
        "past": -1,
        "previous": -1,
        "this": 0,
        "next": 1,
        "coming": 1,
        "this coming": 1,
        "this past": -1,
    }[which]
    if unit == "week":
        return _week(at, step)
    if unit == "weekend":
        if which in ("this past",) or (which == "this" and past and at.weekday() < 5):
            step = -1
        elif which in ("this coming", "coming"):
            step = 0
        return _weekend(at, step)
    if unit == "month":
        return _month(at, step)
    if unit == "year":
        return _year(at, step)
    if unit in _SEASONS:
        return _season(unit, at, step, past)
    if unit in _PARTS:
        return None if step == 1 else part_of_day(at + timedelta(days=step), unit)
    return None


def _season(name: str, at: datetime, step: int, past: bool) -> Span:
    month, _ = _SEASONS[name]
    start = _midnight(at).replace(month=month, day=1)
    length = relativedelta(months=3)
    if start > at and name == "winter" and at.month <= 2:
        start -= relativedelta(years=1)
    if step == -1:
        while start + length > at:
            start -= relativedelta(years=1)
    elif step == 1:
        while start <= at:
            start += relativedelta(years=1)
    elif past and start > at:
        start -= relativedelta(years=1)
    elif not past and start + length <= at:
        start += relativedelta(years=1)
    return start, start + length, "season"


def _bare_season(match: patterns.Match, at: datetime, past: bool) -> Span:
    """ "Since autumn" is the latest one; "in spring" the one that the tense tells."""
    name = match["season"]
    if match["year"]:
        start = _midnight(at).replace(year=int(match["year"]), month=_SEASONS[name][0], day=1)
        return start, start + relativedelta(months=3), "season"
    begun = (match["lead"] or "") == "since"
    start, end, precision = _season(name, at, 0, past or begun)
    if begun and start > at:
        start, end = start - relativedelta(years=1), end - relativedelta(years=1)
    return start, end, precision


def _easter(match: patterns.Match, at: datetime, past: bool) -> Span:
    def sunday(year: int) -> datetime:
        day = easter(year)
        return _midnight(at).replace(year=day.year, month=day.month, day=day.day)

    if match["year"]:
        return _day(sunday(int(match["year"])))
    past = past or (match["lead"] or "").strip() == "since" or (match["which"] or "").strip() == "last"
    day = sunday(at.year)
    if past and day > at:
        day = sunday(at.year - 1)
    elif not past and day + timedelta(days=1) <= at:
        day = sunday(at.year + 1)
    return _day(day)


def part_of_day(day: datetime, part: str) -> Span:
    start = _midnight(day) + timedelta(hours=_PARTS[part])
    return start, start + timedelta(hours=4), "part"


def _weekday(match: patterns.Match, at: datetime, past: bool) -> Span:
    target = _DAYS[match["day"].rstrip(".")]
    which = (match["which"] or "").strip()
    ahead = (target - at.weekday()) % 7
    if which in ("last", "this past", "past"):
        return _day(at, -((at.weekday() - target - 1) % 7 + 1))
    if which == "next":
        return _day(at, target - at.weekday() + 7)
    if which in ("this", "this coming", "coming"):
        return _day(at, ahead if not (past and which == "this") else ahead - 7 if ahead else 0)
    if past:
        return _day(at, -((at.weekday() - target) % 7 or 7))
    return _day(at, ahead or 7)


def _date(match: patterns.Match, at: datetime, past: bool) -> Span:
    groups = match.groupdict()
    month, day = _MONTHS[match["month"].rstrip(".")], int(match["dom"])
    if groups.get("year"):
        return _day(_midnight(at).replace(year=int(match["year"]), month=month, day=day))
    start = _nearest_year(at, month, day, past)
    return _day(start)


def _nearest_year(at: datetime, month: int, day: int, past: bool) -> datetime:
    start = _midnight(at).replace(month=month, day=day)
    if past and start > at:
        return start - relativedelta(years=1)
    if not past and start + timedelta(days=1) <= at:
        return start + relativedelta(years=1)
    return start


def _month_name(match: patterns.Match, at: datetime, past: bool) -> Span:
    groups = match.groupdict()
    month = _MONTHS[match["month"].rstrip(".")]
    first_day = _midnight(at).replace(month=month, day=1)
    if groups.get("year"):
        return _month(first_day.replace(year=int(match["year"])))
    which = (groups.get("which") or "").strip()
    if which == "last":
        first_day = first_day if month < at.month else first_day - relativedelta(years=1)
    elif which == "next":
        first_day = first_day if month > at.month else first_day + relativedelta(years=1)
    elif past and month > at.month:
        first_day -= relativedelta(years=1)
    elif not past and month < at.month and which != "this":
        first_day += relativedelta(years=1)
    return _month(first_day)


def _plain_year(match: patterns.Match, at: datetime, past: bool) -> Span:
    return _year(at.replace(year=int(match["year"]), month=1, day=1))


def _iso(match: patterns.Match, at: datetime, past: bool) -> Span:
    parsed = dateutil_parser.parse(match.group(), default=_midnight(at))
    if parsed.tzinfo is None:
        parsed = parsed.replace(tzinfo=at.tzinfo)
    return _day(parsed)


def _numeric(match: patterns.Match, at: datetime, past: bool) -> Span:
    month_first = int(match.group().split("/")[0]) <= 12
    parsed = dateutil_parser.parse(match.group(), default=_midnight(at), dayfirst=not month_first)
    return _day(parsed.replace(tzinfo=at.tzinfo))


def _dom(match: patterns.Match, at: datetime, past: bool) -> Span:
    start = _midnight(at).replace(day=int(match["dom"]))
    if past and start > at:
        start -= relativedelta(months=1)
    elif not past and start + timedelta(days=1) <= at:
        start += relativedelta(months=1)
    return _day(start)


def _holiday(match: patterns.Match, at: datetime, past: bool) -> Span:
    month, day = _HOLIDAYS[match["holiday"]]
    which = (match["which"] or "").strip()
    return _day(_nearest_year(at, month, day, past or which == "last"))


def _fixed(days: int, part: str | None = None) -> Callable[[patterns.Match, datetime, bool], Span]:
    return lambda match, at, past: part_of_day(at + timedelta(days=days), part) if part else _day(at, days)


def _end_of(match: patterns.Match, at: datetime, past: bool) -> Span:
    step = 1 if match["which"] == "next" else 0
    unit = {"week": _week, "month": _month, "year": _year, "day": _day}[match["unit2"]]
    _, end, _ = unit(at, step)
    return end - timedelta(days=1), end, "day"


def _rule(
    pattern: str,
    resolve: Callable[[patterns.Match, datetime, bool], Span | None],
    *,
    not_after: str = "",
    not_before: str = "",
) -> tuple[patterns.Pattern, Callable[[patterns.Match, datetime, bool], Span | None]]:
    return patterns.compile(pattern, not_after=not_after, not_before=not_before), resolve


_PARTWORD = r" (?P<part>morning|afternoon|evening|night|noon|lunchtime)"
_WHICH = r"(?P<which>last|past|previous|this coming|this past|this|next|coming)"
RULES = [
    _rule(r"\b(?:19|20)\d\d-[01]\d-[0-3]\d\b", _iso),
    _rule(r"\b[0-3]?\d/[0-3]?\d/(?:(?:19|20)\d\d|\d\d)\b", _numeric),
    _rule(rf"\b(?:on )?(?:the )?{_MONTH} {_ORD}\b(?:,? {_YEAR})?", _date, not_before=r"[:/]"),
    _rule(rf"\b(?:on )?(?:the )?{_ORD} (?:of )?{_MONTH}(?:,? {_YEAR})?", _date),
    _rule(r"\bthe day before yesterday\b", _fixed(-2)),
    _rule(r"\bthe day after tomorrow\b", _fixed(2)),
    _rule(r"\blast night\b", _fixed(-1, "night")),
    _rule(rf"\byesterday(?:{_PARTWORD})?", _fixed(-1)),
    _rule(rf"\b(?:tomorrow|tmrw)(?:{_PARTWORD})?", _fixed(1)),
    _rule(r"\btonight\b", _fixed(0, "tonight")),
    _rule(r"\b(?:today|earlier today|later today)\b", _fixed(0)),
    _rule(r"\b(?:by |at )?(?:the )?end of (?:the |this )?(?P<which>next )?(?P<unit2>day|week|month|year)\b", _end_of),
    _rule(rf"\b(?:about |around |over |almost |nearly )?{COUNT} {UNIT} (?:ago|back|earlier)\b", _ago),
    _rule(
        rf"\b(?:in|within)(?: about| around| the next)? {COUNT} {UNIT}(?:'s? time)?\b",
        _ahead,
        not_before=" (?:a row|each|every)",
    ),
    _rule(rf"\b{COUNT} {UNIT} from (?:now|today)\b", _ahead),
    _rule(
        rf"\b(?:on )?(?:{_WHICH} )?{_DAY}(?:{_PARTWORD}\b)?",
        _weekday,
        not_after=r"every (?:on )?|each (?:on )?",
        not_before="s",
    ),
    _rule(
        rf"\b(?:the )?{_WHICH} (?P<unit2>weekend|week|month|year|spring|summer|autumn|fall|winter|morning|"
        rf"afternoon|evening)\b",
        _relative_unit,
    ),
    _rule(
        r"\b(?:on |over |at |for |before |after )?(?P<which>last |next |this )?(?P<holiday>christmas eve|"
        r"christmas|new year's eve|new year's day|halloween|valentine's day)\b",
        _holiday,
    ),
    _rule(
        rf"\b(?:(?P<lead>in|since|until|till|by|from|during|over|for|before|after) (?:the |early |late )?)?"
        rf"(?P<season>spring|summer|autumn|fall|winter),? (?:of )?{_YEAR}",
        _bare_season,
    ),
    _rule(
        r"\b(?P<lead>in|since|until|till|by|from|during|over|for|before|after) (?:the |early |late )?"
        r"(?P<season>spring|summer|autumn|winter)\b(?P<year>)",
        _bare_season,
    ),
    _rule(
        rf"\b(?:(?P<lead>on|over|at|for|before|after|since|until|by) )?(?P<which>last |next |this )?easter\b"
        rf"(?: (?:sunday|weekend))?(?:,? {_YEAR})?",
        _easter,
    ),
    _rule(
        rf"\b(?:in|since|until|till|by|from|during|of|starting|early|mid|late|before|after) (?:early |mid-?|"
        rf"late )?{_MONTH}(?:,? (?:of )?{_YEAR})?",
        _month_name,
    ),
    _rule(rf"\b(?P<which>last |next |this ){_MONTH}", _month_name),
    _rule(rf"\b{_MONTH},? {_YEAR}", _month_name),
    _rule(rf"\b(?:in|since|until|from|during|by|of|before|after|back in|around) {_YEAR}\b", _plain_year),
    _rule(
        rf"\b(?:on|by|until|before|since) the {_ORD}\b", _dom, not_before=" (?:floor|time|place|grade|street|avenue)"
    ),
    _rule(r"\bthe other day\b", lambda match, at, past: (_midnight(at) - timedelta(days=3), _midnight(at), "week")),
]
