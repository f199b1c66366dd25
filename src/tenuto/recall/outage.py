"""An embedder that keeps failing is left alone for a moment: words answer at once, and nobody waits for it in vain."""

from __future__ import annotations

import threading
import time

IN_A_ROW = 3
"""Failures after which it is taken to be down; one query that it refuses says nothing of the next."""
PAUSE = 2.0
"""Seconds between two queries that find out whether it is back."""


class Outage:
    """What is known of an embedder that is asked for the vectors of queries."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._failures = 0
        self._message = ""
        self._again = 0.0

    @property
    def message(self) -> str | None:
        """Why it is not asked now; ``None`` where it may be."""
        on = self._failures >= IN_A_ROW and time.monotonic() < self._again
        return self._message if on else None

    def skip(self) -> str | None:
        """The same for whoever asks it otherwise: while it is down, one at a time goes and sees."""
        with self._lock:
            if self._failures < IN_A_ROW:
                return None
            now = time.monotonic()
            if now < self._again:
                return self._message
            self._again = now + PAUSE
            return None

    def failed(self, message: str) -> None:
        with self._lock:
            self._failures += 1
            self._message, self._again = message, time.monotonic() + PAUSE

    def worked(self) -> None:
        if self._failures:
            self._failures = 0
