"""How fast recall is, beside the physical floor and beside what one would use instead, all in one run.

    python -m bench.speed [--full] [--peers --data DIR] [--postgres URL] [--users 1000]

One user with 1,000 … 100,000 (``--full``: 1,000,000) items on SQLite; many users with 100 items each on PostgreSQL.
Times are of ``UserMemory.recall(query, limit=10)``; "no embedding" means that the query's vector was at hand. The floor
is the time to embed the query, and one matrix-vector product over the user's vectors. A shared machine: read ratios,
not milliseconds. The talk is made up (``made_up``: words as rare as in English, vectors in clusters) and is written
through the store's own transactions, as observing and embedding leave it behind: only the reading is measured here.
"""

from __future__ import annotations

import argparse
import gc
import os
import tempfile
import time
from pathlib import Path

import numpy as np

import tenuto
from bench.speed.made_up import MadeUp, fill, write
from tenuto.providers.embed import LocalEmbedder


class AtHand:
    """The local model's name and size, with vectors that are known already: what is measured is everything else."""

    def __init__(self, inner: LocalEmbedder) -> None:
        self.model, self.dimension, self.calibration = inner.model, inner.dimension, inner.calibration
        self.known: dict[str, np.ndarray] = {}

    def embed(self, texts, *, query: bool = False):
        return np.stack([self.known[text] for text in texts])


def milliseconds(call, arguments) -> np.ndarray:
    """Wall time and processor time of each call, one row each: on a busy machine only the second can be compared."""
    taken = []
    for argument in arguments:
        start, busy = time.perf_counter(), time.process_time()
        call(argument)
        taken.append((time.perf_counter() - start, time.process_time() - busy))
    return 1000 * np.array(taken).T


GOALS = {10_000: 6.0, 100_000: 25.0, 1_000_000: 150.0}
"""Items of one user, and the milliseconds that the p95 should stay under."""
MANY_USERS = 15.0
TALKS = 100
"""Different talks among many users: what one user costs does not depend on what others said."""


def goal(taken: np.ndarray, wanted: float | None) -> str:
    if wanted is None:
        return ""
    return f"   goal p95 ≤ {wanted:.0f}: {'reached' if np.percentile(taken[0], 95) <= wanted else 'NOT REACHED'}"


