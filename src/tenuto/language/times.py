"""Time expressions, resolved against the time at which they were said.

"Next Friday" means something only together with the message's own time, so every expression becomes a span of days (or
an instant) at once and the memory keeps the date, not the words. Weeks begin on Monday. A bare weekday or month looks
back when the sentence is in the past tense and ahead otherwise; "last Friday" is the latest one before today, "next
Friday" the Friday of next week, "this Friday" the coming one. Numeric dates are read by dateutil, months first where
both readings are possible. What would break this: guessing. What is not understood yields nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta, tzinfo

from dateutil.relativedelta import relativedelta

from tenuto.language.time_rules import COUNT, RULES, UNIT, Span, back, delta, number, part_of_day
from tenuto.text import patterns

_LOOKS = patterns.compile(
    r"\d|\b(?:today|tonight|tomorrow|tmrw|yesterday|now|ago|last|next|this|weeks?|months?|years?|days?|morning|"
    r"evening|afternoon|noon|night|monday|tuesday|wednesday|"
    r"thursday|friday|saturday|sunday|january|february|march|april|may|june|july|august|september|october|"
    r"november|december|jan|feb|mar|apr|jun|jul|"
    r"aug|sept?|oct|nov|dec|mon|tues?|wed|thurs?|fri|sat|sun|spring|summer|autumn|fall|winter|christmas|"
    r"halloween|easter|valentine's|new year's|since|until|weekend|recently|"
    r"other day|hours?|minutes?|eve)\b",
    "i",
)
PAST = patterns.compile(
    r"\b(?:was|were|went|did|had|got|took|made|saw|came|bought|met|lost|found|left|started|began|told|gave|won|"
    r"ran|felt|had been|[a-z]{3,}ed|ago|spent|taught|wrote|ate|drove|flew|became|broke|quit|sold|read|finally)\b",
    "i",
)
FUTURE = patterns.compile(
    r"\b(?:will|'ll|going to|gonna|shall|plan(?:ning)? to|by|due|until|deadline|want to|hope to|upcoming|have "
    r"to|need to|is on|are on|remind)\b",
    "i",
)
_CLOCK = patterns.compile(
    r"\b(?:at|by|from|around|about|until|@)?\s*(?:(?P<h>[01]?\d|2[0-3]):(?P<m>[0-5]\d)\s*(?P<ap>[ap]\.?m\.?)?|"
    r"(?P<h2>1[0-2]|0?[1-9])\s*(?P<ap2>[ap]\.?m\.?))|\bat\s+(?P<h3>1[0-2]|[1-9])(?: o'clock)?\b",
    "i",
    not_before=r"[\w:/%]|\.\d|\s*(?:percent|years|months|people|kg|miles|km|dollars)",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class When:
    """A span of time: ``start`` inclusive, ``end`` exclusive. ``relation``: at, since, until, by, for."""

    text: str
    start: datetime
    end: datetime
    precision: str
    relation: str = "at"
    position: int = 0


def find(text: str, at: datetime, zone: tzinfo | None = None) -> list[When]:
    """Every time expression that is understood, in order of appearance, none inside another."""
    if not _LOOKS.search(text):
        return []
    local = at.astimezone(zone) if zone is not None else at
    lowered = text.lower().replace("’", "'")
    past = bool(PAST.search(lowered)) and not FUTURE.search(lowered)
    taken: list[tuple[int, int]] = []
    found: list[When] = []
    for pattern, resolve in RULES:
        for match in pattern.finditer(lowered):
            if any(match.start() < end and start < match.end() for start, end in taken):
                continue
            span = _try(resolve, match, local, past)
            if span is None:
                continue
            taken.append((match.start(), match.end()))
            start, end, precision = span
            relation = _relation(lowered, match.start())
            start, end, precision = _with_clock(lowered, match, start, end, precision)
            found.append(
                When(
                    text=text[match.start() : match.end()].strip(),
                    start=start,
                    end=end,
                    precision=precision,
                    relation=relation,
                    position=match.start(),
                )
            )
    found.sort(key=lambda when: when.position)
    return found or _bare_clock(text, lowered, local)


def first(text: str, at: datetime, zone: tzinfo | None = None) -> When | None:
    """The first expression that names a date, or ``None``."""
    return next(iter(find(text, at, zone)), None)


_DURATION = patterns.compile(
    rf"\bfor (?:about |around |over |almost |nearly |the (?:past|last) |more than )?{COUNT} {UNIT}\b", "i"
)


def lasting_since(text: str, at: datetime) -> datetime | None:
    """When something began that "has been going on for three years" or "since 2019"."""
    lowered = text.lower().replace("’", "'")
    match = _DURATION.search(lowered)
    if match and patterns.search(
        r"\b(?:'ve|'s|have|has)(?: \w+)? (?:been|had|lived|worked|known|owned|played|studied|taught|used|"
        r"practi[sc]ed)\b|\b(?:past|last) ",
        lowered,
    ):
        return back(at, number(match["n"]), match["unit"])
    return next((when.start for when in find(text, at) if when.relation == "since"), None)


def duration(text: str) -> relativedelta | None:
    """How long something lasts: "for four months"."""
    match = _DURATION.search(text.lower())
    return delta(number(match["n"]), match["unit"]) if match else None


def _try(
    resolve: Callable[[patterns.Match, datetime, bool], Span | None], match: patterns.Match, at: datetime, past: bool
) -> Span | None:
    try:
        return resolve(match, at, past)
    except (ValueError, OverflowError, KeyError):
        return None


def _relation(text: str, start: int) -> str:
    before = text[max(0, start - 14) : start].rstrip()
    begins = patterns.match(r"(since|until|till|by|from|before|starting)\b", text[start:])
    if begins:
        return {"from": "since", "starting": "since", "till": "until", "before": "by"}.get(begins[1], begins[1])
    for word, relation in (
        ("since", "since"),
        ("until", "until"),
        ("till", "until"),
        ("by", "by"),
        ("before", "by"),
        ("due", "by"),
        ("from", "since"),
        ("starting", "since"),
        ("through", "until"),
        ("due on", "by"),
        ("due in", "by"),
        ("starting on", "since"),
        ("as of", "since"),
        ("by the end of", "by"),
    ):
        if before == word or before.endswith(" " + word):
            return relation
    return "at"


def _with_clock(text: str, match: patterns.Match, start: datetime, end: datetime, precision: str) -> Span:
    """ "Friday at 5 pm": the day becomes an instant. "Tomorrow evening": a part of the day."""
    if precision != "day":
        return start, end, precision
    clock = _CLOCK.search(text, max(0, match.start() - 14), min(len(text), match.end() + 14))
    if clock:
        moment = _clock_time(clock, start)
        return moment, moment + timedelta(hours=1), "hour"
    part = match.groupdict().get("part")
    return part_of_day(start, part) if part else (start, end, precision)


def _clock_time(clock: patterns.Match, day: datetime) -> datetime:
    hour = int(clock["h"] or clock["h2"] or clock["h3"])
    minute = int(clock["m"] or 0)
    half = (clock["ap"] or clock["ap2"] or "").replace(".", "")
    if half == "pm" and hour < 12:
        hour += 12
    elif half == "am" and hour == 12:
        hour = 0
    elif not half and clock["h3"] and hour < 7:
        hour += 12
    return day.replace(hour=hour, minute=minute, second=0, microsecond=0)


_HALF = patterns.compile(r"[ap]\.?m|o'clock")


def _bare_clock(text: str, lowered: str, at: datetime) -> list[When]:
    """ "At 5 pm" alone is today, or tomorrow when that is over and the sentence looks ahead."""
    clock = _CLOCK.search(lowered)
    if clock and patterns.search(r"\bin\s*$", lowered[: clock.start()]) and not _HALF.search(clock.group()):
        return []
    if not clock or patterns.search(r"\bevery\b|\bdaily\b|\busually\b|\balways\b|\bto\b \d", lowered):
        return []
    moment = _clock_time(clock, at)
    if moment < at and not PAST.search(lowered):
        moment += timedelta(days=1)
    return [
        When(
            text=text[clock.start() : clock.end()].strip(),
            start=moment,
            end=moment + timedelta(hours=1),
            precision="hour",
            relation=_relation(lowered, clock.start()),
            position=clock.start(),
        )
    ]


_EVERY = patterns.compile(
    r"\b(?:every|each) (?:single |other )?(?P<unit>day|morning|evening|night|week|month|year|weekday|weekend|"
    r"monday|tuesday|wednesday|thursday|friday|saturday|sunday|"
    r"afternoon|hour|quarter|summer|winter|christmas)\b|\b(?P<adv>daily|weekly|monthly|yearly|annually|nightly)\b|"
    r"\bon (?P<days>mondays|tuesdays|wednesdays|thursdays|fridays|saturdays|sundays|weekends|weekdays)\b|"
    r"\b(?P<times>once|twice|(?:\d|two|three|four|five|six) times) (?:a|per|each|every) (?P<per>day|week|month|year)\b",
    "i",
)


def recurrence(text: str) -> str | None:
    """ "every monday", "daily", "3 times a week": how often something comes back, or ``None``."""
    match = _EVERY.search(text)
    if not match:
        return None
    if match["unit"]:
        return f"every {match['unit'].lower()}"
    if match["adv"]:
        return match["adv"].lower()
    if match["days"]:
        return "every " + match["days"].lower().rstrip("s")
    return f"{match['times'].lower()} a {match['per'].lower()}"
