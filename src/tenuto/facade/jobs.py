"""Carrying out jobs: lease, work, finish; at least once, never silently.

A job is leased for a while and the lease is kept alive during the work. Whoever loses it (a stall, a long sleep) cannot
finish the job any more: the fence has moved on. Handlers are idempotent, so a second run does no harm. A failure is
written on the row; the job comes back later, ever more slowly, a bounded number of times. In a batch that fails every
job is then tried alone, so that one bad job does not take others with it; so is a job that was tried before, because
the one that ended a whole process left no error behind.

What would break it: a clock that is set back. A lease, a retry or a job of "now" that was written before would then lie
in the future, out of everybody's reach; so whoever finds that the clock went back mends the queue before it goes on.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime, timedelta

from tenuto.call_context import JOB, acting
from tenuto.deps import Deps
from tenuto.errors import IllegalMove, NotFound, StoreClosed, TenutoError, where_raised
from tenuto.policy import JobPolicy
from tenuto.ports import Where
from tenuto.privacy.listing import Upkeep
from tenuto.records.base import evolve
from tenuto.records.operations import Job, JobStatus

LOG = logging.getLogger("tenuto.jobs")
Handler = Callable[[Deps, str, list[Job]], None]
ERROR_LENGTH = 500
STOPPED = "Not finished: the process that worked on it was told to stop."
IN_TURN = ("digest",)
"""Kinds whose work builds on what was said before: of one user one batch at a time, in the order of what was said."""
PAUSE = 0.005
"""Seconds between two looks while another thread or process works on the last job."""
SET_BACK = timedelta(seconds=1)
"""A clock that shows this much less than before was set back; less than that is noise between processes."""
LONG_AGO = timedelta(seconds=60)
"""Whoever has not looked for so long cannot tell by its own eyes whether the clock was set back meanwhile."""
SEARCHED = 10_000
"""Jobs that are looked through for an id when nobody says whose it is."""


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
        self._keeper = Keeper(deps)
        self._upkeep = Upkeep(deps)
        self._seen: datetime | None = None

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
        """Finish the job at hand and end; what is left stays in the store.

        A job that takes longer than ``timeout`` is given back, so that nobody has to wait for the end of its lease.
        """
        self._stop.set()
        self._work.set()
        thread = self._thread
        if thread is None or thread is threading.current_thread():
            return
        thread.join(timeout)
        if thread.is_alive():
            for job in self._keeper.release():
                self._deps.store.finish(evolve(job, status=JobStatus.PENDING, error=STOPPED, run_at=self._deps.clock()))

    def drain(self, user: str | None = None, timeout: float | None = None) -> bool:
        """Work until nothing is due; ``False`` if the time ran out first."""
        end = None if timeout is None else time.monotonic() + timeout
        while self._deps.store.unfinished(self.kinds, self._deps.clock(), user):
            if end is not None and time.monotonic() >= end:
                return False
            if not self.step():
                time.sleep(PAUSE)
        while self._upkeep.some():
            if end is not None and time.monotonic() >= end:
                return False
        return True

    def step(self) -> bool:
        """Lease and carry out one batch; ``False`` when nothing was due."""
        policy, now = self._deps.policy.jobs, self._now()
        jobs = self._deps.store.lease(self.kinds, now, now + policy.lease, policy.batch, IN_TURN)
        if jobs:
            self._carry_out(jobs)
        return bool(jobs)

    def _now(self) -> datetime:
        """The clock. If it was set back, or may have been since the last look, the queue is mended before any lease."""
        now, seen = self._deps.clock(), self._seen
        if seen is None or not -SET_BACK <= now - seen <= LONG_AGO:
            policy = self._deps.policy.jobs
            self._deps.store.mend_jobs(now, policy.lease, policy.backoff_limit)
        self._seen = now
        return now

    def _loop(self) -> None:
        while not self._stop.is_set():
            self._work.clear()
            try:
                busy = self.step() or self._upkeep.some() > 0
            except StoreClosed:
                return
            except Exception as error:  # noqa: BLE001 - this thread is the only one; it waits, and tries again
                LOG.error("The queue cannot be worked on: %s.", where_raised(error))
                busy = False
            if not busy:
                self._work.wait(self._deps.policy.jobs.poll.total_seconds())

    def _carry_out(self, jobs: list[Job]) -> None:
        with self._keeper.keeping(jobs):
            self._try_all(jobs)

    def _try_all(self, jobs: list[Job]) -> None:
        together = [job for job in jobs if job.attempts == 1]
        error = self._attempt(together) if together else None
        alone = [job for job in jobs if job.attempts > 1]
        if error is not None and len(together) > 1:
            alone, together = [*together, *alone], []
        for job in together:
            self._end(job, error)
        for job in alone:
            self._end(job, self._attempt([job]))

    def _attempt(self, jobs: list[Job]) -> str | None:
        """The error's words, or ``None``. Whatever a handler raises must end on the row, not in this thread."""
        if jobs[0].attempts > self._deps.policy.jobs.attempts:
            return jobs[0].error or "Given up: whoever worked on it ended before it was done, each time."
        try:
            with acting(JOB, jobs[0].kind):
                self._handlers[jobs[0].kind](self._deps, jobs[0].user_id, jobs)
        except StoreClosed:
            raise
        except Exception as error:  # noqa: BLE001
            LOG.warning("%d %s failed, attempt %d: %s.", len(jobs), jobs[0].kind, jobs[0].attempts, where_raised(error))
            return f"{type(error).__name__}: {error}"[:ERROR_LENGTH]
        return None

    def _end(self, job: Job, error: str | None) -> None:
        now = self._deps.clock()
        if error is None:
            ended = evolve(job, status=JobStatus.DONE, finished_at=now, error=None)
        else:
            ended = after_failure(job, error, now, self._deps.policy.jobs)
        self._deps.store.finish(ended)


