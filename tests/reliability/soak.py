"""A store that lives for a while: ``python -m tests.reliability.soak DATABASE SECONDS right|leaky``.

Eight people talk, ask and are erased in turns, so that what is kept stays about the same; prints ``warm`` when the
first round is over, and at the end how many turns there were.
"""

from __future__ import annotations

import json
import sys
import time

import tenuto
from tenuto.errors import TenutoError
from tenuto.testing.fakes import FakeEmbedder, FakeTokens

TURNS = 12
"""Turns of one life."""


def one_life(store: tenuto.Tenuto, name: str, kept: list[bytearray] | None) -> int:
    user = store.user(name, persona="coach")
    for turn in range(TURNS):
        user.observe(f"Turn {turn}: my sister Mia lives in Porto and likes apples, I promised to call her on Friday.")
        user.recall("Where does Mia live?")
        user.context("What does Mia like?", budget=1000)
        if kept is not None:
            kept.append(bytearray(b"x") * 15_000_000)
    store.settle(60)
    user.erase()
    return TURNS


def main() -> None:
    path, seconds, how = sys.argv[1], float(sys.argv[2]), sys.argv[3]
    kept: list[bytearray] | None = [] if how == "leaky" else None
    turns = errors = 0
    with tenuto.open(path, embedder=FakeEmbedder(), tokens=FakeTokens()) as store:
        one_life(store, "first", kept)
        print("warm", flush=True)
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            try:
                turns += one_life(store, f"user{turns % 8}", kept)
            except TenutoError as error:
                print(f"{error.code}: {error}", file=sys.stderr)
                errors += 1
    print(json.dumps({"turns": turns, "errors": errors}))


if __name__ == "__main__":
    main()
