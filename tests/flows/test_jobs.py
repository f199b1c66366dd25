"""Jobs: carried out at least once, retried with pauses, fenced, and never failing in silence."""

import re
import threading
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

import tenuto
from tenuto.deps import Deps
from tenuto.errors import StoreBusy
from tenuto.facade.jobs import Runner, after_failure
from tenuto.policy import JobPolicy
from tenuto.records.base import evolve
from tenuto.records.operations import Job, JobStatus
from tenuto.testing.fakes import FakeClock, FakeEmbedder, FakeTokens


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def store(store_url: str, clock: FakeClock) -> Iterator[tenuto.Tenuto]:
    options: dict[str, Any] = {"embedder": FakeEmbedder(), "tokens": FakeTokens(), "background": False}
    with tenuto.open(store_url, clock=clock, **options) as opened:
        yield opened


def add(store: tenuto.Tenuto, *ids: str, user: str = "ana", kind: str = "work", **more: Any) -> None:
    now = store.deps.clock()
    with store.deps.store.writing(user) as tx:
        for id in ids:
            tx.put(Job(id=id, kind=kind, created_at=now, run_at=now, payload={"name": id}, **more))


def states(store: tenuto.Tenuto) -> dict[str, JobStatus]:
    return {job.id: job.status for job in store.jobs()}


class Worker:
    """A handler that remembers its work and fails for the named jobs."""

    def __init__(self, *bad: str) -> None:
        self.bad = set(bad)
        self.done: list[list[str]] = []

    def __call__(self, deps: Deps, user: str, jobs: list[Job]) -> None:
        names = [job.payload["name"] for job in jobs]
        self.done.append(names)
        if self.bad & set(names):
            raise ValueError(f"cannot do {sorted(self.bad & set(names))}")


def test_a_batch_is_done_once(store: tenuto.Tenuto):
    work = Worker()
    add(store, "a", "b", "c")
    assert Runner(store.deps, {"work": work}).drain() is True
    assert work.done == [["a", "b", "c"]]
    assert set(states(store).values()) == {JobStatus.DONE}


def test_an_unknown_kind_is_left_alone(store: tenuto.Tenuto):
    add(store, "a", kind="from_another_version")
    assert Runner(store.deps, {"work": Worker()}).drain() is True
    assert states(store) == {"a": JobStatus.PENDING}


def test_one_bad_job_does_not_take_others_with_it(store: tenuto.Tenuto):
    work = Worker("b")
    add(store, "a", "b", "c")
    Runner(store.deps, {"work": work}).drain()
    assert work.done == [["a", "b", "c"], ["a"], ["b"], ["c"]]
    assert states(store) == {"a": JobStatus.DONE, "b": JobStatus.PENDING, "c": JobStatus.DONE}
    (waiting,) = store.jobs("pending")
    assert waiting.error == "ValueError: cannot do ['b']" and waiting.attempts == 1


def test_a_failure_comes_back_more_and_more_slowly_and_then_fails_visibly(store: tenuto.Tenuto, clock: FakeClock):
    work = Worker("a")
    runner = Runner(store.deps, {"work": work})
    add(store, "a")
    pauses = []
    while states(store)["a"] is JobStatus.PENDING:
        (job,) = store.jobs("pending")
        pauses.append((job.run_at - clock.now).total_seconds())
        clock.now = job.run_at - timedelta(microseconds=1)
        assert runner.step() is False
        clock.now = job.run_at
        assert runner.step() is True
    assert pauses == [0, 2, 4, 8, 16] and len(work.done) == 5
    (failed,) = store.jobs("failed")
    assert failed.error == "ValueError: cannot do ['a']" and failed.finished_at == clock.now
    finding = next(one for one in store.examine() if one["what"] == "failed jobs")
    assert finding["ok"] is False and "cannot do" in finding["detail"]


def test_the_pause_has_an_end(clock: FakeClock):
    policy = JobPolicy(attempts=50)
    job = Job(id="a", kind="work", created_at=clock.now, run_at=clock.now, attempts=40)
    assert after_failure(job, "e", clock.now, policy).run_at == clock.now + policy.backoff_limit


def test_a_job_that_ends_its_process_is_tried_alone_and_then_given_up(store: tenuto.Tenuto, clock: FakeClock):
    """A worker that dies writes no error: its leases run out, and each of its jobs comes back by itself."""
    work = Worker()
    runner = Runner(store.deps, {"work": work})
    add(store, "a", "b")
    lease = store.deps.policy.jobs.lease
    store.deps.store.lease(["work"], clock.now, clock.now + lease, 10)
    clock.now += lease + timedelta(seconds=1)
    runner.drain()
    assert work.done == [["a"], ["b"]]
    add(store, "c", attempts=store.deps.policy.jobs.attempts)
    runner.drain()
    assert work.done == [["a"], ["b"]]
    assert states(store)["c"] is JobStatus.FAILED
    assert "Given up" in str(store.jobs("failed")[0].error)