def resident() -> float:
    """Megabytes that this process has in memory now."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


def row(name: str, taken: np.ndarray) -> str:
    wall, busy = (np.percentile(times, (50, 95)) for times in taken)
    return f"    {name:38}{wall[0]:10.2f}{wall[1]:10.2f}{busy[0]:14.2f}{busy[1]:10.2f}"


HEAD = f"    {'milliseconds':38}{'wall p50':>10}{'p95':>10}{'processor p50':>14}{'p95':>10}"


def one_user(count: int, queries: int, local: LocalEmbedder) -> float:
    """One user of ``count`` items on SQLite; the warm p95 of processor time."""
    gc.collect()
    at_hand = AtHand(local)
    made_up = MadeUp(local.model, local.dimension)
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "speed.db"
        store = tenuto.open(path, embedder=at_hand, background=False)
        start = time.perf_counter()
        fill(store.deps.store, "ana", made_up, count)
        written = time.perf_counter() - start
        store.close()
        asked = [made_up.text(int(length)) for length in np.random.default_rng(3).integers(5, 14, queries)]
        at_hand.known = dict(zip(asked, made_up.vectors(queries), strict=True))
        store = tenuto.open(path, embedder=at_hand, background=False)
        ana = store.user("ana")
        cold = milliseconds(ana.recall, asked[:1])
        warm = milliseconds(ana.recall, asked[1:])
        index = next(iter(store.deps.indexes._slots.values())).index
        pieces = [piece for _, piece in index.view().pieces]
        product = milliseconds(lambda text, pieces=pieces: [one @ at_hand.known[text] for one in pieces], asked[1:])
        fresh = [after_one_more(ana, at_hand, made_up, text) for text in asked[1:10]]
        size = sum(file.stat().st_size for file in path.parent.iterdir())
        print(
            f"  {count:,} items, made up ({written:.1f} s to write, {size / 1e6:,.0f} MB on disk, "
            f"{index.nbytes / 1e6:,.0f} MB index in memory, {resident():,.0f} MB process)"
        )
        print(row("recall, warm, no embedding", warm) + goal(warm, GOALS.get(count)))
        print(row("recall, cold (first query)", cold))
        print(row("recall right after one new message", np.concatenate(fresh, axis=1)))
        print(row("floor: one matrix-vector product", product))
        del pieces, index
        store.close()
    return float(np.percentile(warm[1], 95))


def after_one_more(user: tenuto.UserMemory, at_hand: AtHand, made_up: MadeUp, query: str) -> np.ndarray:
    said = made_up.text(12)
    at_hand.known |= {said: made_up.vectors(1)[0]}
    user.observe(said)
    return milliseconds(user.recall, [query])


def embedding(queries: int) -> None:
    questions = [f"What did Caroline say about the pottery class number {number}?" for number in range(queries)]
    local = LocalEmbedder(remember=0)
    local.embed(questions[:3])
    print(row("floor: embed the query", milliseconds(lambda text: local.embed([text], query=True), questions)))


def many_users(url: str, users: int, each: int, local: LocalEmbedder) -> None:
    """Many users with a few items each on PostgreSQL; every asked user is cold, then asked again warm."""
    at_hand = AtHand(local)
    made_up = MadeUp(local.model, local.dimension)
    store = tenuto.open(url, embedder=at_hand, background=False)
    start = time.perf_counter()
    talks = [list(made_up.messages(each)) for _ in range(min(TALKS, users))]
    for number in range(users):
        write(store.deps.store, f"user{number:06d}", talks[number % len(talks)])
    shown = f"{users:,} users × {each} items on PostgreSQL, {len(talks)} talks, made up"
    print(f"  {shown} ({time.perf_counter() - start:.1f} s to write)", flush=True)
    asked = [made_up.text(8) for _ in range(50)]
    at_hand.known = dict(zip(asked, made_up.vectors(len(asked)), strict=True))
    chosen = np.random.default_rng(5).choice(users, min(300, users), replace=False)
    pairs = [(f"user{number:06d}", asked[place % len(asked)]) for place, number in enumerate(chosen)]
    cold = milliseconds(lambda pair: store.user(pair[0]).recall(pair[1]), pairs)
    print(row("recall, user not in memory", cold) + goal(cold, MANY_USERS))
    print(row("recall, user in memory", milliseconds(lambda pair: store.user(pair[0]).recall(pair[1]), pairs)))
    exact = []
    for user, query in pairs[:50]:
        with store.deps.store.reading(user) as reader:
            view = store.deps.indexes.fresh(reader, at_hand.model, at_hand.dimension).view()
        cosine = view.vectors(np.arange(view.size)) @ at_hand.known[query]
        best = {view.ids[place] for place in np.argsort(-cosine)[:10]}
        found = {hit.id for hit in store.user(user).recall(query, profile="decayed", limit=10)}
        close = {view.ids[place] for place in np.flatnonzero(cosine >= 0.3)}
        exact.append(found <= close and len(found) == min(10, len(close)) and bool(found or not best & close))
    print(f"    nearest by meaning as exact search finds them: {100 * np.mean(exact):.1f} %")
    store.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--full", action="store_true", help="up to 1,000,000 items and 10,000 users")
    parser.add_argument("--queries", type=int, default=60)
    parser.add_argument("--sizes", type=int, nargs="+")
    parser.add_argument("--users", type=int)
    parser.add_argument("--postgres", help="URL of an empty database; without it one is started from a wheel")
    parser.add_argument("--no-postgres", action="store_true")
    parser.add_argument(
        "--peers", action="store_true", help="also mem0, chromadb and LangGraph's store, in their own environment"
    )
    parser.add_argument("--peers-env", type=Path, default=Path("build/peers"), help="where that environment is made")
    parser.add_argument("--data", default=os.environ.get("TENUTO_BENCH_DATA"), help="evaluation data, for --peers")
    given = parser.parse_args()
    local = LocalEmbedder()
    print("One user, SQLite")
    print(HEAD)
    embedding(given.queries)
    sizes = given.sizes or [1000, 10_000, 100_000, *([1_000_000] if given.full else [])]
    warm = {size: one_user(size, given.queries, local) for size in sizes}
    if 10_000 in warm and 100_000 in warm:
        print(f"  from 10,000 to 100,000 items the warm p95 (processor) grows {warm[100_000] / warm[10_000]:.1f} times")
    if not given.no_postgres:
        print("\nMany users")
        users = given.users or (10_000 if given.full else 1000)
        if given.postgres:
            many_users(given.postgres, users, 100, local)
        else:
            from tests import servers

            many_users(servers.fresh_database(), users, 100, local)
            servers.stop_all()
    if given.peers:
        from bench.speed import peers

        print("\nSide by side: LoCoMo, vectors at hand, top 10, each through its own public API")
        peers.compare(Path(given.data) if given.data else None, given.peers_env, local)


if __name__ == "__main__":
    main()
