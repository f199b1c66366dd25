"""What the memory proxy adds to a request, besides the upstream.

    python -m bench.proxy [--messages 1000] [--requests 200]

A store with so many messages of one user, a scripted upstream that answers at once, and the same request sent to the
upstream directly and through the proxy, one after the other. Printed: the median and the 95th percentile of both, the
difference, and where the time goes.
"""

from __future__ import annotations

import argparse
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


def sentence(chance: random.Random, number: int) -> str:
    return f"{chance.choice(WHO)} {chance.choice(DID)} {chance.choice(WHAT)} in week {number % 52}, I think."


def timed(run: Callable[[int], None], requests: int) -> list[float]:
    found = []
    for number in range(requests):
        before = time.perf_counter()
        run(number)
        found.append((time.perf_counter() - before) * 1000)
    return found


def line(name: str, found: list[float]) -> str:
    return f"{name:34}{statistics.median(found):9.1f}{sorted(found)[int(len(found) * 0.95)]:9.1f}"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.proxy", description=__doc__.split("\n\n")[0])
    parser.add_argument("--messages", type=int, default=1000)
    parser.add_argument("--requests", type=int, default=200)
    given = parser.parse_args()
    chance, upstream = random.Random(7), Scripted()
    with tempfile.TemporaryDirectory() as folder, Served(upstream.app()) as direct:
        store = tenuto.open(f"{folder}/bench.db", background=False)
        ana = store.user("ana")
        for number in range(given.messages):
            ana.observe(sentence(chance, number), session=f"s{number // 40}")
        store.settle()
        app = proxy_app(store, Upstream(openai=f"{direct.url}/v1"), Alone(user="ana"))
        with Served(app) as proxy, httpx.Client() as client:

            def ask(base: str) -> Callable[[int], None]:
                def run(number: int) -> None:
                    text = f"What about {chance.choice(WHAT)} and {chance.choice(WHO).lower()}? ({number})"
                    body = {"model": "m", "messages": [{"role": "user", "content": text}]}
                    client.post(f"{base}/v1/chat/completions", json=body).raise_for_status()

                return run

            ask(proxy.url)(-1)
            ask(direct.url)(-1)
            alone, through = timed(ask(direct.url), given.requests), timed(ask(proxy.url), given.requests)
            contexts = timed(
                lambda n: ana.context(f"What about {chance.choice(WHAT)}? {n}", replay=False), given.requests
            )
            recalls = timed(lambda n: ana.recall(f"What about {chance.choice(WHAT)}? {n}"), given.requests)
            kept = timed(lambda n: ana.observe(f"Number {n}"), given.requests)
        store.close()
    print(f"{given.messages} messages kept, {given.requests} requests each\n{'milliseconds':34}{'p50':>9}{'p95':>9}")
    print(line("upstream alone", alone))
    print(line("through the proxy", through))
    print(f"{'added by the proxy (p50)':34}{statistics.median(through) - statistics.median(alone):9.1f}")
    for name, found in (
        ("  one context", contexts),
        ("    of that, one recall", recalls),
        ("  one message kept", kept),
    ):
        print(line(name, found))


if __name__ == "__main__":
    main()
