"""What every record shares: how it is declared, evolved, and turned into plain data."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from html import escape
from typing import Any, ClassVar, TypeVar

import msgspec

R = TypeVar("R")
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def evolve(record: R, **changes: Any) -> R:
    """A copy of ``record`` with some fields changed."""
    return replace(record, **changes)  # type: ignore[type-var]


def to_plain(record: Any) -> Any:
    """Builtins only (dict, list, str, …), ready for JSON."""
    return msgspec.to_builtins(record)


def micros(at: datetime) -> int:
    """Microseconds since 1970 in UTC: how every store keeps a time, exact and the same on all engines."""
    since = at - EPOCH
    return (since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds


@lru_cache(maxsize=1 << 14)
def from_micros(value: int) -> datetime:
    """The inverse of :func:`micros`. Rows are read again and again, each with several times."""
    return EPOCH + timedelta(microseconds=value)


SHOWN_CHARACTERS = 72
"""Of a longer text, a line shows this much."""


class OneLine:
    """A record that shows itself in one line: its id and a few telling fields; in a notebook as a row.

    Declared with ``repr=False``, and ``_line`` names the fields.
    """

    __slots__ = ()
    _line: ClassVar[tuple[str, ...]] = ("id",)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {' '.join(_shown(getattr(self, name)) for name in self._line)}>"

    def _repr_html_(self) -> str:
        cells = "".join(f"<td>{escape(_shown(getattr(self, name)))}</td>" for name in self._line)
        heads = "".join(f"<th>{escape(name)}</th>" for name in self._line)
        return f"<table><tr>{heads}</tr><tr>{cells}</tr></table>"


def _shown(value: Any) -> str:
    if isinstance(value, datetime):
        return f"{value:%Y-%m-%d %H:%M}"
    if isinstance(value, float):
        return f"{value:.3g}"
    text = " ".join(str(value).split())
    return text if len(text) <= SHOWN_CHARACTERS else text[: SHOWN_CHARACTERS - 1] + "…"
