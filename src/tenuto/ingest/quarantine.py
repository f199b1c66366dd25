"""A source that suddenly brings far more than usual: what it brings waits for the person's word.

Content filters do not stop somebody who has got into a channel; a flood can be seen all the same. Counted are the
memories of one source that were written within ``quarantine.window`` of each other, both by our clock and by the time
that they were said: bringing in years of old talk is many memories in a minute, but few in any hour of those years.

    held  ⇔  recent ≥ max(least, factor × the mean of the hours in which the source brought anything before)

What is held becomes a candidate: it is not recalled, it replaces nothing, and the page shows it under "Waiting for
you". The operator's and confirmed words are never held. ``undo(source, since)`` takes a flood back as a whole.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime

from tenuto.policy import QuarantinePolicy
from tenuto.records.memory import Memory, Trust

NEVER = (Trust.OPERATOR, Trust.USER_CONFIRMED)
MARK = "quarantine"
REASON = "its source suddenly brings far more than usual: it waits for confirmation"


def close_by(memories: Iterable[Memory], at: datetime, policy: QuarantinePolicy) -> int:
    """How many of these were said within the window of a time."""
    return sum(
        any(abs(evidence.at - at) <= policy.window for evidence in memory.evidence[-1:]) or not memory.evidence
        for memory in memories
    )


def usual(earlier: Iterable[Memory], policy: QuarantinePolicy) -> float:
    """The mean number of memories in those windows of the past in which there were any."""
    windows: dict[int, int] = {}
    for memory in earlier:
        window = int(memory.created_at.timestamp() // policy.window.total_seconds())
        windows[window] = windows.get(window, 0) + 1
    return sum(windows.values()) / len(windows) if windows else 0.0


def held(recent: int, earlier: Sequence[Memory], policy: QuarantinePolicy) -> bool:
    """Whether one more is too many."""
    return recent >= max(float(policy.least), policy.factor * usual(earlier, policy))
