"""Rows 31 and 32: imports, curation, backups, restores and key rotations that are killed in the middle."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import apsw

import tenuto
from tenuto.errors import TenutoError
from tenuto.privacy.vault import SealedVault
from tenuto.records.memory import Memory
from tenuto.storage.backup import backup, restore
from tenuto.testing.fakes import FakeEmbedder, FakeTokens
from tests import servers
from tests.reliability.disk import Faults, in_use
from tests.reliability.rows.upgrades import Deadly
from tests.reliability.scorecard import Measured, Work, row

OPTIONS: dict[str, Any] = {"embedder": FakeEmbedder(), "tokens": FakeTokens(), "background": False}
LINES = 120
"""Messages of the file that is imported, in several batches."""

# --- 31 ---------------------------------------------------------------------------------------------------------------


def import_lines(path: Path) -> None:
    with tenuto.open(path, **OPTIONS) as store:
        store.user("ana").import_file(path.with_name("talk.jsonl"), extract=False)


def curate(path: Path) -> None:
    with tenuto.open(path, **OPTIONS) as store:
        store.user("ana").curate()


def back_up(path: Path) -> None:
    if not path.with_name("copy.db").exists():
        backup(path, path.with_name("copy.db"))


def bring_back(path: Path) -> None:
    if not path.with_name("back.db").exists():
        restore(path.with_name("kept.db"), path.with_name("back.db"))


SCENARIOS: dict[str, tuple[Callable[[Path], None], str]] = {
    "import": (import_lines, "live.db"),
    "curate": (curate, "live.db"),
    "backup": (back_up, "copy.db"),
    "restore": (bring_back, "back.db"),
}
"""By name: what is done, and the file that it must leave whole."""


def template(folder: Path) -> Path:
    """A store with things to curate, a file to import, and a copy to bring back."""
    place = folder / "template"
    place.mkdir()
    with tenuto.open(place / "live.db", **OPTIONS) as store:
        ana = store.user("ana")
        for number in range(8):
            ana.remember(f"Ana likes walking in the hills, part {number % 2}", importance=3)
            ana.observe(f"Message {number}: my dad is allergic to penicillin.", id=f"own{number}")
        store.settle()
    backup(place / "live.db", place / "kept.db")
    talk = [
        {"id": f"line{number}", "role": "user", "content": f"Line {number}.", "at": f"2026-01-01T00:{number // 60:02}:{number % 60:02}Z"}
        for number in range(LINES)
    ]  # fmt: skip
    (place / "talk.jsonl").write_text("\n".join(json.dumps(line) for line in talk), encoding="utf-8")
    return place


def in_a_child(run: Callable[[Path], None], path: Path, point: int) -> tuple[bool, int]:
    """Run in a child that ends at its ``point``-th operation on the disk (0: never): was it killed, how many it did."""
    counted = path.with_name("counted")
    child = os.fork()
    if child == 0:
        try:
            with in_use(Deadly if point else Faults) as disk:
                disk.arm(point, for_ever=False, error=apsw.IOError)
                run(path)
                counted.write_text(str(disk.count))
        finally:
            os._exit(0)
    ended = os.waitpid(child, 0)[1]
    return os.WIFSIGNALED(ended), int(counted.read_text()) if counted.exists() else 0


def content(path: Path) -> dict[str, Any]:
    """What is known, without ids and times; and whether the store and its log are whole."""
    with tenuto.open(path, **OPTIONS) as store:
        wrong = [*store.check(), *store.verify_audit().problems]
        with store.deps.store.reading("ana") as reader:
            memories = sorted((one.content, one.status.value) for one in reader.find(Memory))
        messages = sorted((one.at, one.content) for one in store.user("ana").messages(limit=1000))
        return {"wrong": wrong, "messages": messages, "memories": memories}


def kill_in_the_middle(work: Work, spoil: Callable[[Path], None] | None = None) -> Measured:
    """Kill each scenario at points spread over its operations; run it again to the end; compare with an undisturbed one."""
    place, expected, plan = template(work.folder), {}, []
    for name, (run, file) in SCENARIOS.items():
        whole = laid_out(work.folder, f"{name}-whole", place)
        _, operations = in_a_child(run, whole, 0)
        expected[name] = content(whole.with_name(file))
        plan.append((name, operations))
    dice, wrong, kills = random.Random(4), 0, 0
    for number in work:
        name, operations = plan[number % len(plan)]
        run, file = SCENARIOS[name]
        path = laid_out(work.folder, "killed", place)
        killed, _ = in_a_child(run, path, dice.randrange(1, max(2, operations)))
        kills += killed
        if spoil is not None:
            spoil(path.with_name(file))
        in_a_child(run, path, 0)
        try:
            same = content(path.with_name(file)) == expected[name]
        except (TenutoError, OSError):
            same = False
        wrong += not same
    points = ", ".join(f"{name} {operations}" for name, operations in plan)
    return Measured(done=work.done, bad=wrong, words=f"{wrong} differ after {kills} kills (operations: {points})")


def laid_out(folder: Path, name: str, place: Path) -> Path:
    shutil.rmtree(folder / name, ignore_errors=True)
    shutil.copytree(place, folder / name)
    return folder / name / "live.db"


@row(
    31,
    "400 `kill -9` at points of an import, a curation, a backup and a restore: run again they end as if undisturbed, nothing lost, "
    "nothing twice, no half file under the final name",
    unit="kills",
    full=400,
    gate=4,
    share=2,
)
def interrupted(work: Work) -> Measured:
    return kill_in_the_middle(work)


@interrupted.control("a half file under the final name, or rows lost on the way")
def spoiled(work: Work) -> Measured:
    def spoil(path: Path) -> None:
        if path.name == "live.db":
            raw = apsw.Connection(str(path))
            raw.execute("DELETE FROM messages WHERE id = (SELECT max(id) FROM messages)")
            raw.close()
        else:
            path.write_bytes(path.with_name("live.db").read_bytes()[:9000])

    return kill_in_the_middle(work.part(4, "spoiled"), spoil)


# --- 32 ---------------------------------------------------------------------------------------------------------------


def rotate(url: str, keys: str, ready: int, hasty: bool) -> None:
    """In a child: give the user new keys until the end; ``hasty`` destroys the old one before everything is sealed."""
    with tenuto.open(url, keys=keys, **OPTIONS) as store:
        vault = store.deps.vault
        assert isinstance(vault, SealedVault)
        os.write(ready, b".")
        while True:
            if hasty:
                version = vault.ring.add_version("ana")
                vault.ring.drop_versions("ana", version)
            store.rotate("ana")


def rotate_and_kill(work: Work, url: str, *, hasty: bool = False) -> Measured:
    """A child rotates and is killed, while this process goes on writing with the keys that it knows."""
    keys = f"file:{work.folder / 'key'}"
    dice, lost, wrong, number = random.Random(3), 0, 0, 0
    with tenuto.open(url, keys=keys, **OPTIONS) as store:
        ana = store.user("ana")
        kept = {ana.observe("The first message.", id="first").message_id}
        for _ in work:
            read, ready = os.pipe()
            child = os.fork()
            if child == 0:
                try:
                    rotate(url, keys, ready, hasty)
                finally:
                    os._exit(0)
            os.read(read, 1)
            until = time.monotonic() + 0.05 + dice.random() * 0.3
            while time.monotonic() < until:
                try:
                    kept.add(ana.observe(f"Message {number} about apples.", id=f"m{number}").message_id)
                except TenutoError as error:
                    print(f"{error.code}: {error}", file=sys.stderr)
                    wrong += 1
                    break
                number += 1
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            os.close(read)
            os.close(ready)
    found: set[str] = set()
    with tenuto.open(url, keys=keys, **OPTIONS) as store:
        try:
            found = {message.id for message in store.user("ana").messages(limit=10**6)}
            wrong += len(store.verify_audit().problems)
        except TenutoError as error:
            print(f"{error.code}: {error}", file=sys.stderr)
    lost = len(kept - found)
    return Measured(done=work.done, bad=lost + wrong, words=f"{lost} of {len(kept):,} lost, {wrong} errors")


@row(
    32,
    "200 `kill -9` during key rotation on SQLite and PostgreSQL while another process writes: everything opens, 0 lost",
    unit="kills",
    full=200,
    gate=4,
)
def rotations(work: Work) -> Measured:
    half = work.count // 2
    file = work.part(work.count - half, "sqlite", 0.5)
    with_file = rotate_and_kill(file, str(file.folder / "a.db"))
    on_server = rotate_and_kill(work.part(half, "postgres"), servers.fresh_database())
    return Measured(
        done=with_file.done + on_server.done,
        bad=with_file.bad + on_server.bad,
        words=f"SQLite: {with_file.words}; PostgreSQL: {on_server.words}",
    )


@rotations.control("the old key destroyed before everything is sealed with the new one")
def hasty_rotation(work: Work) -> Measured:
    part = work.part(2, "hasty")
    return rotate_and_kill(part, str(part.folder / "a.db"), hasty=True)
