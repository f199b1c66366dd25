"""Load on loopback, as a ratio to a bare endpoint of the same framework in the same run.

    python -m bench.server [--seconds 6] [--clients 16] [--users 20] [--messages 200]
                           [--processes 1,4] [--stores sqlite,postgres] [--rounds 1] [--light 3]

For each number of processes, the bare endpoint (`GET /bare` of FastAPI on uvicorn, a constant of a recall's size)
before and after everything else; the ratio is to their mean. Rounds take turns with each other, and their mean is
printed: a machine that others use too changes its speed within a minute. For each store: recall without an embedder,
so that what is measured is the server and the search and not the model; and 90 % recall, 10 % observe, with the
on-device model and the background work that observing brings. Beside each, a few light clients ask for ``/health``,
stats and live events: the p95 of what they waited is the server's second figure. "CPU ms" is what the server used of
the processors for one request, background work included: other load on the machine changes it least. Every message was
worked through before the clock starts. The load comes from a process of its own on the same machine: trust the ratios.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import multiprocessing
import os
import random
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import tenuto
from bench.server import bare
from bench.server.down import NoEmbedder
from bench.server.load import WORDS
from tenuto.surfaces.http.serving import Serving, listen, run_many, run_one

LIMITS = ("key_rate", "key_burst", "user_rate", "user_burst", "address_rate", "address_burst")
GENEROUS = {"server": {name: 10**9 for name in LIMITS}}
ROWS = (("recall, no embedder", 0.0), ("90 % recall, 10 % observe", 0.1))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=6)
    parser.add_argument("--clients", type=int, default=16)
    parser.add_argument("--users", type=int, default=20)
    parser.add_argument("--messages", type=int, default=200, help="of each user")
    parser.add_argument("--processes", default="1,4")
    parser.add_argument("--stores", default="sqlite,postgres")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--light", type=int, default=3, help="clients that ask for health, stats and events meanwhile")
    given = parser.parse_args()
    rows: list[dict[str, Any]] = []
    with contextlib.ExitStack() as stack:
        stores = {kind: stack.enter_context(filled(kind, given)) for kind in given.stores.split(",")}
        for processes in [int(one) for one in given.processes.split(",")]:
            rows += mean([measure_all(processes, stores, given) for _ in range(given.rounds)])
    table(rows)


def mean(rounds: list[list[dict[str, Any]]]) -> list[dict[str, Any]]:
    """One round that stands for all."""
    return [
        {name: sum(one[name] for one in same) / len(same) if not isinstance(value, str) else value
         for name, value in same[0].items()}
        for same in zip(*rounds, strict=True)
    ]  # fmt: skip


def measure_all(processes: int, stores: dict[str, tuple[str, str]], given: argparse.Namespace) -> list[dict[str, Any]]:
    """Every row for one number of processes, the bare endpoint first and last."""
    rows = [{"store": "–", "what": "bare endpoint", **measure_bare(processes, given)}]
    for store, (url, secret) in stores.items():
        for what, mix in ROWS:
            rows.append({"store": store, "what": what, **measure(url, secret, processes, mix, given)})
    rows.append({"store": "–", "what": "bare endpoint again", **measure_bare(processes, given)})
    plain = (rows[0]["per_second"] + rows[-1]["per_second"]) / 2
    for row in rows:
        row |= {"processes": processes, "ratio": row["per_second"] / plain}
    return rows


def measure_bare(processes: int, given: argparse.Namespace) -> dict[str, Any]:
    """On a socket like the server's: uvicorn's own workers wait 40 ms before each answer's second packet."""
    listener = listen(Serving(port=0))
    context = multiprocessing.get_context("spawn")
    servers = [context.Process(target=bare.serve, args=(listener,)) for _ in range(processes)]
    for server in servers:
        server.start()
    port = listener.getsockname()[1]
    listener.close()
    try:
        return load(port, "", 0.0, given, [server.pid or 0 for server in servers], "/bare")
    finally:
        for server in servers:
            server.terminate()
        for server in servers:
            server.join(30)


