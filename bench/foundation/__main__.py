"""What the spine costs: import, observe, growth, recall, the wheel.

    python -m bench.foundation [--quick] [--only import observe growth recall wheel] [--sizes 1000 10000 100000]

Everything that is compared is measured in one run, in turns: an observe beside a bare ``fsync`` on the same disk,
stores of different sizes one call each, a recall beside the bare embedding of its query. "cpu" is the median time that
the calling thread itself worked: on a busy machine trust it and the ratios, not the rest.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

from bench.foundation.talk import fill, give_vectors, opened, questions, sentences
from tenuto.providers.embed import LocalEmbedder

ROOT = Path(__file__).parents[2]
PAGE = b"x" * 8192


class Times:
    """Wall and processor time of some calls, in milliseconds."""

    def __init__(self) -> None:
        self.wall: list[float] = []
        self.cpu: list[float] = []

    def add(self, call: Callable[[], object]) -> None:
        wall, cpu = time.perf_counter(), time.thread_time()
        call()
        self.wall.append((time.perf_counter() - wall) * 1e3)
        self.cpu.append((time.thread_time() - cpu) * 1e3)

    @property
    def p50(self) -> float:
        return statistics.median(self.wall)

    def __str__(self) -> str:
        p95 = sorted(self.wall)[int(len(self.wall) * 0.95)]
        return f"p50 {self.p50:7.2f} ms   p95 {p95:7.2f} ms   cpu {statistics.median(self.cpu):6.2f} ms"


def goal(text: str, reached: bool) -> str:
    return f"   goal {text}: {'reached' if reached else 'NOT REACHED'}"


STEPS = """
t = clock()
import tenuto
note("import tenuto")
store = tenuto.open({path!r}, background=False)
note("open a store on SQLite")
ana = store.user("ana")
ana.observe("I moved to Lisbon in May.")
note("first observe")
ana.recall("Where do I live?")
note("first recall (the model is loaded)")
"""
CLOCK = """
import time
def clock():
    return time.perf_counter(), time.process_time()
def note(name):
    global t
    now = clock()
    print(f"{name}|{now[0] - t[0]}|{now[1] - t[1]}")
    t = now
