"""Ten thousand live streams against a limit: how many are let in, how the others are refused, and who is still served.

    python -m bench.server.streams [--streams 10000] [--limit 1000] [--seconds 5]

Opens the streams from processes of their own, as fast as they can, each for another user, with the server's own limits
(1,000 streams, 2,000 connections of one process). Prints how many got which answer, how long a plain request took in
the meantime, whether an event reaches every open stream, and the server's memory before and after.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import multiprocessing
import resource
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections import Counter
from pathlib import Path
from typing import Any

import tenuto
from bench.server.__main__ import GENEROUS, family, memory, wait_for
from bench.server.down import NoEmbedder
from tenuto.surfaces.http.serving import Serving, listen, run_one

EACH = 2500
"""Streams that one client process holds."""
USERS = 600
"""At most 20 streams of one user, so at most 12,000 in all."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--streams", type=int, default=10_000)
    parser.add_argument("--limit", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=5, help="how long events may take after the last was written")
    given = parser.parse_args()
    _files()
    policy = {"server": {**GENEROUS["server"], "streams": given.limit}}
    with tempfile.TemporaryDirectory() as folder:
        url = str(Path(folder) / "tenuto.db")
        with tenuto.open(url, background=False, embedder=NoEmbedder()) as store:
            for number in range(USERS):
                store.user(f"u{number}").observe("hello")
            secret = store.create_key("bench", scope="admin")[1]
        options = tuple({"policy": policy, "embedder": NoEmbedder(), "background": False}.items())
        serving = Serving(db=url, port=0, logs=False, options=options)
        listener = listen(serving)
        server = multiprocessing.get_context("spawn").Process(target=_serve, args=(serving, listener))
        server.start()
        port = listener.getsockname()[1]
        listener.close()
        try:
            report(given, port, secret, server.pid or 0)
        finally:
            server.terminate()
            server.join(30)


def _files() -> None:
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def _serve(serving: Serving, listener: Any) -> None:
    _files()
    run_one(serving, listener)


def report(given: argparse.Namespace, port: int, secret: str, pid: int) -> None:
    wait_for(f"http://127.0.0.1:{port}/ready")
    before = sum(map(memory, family(pid))) // 1024
    parts = [min(EACH, given.streams - start) for start in range(0, given.streams, EACH)]
    asked = [
        {"port": port, "secret": secret, "streams": part, "first": n * EACH, "seconds": given.seconds}
        for n, part in enumerate(parts)
    ]
    clients = [
        subprocess.Popen([sys.executable, "-m", "bench.server.streams", json.dumps(one)], stdout=subprocess.PIPE)
        for one in asked
    ]  # fmt: skip
    times: list[float] = []
    while any(client.poll() is None for client in clients):
        begun = time.perf_counter()
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=60):
            times.append((time.perf_counter() - begun) * 1000)
        time.sleep(0.05)
    during = sum(map(memory, family(pid))) // 1024
    found = [json.loads((client.stdout or sys.stdin.buffer).read()) for client in clients]
    answers: Counter[str] = Counter()
    for one in found:
        answers.update(one["answers"])
    times.sort()
    print(f"streams asked for: {given.streams:,}, limit {given.limit:,}")
    print("answers: " + ", ".join(f"{status} {count:,}" for status, count in sorted(answers.items())))
    print(f"open streams that got the event of their user: {sum(one['heard'] for one in found):,}")
    print(f"plain requests meanwhile: {len(times)}, median {times[len(times) // 2]:.1f} ms, slowest {times[-1]:.0f} ms")
    print(f"server memory: {before} MB before, {during} MB after")


async def hold(port: int, secret: str, streams: int, first: int, seconds: float) -> dict[str, Any]:
    """Open streams; write to each user of an open one; count who hears it."""
    answers: Counter[str] = Counter()
    heard, gate, over = 0, asyncio.Semaphore(200), asyncio.Event()
    users: set[str] = set()

    async def one(number: int) -> None:
        nonlocal heard
        user = f"u{number % USERS}"
        try:
            async with gate:
                reader, writer = await asyncio.open_connection("127.0.0.1", port)
                writer.write(_get(port, secret, f"/api/users/{user}/events"))
                status = (await asyncio.wait_for(reader.readline(), 60)).split(b" ")[1].decode()
        except (OSError, IndexError, TimeoutError):
            answers["no answer"] += 1
            return
        answers[status] += 1
        if status == "200":
            users.add(user)
            listening = asyncio.create_task(_event(reader))
            await over.wait()
            heard += listening.done() and listening.result()
            listening.cancel()
        writer.close()

    tasks = [asyncio.create_task(one(first + number)) for number in range(streams)]
    while sum(answers.values()) < streams:
        await asyncio.sleep(0.1)
    for user in sorted(users):
        await _observe(port, secret, user)
    await asyncio.sleep(seconds)
    over.set()
    await asyncio.gather(*tasks)
    return {"answers": answers, "heard": heard}


async def _event(reader: asyncio.StreamReader) -> bool:
    """Whether an event comes before the stream ends."""
    try:
        while line := await reader.readline():
            if line.startswith(b"id: "):
                return True
    except OSError:
        pass
    return False


def _get(port: int, secret: str, path: str) -> bytes:
    head = f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAuthorization: Bearer {secret}\r\n\r\n"
    return head.encode()


async def _observe(port: int, secret: str, user: str) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    body = b'{"text": "good morning"}'
    head = (
        f"POST /api/users/{user}/observe HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAuthorization: Bearer {secret}\r\n"
        f"Content-Type: application/json\r\nConnection: close\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    writer.write(head.encode() + body)
    await reader.read()
    writer.close()


if __name__ == "__main__":
    if len(sys.argv) == 2 and sys.argv[1].startswith("{"):
        _files()
        print(json.dumps(asyncio.run(hold(**json.loads(sys.argv[1])))))
    else:
        main()
