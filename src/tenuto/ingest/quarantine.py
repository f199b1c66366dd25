"""A source that suddenly brings far more than usual: what it brings waits for the person's word.

Content filters do not stop somebody who has got into a channel; a flood can be seen all the same. Counted are the
memories of one source that were written within ``quarantine.window`` of each other, both by our clock and by the time
that they were said: bringing in years of old talk is many memories in a minute, but few in any hour of those years.

    held  ⇔  recent ≥ max(least, factor × the mean of the hours in which the source brought anything before)

What is held becomes a candidate: it is not recalled, it replaces nothing, and the page shows it under "Waiting for
you". The operator's and confirmed words are never held. ``undo(source, since)`` takes a flood back as a whole.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from math import ceil

from tenuto.policy import QuarantinePolicy
from tenuto.records.memory import Memory, Trust

NEVER = (Trust.OPERATOR, Trust.USER_CONFIRMED)
MARK = "quarantine"
REASON = "its source suddenly brings far more than usual: it waits for confirmation"


@dataclass(slots=True)
class Pace:
    """How fast one source has been bringing memories, as far as one transaction needs to know it."""

    said: list[datetime]
    """When the latest memories of the window were said; one that was written by hand counts by when it was written."""
    most: int | None = None
    """How many are allowed, once that had to be asked."""


def said_at(memory: Memory) -> datetime:
    return memory.evidence[-1].at if memory.evidence else memory.created_at


def close_by(said: Iterable[datetime], at: datetime, policy: QuarantinePolicy) -> int:
    """How many of these lie within the window of a time."""
    return sum(abs(one - at) <= policy.window for one in said)


def most(earlier: Iterable[Memory], policy: QuarantinePolicy) -> int:
    """How many a window may bring: a multiple of the mean of those windows of the past that brought any."""
    windows: dict[int, int] = {}
    for memory in earlier:
        window = int(memory.created_at.timestamp() // policy.window.total_seconds())
        windows[window] = windows.get(window, 0) + 1
    usual = sum(windows.values()) / len(windows) if windows else 0.0
    return max(policy.least, ceil(policy.factor * usual))