"""


def bench_import(_: argparse.Namespace) -> None:
    """Each in a process of its own, with compiled modules at hand, as after an installation."""

    def steps(program: str, folder: str, runs: int = 5) -> dict[str, tuple[float, float]]:
        kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        compiled = kept | {"PYTHONPYCACHEPREFIX": f"{folder}/compiled"}
        found: dict[str, list[tuple[float, float]]] = {}
        for run in range(runs + 1):
            shown = CLOCK + program.format(path=f"{folder}/{run}.db")
            done = subprocess.run(
                [sys.executable, "-c", shown], capture_output=True, text=True, check=True, env=compiled
            )
            for line in done.stdout.splitlines() if run else ():
                name, wall, cpu = line.split("|")
                found.setdefault(name, []).append((float(wall) * 1e3, float(cpu) * 1e3))
        medians = {name: [statistics.median(one) for one in zip(*taken, strict=True)] for name, taken in found.items()}
        return {name: (wall, cpu) for name, (wall, cpu) in medians.items()}

    with tempfile.TemporaryDirectory() as folder:
        taken = steps(STEPS, folder) | steps('t = clock()\nimport numpy\nnote("for comparison: import numpy")', folder)
    for name, (wall, cpu) in taken.items():
        reached = goal("< 300 ms", wall < 300) if name == "import tenuto" else ""
        print(f"{name:34}{wall:7.1f} ms   cpu {cpu:7.1f} ms{reached}")
    program = "import sys, tenuto; print(*{n.partition('.')[0] for n in sys.modules})"
    loaded = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split()
    heavy = {"numpy", "onnxruntime", "tokenizers", "apsw", "asyncio", "httpx", "psycopg", "rich", "click", "dateparser"}
    print(f"heavy modules that import loads:  {', '.join(sorted(heavy & set(loaded))) or 'none'}")


def bench_observe(options: argparse.Namespace) -> None:
    with tempfile.TemporaryDirectory() as folder:
        bare = os.open(Path(folder) / "bare", os.O_CREAT | os.O_WRONLY | os.O_APPEND)

        def sync() -> None:
            os.write(bare, PAGE)
            os.fsync(bare)

        with opened(Path(folder) / "tenuto.db") as store:
            ana, texts = store.user("ana"), sentences(2)
            fill(store, 1000)
            for _ in range(20):
                ana.observe(next(texts))
            observed, synced = Times(), Times()
            for _ in range(options.calls):
                text = next(texts)
                observed.add(lambda text=text: ana.observe(text))
                synced.add(sync)
        os.close(bare)
    print(f"observe, durable (SQLite, FULL)   {observed}" + goal("p50 < 3 ms", observed.p50 < 3))
    print(f"bare write of a page and fsync    {synced}   observe is {observed.p50 / synced.p50:.1f} × that")


def bench_growth(options: argparse.Namespace) -> None:
    with tempfile.TemporaryDirectory() as folder:
        stores, last = {}, {}
        for size in options.sizes:
            stores[size] = opened(Path(folder) / f"{size}.db")
            begun = time.perf_counter()
            last[size] = fill(stores[size], size)
            print(f"{size:>9,} messages filled in {time.perf_counter() - begun:.1f} s", flush=True)
        texts, times, warm = sentences(3), {size: Times() for size in options.sizes}, Times()
        for number in range(options.calls + 20):
            for size, store in stores.items():
                text, at = next(texts), last[size] + timedelta(days=1, minutes=number)
                count = times[size] if number >= 20 else warm
                count.add(lambda store=store, text=text, at=at: store.user("ana").observe(text, at=at))
        for size, store in stores.items():
            store.close()
            print(f"observe with {size:>9,} kept       {times[size]}")
    few, many = (times[size] for size in (options.sizes[0], options.sizes[-1]))
    ratio, cpu = many.p50 / few.p50, statistics.median(many.cpu) / statistics.median(few.cpu)
    shown = f"growth {options.sizes[0]:,} → {options.sizes[-1]:,}: × {ratio:.2f} (cpu × {cpu:.2f})"
    print(shown + goal("≤ 1.5", ratio <= 1.5))


def bench_recall(options: argparse.Namespace) -> None:
    embedder = LocalEmbedder()
    with tempfile.TemporaryDirectory() as folder, opened(Path(folder) / "tenuto.db", embedder=embedder) as store:
        fill(store, 10_000)
        give_vectors(store)
        ana, asked = store.user("ana"), questions(4)
        first = Times()
        first.add(lambda: ana.recall(next(asked)))
        for _ in range(5):
            ana.recall(next(asked))
        found, bare, forgetful = Times(), Times(), LocalEmbedder(remember=0)
        forgetful.embed(["warm"])
        for _ in range(max(50, options.calls // 4)):
            query = next(asked)
            found.add(lambda query=query: ana.recall(query, limit=10))
            bare.add(lambda query=query: forgetful.embed([query], query=True))
    print(f"recall over 10,000 messages       {found}" + goal("p50 < 10 ms", found.p50 < 10))
    print(f"bare embedding of the query       {bare}   recall is {found.p50 / bare.p50:.1f} × that")
    print(f"the first recall (model and index are loaded): {first.wall[0]:.0f} ms")


def bench_wheel(_: argparse.Namespace) -> None:
    with tempfile.TemporaryDirectory() as folder:
        command = [
            sys.executable,
            "-m",
            "pip",
            "wheel",
            "-q",
            "--no-deps",
            "--no-build-isolation",
            "-w",
            folder,
            str(ROOT),
        ]
        subprocess.run(command, check=True)
        (wheel,) = Path(folder).glob("tenuto-*.whl")
        size = wheel.stat().st_size
    print(f"wheel                             {size / 1e6:7.2f} MB" + goal("< 5 MB", size < 5e6))


BENCHES = {
    "import": bench_import,
    "observe": bench_observe,
    "growth": bench_growth,
    "recall": bench_recall,
    "wheel": bench_wheel,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="smaller sizes, fewer calls")
    parser.add_argument("--only", nargs="+", choices=list(BENCHES), default=list(BENCHES))
    parser.add_argument("--sizes", nargs="+", type=int, help="messages kept, smallest first")
    parser.add_argument("--calls", type=int, help="measured calls of each kind")
    options = parser.parse_args()
    options.sizes = options.sizes or ([1000, 10_000] if options.quick else [1000, 10_000, 100_000])
    options.calls = options.calls or (100 if options.quick else 300)
    load = os.getloadavg()[0]
    print(f"{os.cpu_count()} cores, load {load:.1f}, Python {sys.version.split()[0]}")
    for name in options.only:
        BENCHES[name](options)


if __name__ == "__main__":
    main()
