"""Row 36: what others notice of somebody's flood of the worst texts known."""

from __future__ import annotations

import http.client
import json
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from bench.server.__main__ import wait_for
from bench.server.down import NoEmbedder

import tenuto
from tests.reliability.scorecard import Measured, Work, row

ROOT = Path(__file__).parents[3]
TIMES = 3.0
"""How many times its quiet figure the 95th percentile may be."""
SENDERS = 8
ASKED = 40
"""Recalls of one round."""


@dataclass(frozen=True, kw_only=True)
class Flooded(Measured):
    """With the 95th percentile under the flood."""

    seconds: float


def p95(port: int, secret: str) -> float:
    """Milliseconds within which 95 of 100 recalls of a quiet user are answered, asked one after another."""
    headers = {"Authorization": f"Bearer {secret}", "Content-Type": "application/json"}
    connection, times = http.client.HTTPConnection("127.0.0.1", port, timeout=60), []
    for number in range(ASKED):
        begun = time.perf_counter()
        connection.request("POST", "/api/users/ana/recall", json.dumps({"query": f"tea {number}"}), headers)
        answer = connection.getresponse()
        body = answer.read()
        assert answer.status == 200, body
        times.append((time.perf_counter() - begun) * 1000)
        time.sleep(0.05)
    connection.close()
    return statistics.quantiles(times, n=20)[-1]


@contextmanager
def running(*command: str, pass_fds: tuple[int, ...] = ()) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen([sys.executable, "-m", *command], cwd=ROOT, stdout=subprocess.PIPE, text=True, pass_fds=pass_fds)  # fmt: skip
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def under_flood(work: Work, how: str = "limited") -> Flooded:
    """Quiet and flooded rounds in turns on one server; the medians of their 95th percentiles are compared."""
    url = str(work.folder / "tenuto.db")
    with tenuto.open(url, background=False, embedder=NoEmbedder()) as store:
        for number in range(50):
            store.user("ana").observe(f"Cup of tea number {number} with lemon.")
        store.settle()
        mine = store.create_key("ana", scope="user", user="ana")[1]
        hers = store.create_key("mallory", scope="user", user="mallory")[1]
    quiet, flooded = [], []
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(128)
        port, number = listener.getsockname()[1], listener.fileno()
        with running("tests.reliability.serving", url, str(number), "words", how, pass_fds=(number,)):
            listener.close()
            wait_for(f"http://127.0.0.1:{port}/ready")
            p95(port, mine)
            for _ in work:
                quiet.append(p95(port, mine))
                with running("tests.reliability.flood", str(port), hers, str(SENDERS)) as sender:
                    assert sender.stdout is not None
                    sender.stdout.read(1)
                    time.sleep(0.5)
                    flooded.append(p95(port, mine))
    ratio = statistics.median(flooded) / statistics.median(quiet)
    return Flooded(
        done=work.done,
        seconds=statistics.median(flooded) / 1000,
        bad=int(ratio > TIMES),
        words=f"p95 of another's recall {statistics.median(quiet):.1f} ms quiet, {statistics.median(flooded):.1f} ms "
        f"under the flood: {ratio:.2f} ×",
    )


@row(
    36,
    f"under a flood of the worst texts known, p95 of another user's recall stays within {TIMES:.0f} × of its quiet figure",
    unit="rounds",
    full=9,
    gate=1,
    tests="tests/reliability/test_flood.py",
)
def floods(work: Work) -> Measured:
    return under_flood(work)


@floods.control("no limits, and texts that are read where requests are answered")
def unlimited(work: Work) -> Measured:
    return under_flood(work.part(1, "unlimited"), "burning")
