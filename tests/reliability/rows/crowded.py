"""Rows 33 to 35: many threads on one store, a long life with flat memory, and a very long import."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any
from unittest import mock

import psutil

import tenuto
from tenuto.errors import TenutoError
from tenuto.records.base import evolve
from tenuto.records.conversation import Message
from tenuto.testing.fakes import FakeEmbedder, FakeTokens
from tenuto.transfer import take_in
from tests.reliability.scorecard import Measured, Work, row

OPTIONS: dict[str, Any] = {"embedder": FakeEmbedder(), "tokens": FakeTokens()}
ROOT = Path(__file__).parents[3]
THREADS = 32

# --- 33 ---------------------------------------------------------------------------------------------------------------


def bump(store: tenuto.Tenuto, user: str, *, together: bool) -> None:
    """Count one up in the user's settings: in one transaction, or (broken) read in one and written in another."""
    with store.deps.store.writing(user) as tx:
        known = tx.profile()
        if together and known is not None:
            tx.set_user(evolve(known, settings={"counted": known.settings.get("counted", 0) + 1}))
    if not together and known is not None:
        time.sleep(0.001)
        with store.deps.store.writing(user) as tx:
            tx.set_user(evolve(known, settings={"counted": known.settings.get("counted", 0) + 1}))


def talk(store: tenuto.Tenuto, number: int, turns: int, told: Counter[str], *, together: bool) -> None:
    """What one thread does: every verb of a conversation, on a user that it shares with others."""
    user = store.user(f"user{number % 4}", persona=f"persona{number % 3}")
    dice = random.Random(number)
    for turn in range(turns):
        try:
            user.observe(f"Message {number}-{turn}: my dad likes apples.", id=f"{number}-{turn}")
            told["observed"] += 1
            bump(store, user.id, together=together)
            user.recall("apples", limit=3)
            if dice.random() < 0.2:
                kept = user.remember(f"Likes walk number {number}-{turn}").memory
                user.forget(kept.id)
            if dice.random() < 0.1:
                user.context("What does dad like?", budget=500)
        except TenutoError as error:
            told[f"error {error.code}"] += 1


