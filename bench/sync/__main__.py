"""How soon does a subscriber see a message, and does one that was away miss or repeat anything?

    python -m bench.sync [--messages 60] [--redis URL] [--postgres URL]

For each way to follow a user, messages are kept one by one with pauses, then in bursts. Printed: the time from the
moment a message is accepted (``observe`` returns) to the moment the subscriber holds its event (median, 95th
percentile, longest), the median from the call of ``observe``, how many took over 200 ms or never came, and how many
batches the bursts arrived in. The ways: in the same process; server-sent events over HTTP; a second store object on the
same data that hears through Redis; the same through PostgreSQL's LISTEN. Without a URL, Redis and PostgreSQL are
started from this machine's own programs as the tests do.

Then a subscriber that leaves and comes back all the time: it resumes after its last number, and must have seen every
event once. The control is the same subscriber without the number, which misses some.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import statistics
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

import httpx
from tests import servers
from tests.upstream import Served

import tenuto
from tenuto.facade.user import UserMemory
from tenuto.surfaces.http.app import create_app
from tenuto.testing.fakes import FakeEmbedder, FakeTokens

BURST = 10
GOAL = 200
"""Milliseconds within which a subscriber sees an accepted message."""
APART = 0.02
"""Seconds between two server-sent events that did not travel together."""
Seen = dict[str, float]
"""When the event of a message was seen, by the message's id."""
Said = dict[str, tuple[float, float]]
"""When a message was handed over, and when it was accepted."""


class Follower:
    """Notes when each message's event arrives, and how many batches came."""

    def __init__(self) -> None:
        self.seen: Seen = {}
        self.batches = 0
        self.ready = threading.Event()
        self.over = threading.Event()

    def took(self, subjects: list[str]) -> None:
        now = time.perf_counter()
        self.batches += 1
        for subject in subjects:
            self.seen.setdefault(subject, now)


@contextmanager
def following(user: UserMemory) -> Iterator[Follower]:
    """Through ``subscribe`` of a store, in a thread."""
    follower = Follower()

    def run() -> None:
        with user.subscribe() as live:
            follower.ready.set()
            while not follower.over.is_set():
                if batch := live.next(0.2):
                    follower.took([event.subject_id or "" for event in batch])

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    follower.ready.wait(10)
    time.sleep(0.5)
    yield follower
    follower.over.set()
    thread.join(5)


@contextmanager
def streaming(url: str, key: str) -> Iterator[Follower]:
    """Through server-sent events, in a thread."""
    follower = Follower()

    def run() -> None:
        headers, last = {"Authorization": f"Bearer {key}"}, 0.0
        with (
            contextlib.suppress(httpx.HTTPError),
            httpx.Client(timeout=None, headers=headers) as client,
            client.stream("GET", f"{url}/api/users/ana/events") as got,
        ):
            for line in got.iter_lines():
                follower.ready.set()
                if line.startswith("data:"):
                    now = time.perf_counter()
                    follower.batches += now - last > APART
                    last = now
                    follower.seen.setdefault(json.loads(line[5:])["subject_id"], now)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    follower.ready.wait(10)
    time.sleep(0.5)
    yield follower
    follower.over.set()


