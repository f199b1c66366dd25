"""Rows 1 to 3: processes that are killed, power that is cut, disks that fail."""

from __future__ import annotations

import itertools
import json
import random
import shutil
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import apsw

import tenuto
from tenuto.errors import StoreError, TenutoError
from tenuto.ports import Where
from tenuto.records.conversation import Message
from tenuto.records.operations import Event, Receipt
from tenuto.storage.backup import backup, restore
from tenuto.storage.sqlite import SqliteConnection, SqliteEngine
from tenuto.testing.fakes import FakeEmbedder, FakeTokens
from tests.reliability.disk import Cuts, Faults, Recorder, in_use
from tests.reliability.scorecard import Measured, Work, row

OPTIONS: dict[str, Any] = {"embedder": FakeEmbedder(), "tokens": FakeTokens(), "background": False}
WRITER = Path(__file__).parents[1] / "writer.py"
FIXTURE = Path(__file__).parents[2] / "migrations" / "data" / "0.1.0.db"
BATCH = 50
"""Kills between two looks at the store."""


def examine(path: Path) -> tuple[set[str], list[str]]:
    """(external ids of the messages, what is wrong) of a store after something happened to it."""
    try:
        with tenuto.open(path, **OPTIONS) as store:
            wrong = store.check()
            with store.deps.store.reading("ana") as reader:
                messages = reader.find(Message)
                counts = (len(reader.entries_since(0, 10**6)), len(messages), reader.count(Receipt))
                observed = reader.count(Event, Where("kind", "=", "message.observed"))
            wrong += [] if len({*counts, observed}) == 1 else [f"half written: {counts}, {observed}"]
            jobs = [job.kind for job in store.jobs(user="ana", limit=10**6)]
            wrong += [] if not messages or jobs.count("digest") == len(messages) else ["a job is missing"]
            return {str(message.external_id) for message in messages}, wrong
    except TenutoError as error:
        return set(), [f"it does not open: {error}"]


# --- 1: kill -9 -------------------------------------------------------------------------------------------------------


def kill(work: Work, how: str) -> Measured:
    """Kill a writer again and again; compare what it acknowledged with what is there."""
    path = work.folder / f"{how}.db"
    acknowledged: set[str] = set()
    lost, wrong, done = 0, 0, 0
    while done < work.count and not work.over:
        batch = min(BATCH, work.count - done)
        command = [sys.executable, str(WRITER), str(path), str(batch), how, str(done)]
        ended = subprocess.run(command, capture_output=True, text=True, check=True)
        acknowledged |= set(json.loads(ended.stdout))
        found, problems = examine(path)
        lost = len(acknowledged - found)
        wrong += len(problems)
        done += batch
    return Measured(
        done=done, bad=lost + wrong, words=f"{lost} of {len(acknowledged):,} acknowledged lost, {wrong} wrong"
    )


@row(
    1,
    "0 acknowledged writes lost, 0 half-written, integrity ok in 1,000 `kill -9` cycles, through the library and the server",
    unit="kills",
    full=1000,
    gate=8,
    share=3,
)
def kills(work: Work) -> Measured:
    share = work.count // 4
    server = kill(work.part(share, "server", 0.5), "server")
    library = kill(work.part(work.count - share, "library"), "honest")
    return Measured(
        done=library.done + server.done,
        bad=library.bad + server.bad,
        words=f"library: {library.words} ({library.done}); server: {server.words} ({server.done})",
    )


@kills.control("acknowledge before commit")
def hasty(work: Work) -> Measured:
    return kill(work.part(5, "hasty"), "hasty")


# --- 2: power cuts ----------------------------------------------------------------------------------------------------


def record(folder: Path, messages: int) -> list[Any]:
    """Write messages on a disk that remembers everything, and note each acknowledgement."""
    with in_use(Recorder) as disk:
        with tenuto.open(folder / "live.db", **OPTIONS) as store:
            ana = store.user("ana")
            for number in range(messages):
                ana.observe(f"Message {number} about apples. " * (1 + number % 5), id=f"m{number}")
                disk.note(f"m{number}")
        return list(disk.steps)


