"""What one message costs as history grows, and which kind of work takes it.

Processor time on a file in memory and with an embedder of words: neither the disk, nor the encoder, nor whatever else
the machine does drowns what is measured. Each kind of job is timed on its own; ``jobs`` is what leasing and finishing
them takes. Beside every night's work a fixed piece of work is timed: a busy machine slows both, so the last lines say
how much dearer the last step is than the first as measured, and as compared with that piece. What no load can change
stands there too: the rows that were read from the file, and the entries that the index in memory took.
"""

from __future__ import annotations

import json
import os
import sqlite3
import statistics
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from random import Random
from typing import Any

from tests.flows.talk import days, line
from tests.flows.world import START, Clock, WordEmbedder

import tenuto
from tenuto.deps import Deps
from tenuto.facade.job_handlers import HANDLERS
from tenuto.facade.jobs import Handler, Runner
from tenuto.recall.index import UserIndex
from tenuto.records.conversation import Summary
from tenuto.records.memory import Memory
from tenuto.records.operations import EntryRows, Job
from tenuto.storage.engine import Row
from tenuto.storage.sqlite import SqliteConnection

Day = tuple[datetime, list[tuple[datetime, str, str]]]


@dataclass
class Step:
    """Seconds of processor time since the last row."""

    observed: list[float] = field(default_factory=list)
    worked: float = 0.0
    fixed: list[float] = field(default_factory=list)
    rows: int = 0
    entries: int = 0
    by_kind: Counter[str] = field(default_factory=Counter)


def cost(messages: int, step: int, *, endless: bool = False) -> None:
    """Print a row for every ``step`` messages: of daily talk, or of one session that never ends."""
    clock, spent = Clock(), Step()
    _counting(spent)
    rows: list[dict[str, float]] = []
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.path.isdir("/dev/shm") else None) as place:
        store = tenuto.open(f"{place}/cost.db", clock=clock, embedder=WordEmbedder(), background=False)
        runner = Runner(store.deps, {kind: _timed(kind, handler, spent) for kind, handler in HANDLERS.items()})
        coach = store.user("ana", persona="coach")
        said = 0
        for night, lines in _endless() if endless else _daily():
            for at, role, text in lines:
                clock.now = at
                begin = time.process_time()
                coach.observe(text, role=role)
                spent.observed.append(time.process_time() - begin)
                said += 1
            clock.now = night
            begin = time.process_time()
            runner.drain()
            spent.worked += time.process_time() - begin
            spent.fixed.append(_fixed())
            if len(spent.observed) >= step:
                rows.append(_row(store, said, spent))
                spent.observed, spent.worked, spent.fixed, spent.rows, spent.entries = [], 0.0, [], 0, 0
                spent.by_kind.clear()
            if said >= messages:
                break
        runner.stop()
        store.close()
    _summary(rows)


def _counting(spent: Step) -> None:
    rows, take = SqliteConnection.rows, UserIndex.take

    def counted(connection: SqliteConnection, sql: str, parameters: Mapping[str, Any]) -> list[Row]:
        found = rows(connection, sql, parameters)
        spent.rows += len(found)
        return found

    def taken(index: UserIndex, entries: EntryRows, gone: Iterable[str] = ()) -> None:
        spent.entries += len(entries)
        take(index, entries, gone)

    SqliteConnection.rows, UserIndex.take = counted, taken  # type: ignore[method-assign]


def _timed(kind: str, handler: Handler, spent: Step) -> Handler:
    def timed(deps: Deps, user: str, jobs: list[Job]) -> None:
        begin = time.process_time()
        handler(deps, user, jobs)
        spent.by_kind[kind] += time.process_time() - begin  # type: ignore[assignment]

    return timed


def _fixed() -> float:
    """Seconds of processor time that the same work takes each time: rows into a table and out again, as JSON."""
    begin = time.process_time()
    with closing(sqlite3.connect(":memory:")) as table:
        table.execute("CREATE TABLE rows (id INTEGER PRIMARY KEY, body TEXT)")
        body = json.dumps({"content": "a fixed piece of work " * 8, "evidence": [{"quote": str(n)} for n in range(20)]})
        table.executemany("INSERT INTO rows (body) VALUES (?)", [(body,)] * 50)
        for (found,) in table.execute("SELECT body FROM rows ORDER BY id DESC").fetchall():
            json.loads(found)
    return time.process_time() - begin


def _daily() -> Iterator[Day]:
    for day, lines in enumerate(days(11, START, 100_000)):
        yield START + timedelta(days=day + 1), lines


def _endless() -> Iterator[Day]:
    """Somebody who says something every ten minutes, day and night, for ever; work runs after every tenth message."""
    random, at, said = Random(11), START, 0
    while True:
        lines = []
        for _ in range(10):
            at += timedelta(minutes=random.uniform(1, 20))
            lines.append((at, "user" if said % 2 == 0 else "assistant", line(random, said % 2 == 0, (at - START).days)))
            said += 1
        yield at, lines


def _row(store: tenuto.Tenuto, said: int, spent: Step) -> dict[str, float]:
    with store.deps.store.reading("ana") as reader:
        memories, summaries = reader.count(Memory), reader.count(Summary)
    most = statistics.quantiles(spent.observed, n=20)[18]
    per = 1e3 / len(spent.observed)
    kinds = {kind: seconds * per for kind, seconds in spent.by_kind.most_common()}
    kinds["jobs"] = spent.worked * per - sum(kinds.values())
    row = {"observe": statistics.median(spent.observed) * 1e3, "background": spent.worked * per, **kinds}
    row["fixed"] = statistics.mean(spent.fixed) * 1e3
    row["rows"], row["entries"] = spent.rows / len(spent.observed), spent.entries / len(spent.observed)
    print(
        f"{said:>7,} messages, {memories:,} memories, {summaries:,} summaries: observe {row['observe']:.2f} ms "
        f"(p95 {most * 1e3:.2f}), background {row['background']:.2f} ms per message\n        "
        + "  ".join(f"{kind} {cost:.2f}" for kind, cost in kinds.items())
        + f"; the fixed work {row['fixed']:.2f}\n        "
        f"{row['rows']:.1f} rows read and {row['entries']:.2f} entries taken per message",
        flush=True,
    )
    return row


def _summary(rows: list[dict[str, float]]) -> None:
    if len(rows) < 2:
        return
    first, last = rows[0], rows[-1]
    rest = [row["background"] - row.get("digest", 0.0) for row in rows]
    slower = last["fixed"] / first["fixed"]
    for what, by in (("last step over first", 1.0), (f"the same beside the fixed work ({slower:.2f})", slower)):
        print(
            f"{what}: observe {last['observe'] / first['observe'] / by:.2f}, "
            f"background {last['background'] / first['background'] / by:.2f}, "
            f"without the digest {rest[-1] / rest[0] / by:.2f}"
        )
    print(f"rows read {last['rows'] / first['rows']:.2f}, entries taken {last['entries'] / first['entries']:.2f}")
