"""Days as people write them, checked against the calendar.

A date in figures has its day first where dots stand between them; with slashes or dashes it is read only if one order
is possible. A day without a year is the next one to come; a field about the past (a birth) needs the year.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta

from tenuto.text import patterns
from tenuto.workflow.numbers import number_words
from tenuto.workflow.reading import MOST_FOUND, Span, fold

NO_SUCH_DAY = "that day is not in the calendar"
TWO_ORDERS = "day and month can be taken in two ways, so write the month as a word"
SHORT_YEAR = "write the year with four digits"
WHICH_YEAR = "say the year too"
IN_THE_FUTURE = "that day is still to come"

_MONTHS: dict[str, int] = {
    name: number
    for number, names in enumerate(
        (
            "january jan januar janvier enero janeiro",
            "february feb februar février febrero fevereiro",
            "march mar märz mars marzo março",
            "april apr avril abril",
            "may mai mayo maio",
            "june jun juni juin junio junho",
            "july jul juli juillet julio julho",
            "august aug août agosto",
            "september sep sept septembre septiembre setembro",
            "october oct oktober octobre octubre outubro",
            "november nov novembre noviembre novembro",
            "december dec dezember décembre diciembre dezembro",
        ),
        start=1,
    )
    for name in (fold(one) for one in names.split())
}
_WEEKDAYS = {
    name: number
    for number, name in enumerate("monday tuesday wednesday thursday friday saturday sunday".split())  # noqa: SIM905
}
_MONTH = "|".join(sorted(_MONTHS, key=len, reverse=True))
_YEAR_FIRST = patterns.compile(r"\b(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})\b")
_FIGURES = patterns.compile(r"\b(\d{1,2})\s?([./-])\s?(\d{1,2})\s?[./-]\s?(\d{4}|\d{2})\b")
_DAY_MONTH = patterns.compile(
    rf"\b(\d{{1,2}})(?:st|nd|rd|th|\.)?\s*(?:of\s+|de\s+)?({_MONTH})\b\.?(?:,?\s+(?:de\s+|del\s+)?(\d{{4}})\b)?", "i"
)
_MONTH_DAY = patterns.compile(
    rf"\b({_MONTH})\b\.?\s+(?:the\s+)?(\d{{1,2}})(?:st|nd|rd|th)?\b(?:,?\s+(\d{{4}})\b)?", "i"
)
_WEEKDAY = patterns.compile(rf"\b(?:(?:this|next|coming)\s+)?({'|'.join(_WEEKDAYS)})\b", "i")
_NEAR = patterns.compile(r"\b(day after tomorrow|tomorrow|today|heute|morgen|übermorgen|demain|mañana)\b", "i")
_NEAR_DAYS = {"today": 0, "heute": 0, "tomorrow": 1, "morgen": 1, "demain": 1, "mañana": 1}
_IN_SOME_TIME = patterns.compile(r"\bin\s+(\w+)\s+(days?|weeks?)\b", "i")


@dataclass(frozen=True, slots=True, kw_only=True)
class Day:
    """A day in a text: its ISO date, or ``why`` there is none. ``about``: counted from now, hardly to the day."""

    span: Span
    value: str = ""
    why: str = ""
    about: bool = False


def days(text: str, now: datetime, *, past: bool = False) -> list[Day]:
    """The days that a text names, in order."""
    found: list[Day] = []
    for day in (*_figures(text), *_written(text, now.date(), past=past), *_counted(text, now.date())):
        if not any(other.span[0] < day.span[1] and day.span[0] < other.span[1] for other in found):
            found.append(day)
        if len(found) == MOST_FOUND:
            break
    if past:
        found = [_not_ahead(day, now.date()) for day in found]
    return sorted(found, key=lambda day: day.span)


def _figures(text: str) -> Iterator[Day]:
    for match in _YEAR_FIRST.finditer(text):
        yield _checked(match.span(), *(int(part) for part in match.groups()))
    for match in _FIGURES.finditer(text):
        first, sign, second, year = match.groups()
        one, other = int(first), int(second)
        if len(year) == 2:
            yield Day(span=match.span(), why=SHORT_YEAR)
        elif sign == "." or one > 12 or one == other:
            yield _checked(match.span(), int(year), other, one)
        elif other > 12:
            yield _checked(match.span(), int(year), one, other)
        else:
            yield Day(span=match.span(), why=TWO_ORDERS)


def _written(text: str, today: date, *, past: bool) -> Iterator[Day]:
    dated = [(match.span(), match.group(1), match.group(2), match.group(3)) for match in _DAY_MONTH.finditer(text)]
    dated += [(match.span(), match.group(2), match.group(1), match.group(3)) for match in _MONTH_DAY.finditer(text)]
    for span, day, name, year in dated:
        month = _MONTHS.get(fold(name), 0)
        if not month:
            continue
        if year:
            yield _checked(span, int(year), month, int(day))
        elif past:
            leap = _checked(span, 2000, month, int(day))
            yield replace(leap, value="", why=leap.why or WHICH_YEAR)
        else:
            this = _checked(span, today.year, month, int(day))
            yield _checked(span, today.year + 1, month, int(day)) if this.value and this.value < str(today) else this


def _counted(text: str, today: date) -> Iterator[Day]:
    for match in _NEAR.finditer(text):
        yield Day(span=match.span(), value=str(today + timedelta(days=_NEAR_DAYS.get(fold(match.group(1)), 2))))
    for match in _WEEKDAY.finditer(text):
        ahead = (_WEEKDAYS[fold(match.group(1))] - today.weekday() - 1) % 7 + 1
        yield Day(span=match.span(), value=str(today + timedelta(days=ahead)))
    for match in _IN_SOME_TIME.finditer(text):
        said = fold(match.group(1))
        count = (
            int(said) if said.isdecimal() and len(said) < 5 else int(number_words().get(said, 1 if said == "a" else 0))
        )
        if count:
            factor = 7 if match.group(2)[:1] in "wW" else 1
            yield Day(span=match.span(), value=str(today + timedelta(days=count * factor)), about=True)


def _checked(span: Span, year: int, month: int, day: int) -> Day:
    try:
        return Day(span=span, value=date(year, month, day).isoformat())
    except ValueError:
        return Day(span=span, why=NO_SUCH_DAY)


def _not_ahead(day: Day, today: date) -> Day:
    return replace(day, value="", why=IN_THE_FUTURE) if day.value > str(today) else day
