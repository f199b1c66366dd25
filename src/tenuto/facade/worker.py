"""``tenuto worker``: background work in processes of their own.

Each process leases jobs (on PostgreSQL with SKIP LOCKED, so any number of processes share the queue without waiting for
each other; on SQLite one process is all there is a use for), carries them out and, once a minute, closes sessions that
nobody closed and drops what was done long ago. SIGTERM and SIGINT end it gracefully: the job at hand is finished, the
rest stays in the store. A process that is killed loses its leases after a while and another takes the jobs over.

Kinds that may ask a model cost money: while one is configured, a process starts at most ``jobs.costly_per_minute`` of
them per minute and leaves the others in the queue; kinds that cost nothing go on.

What would break it: a loop that dies with its first database error. What may pass (a restart, a lock) is waited out.
"""

from __future__ import annotations

import signal
import threading
from collections import deque
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from types import FrameType

from tenuto.deps import Deps
from tenuto.errors import StoreClosed, TenutoError
from tenuto.facade.jobs import IN_TURN, Handler, Runner
from tenuto.lifecycle import due, sweep
from tenuto.privacy.listing import Upkeep

COSTLY = frozenset({due.CLOSE_SESSION, due.ROLLING, due.RANGE, due.PROFILE, due.TOPICS, "digest"})
"""Kinds that ask a model where one is configured."""
UPKEEP_EVERY = timedelta(seconds=60)
LONGEST_PAUSE = 30.0
"""Seconds between two tries while the store cannot be reached."""

Report = Callable[[str], None]


class Limit:
    """At most ``most`` starts within any minute, by the clock that is given with each question."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._starts: deque[datetime] = deque()

    def free(self, now: datetime) -> int:
        """How many may start now. Starts that lie in the future (the clock was set back) are forgotten."""
        while self._starts and not timedelta(0) <= now - self._starts[0] < timedelta(minutes=1):
            self._starts.popleft()
        return max(0, self._most - len(self._starts))

    def take(self, now: datetime, count: int) -> None:
        self._starts.extend([now] * count)


class LimitedRunner(Runner):
    """A runner that leaves costly kinds in the queue while their limit is used up."""

    def __init__(self, deps: Deps, handlers: Mapping[str, Handler]) -> None:
        super().__init__(deps, handlers)
        self._limit = Limit(deps.policy.jobs.costly_per_minute)

    def step(self) -> bool:
        """Lease and carry out one batch; ``False`` when nothing was due that may start."""
        policy, now = self._deps.policy.jobs, self._now()
        kinds, most = self.kinds, policy.batch
        paid = self._deps.model is not None or self._deps.unpaid_model is not None
        if paid:
            free = self._limit.free(now)
            kinds = kinds if free else [kind for kind in kinds if kind not in COSTLY]
            most = min(most, free) if free else most
        jobs = self._deps.store.lease(kinds, now, now + policy.lease, most, IN_TURN)
        if not jobs:
            return False
        if paid and jobs[0].kind in COSTLY:
            self._limit.take(now, len(jobs))
        self._carry_out(jobs)
        return True


class Worker:
    """One process's loop. :meth:`run` returns when :meth:`stop` was called, from a signal or another thread."""

    def __init__(self, deps: Deps, handlers: Mapping[str, Handler], report: Report | None = None) -> None:
        self._deps = deps
        self._runner = LimitedRunner(deps, handlers)
        self._listing = Upkeep(deps)
        self._stop = threading.Event()
        self._report = report or (lambda line: None)
        self._next_upkeep: datetime | None = None
        self.batches = 0

    def stop(self) -> None:
        """Finish the job at hand and return."""
        self._stop.set()

    def run(self) -> None:
        """Work until stopped."""
        poll = self._deps.policy.jobs.poll.total_seconds()
        failures = 0
        while not self._stop.is_set():
            try:
                self.upkeep()
                busy = self._runner.step()
                failures = 0
            except StoreClosed:
                return
            except TenutoError as error:
                failures += 1
                busy = False
                self._report(f"{error.code}: {error.message}")
                if not error.retry and failures >= 5:
                    raise
            if busy:
                self.batches += 1
            else:
                self._stop.wait(min(LONGEST_PAUSE, poll * 2 ** min(failures, 6)) if failures else poll)

    def run_until_idle(self) -> int:
        """Work until nothing is due (or may start); how many batches. For cron and for tests."""
        self.upkeep()
        before = self.batches
        while not self._stop.is_set() and self._runner.step():
            self.batches += 1
        return self.batches - before

    def upkeep(self) -> None:
        """Once a minute: idle sessions, rows of an earlier release, jobs that another machine's clock left in the
        future, jobs done long ago."""
        now = self._deps.clock()
        if self._next_upkeep is not None and self._next_upkeep - UPKEEP_EVERY <= now < self._next_upkeep:
            return
        self._next_upkeep = now + UPKEEP_EVERY
        closed = sweep.close_idle(self._deps)
        self._listing.some()
        policy = self._deps.policy.jobs
        self._deps.store.mend_jobs(now, policy.lease, policy.backoff_limit)
        dropped = self._deps.store.drop_old_jobs(now - policy.keep_done)
        if closed or dropped:
            self._report(f"closed {closed} idle sessions, dropped {dropped} old jobs")

    def on_signals(self) -> None:
        """End gracefully at SIGTERM and SIGINT. Call it in the main thread."""

        def ended(number: int, frame: FrameType | None) -> None:
            self._report(f"{signal.Signals(number).name}: finishing the job at hand")
            self.stop()

        signal.signal(signal.SIGTERM, ended)
        signal.signal(signal.SIGINT, ended)
