"""What the digest of one message costs as a user's history grows. Goal: level.

    python -m bench.extraction.cost [--messages 10000] [--embedder words|local] [--profile]
    python -m bench.extraction.cost --seeded 1000 10000

``--seeded`` is the short way: it writes what such a history leaves (messages, memories, open todos, people, with
vectors of 384 numbers) straight into the store and then times the digest of the same kind of messages at each size.

Made-up talk of years, SQLite on a file in memory, only the digest is timed, in processor time. The embedder of words
leaves the encoder out; ``local`` is the one that ships. Each row is the mean of the last tenth of a step, so that a row
tells the cost at that size.
"""

from __future__ import annotations

import argparse
import cProfile
import os
import pstats
import statistics
import tempfile
import time
from datetime import timedelta
from hashlib import blake2b
from itertools import product

import numpy as np
from tests.flows.talk import days
from tests.flows.world import START, Clock, WordEmbedder

import tenuto
from tenuto.ingest.candidate import Candidate
from tenuto.ingest.digest import DIGEST, keep
from tenuto.ingest.reconcile.versions import memory_of
from tenuto.ingest.write import Writing
from tenuto.providers.embed import LocalEmbedder
from tenuto.records.base import evolve
from tenuto.records.conversation import Message, Role
from tenuto.records.memory import Domain, Entity, Kind, Memory, Todo, TodoKind
from tenuto.records.operations import JobStatus


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--messages", type=int, default=10_000)
    parser.add_argument("--rows", type=int, default=10)
    parser.add_argument("--embedder", choices=("words", "local"), default="words")
    parser.add_argument("--profile", action="store_true", help="profile the first and the last row")
    parser.add_argument("--seeded", type=int, nargs="+", metavar="MESSAGES", help="sizes of a history that is written")
    given = parser.parse_args()
    embedder = WordEmbedder() if given.embedder == "words" else LocalEmbedder()
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.path.isdir("/dev/shm") else None) as place:
        if given.seeded:
            seeded(f"{place}/cost.db", given.seeded)
            return
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


class Scattered:
    """Vectors that have nothing to do with each other, always the same for a text."""

    model = "scattered"
    dimension = 384
    calibration = WordEmbedder.calibration

    def embed(self, texts) -> np.ndarray:
        seeds = [int.from_bytes(blake2b(text.encode(), digest_size=4).digest(), "big") for text in texts]
        found = np.array([np.random.default_rng(seed).standard_normal(self.dimension) for seed in seeds], np.float32)
        return found / np.linalg.norm(found, axis=1, keepdims=True)


def seeded(path: str, sizes: list[int], *, say=print) -> list[float]:
    """Milliseconds per message at each size of history."""
    clock = Clock()
    store = tenuto.open(path, clock=clock, embedder=Scattered(), background=False)
    ana = store.user("ana", persona="coach")
    words = [
        "".join(pair) + tail for pair in product("bdfgklmnprst", "aeiou") for tail in ("ran", "lok", "mits", "pel")
    ]
    rng = np.random.default_rng(5)
    ana.observe("Hello there.")
    _digest(store, clock)
    rows: list[float] = []
    had = 0
    say(f"{'messages':>10}{'digest':>12}{'memories':>10}{'todos':>8}{'entities':>10}")
    for size in sizes:
        _seed(store, clock, words, rng, had, size)
        had = size
        runs = []
        for _ in range(7):
            for _ in range(20):
                clock.now += timedelta(minutes=1)
                one, other, third = rng.choice(words, 3)
                ana.observe(f"I went to the {one} with the {other} club last week and painted {third} boats.")
            begin = time.process_time()
            runs.append((_digest(store, clock), time.process_time() - begin))
        rows.append(statistics.median(spent / done for done, spent in runs) * 1e3)
        with store.deps.store.reading("ana") as reader:
            counts = [reader.count(type_) for type_ in (Memory, Todo, Entity)]
        say(f"{size:>10,}{rows[-1]:>9.2f} ms{counts[0]:>10,}{counts[1]:>8,}{counts[2]:>10,}")
    store.close()
    say(f"  last row / first row: {rows[-1] / rows[0]:.2f}")
    return rows


def _seed(store: tenuto.Tenuto, clock: Clock, words: list[str], rng, had: int, size: int) -> None:
    deps = store.deps
    for start in range(had, size, 500):
        texts = [f"{n} " + " ".join(rng.choice(words, 8)) for n in range(start, min(size, start + 500))]
        vectors = deps.embedder.embed(texts)
        with deps.store.writing("ana") as tx:
            writing = Writing(deps, tx, clock.now)
            for n, (text, vector) in enumerate(zip(texts, vectors, strict=True), start):
                for record in _left(deps, clock, n, text):
                    tx.put(record)
                    if not isinstance(record, Entity):
                        writing.index(record, vector)


def _left(deps, clock: Clock, n: int, text: str) -> list:
    """What one message of a history leaves: itself, one memory in six, one open todo in ten, one name in forty."""
    now, ids = clock.now, deps.ids
    left: list = [Message(id=ids("msg", now), session_id="ses_1", role=Role.USER, content=text, at=now, channel="api")]
    if n % 6 == 0:
        said = Candidate(content=f"I {text}", domain=Domain.PROFILE, kind=Kind.FACT, at=now)
        left.append(memory_of(said, ids("mem", now), now))
    if n % 10 == 0:
        todo = Todo(id=ids("tdo", now), kind=TodoKind.TASK, content=text, created_at=now, updated_at=now, slot=text)
        left.append(evolve(todo, persona="coach"))
    if n % 40 == 0:
        left.append(Entity(id=f"person:p{n}", type="person", label=f"P{n}", created_at=now, updated_at=now))
    return left


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