def measure(name: str, writer: UserMemory, follower: Follower, messages: int) -> None:
    """Messages one by one, then bursts; one line each."""
    chance = random.Random(5)
    alone = said(writer, [chance.uniform(0.15, 0.4) for _ in range(messages)])
    settled(follower, alone)
    line(f"{name}, one by one", alone, follower.seen)
    before = follower.batches
    bursts: Said = {}
    for _ in range(max(messages // BURST, 1)):
        bursts |= said(writer, [0.0] * BURST)
        time.sleep(0.4)
    settled(follower, bursts)
    line(f"{name}, bursts of {BURST}", bursts, follower.seen, f"{follower.batches - before} batches")


def said(writer: UserMemory, pauses: list[float]) -> Said:
    begun = {}
    for number, pause in enumerate(pauses):
        start = time.perf_counter()
        kept = writer.observe(f"Something was said, number {number}.")
        begun[kept.message_id] = (start, time.perf_counter())
        time.sleep(pause)
    return begun


def settled(follower: Follower, begun: Said) -> None:
    deadline = time.monotonic() + 5
    while begun.keys() - follower.seen.keys() and time.monotonic() < deadline:
        time.sleep(0.02)


def line(name: str, begun: Said, seen: Seen, more: str = "") -> None:
    arrived = {id: seen[id] for id in begun if id in seen}
    if not arrived:
        print(f"{name:34} nothing arrived")
        return
    since = sorted(max(at - begun[id][1], 0.0) * 1000 for id, at in arrived.items())
    whole = statistics.median((at - begun[id][0]) * 1000 for id, at in arrived.items())
    shown = f"{statistics.median(since):8.1f}{since[int(len(since) * 0.95)]:8.1f}{since[-1]:8.1f}{whole:12.1f}"
    late = sum(one > GOAL for one in since) + len(begun) - len(arrived)
    print(f"{name:34}{shown}{late:8} of {len(begun)}   {more}", flush=True)


def resume(writer: UserMemory, rounds: int) -> None:
    """Leave and come back while somebody writes: every event once."""
    first = writer.observe("The beginning.")
    start = next(event.seq for event in writer.events(limit=10**6) if event.subject_id == first.message_id)
    done = threading.Event()

    def write() -> None:
        chance = random.Random(9)
        for number in range(rounds * 8):
            writer.observe(f"While somebody was away, number {number}.")
            time.sleep(chance.uniform(0, 0.02))
        done.set()

    numbers: dict[str, list[int]] = {"resuming": [], "control": []}
    last = start
    thread = threading.Thread(target=write)
    thread.start()
    while not done.is_set() or writer.events(after=last, limit=1):
        for name, after in (("resuming", last), ("control", None)):
            with writer.subscribe(after=after) as live:
                found = [event.seq for event in live.next(0.05)]
            numbers[name] += found
            last = found[-1] if name == "resuming" and found else last
    thread.join()
    wanted = [event.seq for event in writer.events(after=start, limit=10**6)]
    for name, got in numbers.items():
        missed, twice = len(set(wanted) - set(got)), len(got) - len(set(got))
        print(f"{name:34}{len(wanted):8} events: {missed} missed, {twice} twice, in order: {got == sorted(got)}")


def opened(stack: ExitStack, url: str, **options: str) -> UserMemory:
    store = tenuto.open(url, embedder=FakeEmbedder(), tokens=FakeTokens(), background=False, upgrade=True, **options)
    return stack.enter_context(store).user("ana")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.sync", description=__doc__.split("\n\n")[0])
    parser.add_argument("--messages", type=int, default=60)
    parser.add_argument("--redis")
    parser.add_argument("--postgres")
    given = parser.parse_args()
    print(f"milliseconds from an accepted message to the subscriber; load {os.getloadavg()[0]:.1f}")
    print(f"{'':34}{'p50':>8}{'p95':>8}{'max':>8}{'call, p50':>12}   too late")
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        ana = opened(stack, f"{folder}/one.db")
        with following(ana) as follower:
            measure("in the same process", ana, follower, given.messages)
        store = stack.enter_context(tenuto.open(f"{folder}/two.db", embedder=FakeEmbedder(), tokens=FakeTokens()))
        key = store.create_key("bench", scope="app")[1]
        with Served(create_app(store)) as app, streaming(app.url, key) as follower:
            measure("server-sent events", store.user("ana"), follower, given.messages)
        redis = given.redis or servers.valkey().url()
        ways: list[tuple[str, Callable[[], UserMemory]]] = [
            ("Redis", lambda: opened(stack, f"{folder}/three.db", redis=redis)),
        ]
        postgres = given.postgres or servers.fresh_database()
        ways.append(("PostgreSQL LISTEN", lambda: opened(stack, postgres)))
        for name, another in ways:
            writer, reader = another(), another()
            with following(reader) as follower:
                measure(name, writer, follower, given.messages)
        resume(ana, 30)
    servers.stop_all()


if __name__ == "__main__":
    main()