class Keeper:
    """Renews the leases of the batches at hand at a third of their length, in one thread for all of them.

    The thread starts with the first batch and ends when it finds nothing to keep twice in a row. A batch's first
    renewal is never due before the thread's next look, so nobody has to wake it.
    """

    def __init__(self, deps: Deps) -> None:
        self._deps = deps
        self._every = deps.policy.jobs.lease.total_seconds() / 3
        self._look = threading.Condition()
        self._held: dict[int, tuple[float, list[Job]]] = {}
        self._thread: threading.Thread | None = None

    @contextmanager
    def keeping(self, jobs: list[Job]) -> Iterator[None]:
        """Hold the leases of a batch while the block runs."""
        with self._look:
            self._held[id(jobs)] = (time.monotonic() + self._every, jobs)
            if self._thread is None:
                self._thread = threading.Thread(target=self._keep, name="tenuto-leases", daemon=True)
                self._thread.start()
        try:
            yield
        finally:
            with self._look:
                del self._held[id(jobs)]

    def release(self) -> list[Job]:
        """The jobs of the batches at hand, whose leases nobody renews any more."""
        with self._look:
            found = [job for _, jobs in self._held.values() for job in jobs]
            self._held = {key: (when, []) for key, (when, _) in self._held.items()}
        return found

    def _keep(self) -> None:
        idle = 0
        while True:
            with self._look:
                self._look.wait(self._pause())
                idle = 0 if self._held else idle + 1
                if idle == 2:
                    self._thread = None
                    return
                due = self._due(time.monotonic())
            for job in due:
                try:
                    self._deps.store.renew(job, self._deps.clock() + self._deps.policy.jobs.lease)
                except TenutoError as error:  # the next round tries again; a lost lease shows when the job is finished
                    LOG.warning("The lease of %s was not renewed: %s.", job.id, where_raised(error))

    def _pause(self) -> float:
        first = min((due for due, _ in self._held.values()), default=None)
        return self._every if first is None else max(0.0, first - time.monotonic())

    def _due(self, now: float) -> list[Job]:
        found = [(key, jobs) for key, (due, jobs) in self._held.items() if due <= now]
        for key, jobs in found:
            self._held[key] = (now + self._every, jobs)
        return [job for _, jobs in found for job in jobs]


def find_job(deps: Deps, id: str, user: str | None = None) -> Job:
    """A job by its id; without the user it is looked for among the newest of everybody's."""
    if user is None:
        found = next((job for job in deps.store.jobs(limit=SEARCHED) if job.id == id), None)
    else:
        with deps.store.reading(user) as reader:
            found = reader.get(Job, id)
    if found is None:
        raise NotFound(f"There is no job with the id {id!r}: 'tenuto jobs list' shows them.")
    return found


def retry_job(deps: Deps, id: str, user: str | None = None) -> Job:
    """Put a failed or cancelled job back into the queue, with all its attempts."""
    known = find_job(deps, id, user)
    now = deps.clock()
    with deps.store.writing(known.user_id) as tx:
        job = tx.get(Job, id) or known
        if job.status not in (JobStatus.FAILED, JobStatus.CANCELLED):
            raise IllegalMove(f"The job {id} is {job.status}: only one that failed or was cancelled can be retried.")
        twin = job.dedupe is not None and tx.count(
            Job, Where("dedupe", "=", job.dedupe), Where("status", "=", JobStatus.PENDING)
        )
        if twin:
            raise IllegalMove(f"The same work as job {id} waits in the queue already.")
        job = evolve(job, status=JobStatus.PENDING, run_at=now, attempts=0, error=None, finished_at=None)
        tx.put(job)
    return job


def cancel_job(deps: Deps, id: str, user: str | None = None) -> Job:
    """Take a job out of the queue. One that is running is left to finish."""
    known = find_job(deps, id, user)
    with deps.store.writing(known.user_id) as tx:
        job = tx.get(Job, id) or known
        if job.status not in (JobStatus.PENDING, JobStatus.FAILED):
            raise IllegalMove(f"The job {id} is {job.status}: only one that waits or failed can be cancelled.")
        job = evolve(job, status=JobStatus.CANCELLED, finished_at=deps.clock())
        tx.put(job)
    return job
