"""Many pieces of work over a few threads, for the models of this machine."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


def spread(work: Callable[[Item], Result], items: Sequence[Item], threads: int, name: str) -> list[Result]:
    """``work`` of every item, in order; one after another where the program is ending and no thread can start."""
    if len(items) <= 1 or threads == 1:
        return [work(item) for item in items]
    with ThreadPoolExecutor(min(threads, len(items)), name) as pool:
        try:
            begun = [pool.submit(work, item) for item in items]
        except RuntimeError:
            begun = []
        if len(begun) == len(items):
            return [one.result() for one in begun]
    return [work(item) for item in items]
