"""Load on loopback: 90 % recall, 10 % observe, against a bare endpoint of the same framework in the same run.

    python -m bench.server [--seconds 10] [--clients 16] [--users 50] [--messages 200]
                           [--processes 1,4] [--stores sqlite,postgres]

For each store and number of processes: requests per second, p50 and p99, errors, memory, and the ratio to the bare
endpoint (`GET /bare` of FastAPI, returning one constant of a recall's size, served by uvicorn with as many processes).
"recall, words only" asks without an embedder, so that what is measured is the server and the search and not the model;
"90 % recall" is the real thing with the on-device model. The load comes from a process of its own on the same machine:
trust the ratios.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import multiprocessing
import os
import random
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import psutil

import tenuto
from bench.server.down import NoEmbedder
from tenuto.surfaces.http.serving import Serving, listen, run_many, run_one

WORDS = [
    "coffee",
    "garden",
    "sister",
    "doctor",
    "project",
    "train",
    "book",
    "piano",
    "river",
    "winter",
    "recipe",
    "holiday",
    "market",
    "window",
    "letter",
]
GENEROUS = {
    "server": {
        "key_rate": 1e9,
        "key_burst": 10**9,
        "user_rate": 1e9,
        "user_burst": 10**9,
        "address_rate": 1e9,
        "address_burst": 10**9,
    }
}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--clients", type=int, default=16)
    parser.add_argument("--users", type=int, default=50)
    parser.add_argument("--messages", type=int, default=200)
    parser.add_argument("--processes", default="1,4")
    parser.add_argument("--stores", default="sqlite,postgres")
    given = parser.parse_args()
    rows = []
    for processes in [int(one) for one in given.processes.split(",")]:
        rows.append({"store": "–", "what": "bare endpoint", **measure_bare(processes, given)})
        bare = rows[-1]["per_second"]
        rows[-1]["ratio"] = 1.0
        for store in given.stores.split(","):
            for what, mix in (("recall, words only", 0.0), ("observe", 1.0), ("90 % recall, 10 % observe", 0.1)):
                row = {"store": store, "what": what, **measure(store, processes, what, mix, given)}
                row["ratio"] = row["per_second"] / bare
                rows.append(row)
                print(json.dumps(row), file=sys.stderr)
    table(rows)


def measure_bare(processes: int, given: argparse.Namespace) -> dict[str, Any]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [
        sys.executable,
        "-m",
        "uvicorn",
        "bench.server.bare:app",
        "--port",
        str(port),
        "--workers",
        str(processes),
        "--log-level",
        "error",
    ]
    server = subprocess.Popen(command)
    try:
        return {"processes": processes, **load(port, "", 0.0, given, server.pid, bare=True)}
    finally:
        server.terminate()
        server.wait()


def measure(kind: str, processes: int, what: str, mix: float, given: argparse.Namespace) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        url = str(Path(folder) / "tenuto.db") if kind == "sqlite" else _postgres()
        embedder = NoEmbedder() if "words" in what or mix == 1.0 else None
        options: dict[str, Any] = {"policy": GENEROUS, **({"embedder": embedder} if embedder else {})}
        secret = fill(url, options, given)
        serving = Serving(db=url, port=0, workers=processes, logs=False, options=tuple(options.items()))
        listener = listen(serving)
        port = listener.getsockname()[1]
        target = run_one if processes == 1 else run_many
        server = multiprocessing.get_context("spawn").Process(target=target, args=(serving, listener))
        server.start()
        listener.close()
        try:
            return {"processes": processes, **load(port, secret, mix, given, server.pid or 0)}
        finally:
            server.terminate()
            server.join(30)


def _postgres() -> str:
    from tests import servers

    return servers.fresh_database()


def fill(url: str, options: dict[str, Any], given: argparse.Namespace) -> str:
    """Users with messages to search, and a key."""
    dice = random.Random(7)
    with tenuto.open(url, background=False, **options) as store:
        for user in range(given.users):
            person = store.user(f"u{user}")
            for _ in range(given.messages):
                person.observe(" ".join(dice.choices(WORDS, k=12)))
        if "embedder" not in options:
            store.reembed()
        return store.create_key("bench", scope="admin")[1]


def load(
    port: int, secret: str, mix: float, given: argparse.Namespace, pid: int, *, bare: bool = False
) -> dict[str, Any]:
    """Ask from a process of its own; what came back, and how long it took."""
    _wait(port, "/bare" if bare else "/health")
    arguments = [
        str(port),
        secret or "-",
        str(mix),
        str(given.seconds),
        str(given.clients),
        str(given.users),
        str(int(bare)),
    ]
    done = subprocess.run(
        [sys.executable, "-c", "from bench.server.__main__ import ask; ask()", *arguments],
        capture_output=True,
        text=True,
        check=True,
    )
    numbers = json.loads(done.stdout)
    return {**numbers, "memory_mb": _memory(pid)}


def _wait(port: int, path: str) -> None:
    import httpx

    for _ in range(600):
        try:
            if httpx.get(f"http://127.0.0.1:{port}{path}", timeout=2).status_code == 200:
                return
        except httpx.HTTPError:
            time.sleep(0.1)
    raise SystemExit(f"nothing answers on {port}")


def _memory(pid: int) -> int:
    """Resident memory of the server's processes together."""
    try:
        root = psutil.Process(pid)
        return sum(one.memory_info().rss for one in [root, *root.children(recursive=True)]) // 2**20
    except psutil.Error:
        return 0


