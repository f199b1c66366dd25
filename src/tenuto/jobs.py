"""Carrying out jobs: lease, work, finish; at least once, never silently.

A job is leased for a while and the lease is kept alive during the work. Whoever loses it (a stall, a long sleep) cannot
finish the job any more: the fence has moved on. Handlers are idempotent, so a second run does no harm. A failure is
written on the row; the job comes back later, ever more slowly, a bounded number of times. In a batch that fails every
job is then tried alone, so that one bad job does not take others with it; so is a job that was tried before, because
the one that ended a whole process left no error behind.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime

from tenuto.acting import JOB, acting
from tenuto.deps import Deps
from tenuto.errors import IllegalMove, NotFound, StoreClosed, TenutoError
from tenuto.policy import JobPolicy
from tenuto.ports import Where
from tenuto.records.base import evolve
from tenuto.records.operations import Job, JobStatus

Handler = Callable[[Deps, str, list[Job]], None]
ERROR_LENGTH = 500
PAUSE = 0.005
"""Seconds between two looks while another thread or process works on the last job."""
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
        end = None if timeout is None else time.monotonic() + timeout
        while self._deps.store.unfinished(self.kinds, self._deps.clock(), user):
            if end is not None and time.monotonic() >= end:
                return False
            if not self.step():
                time.sleep(PAUSE)
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
        with self._kept_alive(jobs):
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
                try:
                    for job in jobs:
                        self._deps.store.renew(job, self._deps.clock() + lease)
                except TenutoError:
                    pass  # the next round tries again; a lost lease shows when the job is finished
                over.wait(lease.total_seconds() / 3)

        timer = threading.Timer(lease.total_seconds() / 3, renew)
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            over.set()
            timer.cancel()


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