def crowd(work: Work, *, together: bool = True) -> Measured:
    """So many turns of 32 threads; afterwards everything that was told is there once, and the log fits the rows."""
    turns, told = max(1, work.count // THREADS), Counter[str]()
    with tenuto.open(work.folder / "a.db", **OPTIONS) as store:
        for number in range(4):
            store.user(f"user{number}").observe("Hello.", id="first")
        threads = [
            threading.Thread(target=talk, args=(store, number, turns, told), kwargs={"together": together})
            for number in range(THREADS)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        store.settle(120)
        found = counted = 0
        for number in range(4):
            with store.deps.store.reading(f"user{number}") as reader:
                found += len({message.external_id for message in reader.find(Message)} - {"first"})
                profile = reader.profile()
                counted += profile.settings.get("counted", 0) if profile else 0
        problems = [*store.check(), *store.verify_audit().problems]
        failed = len(store.jobs("failed"))
    errors = sum(count for name, count in told.items() if name.startswith("error"))
    lost = told["observed"] - found + told["observed"] - counted
    return Measured(
        done=told["observed"] + errors,
        bad=abs(lost) + errors + len(problems) + failed,
        words=f"{lost} of {told['observed']} lost, {errors} errors, {failed} failed jobs, {len(problems)} problems",
    )


@row(
    33,
    "32 threads on one store: every verb, 4 shared users, 0 errors, 0 lost updates, store and audit log whole",
    unit="turns",
    full=3200,
    gate=64,
)
def many_threads(work: Work) -> Measured:
    return crowd(work)


@many_threads.control("a counter that is read in one transaction and written in another")
def lost_updates(work: Work) -> Measured:
    return crowd(work.part(64, "lost"), together=False)


# --- 34 ---------------------------------------------------------------------------------------------------------------

SAMPLES = 60
"""Looks at the memory of a full run: one a minute in an hour."""
GROWTH = 24
"""Megabytes by which the last third may be above the one before."""


def live(work: Work, how: str = "right") -> Measured:
    """Talk, recall and erase in a child for ``count`` seconds; its memory at regular intervals must not rise."""
    command = [sys.executable, "-m", "tests.reliability.soak", str(work.folder / "a.db"), str(work.count), how]
    child = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    assert child.stdout.readline() == "warm\n"
    every, memory = max(0.5, min(60.0, work.count / 6)), [psutil.Process(child.pid).memory_info().rss / 2**20]
    while child.poll() is None:
        try:
            child.wait(every)
        except subprocess.TimeoutExpired:
            memory.append(psutil.Process(child.pid).memory_info().rss / 2**20)
            print(f"{len(memory) * every:6.0f} s  {memory[-1]:7.1f} MB", flush=True)
    said = json.loads(child.stdout.read() or '{"turns": 0, "errors": 1}')
    third = max(1, len(memory) // 3)
    before, after = max(memory[third : 2 * third] or memory[:1]), max(memory[-third:])
    grown = after - before
    return Measured(
        done=work.count,
        bad=said["errors"] + int(grown > GROWTH) + int(child.returncode != 0),
        words=f"{said['turns']:,} turns, {said['errors']} errors; memory {memory[0]:.0f} → {memory[-1]:.0f} MB, "
        f"{grown:+.0f} from the second third to the last",
    )


@row(
    34,
    "an hour of talk, recall, context and erasure: memory flat (RSS is printed every minute), 0 errors",
    unit="seconds",
    full=3600,
    gate=4,
    share=2,
)
def soak(work: Work) -> Measured:
    return live(work)


@soak.control("a process that keeps something of every turn")
def hoarding(work: Work) -> Measured:
    return live(work.part(6, "hoard"), "leaky")


# --- 35 ---------------------------------------------------------------------------------------------------------------

ROOM = 256
"""Megabytes that a long import may take beyond what the process had."""


def long_file(path: Path, lines: int) -> None:
    with path.open("w", encoding="utf-8") as file:
        for number in range(lines):
            day, second = divmod(number, 86_400)
            at = f"20{10 + day // 336:02}-{1 + day // 28 % 12:02}-{1 + day % 28:02}T{second // 3600:02}:{second // 60 % 60:02}:{second % 60:02}Z"
            line = {
                "id": f"l{number}",
                "role": "user" if number % 2 else "assistant",
                "content": f"Line {number} about apples.",
            }
            file.write(json.dumps({**line, "at": at}) + "\n")  # fmt: skip


def long_import(work: Work) -> Measured:
    """Import ``count`` lines; all of them are there once, and memory stays within bounds."""
    path, process = work.folder / "talk.jsonl", psutil.Process()
    long_file(path, work.count)
    before, peak, stop = process.memory_info().rss, [0], threading.Event()

    def watch() -> None:
        while not stop.wait(0.1):
            peak[0] = max(peak[0], process.memory_info().rss)

    watcher = threading.Thread(target=watch)
    watcher.start()
    begun = time.monotonic()
    with tenuto.open(work.folder / "a.db", background=False, **OPTIONS) as store:
        store.user("ana").import_file(path, extract=False)
        took = time.monotonic() - begun
        stop.set()
        watcher.join()
        found = int(store.user("ana").stats()["total_messages"])
        problems = [*store.check(), *store.verify_audit().problems]
    grown = max(0, peak[0] - before) / 2**20
    return Measured(
        done=work.count,
        bad=abs(work.count - found) + int(grown > ROOM) + len(problems),
        words=f"{work.count - found} of {work.count:,} lines missing, {work.count / took:,.0f} lines/s, +{grown:.0f} MB at most",
    )


@row(
    35,
    f"a million-line import: every line once, at most {ROOM} MB more memory, store and audit log whole",
    unit="lines",
    full=1_000_000,
    gate=2000,
    share=2,
)
def million_lines(work: Work) -> Measured:
    return long_import(work)


@million_lines.control("an import that drops a line of each batch")
def dropping(work: Work) -> Measured:
    datable = take_in._datable

    def careless(said: Any, now: Any, deps: Any) -> Any:
        kept, late = datable(said, now, deps)
        return kept[1:], late

    with mock.patch.object(take_in, "_datable", careless):
        return long_import(work.part(1000, "dropped"))