def ask() -> None:
    """The load itself: raw HTTP/1.1 over kept connections, so that the client costs little."""
    port, secret, mix, seconds, clients, users, bare = sys.argv[1:8]
    times, errors = asyncio.run(
        _ask(int(port), secret, float(mix), float(seconds), int(clients), int(users), bare == "1")
    )
    times.sort()
    at = lambda share: times[min(int(len(times) * share), len(times) - 1)] * 1000 if times else 0.0  # noqa: E731
    said = {"per_second": len(times) / float(seconds), "p50_ms": at(0.5), "p99_ms": at(0.99), "errors": errors}
    print(json.dumps({**said, "mean_ms": statistics.fmean(times) * 1000 if times else 0.0}))


async def _ask(
    port: int, secret: str, mix: float, seconds: float, clients: int, users: int, bare: bool
) -> tuple[list[float], int]:
    times: list[float] = []
    errors = 0
    deadline = time.perf_counter() + seconds

    async def one(number: int) -> None:
        nonlocal errors
        dice = random.Random(number)
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        while time.perf_counter() < deadline:
            writer.write(_request(dice, port, secret, mix, users, bare))
            begun = time.perf_counter()
            status = await _answer(reader)
            times.append(time.perf_counter() - begun)
            errors += status >= 400
        writer.close()

    await asyncio.gather(*(one(n) for n in range(clients)))
    return times, errors


def _request(dice: random.Random, port: int, secret: str, mix: float, users: int, bare: bool) -> bytes:
    if bare:
        return f"GET /bare HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode()
    text = " ".join(dice.choices(WORDS, k=5))
    verb, body = (
        ("observe", {"text": text})
        if dice.random() < mix
        else ("recall", {"query": text, "limit": 10, "kinds": ["message"]})
    )
    content = json.dumps(body).encode()
    head = (
        f"POST /api/users/u{dice.randrange(users)}/{verb} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n"
        f"Authorization: Bearer {secret}\r\nContent-Type: application/json\r\nContent-Length: {len(content)}\r\n\r\n"
    )
    return head.encode() + content


async def _answer(reader: asyncio.StreamReader) -> int:
    head = await reader.readuntil(b"\r\n\r\n")
    length = next((int(line[15:]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")), 0)
    await reader.readexactly(length)
    return int(head[9:12])


def table(rows: list[dict[str, Any]]) -> None:
    print(f"{os.cpu_count()} cores, load and server on the same machine")
    print("| processes | store | what | per second | ratio | p50 ms | p99 ms | errors | memory MB |")
    print("|---|---|---|---|---|---|---|---|---|")
    for row in rows:
        print(
            f"| {row['processes']} | {row['store']} | {row['what']} | {row['per_second']:.0f} | {row['ratio']:.2f} "
            f"| {row['p50_ms']:.1f} | {row['p99_ms']:.1f} | {row['errors']} | {row['memory_mb']} |"
        )


if __name__ == "__main__":
    main()