def test_whoever_lost_the_lease_cannot_finish(store: tenuto.Tenuto, clock: FakeClock):
    add(store, "a")
    (stale,) = store.deps.store.lease(["work"], clock.now, clock.now + timedelta(seconds=1), 1)
    clock.advance(seconds=2)
    (fresh,) = store.deps.store.lease(["work"], clock.now, clock.now + timedelta(seconds=60), 1)
    assert store.deps.store.finish(evolve(stale, status=JobStatus.DONE)) is False
    assert states(store) == {"a": JobStatus.RUNNING}
    assert store.deps.store.finish(evolve(fresh, status=JobStatus.DONE)) is True


def test_a_long_job_keeps_its_lease(store_url: str):
    policy = {"jobs": {"lease": 1.5}}
    with tenuto.open(store_url, embedder=FakeEmbedder(), tokens=FakeTokens(), background=False, policy=policy) as store:
        add(store, "a")
        begun, over, stolen = threading.Event(), threading.Event(), []

        def slow(deps: Deps, user: str, jobs: list[Job]) -> None:
            begun.set()
            over.wait(30)

        def steal(deps: Deps, user: str, jobs: list[Job]) -> None:
            stolen.extend(jobs)

        thread = threading.Thread(target=Runner(store.deps, {"work": slow}).step)
        thread.start()
        assert begun.wait(30)
        threading.Event().wait(2)
        assert Runner(store.deps, {"work": steal}).step() is False
        over.set()
        thread.join()
        assert stolen == [] and states(store) == {"a": JobStatus.DONE}


def test_one_thread_keeps_the_leases_of_all_batches(store: tenuto.Tenuto, monkeypatch: pytest.MonkeyPatch):
    started: list[str] = []
    start = threading.Thread.start
    monkeypatch.setattr(threading.Thread, "start", lambda thread: (started.append(thread.name), start(thread))[1])
    runner = Runner(store.deps, {"work": Worker()})
    for number in range(20):
        add(store, f"j{number}")
        assert runner.step()
    assert started == ["tenuto-leases"]


def test_many_runners_share_the_work(store: tenuto.Tenuto):
    done: list[str] = []

    def work(deps: Deps, user: str, jobs: list[Job]) -> None:
        done.extend(job.id for job in jobs)

    for user in range(8):
        add(store, *(f"job_{user}_{n}" for n in range(5)), user=f"user{user}")
    threads = [threading.Thread(target=Runner(store.deps, {"work": work}).drain) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(done) == sorted(f"job_{user}_{n}" for user in range(8) for n in range(5))
    assert set(states(store).values()) == {JobStatus.DONE}


def test_a_failure_in_the_background_is_logged_without_its_words(
    store: tenuto.Tenuto, caplog: pytest.LogCaptureFixture
):
    def fail(*_: Any) -> None:
        raise ValueError("something that was said")

    add(store, "a")
    Runner(store.deps, {"work": fail}).step()
    assert re.fullmatch(r"1 work failed, attempt 1: ValueError at test_jobs\.py:\d+\.", caplog.messages[0])
    assert "said" not in caplog.text


@pytest.mark.parametrize("kind", [StoreBusy, MemoryError])
def test_an_error_does_not_end_the_background(
    kind: type[Exception], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    store_url = str(tmp_path / "tenuto.db")
    with tenuto.open(store_url, embedder=FakeEmbedder(), tokens=FakeTokens(), policy={"jobs": {"poll": 0.01}}) as store:
        real, failed = store.deps.store.lease, threading.Event()
        error = kind("locked")

        def flaky(*args: Any) -> list[Job]:
            if not failed.is_set():
                failed.set()
                raise error
            return real(*args)

        monkeypatch.setattr(store.deps.store, "lease", flaky)
        store.user("ana").observe("Hello.")
        assert failed.wait(30)
        for _ in range(3000):
            if store.unembedded() == 0:
                break
            threading.Event().wait(0.01)
        assert store.unembedded() == 0
    assert f"The queue cannot be worked on: {kind.__name__} at test_jobs.py:" in caplog.text


def test_old_jobs_go(store: tenuto.Tenuto, clock: FakeClock):
    add(store, "a")
    Runner(store.deps, {"work": Worker()}).drain()
    assert store.deps.store.drop_old_jobs(clock.now) == 0
    assert store.deps.store.drop_old_jobs(clock.now + timedelta(days=8)) == 1


def test_a_job_that_does_not_end_is_given_back_when_its_process_stops(store: tenuto.Tenuto):
    begun, end = threading.Event(), threading.Event()

    def stuck(deps: Deps, user: str, jobs: list[Job]) -> None:
        begun.set()
        end.wait(30)

    runner = Runner(store.deps, {"work": stuck})
    add(store, "a")
    runner.wake()
    try:
        assert begun.wait(30)
        runner.stop(timeout=0.05)
        job = store.jobs()[0]
        assert job.status is JobStatus.PENDING and job.attempts == 1 and "told to stop" in str(job.error)
    finally:
        end.set()
        runner._thread.join(30)
    assert store.jobs()[0].status is JobStatus.PENDING, "whoever gave it back cannot finish it"
    work = Worker()
    Runner(store.deps, {"work": work}).drain()
    assert work.done == [["a"]]