def cut(work: Work, messages: int) -> Measured:
    steps = record(work.folder, messages)
    dice = random.Random(11)
    first = next(number for number, step in enumerate(steps) if step.what == "note")
    moments = sorted(dice.randrange(first, len(steps)) for _ in range(work.count))
    cuts = Cuts(steps, dice)
    lost, corrupt = 0, 0
    for number in work:
        cuts.until(moments[number])
        folder = work.folder / "after"
        folder.mkdir()
        cuts.write(folder)
        found, problems = examine(folder / "live.db")
        lost += bool(set(cuts.notes) - found)
        corrupt += bool(problems)
        shutil.rmtree(folder)
    checkpoints = sum(step.what == "sync" and step.name == "live.db" for step in steps)
    return Measured(
        done=work.done,
        bad=lost + corrupt,
        words=f"acknowledged rows lost in {lost} cuts, damage in {corrupt} ({messages} writes, {checkpoints} checkpoints)",
    )


@row(
    2,
    "0 lost, 0 corrupt in 500 simulated power cuts (a file system that drops unsynced writes)",
    unit="cuts",
    full=500,
    gate=25,
    share=2,
)
def power_cuts(work: Work) -> Measured:
    return cut(work, 300 if work.count > 100 else 120)


@power_cuts.control("synchronous=NORMAL")
def normal(work: Work) -> Measured:
    connect = SqliteEngine._connect

    def careless(self: SqliteEngine) -> SqliteConnection:
        connection = connect(self)
        connection.raw.execute("PRAGMA synchronous = NORMAL")
        return connection

    SqliteEngine._connect = careless  # type: ignore[method-assign]
    try:
        return cut(work, 120)
    finally:
        SqliteEngine._connect = connect  # type: ignore[method-assign]


# --- 3: a fault at every I/O point ------------------------------------------------------------------------------------


def prepare(folder: Path) -> Path:
    """A store with two people, as the scenarios find it."""
    path = folder / "template.db"
    with tenuto.open(path, **OPTIONS) as store:
        for user in ("ana", "ben"):
            for number in range(4):
                store.user(user).observe(
                    f"{user} says {number}: my dad is allergic to penicillin.", id=f"{user}{number}"
                )
    return path


def ingest(path: Path, claimed: set[str]) -> None:
    with tenuto.open(path, **OPTIONS) as store:
        for number in range(2):
            store.user("ana").observe(f"A new message, number {number}, about pears.", id=f"new{number}")
            claimed.add(f"new{number}")


def erase(path: Path, claimed: set[str]) -> None:
    with tenuto.open(path, **OPTIONS) as store:
        proof = store.user("ben").erase()
        if proof.complete:
            claimed.add("erased")


def upgrade(path: Path, claimed: set[str]) -> None:
    tenuto.open(path, **OPTIONS).close()
    claimed.add("upgraded")


def copy(path: Path, claimed: set[str]) -> None:
    backup(path, path.with_name("copy.db"))
    claimed.add("copied")


def bring_back(path: Path, claimed: set[str]) -> None:
    restore(path.with_name("kept.db"), path.with_name("back.db"))
    claimed.add("restored")


SCENARIOS: dict[str, Callable[[Path, set[str]], None]] = {
    "ingest": ingest,
    "erase": erase,
    "migrate": upgrade,
    "backup": copy,
    "restore": bring_back,
}


def swallowing(scenario: Callable[[Path, set[str]], None]) -> Callable[[Path, set[str]], None]:
    """The broken variant: whatever goes wrong, it says that all is done."""

    def careless(path: Path, claimed: set[str]) -> None:
        with suppress(Exception):
            scenario(path, claimed)
        claimed.update({"new0", "new1", "erased", "upgraded", "copied", "restored"})

    return careless


