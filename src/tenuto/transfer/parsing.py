"""What all formats share: options, times, texts, and ids for messages that came without one."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, tzinfo
from hashlib import blake2b
from typing import Any

from dateutil import parser as dateutil_parser

from tenuto.policy import ImportPolicy
from tenuto.records.transfer import Parsed
from tenuto.text import patterns
from tenuto.text.clean import LAST_YEAR
from tenuto.transfer.source import Source

EARLIEST = datetime(1971, 1, 1, tzinfo=UTC)
LATEST = datetime(LAST_YEAR, 12, 31, tzinfo=UTC)
_SURROGATES = re.compile("[\ud800-\udbff][\udc00-\udfff]")
_LONE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """``me``: the names and addresses by which the user goes. ``zone``: what times without a zone mean."""

    now: datetime
    policy: ImportPolicy
    me: frozenset[str] = frozenset()
    zone: tzinfo = UTC
    limit: int = 64 * 1024

    def is_me(self, *names: str | None) -> bool:
        return any(name.casefold().strip() in self.me for name in names if name)


@dataclass(frozen=True, slots=True)
class Format:
    """A format: how it is recognised and how it is read. ``people`` formats need to know who the user is."""

    name: str
    title: str
    recognise: Callable[[Source], bool]
    parse: Callable[[Source, Options], Iterator[Parsed]]
    people: bool = False


def me(*names: str) -> frozenset[str]:
    """Names in the form that :meth:`Options.is_me` compares."""
    return frozenset(name.casefold().strip() for name in names if name.strip())


def moment(value: Any, zone: tzinfo = UTC) -> datetime | None:
    """A time in any of the forms exports use: seconds, milliseconds, ISO 8601, RFC 2822; ``None`` for none of them."""
    if value is None or isinstance(value, bool):
        return None
    try:
        if isinstance(value, (int, float)) or (
            isinstance(value, str) and patterns.fullmatch(r"\d{9,16}(\.\d+)?", value)
        ):
            number = float(value)
            number = number / 1e6 if number > 1e14 else number / 1e3 if number > 1e11 else number
            found = datetime.fromtimestamp(number, UTC)
        elif isinstance(value, str) and value.strip():
            found = _from_text(value.strip()[:64])
        else:
            return None
    except (ValueError, ArithmeticError, TypeError, OSError):  # a long row of digits ends in any of them
        return None
    if found.tzinfo is None:
        found = found.replace(tzinfo=zone)
    try:
        found = found.astimezone(UTC)
    except (OverflowError, ValueError):
        return None
    return found if EARLIEST <= found <= LATEST else None


def _named_zone(name: str | None, offset: int | None) -> int | None:
    """A zone by its offset; a name that nobody knows is none, which dateutil would warn about."""
    return 0 if offset is None and name in ("UTC", "GMT", "Z") else offset


def _from_text(text: str) -> datetime:
    try:
        return datetime.fromisoformat(text.replace(" UTC", "+00:00"))
    except ValueError:
        return dateutil_parser.parse(text, tzinfos=_named_zone)


def tidy(value: Any) -> str:
    """Text that can be kept: surrogate pairs joined, lone halves and NUL replaced, outer white space gone."""
    if not isinstance(value, str):
        return ""
    text: str = value
    if "\x00" in text:
        text = text.replace("\x00", "")
    if not text.isascii() and _LONE.search(text):
        text = _SURROGATES.sub(lambda pair: pair.group().encode("utf-16", "surrogatepass").decode("utf-16"), text)
        text = _LONE.sub("\ufffd", text)
    return text.strip()


def words_of(value: Any, depth: int = 0) -> str:
    """The text inside the nested shapes that chat exports use: strings, lists of parts, objects with text."""
    if isinstance(value, str):
        return value
    if depth > 8:
        return ""
    if isinstance(value, list):
        return "\n".join(part for part in (words_of(one, depth + 1) for one in value) if part)
    if isinstance(value, dict):
        for name in ("text", "content", "value", "parts"):
            if name in value:
                return words_of(value[name], depth + 1)
    return ""


def mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def listing(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def string(value: Any) -> str | None:
    """A non-empty name, or ``None``."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        value = str(int(value)) if float(value).is_integer() else str(value)
    return (tidy(value) or None) if isinstance(value, str) else None


def number(value: Any, low: float, high: float, default: float) -> float:
    """A number within bounds."""
    try:
        found = float(value)
    except (TypeError, ValueError):
        return default
    return min(max(found, low), high) if found == found else default


def digest(*parts: str) -> str:
    """A short stable name for some values."""
    return blake2b("\x1f".join(parts).encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()


@dataclass(slots=True)
class Made:
    """Ids for messages that have none: the same file gives the same ids, and equal messages at one time stay apart.

    Only the messages of one moment are remembered, so memory stays flat.
    """

    _time: str = ""
    _seen: Counter[str] = field(default_factory=Counter)

    def id(self, time: str, *parts: str) -> str:
        if time != self._time:
            self._time = time
            self._seen.clear()
        base = digest(time, *parts)
        self._seen[base] += 1
        count = self._seen[base]
        return base if count == 1 else f"{base}-{count}"
