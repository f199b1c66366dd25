"""What encryption at rest costs: observe and recall with and without keys, in turns, in one run.

    python -m bench.encryption [--messages 2000] [--calls 300] [--model]

Two stores that differ in their keys alone get the same sentences and the same questions, one call each in turn. The
embedder is a cheap one unless ``--model`` says otherwise, so that it does not hide the difference; what is printed is
the ratio of the medians of processor time (trust it) and of wall time. "cold" is the first recall of a user after
opening, when every vector of theirs has to be opened.
"""

from __future__ import annotations

import argparse
import random
import statistics
import tempfile
from pathlib import Path
from typing import Any

import tenuto
from bench.foundation.__main__ import Times, goal
from tenuto.testing.fakes import FakeEmbedder, FakeTokens

TEXT = """
coffee garden sister doctor project train book piano river winter recipe holiday market window letter bridge candle
teacher summer kitchen mountain ticket blanket office neighbour allergy medicine birthday bicycle island
"""
WORDS = TEXT.split()
GOAL = 1.5


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--messages", type=int, default=2000, help="in each store before anything is measured")
    parser.add_argument("--calls", type=int, default=300)
    parser.add_argument("--model", action="store_true", help="the on-device model instead of a cheap embedder")
    given = parser.parse_args()
    dice = random.Random(5)
    sentences = [" ".join(dice.choices(WORDS, k=14)) for _ in range(given.messages + given.calls)]
    questions = [" ".join(dice.choices(WORDS, k=4)) for _ in range(given.calls)]
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "safe").mkdir()
        stores = {"plain": _opened(folder, "plain", given.model), "sealed": _opened(folder, "sealed", given.model)}
        for store in stores.values():
            for sentence in sentences[: given.messages]:
                store.user("ana").observe(sentence)
            store.reembed()
        print(f"{given.messages} messages, {given.calls} calls each, in turns")
        _print(
            "observe", _turns(stores, [lambda s, x=x: s.user("ana").observe(x) for x in sentences[given.messages :]])
        )
        _print("recall", _turns(stores, [lambda s, x=x: s.user("ana").recall(x) for x in questions]))
        for store in stores.values():
            store.close()
        _print("recall, cold", _cold(folder, questions[:7], given.model), judged=False)
        for name in stores:
            print(f"{name:8} {(Path(folder) / f'{name}.db').stat().st_size / 2**20:6.1f} MB")


def _opened(folder: str, name: str, model: bool) -> tenuto.Tenuto:
    options: dict[str, Any] = {} if model else {"embedder": FakeEmbedder(384), "tokens": FakeTokens()}
    keys = f"file:{folder}/safe/key" if name == "sealed" else None
    return tenuto.open(Path(folder) / f"{name}.db", keys=keys, background=False, **options)


def _turns(stores: dict[str, tenuto.Tenuto], calls: list[Any]) -> dict[str, Times]:
    times = {name: Times() for name in stores}
    for number, call in enumerate(calls):
        for name in sorted(stores, reverse=bool(number % 2)):
            times[name].add(lambda call=call, name=name: call(stores[name]))
    return times


def _cold(folder: str, questions: list[str], model: bool) -> dict[str, Times]:
    times = {"plain": Times(), "sealed": Times()}
    for question in questions:
        for name, found in times.items():
            with _opened(folder, name, model) as store:
                store.deps.embedder.embed(["warm"])
                found.add(lambda store=store, question=question: store.user("ana").recall(question))
    return times


def _print(what: str, times: dict[str, Times], *, judged: bool = True) -> None:
    for name, found in times.items():
        print(f"{what:14} {name:8} {found}")
    cpu = statistics.median(times["sealed"].cpu) / statistics.median(times["plain"].cpu)
    wall = times["sealed"].p50 / times["plain"].p50
    said = goal(f"≤ {GOAL} × for processor time", cpu <= GOAL) if judged else ""
    print(f"{what:14} ratio    wall {wall:.2f} ×   cpu {cpu:.2f} ×{said}")


if __name__ == "__main__":
    main()