def judge(name: str, folder: Path, claimed: set[str]) -> list[str]:
    """What is wrong after a fault: something claimed that is not so, or something half done."""
    path = folder / "live.db"
    if name == "migrate":
        with tenuto.open(path, **OPTIONS) as store:
            return store.check() + ([] if store.users() else ["the users are gone"])
    found, wrong = examine(path)
    old = {f"ana{number}" for number in range(4)}
    wrong += [f"lost {sorted(old - found)}"] if not old <= found else []
    if name == "ingest":
        wrong += [f"claimed and lost: {sorted(claimed - found)}"] if not claimed & {"new0", "new1"} <= found else []
    with tenuto.open(path, **OPTIONS) as store:
        ben = store.user("ben").stats()["total_messages"]
        if name == "erase" and "erased" in claimed:
            leaks = b"ben says" in path.read_bytes()
            wrong += ["claimed erased and is there"] if ben or leaks else []
        elif ben not in (0, 4) or (name != "erase" and ben != 4):
            wrong.append(f"ben is half there: {ben}")
    for copy, claim in (("copy.db", "copied"), ("back.db", "restored")):
        there = (folder / copy).exists()
        if there and (name, claim) in (("backup", "copied"), ("restore", "restored")):
            found, problems = examine(folder / copy)
            wrong += problems + ([] if old <= found else ["the copy lacks something"])
        elif claim in claimed and (name, claim) in (("backup", "copied"), ("restore", "restored")):
            wrong.append(f"claimed {claim}, and there is nothing")
    return wrong


def inject(work: Work, break_: bool = False) -> Measured:
    """Every I/O point of every scenario, with a full and a broken disk, once and for ever."""
    template, kept = prepare(work.folder), work.folder / "kept.db"
    backup(template, kept)
    bad, unclear, points, faults = 0, 0, {}, []
    with in_use(Faults) as disk:
        for name, scenario in SCENARIOS.items():
            disk.arm(0, for_ever=False, error=apsw.FullError)
            folder = lay_out(work.folder, name, template, kept)
            scenario(folder / "live.db", set())
            points[name] = disk.count
            faults += itertools.product([name], range(1, disk.count + 1), (False, True), (apsw.FullError, apsw.IOError))
        if work.count < len(faults):
            random.Random(5).shuffle(faults)
        work.count = min(work.count, len(faults))
        for number in work:
            name, at, for_ever, error = faults[number]
            folder = lay_out(work.folder, name, template, kept)
            claimed: set[str] = set()
            disk.arm(at, for_ever=for_ever, error=error)
            try:
                (swallowing(SCENARIOS[name]) if break_ else SCENARIOS[name])(folder / "live.db", claimed)
            except StoreError:
                pass
            except (apsw.Error, OSError) as raw:
                unclear += 1
                print(f"{name} at {at}: {type(raw).__name__} reached the caller: {raw}", file=sys.stderr)
            finally:
                disk.disarm()
            if wrong := judge(name, folder, claimed):
                bad += 1
                print(f"{name} at {at} {'for ever' if for_ever else 'once'} {error.__name__}: {wrong}", file=sys.stderr)
    listed = ", ".join(f"{name} {count}" for name, count in points.items())
    return Measured(
        done=work.done,
        bad=bad + unclear,
        words=f"{bad} lost or half, {unclear} errors that are not Tenuto's (points: {listed})",
    )


def lay_out(folder: Path, name: str, template: Path, kept: Path) -> Path:
    place = folder / "fault"
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    shutil.copy(FIXTURE if name == "migrate" else template, place / "live.db")
    if name == "restore":
        shutil.copy(kept, place / "kept.db")
    return place


@row(
    3,
    "0 lost or half over every I/O point × {once, for ever} × {full, broken disk} of ingest, erase, migrate, backup, restore "
    "(≥ 2,000 faults)",
    unit="faults",
    full=2000,
    gate=60,
    share=4,
)
def faults(work: Work) -> Measured:
    if work.count >= 2000:
        work.count = 10**9
    return inject(work)


@faults.control("swallow the exception")
def swallowed(work: Work) -> Measured:
    return inject(work.part(60, "swallowed"), break_=True)
