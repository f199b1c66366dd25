"""What the memory proxy adds to a request, besides the upstream.

    python -m bench.proxy [--messages 1000] [--requests 200]

A store with so many messages of one user, a scripted upstream that answers at once, and the same request sent to the
upstream directly and through the proxy, in turns. Printed: the median and the 95th percentile of both, the difference,
and where the time goes. People pause between two turns, so the background work of a turn is done before the next is
sent; ``without pauses`` is the same with every request sent at once, while that work competes for the same cores.
``cpu`` is what this process worked meanwhile, upstream and client included: look at it where others share the machine.
"""

from __future__ import annotations

import argparse
import os
import random
import statistics
import tempfile
import time
from collections.abc import Callable

import httpx
from tests.upstream import Served
from tests.upstream import Upstream as Scripted

import tenuto
from tenuto.surfaces.proxy import Upstream, proxy_app
from tenuto.surfaces.proxy_access import Alone

WHO = ["My sister Ana", "My brother Ben", "Our neighbour", "The doctor", "My boss", "Aunt Mary", "The dog"]
DID = ["moved to", "came back from", "talked about", "bought a flat in", "is afraid of", "loves", "never went to"]
WHAT = ["Oslo", "Bergen", "the mountains", "penicillin", "the new job", "the garden", "Lisbon", "the old house"]

PARTS = ("  one context", "    of that, one recall", "  one message kept", "  one bare embedding, to compare")


def sentence(chance: random.Random, number: int) -> str:
    return f"{chance.choice(WHO)} {chance.choice(DID)} {chance.choice(WHAT)} in week {number % 52}, I think."


def timed(
    runs: list[Callable[[int], object]], requests: int, pause: Callable[[], object] = lambda: None
) -> list[list[tuple[float, float]]]:
    """(elapsed, cpu of the whole process) in milliseconds, for each of ``runs``, taken in turns."""
    found: list[list[tuple[float, float]]] = [[] for _ in runs]
    for number in range(requests):
        for place, run in enumerate(runs):
            pause()
            before, worked = time.perf_counter(), time.process_time()
            run(number)
            found[place].append(((time.perf_counter() - before) * 1000, (time.process_time() - worked) * 1000))
    return found


def added(alone: list[tuple[float, float]], through: list[tuple[float, float]], which: int = 0) -> float:
    return statistics.median(one[which] for one in through) - statistics.median(one[which] for one in alone)


def line(name: str, found: list[tuple[float, float]]) -> str:
    elapsed = sorted(one[0] for one in found)
    worked = statistics.median(one[1] for one in found)
    return f"{name:34}{statistics.median(elapsed):9.1f}{elapsed[int(len(elapsed) * 0.95)]:9.1f}{worked:9.1f}"


def asking(client: httpx.Client, base: str, chance: random.Random) -> Callable[[int], object]:
    def run(number: int) -> None:
        text = f"What about {chance.choice(WHAT)} and {chance.choice(WHO).lower()}? ({chance.random()})"
        body = {"model": "m", "messages": [{"role": "user", "content": text}]}
        client.post(f"{base}/v1/chat/completions", json=body).raise_for_status()

    return run


def compared(store: tenuto.Tenuto, direct: str, requests: int, chance: random.Random, pause: Callable[[], object]):
    """The same requests without and with the proxy."""
    app = proxy_app(store, Upstream(openai=f"{direct}/v1"), Alone(user="ana"))
    with Served(app) as proxy, httpx.Client() as client:
        both = [asking(client, direct, chance), asking(client, proxy.url, chance)]
        timed(both, 3, pause)
        return timed(both, requests, pause)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.proxy", description=__doc__.split("\n\n")[0])
    parser.add_argument("--messages", type=int, default=1000)
    parser.add_argument("--requests", type=int, default=200)
    given = parser.parse_args()
    chance, upstream = random.Random(7), Scripted()
    with tempfile.TemporaryDirectory() as folder, Served(upstream.app()) as direct:
        with tenuto.open(f"{folder}/bench.db", background=False) as store:
            ana = store.user("ana")
            for number in range(given.messages):
                ana.observe(sentence(chance, number), session=f"s{number // 40}")
            store.settle()
            alone, through = compared(store, direct.url, given.requests, chance, store.settle)
            parts = timed(
                [
                    lambda n: ana.context(f"What about {chance.choice(WHAT)}? {n}", replay=False),
                    lambda n: ana.recall(f"What about {chance.choice(WHAT)}? {n}", limit=12),
                    lambda n: ana.observe(f"Number {n}"),
                    lambda n: store.deps.embedder.embed([f"What about {chance.choice(WHAT)}? {n}"]),
                ],
                given.requests,
                store.settle,
            )
        with tenuto.open(f"{folder}/bench.db") as store:
            at_once, flooded = compared(store, direct.url, given.requests, chance, lambda: None)
    print(f"{given.messages} messages kept, {given.requests} requests each, load {os.getloadavg()[0]:.1f}")
    print(f"{'milliseconds':34}{'p50':>9}{'p95':>9}{'cpu p50':>9}")
    print(line("upstream alone", alone))
    print(line("through the proxy", through))
    print(f"{'added by the proxy':34}{added(alone, through):9.1f}{'':9}{added(alone, through, 1):9.1f}")
    for name, found in zip(PARTS, parts, strict=True):
        print(line(name, found))
    print(f"{'added without pauses':34}{added(at_once, flooded):9.1f}{'':9}{added(at_once, flooded, 1):9.1f}")


if __name__ == "__main__":
    main()
