"""What every record shares: how it is declared, evolved, and turned into plain data."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Any, TypeVar

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
