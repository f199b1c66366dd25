"""Times and durations as people type them: ``2026-03-01``, ``yesterday``, ``3 days ago``, ``30d``.

Pure: the time that they are counted from comes in as an argument.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from tenuto.errors import InputError
from tenuto.language import times

UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 7 * 86400}
"""Seconds of a unit."""


def duration(text: str) -> timedelta | None:
    """``45m``, ``12h``, ``30d`` or ``2w``; ``None`` for anything else."""
    number, unit = text.strip()[:-1], text.strip()[-1:]
    if unit not in UNITS or not (number.isascii() and number.isdigit()) or len(number) > 6:
        return None
    return timedelta(seconds=int(number) * UNITS[unit])


def since(text: str | None, now: datetime) -> datetime | None:
    """A bound: the beginning of what was named, or that long before ``now``. Without a zone it is local time."""
    return None if text is None else _start(text, now)[0]


def said_at(text: str | None, now: datetime) -> datetime | None:
    """When something was said: on a day that was named without an hour, at this time of day."""
    if text is None:
        return None
    start, whole_day = _start(text, now)
    local = now.astimezone(start.tzinfo)
    return start.replace(hour=local.hour, minute=local.minute, second=local.second) if whole_day else start


def _start(text: str, now: datetime) -> tuple[datetime, bool]:
    local = now.astimezone()
    if (span := duration(text)) is not None:
        return local - span, False
    try:
        return datetime.fromisoformat(text.strip()).astimezone(), ":" not in text
    except ValueError:
        pass
    found = times.find(f"was {text}", local, local.tzinfo)  # the past tense: a bare Monday is the last one
    if len(found) != 1 or found[0].text.strip().lower() != text.strip().lower():
        raise InputError(
            f"'{text}' is not a time: write it as 2026-03-01T12:30+01:00, 2026-03-01, yesterday, '3 days ago' or 30d.",
            code="time_invalid",
        )
    return found[0].start, found[0].precision == "day"
