"""Row 18: workers that are killed, and workers that stall."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from datetime import timedelta
from pathlib import Path
from typing import Any
from unittest import mock

import tenuto
from tenuto.policy import DEFAULT
from tenuto.records.base import evolve
from tenuto.records.memory import Memory
from tenuto.records.operations import Event, Job, JobStatus, Receipt
from tenuto.storage import queries
from tenuto.testing.fakes import FakeClock, FakeEmbedder, FakeTokens
from tests.reliability.scorecard import Measured, Work, row

NAMES = "Abel Bruno Clara Dario Edda Fiona Gregor Hanna Ilse Jonas Klara Luisa Mirko Nadia Oskar Paula Rosa Samir Tilda"
WHO = NAMES.split()
ROOT = Path(__file__).parents[3]
POLICY = {"jobs": {"lease": 0.25, "attempts": 10**6, "poll": 0.01, "backoff": 0.01}}
OPTIONS: dict[str, Any] = {"embedder": FakeEmbedder(), "tokens": FakeTokens(), "background": False}


PROGRAM = "import sys; from tests.reliability.rows.jobs import work_until_killed; work_until_killed(sys.argv[1])"


def work_in_a_child(path: str) -> subprocess.Popen[str]:
    """A worker in a process of its own that is about to begin."""
    child = subprocess.Popen([sys.executable, "-c", PROGRAM, path], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None and child.stdout.readline() == "ready\n"
    return child


def work_until_killed(path: str) -> None:
    print("ready", flush=True)
    with tenuto.open(path, policy=POLICY, **OPTIONS) as store:
        store.settle()
        signal.pause()


def killed(work: Work) -> Measured:
    """Kill workers one after another while they distil and embed; then let one finish, and count what came of it."""
    path, dice = str(work.folder / "tenuto.db"), random.Random(5)
    said, kills = 0, 0
    for _ in work:
        with tenuto.open(path, policy=POLICY, **OPTIONS) as store:
            for _ in range(2):
                user = store.user(f"user{said % 7}")
                user.observe(f"My friend {WHO[said % len(WHO)]}{said} has {said + 2} bicycles.")
                said += 1
        child = work_in_a_child(path)
        time.sleep(0.01 + dice.random() * 0.12)
        with child:
            child.kill()
        kills += child.returncode == -signal.SIGKILL
    with tenuto.open(path, policy=POLICY, **OPTIONS) as store:
        store.settle(timeout=120)
        jobs = store.jobs(limit=10**6)
        lost = sum(
            job.status not in (JobStatus.DONE, JobStatus.CANCELLED) for job in jobs if job.kind in ("digest", "embed")
        )
        double, receipts = 0, 0
        for user in store.users():
            with store.deps.store.reading(user) as reader:
                lost += sum(not receipt.settled for receipt in reader.find(Receipt))
                receipts += reader.count(Receipt)
                memories = reader.find(Memory)
                double += sum(memory.reinforcements + len(memory.evidence) - 1 for memory in memories)
                double += len(memories) - len({memory.content for memory in memories})
                inserted = [event.subject_id for event in reader.find(Event) if event.kind == "memory.inserted"]
                double += len(inserted) - len(set(inserted))
        lost += said - receipts + store.unembedded()
    return Measured(
        done=kills,
        bad=lost + double,
        words=f"{lost} lost, {double} double effects after {kills} kills, {said} messages",
    )


def stalled(count: int) -> Measured:
    """A worker stalls, another takes over after the lease and ends the job; the first one wakes up and must not count."""
    clock, wrong, slow = FakeClock(), 0, 0
    lease = DEFAULT.jobs.lease
    limit = timedelta(seconds=30)
    with (
        tenuto.open("memory:", clock=clock, **OPTIONS) as memory,
        tenuto.open(memory_path(), clock=clock, **OPTIONS) as file,
    ):
        for number in range(count):
            deps = (memory if number % 2 else file).deps.store
            with deps.writing("ana") as tx:
                tx.put(Job(id=f"job{number}", kind="work", created_at=clock(), run_at=clock()))
            (first,) = deps.lease(["work"], clock(), clock() + lease, 1)
            clock.now += limit
            taken = deps.lease(["work"], clock(), clock() + lease, 1)
            slow += not taken
            if taken:
                deps.finish(evolve(taken[0], status=JobStatus.DONE, finished_at=clock()))
            deps.finish(evolve(first, status=JobStatus.FAILED, error="too late", finished_at=clock()))
            with deps.reading("ana") as reader:
                kept = reader.get(Job, f"job{number}")
            wrong += kept is None or kept.status is not JobStatus.DONE
    return Measured(
        done=count, bad=wrong + slow, words=f"{wrong} ended by a stale worker, {slow} stalls noticed after 30 s"
    )


def memory_path() -> str:
    import tempfile

    return tempfile.mkdtemp(prefix="tenuto-row-") + "/tenuto.db"


@row(
    18,
    "500 worker kills: 0 jobs lost, 0 double effects, a stall noticed in ≤ 30 s",
    unit="kills",
    full=500,
    gate=6,
    share=2,
)
def worker_kills(work: Work) -> Measured:
    kills, stalls = killed(work), stalled(200)
    return Measured(done=kills.done, bad=kills.bad + stalls.bad, words=f"{kills.words}; {stalls.words}")


@worker_kills.control("no fencing")
def unfenced(work: Work) -> Measured:
    careless = {
        name: sql.replace("AND fence = :fence AND status = 'running'", "")
        for name, sql in queries.load("sqlite").items()
    }
    with mock.patch.object(queries, "load", return_value=careless):
        return stalled(20)


@worker_kills.control("jobs that are not put back")
def never_again(work: Work) -> Measured:
    lost = {name: sql.replace("lease_until < :now", "lease_until < 0") for name, sql in queries.load("sqlite").items()}
    with mock.patch.object(queries, "load", return_value=lost), mock.patch.dict(POLICY, {"jobs": {**POLICY["jobs"]}}):
        return stalled(20)