def measure(url: str, secret: str, processes: int, mix: float, given: argparse.Namespace) -> dict[str, Any]:
    options: dict[str, Any] = {"policy": GENEROUS, **({} if mix else {"embedder": NoEmbedder()})}
    serving = Serving(db=url, port=0, workers=processes, logs=False, options=tuple(options.items()))
    listener = listen(serving)
    target = run_one if processes == 1 else run_many
    server = multiprocessing.get_context("spawn").Process(target=target, args=(serving, listener))
    server.start()
    port = listener.getsockname()[1]
    listener.close()
    try:
        return load(port, secret, mix, given, [server.pid or 0], "/ready")
    finally:
        server.terminate()
        server.join(60)


@contextlib.contextmanager
def filled(kind: str, given: argparse.Namespace) -> Iterator[tuple[str, str]]:
    """A store with messages to search, every job done; its address, and a key."""
    begun = time.perf_counter()
    with contextlib.ExitStack() as stack:
        if kind == "postgres":
            from tests.servers import Postgres

            url = stack.enter_context(Postgres(durable=True)).fresh_database()
        else:
            url = str(Path(stack.enter_context(tempfile.TemporaryDirectory())) / "tenuto.db")
        secret = fill(url, given)
        print(f"{kind}: filled in {time.perf_counter() - begun:.0f} s", file=sys.stderr)
        yield url, secret


def fill(url: str, given: argparse.Namespace) -> str:
    """Messages of every user, worked through; a key to read them."""
    dice = random.Random(7)
    with tenuto.open(url, background=False, upgrade=True) as store:
        for user in range(given.users):
            person = store.user(f"u{user}")
            for _ in range(given.messages):
                person.observe(" ".join(dice.choices(WORDS, k=12)))
        store.settle()
        return store.create_key("bench", scope="admin")[1]


def load(port: int, secret: str, mix: float, given: argparse.Namespace, pids: list[int], ready: str) -> dict[str, Any]:
    """Ask from a process of its own; what came back, how long it took, and the server's memory after it."""
    wait_for(f"http://127.0.0.1:{port}{ready}")
    asked = {name: getattr(given, name) for name in ("seconds", "clients", "users")}
    asked |= {"port": port, "secret": secret, "mix": mix, "light": given.light if secret else 0}
    before = sum(cpu_seconds(one) for pid in pids for one in family(pid))
    done = subprocess.run(
        [sys.executable, "-m", "bench.server.load", json.dumps(asked)],
        stdout=subprocess.PIPE, check=True, timeout=given.seconds + 60,
    )  # fmt: skip
    row = json.loads(done.stdout)
    processes = [one for pid in pids for one in family(pid)]
    used = sum(map(cpu_seconds, processes)) - before
    row |= {"cpu_ms": used * 1000 / max(row.pop("answers"), 1), "memory_mb": sum(map(memory, processes)) // 1024}
    print(json.dumps(row), file=sys.stderr)
    return row


def wait_for(address: str) -> None:
    for _ in range(600):
        try:
            with urllib.request.urlopen(address, timeout=5) as response:
                if response.status == 200:
                    return
        except (urllib.error.URLError, OSError):
            time.sleep(0.1)
    raise SystemExit(f"nothing answers at {address}")


def family(pid: int) -> list[int]:
    """A process and everything that it started."""
    found = [pid]
    for parent in found:
        for tasks in Path(f"/proc/{parent}/task").glob("*/children"):
            with contextlib.suppress(OSError):
                found += [int(child) for child in tasks.read_text().split()]
    return found


def cpu_seconds(pid: int) -> float:
    """What a process has used of the processors so far."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def memory(pid: int) -> int:
    """Resident memory in KiB, shared pages counted in part."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith("Pss:")), 0)


def table(rows: list[dict[str, Any]]) -> None:
    print(f"{os.cpu_count()} cores, load and server on the same machine")
    print(
        "| processes | store | what | per second | ratio | p50 ms | p99 ms | light p95 ms | CPU ms | errors "
        "| memory MB | load's own core |"
    )
    print("|" + "---|" * 12)
    for row in rows:
        print(
            f"| {row['processes']:.0f} | {row['store']} | {row['what']} | {row['per_second']:.0f} | {row['ratio']:.2f} "
            f"| {row['p50_ms']:.1f} | {row['p99_ms']:.1f} | {row['light_p95_ms']:.1f} | {row['cpu_ms']:.2f} "
            f"| {row['errors']:.0f} "
            f"| {row['memory_mb']:.0f} | {row['busy']:.0%} |"
        )


if __name__ == "__main__":
    main()
