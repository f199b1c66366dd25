"""Sessions of imported conversations, rebuilt from times alone.

A thread keeps to itself: two conversations that ran at the same time stay two, other than live talk, where time
decides. Within a thread a session is a run of messages with less than ``idle`` between neighbours. Its name follows
from the thread and the time of its first message, so a second import of the same file finds the same sessions.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta

from tenuto.records.base import micros
from tenuto.transfer.parsing import digest


@dataclass(slots=True)
class Run:
    name: str
    start: datetime
    last: datetime


@dataclass(slots=True)
class Threads:
    """The run that each thread is in. Grows with the number of threads, not of messages."""

    format: str
    idle: timedelta
    runs: dict[str, Run] = field(default_factory=dict)

    def place(self, thread: str, at: datetime) -> str:
        """The name of the session that a message of this thread at this time belongs to."""
        run = self.runs.get(thread)
        if run is not None and run.start - self.idle < at < run.last + self.idle:
            run.start, run.last = min(run.start, at), max(run.last, at)
            return run.name
        name = f"{self.format}:{digest(thread)}@{micros(at):x}"
        self.runs[thread] = Run(name, at, at)
        return name
