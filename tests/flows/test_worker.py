"""Workers: several processes on one queue, a graceful end, limits on costly kinds, failures that show."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections import Counter
from datetime import timedelta

import pytest
from click.testing import CliRunner

import tenuto
from tenuto.errors import IllegalMove, NotFound
from tenuto.facade.job_handlers import HANDLERS
from tenuto.facade.worker import COSTLY, Limit, LimitedRunner, Worker
from tenuto.ports import Answer
from tenuto.records.conversation import Session, SessionStatus, Summary
from tenuto.surfaces.cli.main import cli
from tests.flows.world import START, WordEmbedder, World


def test_a_limit_counts_within_a_minute_and_forgets_the_future():
    limit = Limit(3)
    limit.take(START, 2)
    assert limit.free(START) == 1
    limit.take(START, 1)
    assert limit.free(START + timedelta(seconds=59)) == 0
    assert limit.free(START + timedelta(seconds=60)) == 3
    limit.take(START + timedelta(days=9), 3)
    assert limit.free(START) == 3


class Echo:
    name = "echo"

    def complete(self, **_):
        return Answer(text="", model="echo")


def test_costly_kinds_wait_when_their_limit_is_used_up_and_others_go_on():
    world = World(model=Echo(), policy={"jobs": {"costly_per_minute": 1}})
    for name in ("ana", "ben", "cem"):
        for number in range(4):
            world.user(name).observe(f"I saw {number} birds today.")
    runner = LimitedRunner(world.store.deps, {kind: HANDLERS[kind] for kind in ("embed", "rolling_summary")})
    assert "rolling_summary" in COSTLY
    while runner.step():
        pass
    done = Counter(job.kind for job in world.store.jobs("done", limit=1000))
    assert done == {"embed": 3, "rolling_summary": 1}
    world.clock.forward(seconds=61)
    while runner.step():
        pass
    assert Counter(job.kind for job in world.store.jobs("done", limit=1000))["rolling_summary"] == 2


def test_without_a_model_nothing_is_limited():
    world = World(policy={"jobs": {"costly_per_minute": 1}})
    for name in ("ana", "ben", "cem"):
        for number in range(4):
            world.user(name).observe(f"I saw {number} birds today.")
    Worker(world.store.deps, HANDLERS).run_until_idle()
    assert Counter(job.kind for job in world.store.jobs("done", limit=1000))["rolling_summary"] == 3


def test_the_sweep_closes_what_no_timer_closes():
    world = World()
    world.user().observe("Hello.")
    for job in world.store.jobs("pending"):
        if job.kind == "close_session":
            world.store.cancel_job(job.id)
    world.clock.forward(hours=2)
    world.store.settle()
    assert world.all(Session)[0].status is SessionStatus.OPEN
    Worker(world.store.deps, HANDLERS).run_until_idle()
    (session,) = world.all(Session)
    assert (session.status, session.classified_turns) == (SessionStatus.CLOSED, 1)


def test_a_failed_job_is_visible_and_can_be_retried_or_cancelled():
    world = World(policy={"jobs": {"attempts": 1}})
    world.user().observe("Hello.")

    def fails(deps, user, jobs):
        raise RuntimeError("no luck")

    broken = LimitedRunner(world.store.deps, {"embed": fails})
    while broken.step():
        pass
    (job,) = world.store.jobs("failed")
    assert (job.kind, job.error) == ("embed", "RuntimeError: no luck")
    assert world.store.retry_job(job.id).attempts == 0
    with pytest.raises(IllegalMove):
        world.store.retry_job(job.id)
    world.store.settle()
    assert not world.store.jobs("failed")
    with pytest.raises(IllegalMove):
        world.store.cancel_job(job.id)
    with pytest.raises(NotFound):
        world.store.retry_job("job_nobody")
    with pytest.raises(NotFound):
        world.store.retry_job("job_nobody", user="ana")


def test_jobs_on_the_command_line(tmp_path):
    db = str(tmp_path / "t.db")
    with tenuto.open(db, embedder=WordEmbedder(), background=False) as store:
        store.user("ana").observe("Hello.")
        (timer,) = [job for job in store.jobs() if job.kind == "close_session"]
    run = CliRunner()
    listed = run.invoke(cli, ["--db", db, "--json", "jobs", "list", "--status", "pending"], catch_exceptions=False)
    assert timer.id in listed.output
    assert "Hello" not in listed.output
    assert run.invoke(cli, ["--db", db, "jobs", "cancel", timer.id], catch_exceptions=False).exit_code == 0
    retried = run.invoke(cli, ["--db", db, "--json", "jobs", "retry", timer.id, "-u", "ana"], catch_exceptions=False)
    assert '"pending"' in retried.output
    assert run.invoke(cli, ["--db", db, "jobs", "retry"]).exit_code == 2
    assert run.invoke(cli, ["--db", db, "curate", "--dry-run"], catch_exceptions=False).output.startswith("ana")


WORK = "from tenuto.surfaces.cli.main import main; main()"


def start(*arguments: str) -> subprocess.Popen:
    return subprocess.Popen(
        [sys.executable, "-c", WORK, *arguments], stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True
    )


def test_a_worker_on_a_file_ends_gracefully(tmp_path):
    db = str(tmp_path / "t.db")
    with tenuto.open(db, background=False) as store:
        store.user("ana").observe("My dad is allergic to penicillin.")
    process = start("--db", db, "worker")
    try:
        assert "working" in process.stderr.readline()
        deadline = time.monotonic() + 60
        with tenuto.open(db, background=False) as store:
            while time.monotonic() < deadline and not [j for j in store.jobs("done") if j.kind == "embed"]:
                time.sleep(0.1)
            assert [job for job in store.jobs("done") if job.kind == "embed"]
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 0
        assert "SIGTERM" in process.stderr.read()
    finally:
        process.kill()
        process.stderr.close()


def test_a_file_takes_one_worker_process(tmp_path):
    run = CliRunner().invoke(cli, ["--db", str(tmp_path / "t.db"), "worker", "-n", "2"])
    assert run.exit_code != 0
    assert "one writer" in str(run.exception)


@pytest.mark.timeout(240)
def test_several_processes_share_one_queue_on_postgres(fresh_database):
    url = fresh_database()
    users = [f"user{number}" for number in range(8)]
    with tenuto.open(url, background=False) as store:
        for user in users:
            for number in range(8):
                store.user(user, persona="coach").observe(f"I saw {number} herons by the river with Maya.")
            store.user(user, persona="coach").close_session()
    process = start("--db", url, "worker", "-n", "2", "--once")
    try:
        assert process.wait(200) == 0, process.stderr.read()
    finally:
        process.kill()
        process.stderr.close()
    with tenuto.open(url, background=False) as store:
        jobs = store.jobs(limit=10_000)
        assert not [job for job in jobs if job.status in ("failed", "running")]
        for user in users:
            ana = store.user(user, persona="coach")
            assert [one.version for one in ana.summaries(kind="session", versions=True)] == [1]
            assert ana.summaries(kind="rolling")[0].version >= 1
            with store.deps.store.reading(user) as reader:
                assert reader.count(Summary) == len(ana.summaries(versions=True))
                assert reader.unembedded(store.deps.embedder.model, 5) == []
