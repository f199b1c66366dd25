"""Carrying out jobs: lease, work, finish; at least once, never silently.

A job is leased for a while and the lease is kept alive during the work. Whoever loses it (a stall, a long sleep) cannot
finish the job any more: the fence has moved on. Handlers are idempotent, so a second run does no harm. A failure is
written on the row; the job comes back later, ever more slowly, a bounded number of times. In a batch that fails every
job is then tried alone, so that one bad job does not take others with it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime

from tenuto.deps import Deps
from tenuto.errors import StoreClosed, TenutoError
from tenuto.policy import JobPolicy
from tenuto.records.base import evolve
from tenuto.records.operations import Job, JobStatus

Handler = Callable[[Deps, str, list[Job]], None]
ERROR_LENGTH = 500


def after_failure(job: Job, error: str, now: datetime, policy: JobPolicy) -> Job:
    """A failed job's next life: pending again after a pause, or failed for good."""
    if job.attempts >= policy.attempts:
        return evolve(job, status=JobStatus.FAILED, error=error, finished_at=now)
    pause = min(policy.backoff * 2 ** (job.attempts - 1), policy.backoff_limit)
    return evolve(job, status=JobStatus.PENDING, error=error, run_at=now + pause)


class Runner:
    """Carries out jobs in a thread of its own, or in the caller's (:meth:`drain`)."""

    def __init__(self, deps: Deps, handlers: Mapping[str, Handler]) -> None:
        self._deps = deps
        self._handlers = dict(handlers)
        self._work = threading.Event()
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()

    @property
    def kinds(self) -> list[str]:
        """The kinds that are known here; others are left for a process that knows them."""
        return sorted(self._handlers)

    def start(self) -> None:
        """Begin in the background, once."""
        with self._lock:
            if self._thread is None and not self._stop.is_set():
                self._thread = threading.Thread(target=self._loop, name="tenuto-jobs", daemon=True)
                self._thread.start()

    def wake(self) -> None:
        """There is something to do."""
        self.start()
        self._work.set()

    def stop(self, timeout: float = 30.0) -> None:
        """Finish the job at hand and end; what is left stays in the store."""
        self._stop.set()
        self._work.set()
        thread = self._thread
        if thread is not None and thread is not threading.current_thread():
            thread.join(timeout)

    def drain(self, user: str | None = None, timeout: float | None = None) -> bool:
        """Work until nothing is due; ``False`` if the time ran out first."""
        waited = threading.Event()
        spent = 0.0
        while self._deps.store.unfinished(self.kinds, self._deps.clock(), user):
            if not self.step():
                if timeout is not None and spent >= timeout:
                    return False
                waited.wait(0.005)
                spent += 0.005
        return True

    def step(self) -> bool:
        """Lease and carry out one batch; ``False`` when nothing was due."""
        policy, now = self._deps.policy.jobs, self._deps.clock()
        jobs = self._deps.store.lease(self.kinds, now, now + policy.lease, policy.batch)
        if jobs:
            self._carry_out(jobs)
        return bool(jobs)

    def _loop(self) -> None:
        while not self._stop.is_set():
            self._work.clear()
            try:
                busy = self.step()
            except StoreClosed:
                return
            except TenutoError:
                busy = False
            if not busy:
                self._work.wait(self._deps.policy.jobs.poll.total_seconds())

    def _carry_out(self, jobs: list[Job]) -> None:
        error = self._attempt(jobs)
        if error is not None and len(jobs) > 1:
            for job in jobs:
                self._end(job, self._attempt([job]))
            return
        for job in jobs:
            self._end(job, error)

    def _attempt(self, jobs: list[Job]) -> str | None:
        """The error's words, or ``None``. Whatever a handler raises must end on the row, not in this thread."""
        try:
            with self._kept_alive(jobs):
                self._handlers[jobs[0].kind](self._deps, jobs[0].user_id, jobs)
        except StoreClosed:
            raise
        except Exception as error:
            return f"{type(error).__name__}: {error}"[:ERROR_LENGTH]
        return None

    def _end(self, job: Job, error: str | None) -> None:
        now = self._deps.clock()
        if error is None:
            ended = evolve(job, status=JobStatus.DONE, finished_at=now, error=None)
        else:
            ended = after_failure(job, error, now, self._deps.policy.jobs)
        self._deps.store.finish(ended)

    @contextmanager
    def _kept_alive(self, jobs: list[Job]) -> Iterator[None]:
        """Renew the leases at a third of their length until the work is done."""
        lease, over = self._deps.policy.jobs.lease, threading.Event()

        def renew() -> None:
            while not over.is_set():
                for job in jobs:
                    self._deps.store.renew(job, self._deps.clock() + lease)
                over.wait(lease.total_seconds() / 3)

        timer = threading.Timer(lease.total_seconds() / 3, renew)
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            over.set()
            timer.cancel()
