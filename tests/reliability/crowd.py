"""A process full of writers of the same keys. Prints what was acknowledged, what was refused, and what broke.

    python -m tests.reliability.crowd URL SEED WRITERS WRITES how FIRST

Keys are numbered from FIRST on.

``how``: ``right``; ``keyless`` looks nothing up and knows no unique key; ``deferred`` begins without taking the lock.
"""

from __future__ import annotations

import json
import random
import sys
import threading
from collections import Counter
from typing import Any

import tenuto
from tenuto.errors import TenutoError
from tenuto.ingest import observe
from tenuto.storage import sqlite
from tenuto.testing.fakes import FakeEmbedder, FakeTokens


def main() -> None:
    url, how = sys.argv[1], sys.argv[5]
    seed, writers, writes, first = (int(sys.argv[number]) for number in (2, 3, 4, 6))
    if how == "keyless":
        observe._known = lambda tx, incoming: None  # type: ignore[assignment]
    store = tenuto.open(url, embedder=FakeEmbedder(), tokens=FakeTokens(), background=False)
    if how == "deferred":
        _defer()
    acts: Counter[str] = Counter()
    problems: list[str] = []
    lock = threading.Lock()

    def write(number: int) -> None:
        dice = random.Random(seed * 1000 + number)
        keys = list(range(first, first + writes))
        dice.shuffle(keys)
        mine: Counter[str] = Counter()
        for key in keys:
            try:
                mine[store.user("ana").observe(f"Message {key} about apples.", id=f"k{key}").act] += 1
            except TenutoError as error:
                mine[f"error {error.code}"] += 1
        with lock:
            acts.update(mine)

    threads = [threading.Thread(target=write, args=(number,)) for number in range(writers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    store.close()
    print(json.dumps({"acts": acts, "problems": problems}))


def _defer() -> None:
    """A transaction takes the lock when it first writes: two that have read both want it then."""

    class Deferring(sqlite.SqliteConnection):
        pass

    def writing(self: Any, user: str) -> Any:
        from contextlib import contextmanager

        @contextmanager
        def begin() -> Any:
            connection = self._borrow()
            with sqlite.translated(self.path):
                connection.raw.execute("BEGIN")
                try:
                    yield connection
                    connection.raw.execute("COMMIT")
                except BaseException:
                    if connection.raw.in_transaction:
                        connection.raw.execute("ROLLBACK")
                    raise
                finally:
                    self._give_back(connection)

        return begin()

    sqlite.SqliteEngine.writing = writing  # type: ignore[method-assign]


if __name__ == "__main__":
    main()
