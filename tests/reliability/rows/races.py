"""Rows 6, 7 and 27: many writers of the same keys, locks that nobody sees, and search that is exact."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

import apsw
import numpy as np
import psycopg

import tenuto
from tenuto.records.conversation import Message
from tenuto.testing.fakes import FakeEmbedder, FakeTokens
from tests import servers
from tests.reliability.scorecard import Measured, Work, row

ROOT = Path(__file__).parents[3]
OPTIONS: dict[str, Any] = {"embedder": FakeEmbedder(), "tokens": FakeTokens(), "background": False}
PROCESSES = 4


def crowd(url: str, writers: int, writes: int, how: str = "right", first: int = 0) -> Counter[str]:
    """Writers in several processes at once, each writing the same keys in another order; what they were told."""
    tenuto.open(url, **OPTIONS).close()
    command = [sys.executable, "-m", "tests.reliability.crowd", url]
    running = [
        subprocess.Popen(
            [*command, str(seed), str(writers // PROCESSES), str(writes), how, str(first)],
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT,
        )
        for seed in range(PROCESSES)
    ]
    told: Counter[str] = Counter()
    for process in running:
        output = process.communicate(timeout=7200.0)[0]
        if process.returncode:
            told["a process ended"] += 1
        else:
            told.update(json.loads(output)["acts"])
    return told


def judged(url: str, told: Counter[str], writers: int, writes: int) -> tuple[int, str]:
    with tenuto.open(url, **OPTIONS) as store, store.deps.store.reading("ana") as reader:
        found = Counter(message.external_id for message in reader.find(Message))
    doubled = sum(count - 1 for count in found.values())
    missing = writes - len(found)
    uncounted = writers * writes - told["inserted"] - told["duplicate"]
    twice = abs(told["inserted"] - len(found))
    words = f"{doubled} duplicates, {missing} missing, {uncounted} unacknowledged, {twice} acknowledged wrongly"
    return doubled + missing + uncounted + twice, words


@row(
    6,
    "0 duplicates and every acknowledgement counted: 64 writers × 10,000 writes of the same keys; PostgreSQL 32 × 1,000",
    unit="writes per writer",
    full=10_000,
    gate=6,
    share=4,
)
def same_keys(work: Work) -> Measured:
    """All in one store, key after key in slices, so that a limited time still gives a count."""
    url, told, done = str(work.folder / "keys.db"), Counter[str](), 0
    while done < work.count and not work.over:
        slice_ = min(work.count - done, 1000)
        told += crowd(url, 64, slice_, first=done)
        done += slice_
    bad, said = judged(url, told, 64, done)
    url = servers.fresh_database()
    writes = max(2, min(1000, work.count // 10, done))
    wrong, there = judged(url, crowd(url, 32, writes), 32, writes)
    return Measured(done=done, bad=bad + wrong, words=f"SQLite 64 × {done}: {said}; PostgreSQL 32 × {writes}: {there}")


@same_keys.control("no unique key")
def no_key(work: Work) -> Measured:
    url = str(work.folder / "keyless.db")
    tenuto.open(url, **OPTIONS).close()
    raw = apsw.Connection(url)
    for name, sql in raw.execute(
        "SELECT name, sql FROM sqlite_schema WHERE type = 'index' AND tbl_name = 'messages'"
    ).fetchall():
        if sql and "UNIQUE" in sql:
            raw.execute(f"DROP INDEX {name}")
    raw.close()
    wrong, words = judged(url, crowd(url, 8, 5, "keyless"), 8, 5)
    return Measured(done=5, bad=wrong, words=words)


# --- 7 ----------------------------------------------------------------------------------------------------------------


def disturb(url: str, stop: threading.Event) -> int:
    """A reader that holds a snapshot for long, and checkpoints in between; how many there were."""
    rounds = 0
    while not stop.is_set():
        reader, other = apsw.Connection(url), apsw.Connection(url)
        reader.set_busy_timeout(20_000)  # whoever comes first after all others went puts the log in order alone
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM messages").fetchall()
        other.set_busy_timeout(1)
        other.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
        time.sleep(0.3)
        reader.execute("ROLLBACK")
        other.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
        reader.close()
        other.close()
        rounds += 1
    return rounds


def lock(work: Work, how: str) -> Measured:
    url = str(work.folder / f"{how}.db")
    tenuto.open(url, **OPTIONS).close()
    stop, rounds = threading.Event(), []
    thread = threading.Thread(target=lambda: rounds.append(disturb(url, stop)))
    thread.start()
    try:
        told = crowd(url, 64, work.count, how)
    finally:
        stop.set()
        thread.join()
    errors = {name: count for name, count in told.items() if name not in ("inserted", "duplicate")}
    return Measured(
        done=work.count,
        bad=sum(errors.values()),
        words=f"{sum(errors.values())} of {64 * work.count:,} writes refused {errors or ''}".strip(),
    )


@row(
    7,
    '0 "database is locked" reach a caller: 64 writers, a long reader, checkpoints',
    unit="writes per writer",
    full=200,
    gate=4,
    share=2,
)
def locks(work: Work) -> Measured:
    return lock(work, "right")


@locks.control("deferred transactions")
def deferred(work: Work) -> Measured:
    return lock(work.part(4, "deferred"), "deferred")


# --- 27 ---------------------------------------------------------------------------------------------------------------


def exact(vectors: Any, query: Any, limit: int) -> set[int]:
    return set(np.argsort(-(vectors @ query), kind="stable")[:limit].tolist())


def recalled(work: Work, url: str) -> tuple[float, int]:
    """(share of the ten nearest that are found, users) over users with 100 entries each."""
    from tenuto.records.operations import Entry, EntryKind

    dice, shares = np.random.default_rng(4), []
    with tenuto.open(url, **OPTIONS) as store:
        kept = {}
        now = store.deps.clock()
        for user in range(work.count):
            vectors = dice.standard_normal((100, 96)).astype(np.float32)
            vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
            kept[user] = vectors
            with store.deps.store.writing(f"user{user}") as tx:
                tx.index(
                    *(
                        Entry(
                            kind=EntryKind.MESSAGE,
                            id=f"m{n:03}",
                            at=now,
                            vector=vectors[n].astype("<f2").tobytes(),
                            model="noise",
                        )
                        for n in range(100)
                    )
                )
        for user in work:
            query = dice.standard_normal(96).astype(np.float32)
            query /= np.linalg.norm(query)
            with store.deps.store.reading(f"user{user}") as reader:
                found = {int(id[1:]) for id, _ in reader.nearest(EntryKind.MESSAGE, query, "noise", 10)}
            shares.append(len(found & exact(kept[user], query, 10)) / 10)
    return float(np.mean(shares)), len(shares)


@row(27, "recall@10 ≥ 0.99 of exact with 500 users × 100", unit="users", full=500, gate=25, share=2)
def nearest(work: Work) -> Measured:
    file, users = recalled(work.part(work.count, "file"), str(work.folder / "tenuto.db"))
    database, _ = recalled(work.part(work.count, "postgres"), servers.fresh_database())
    bad = int(file < 0.99) + int(database < 0.99)
    return Measured(done=users, bad=bad, words=f"recall@10 {file:.4f} on SQLite, {database:.4f} on PostgreSQL")


@nearest.control("HNSW with a filter")
def approximate(work: Work) -> Measured:
    dice, users = np.random.default_rng(4), 100
    with psycopg.connect(servers.fresh_database(), autocommit=True) as raw:
        raw.execute("CREATE EXTENSION vector")
        raw.execute("CREATE TABLE e (u int, n int, v vector(96))")
        vectors = dice.standard_normal((users, 100, 96)).astype(np.float32)
        vectors /= np.linalg.norm(vectors, axis=2, keepdims=True)
        with raw.cursor().copy("COPY e FROM STDIN") as out:
            for user in range(users):
                for n in range(100):
                    out.write_row((user, n, "[" + ",".join(map(str, vectors[user, n])) + "]"))
        raw.execute("CREATE INDEX ON e USING hnsw (v vector_cosine_ops)")
        raw.execute("SET enable_seqscan = off")
        shares = []
        for user in range(30):
            query = dice.standard_normal(96).astype(np.float32)
            text = "[" + ",".join(map(str, query)) + "]"
            rows = raw.execute(
                "SELECT n FROM e WHERE u = %s ORDER BY v <=> %s::vector LIMIT 10", (user, text)
            ).fetchall()
            shares.append(len({row[0] for row in rows} & exact(vectors[user], query, 10)) / 10)
    return Measured(done=30, bad=int(np.mean(shares) < 0.99), words=f"recall@10 {np.mean(shares):.3f}")
