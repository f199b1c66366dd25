"""Token buckets: so many requests at once, so many per second after that.

The decision is one pure function of (tokens left, when that was) and the time; the same rule runs here in a dictionary
and in Redis as a script. A dictionary of buckets is bounded: a full one forgets the bucket that was used longest ago,
which at worst lets somebody start afresh.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Bucket:
    """``burst`` requests at once, then ``rate`` per second."""

    rate: float
    burst: float


def take(left: float, since: float, bucket: Bucket) -> tuple[float, float]:
    """(tokens after this request, seconds to wait). ``since``: seconds since ``left`` was true. 0 means go on."""
    filled = min(bucket.burst, left + max(since, 0.0) * bucket.rate)
    if filled >= 1.0:
        return filled - 1.0, 0.0
    return filled, (1.0 - filled) / bucket.rate


class Limiter(Protocol):
    """Counts requests under names; every name of one request must have room."""

    def wait(self, asked: Sequence[tuple[str, Bucket]]) -> float:
        """Seconds until all of them would let one more request in; 0 takes one from each."""


class LocalLimiter:
    """Buckets in this process."""

    def __init__(self, clock: Callable[[], float] = time.monotonic, most: int = 100_000) -> None:
        self._clock = clock
        self._most = most
        self._lock = threading.Lock()
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def wait(self, asked: Sequence[tuple[str, Bucket]]) -> float:
        now, longest, after = self._clock(), 0.0, []
        with self._lock:
            for name, bucket in asked:
                left, at = self._buckets.get(name, (bucket.burst, now))
                remaining, seconds = take(left, now - at, bucket)
                longest = max(longest, seconds)
                after.append((name, remaining))
            if longest == 0.0:
                for name, remaining in after:
                    self._buckets[name] = (remaining, now)
                    self._buckets.move_to_end(name)
                while len(self._buckets) > self._most:
                    self._buckets.popitem(last=False)
        return longest
