"""What the digest of one message costs as a user's history grows. Goal: level.

    python -m bench.extraction.cost [--messages 10000] [--embedder words|local] [--profile]

Made-up talk of years, SQLite on a file in memory, only the digest is timed, in processor time. The embedder of words
leaves the encoder out; ``local`` is the one that ships. Each row is the mean of the last tenth of a step, so that a row
tells the cost at that size.
"""

from __future__ import annotations

import argparse
import cProfile
import os
import pstats
import tempfile
import time
from datetime import timedelta

from tests.flows.talk import days
from tests.flows.world import START, Clock, WordEmbedder

import tenuto
from tenuto.ingest.keep import DIGEST, keep
from tenuto.providers.embed import LocalEmbedder
from tenuto.records.base import evolve
from tenuto.records.memory import Entity, Memory
from tenuto.records.operations import JobStatus


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--messages", type=int, default=10_000)
    parser.add_argument("--rows", type=int, default=10)
    parser.add_argument("--embedder", choices=("words", "local"), default="words")
    parser.add_argument("--profile", action="store_true", help="profile the first and the last row")
    given = parser.parse_args()
    embedder = WordEmbedder() if given.embedder == "words" else LocalEmbedder()
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.path.isdir("/dev/shm") else None) as place:
        measure(f"{place}/cost.db", embedder, given.messages, given.messages // given.rows, profile=given.profile)


def measure(path: str, embedder, messages: int, step: int, *, profile: bool = False, say=print) -> list[float]:
    """Milliseconds per message at each step."""
    clock = Clock()
    store = tenuto.open(path, clock=clock, embedder=embedder, background=False)
    ana = store.user("ana", persona="coach")
    profiler = cProfile.Profile()
    rows: list[float] = []
    said, timed, spent = 0, 0, 0.0
    say(f"{'messages':>10}{'digest':>12}{'memories':>10}{'entities':>10}")
    for day, lines in enumerate(days(11, START, 100_000)):
        late = said % step >= 0.8 * step
        watched = profile and late and (said < step or said >= messages - step)
        for at, role, text in lines:
            clock.now = at
            ana.observe(text, role=role)
            said += 1
        clock.now = START + timedelta(days=day + 1)
        if watched:
            profiler.enable()
        begin = time.process_time()
        digested = _digest(store, clock)
        if watched:
            profiler.disable()
        if late:
            spent += time.process_time() - begin
            timed += digested
        if said // step > len(rows):
            rows.append(spent / max(1, timed) * 1e3)
            with store.deps.store.reading("ana") as reader:
                say(f"{said:>10,}{rows[-1]:>9.2f} ms{reader.count(Memory):>10,}{reader.count(Entity):>10,}")
            if profile and len(rows) in (1, messages // step):
                pstats.Stats(profiler).sort_stats("tottime").print_stats(28)
                profiler = cProfile.Profile()
            timed, spent = 0, 0.0
        if said >= messages:
            break
    store.close()
    say(f"  last row / first row: {rows[-1] / rows[0]:.2f}")
    return rows


def _digest(store: tenuto.Tenuto, clock: Clock) -> int:
    deps, done = store.deps, 0
    while jobs := deps.store.lease([DIGEST], clock.now, clock.now + timedelta(hours=1), 32):
        keep(deps, jobs[0].user_id, jobs)
        for job in jobs:
            deps.store.finish(evolve(job, status=JobStatus.DONE, finished_at=clock.now))
        done += len(jobs)
    return done


if __name__ == "__main__":
    main()
