"""What the gate costs: a context with wishes that stand, against the same context with nothing held back.

``python -m bench.gate [--messages 400] [--rounds 60]`` prints both medians and their quotient: at most 1.15.
The two are asked in turns, so that both see the same machine; time is that of the processor.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import tenuto
from tenuto.facade.user import UserMemory
from tenuto.recall.holds import NOTHING, HoldsCache
from tenuto.testing.fakes import FakeClock, FakeEmbedder

MOST = 1.15
SUBJECTS = (
    "the garden",
    "the choir",
    "Leo's school",
    "the bike",
    "our kitchen",
    "the book club",
    "the neighbours",
    "a trip",
)
WISHES = (
    "Please don't bring up my weight.", "Don't mention Tobias again.", "Forget everything about the bike.",
    "I don't want to talk about my debts.", "Please don't talk about the custody case.", "Forget my birthday.",
)  # fmt: skip


class Open(HoldsCache):
    """Nothing is held back of anybody."""

    def fresh(self, *given: Any, **more: Any) -> Any:
        return NOTHING


def told(store: tenuto.Tenuto, clock: FakeClock, messages: int) -> UserMemory:
    ana = store.user("ana", persona="friend")
    for number in range(messages):
        clock.advance(minutes=3 if number % 12 else 24 * 60)
        ana.observe(f"Today it was about {SUBJECTS[number % len(SUBJECTS)]}, for the {number}th time, and I liked it.")
        ana.observe("Good to hear, tell me more about it.", role="assistant")
        if number % 12 == 11:
            store.settle()
    for wish in WISHES:
        clock.advance(minutes=1)
        ana.observe(wish)
    clock.advance(days=1)
    store.settle()
    return ana


def timed(ask: Callable[[], object]) -> float:
    start = time.process_time()
    ask()
    return time.process_time() - start


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--messages", type=int, default=400)
    parser.add_argument("--rounds", type=int, default=60)
    given = parser.parse_args()
    clock = FakeClock(datetime(2026, 3, 2, 9, tzinfo=UTC) - timedelta(days=1))
    with tenuto.open("memory:", clock=clock, embedder=FakeEmbedder()) as store:
        ana = told(store, clock, given.messages)
        gated, without = store.deps.holds, Open()
        times: dict[str, list[float]] = {"with": [], "without": []}
        for number in range(given.rounds):
            question = f"What should I do on day {number % 7}?"
            for name, holds in (("with", gated), ("without", without)):
                object.__setattr__(store.deps, "holds", holds)
                spent = timed(partial(ana.context, question))
                times[name] += [spent] if number >= 5 else []
    found = {name: statistics.median(values) * 1000 for name, values in times.items()}
    quotient = found["with"] / found["without"]
    print(f"context with the gate    {found['with']:7.2f} ms ({len(WISHES)} wishes, {2 * given.messages} messages)")
    print(f"context without          {found['without']:7.2f} ms")
    print(f"quotient                 {quotient:7.2f} (at most {MOST})")
    return 0 if quotient <= MOST else 1


if __name__ == "__main__":
    sys.exit(main())
