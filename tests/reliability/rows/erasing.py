"""Row 10: what is left of a user after erasing, in every file there is."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from unittest import mock

import redis

import tenuto
from tenuto.privacy.ring import Keyring
from tenuto.storage import sqlite
from tenuto.storage.backup import backup, restore
from tenuto.testing.fakes import FakeClock, FakeEmbedder, FakeTokens
from tests.reliability.scorecard import Measured, Work, row
from tests.servers import Postgres, Valkey

OPTIONS: dict[str, Any] = {"embedder": FakeEmbedder(), "tokens": FakeTokens(), "background": False}
PLACES = ["message", "thinking", "speaker", "metadata", "memory", "version", "summary", "todo", "entity", "variable"]


def mark(user: str, place: str) -> str:
    """A word that stands nowhere else."""
    return f"Zq{user}{place}Qz"


def plant(store: tenuto.Tenuto, user: str, clock: FakeClock) -> None:
    """A mark of the user wherever words are kept."""
    person = store.user(user, persona="coach")
    for turn in range(12):
        person.observe(
            f"My boat number {turn} is called {mark(user, 'message')}. I love {mark(user, 'summary')}.",
            thinking=f"I think of {mark(user, 'thinking')}",
            speaker=mark(user, "speaker"),
            metadata={"note": mark(user, "metadata")},
        )
        person.observe(f"Understood, {mark(user, 'summary')}.", role="assistant")
    person.observe(f"My sister {mark(user, 'entity')} lives in Oslo. Remind me to call {mark(user, 'todo')} tomorrow.")
    memory = person.remember(f"I keep {mark(user, 'memory')} in the shed", pin=True)
    person.edit(memory.id, content=f"I keep {mark(user, 'version')} in the garage")
    person.edit(memory.id, content=f"I keep {mark(user, 'memory')} in the house")
    person.working.set("place", mark(user, "variable"))
    store.settle()
    clock.advance(hours=3)
    person.close_session()
    store.settle()


def left(user: str, folders: list[Path], cache: Valkey | None = None) -> dict[str, int]:
    """By place: how often a mark of the user is in any file, or in the cache."""
    data = [path.read_bytes() for folder in folders for path in folder.rglob("*") if path.is_file()]
    if cache is not None:
        with redis.Redis(port=cache.port) as client:
            data += [client.dump(key) or b"" for key in client.scan_iter("*")]
    found = {}
    for place in PLACES:
        words = {mark(user, place), mark(user, place).lower()}
        forms = [form for word in words for form in (word.encode(), word.encode("utf-16-le"))]
        if count := sum(one.count(form) for one in data for form in forms):
            found[place] = count
    return found


def erase_on(work: Work, mode: str) -> tuple[int, str]:
    """Plant, copy, erase, look. (what went wrong, in words)"""
    clock, folder = FakeClock(), work.folder / mode.replace(" ", "-")
    (folder / "safe").mkdir(parents=True)
    keys = f"file:{folder / 'safe' / 'key'}" if "sealed" in mode else None
    with Valkey() as cache, Postgres() as server:
        postgres = "PostgreSQL" in mode
        url = server.fresh_database() if postgres else str(folder / "tenuto.db")
        with tenuto.open(url, keys=keys, clock=clock, redis=cache.url(), **OPTIONS) as store:
            for user in ("ana", "ben"):
                plant(store, user, clock)
            folders = [folder, *([server.data] if postgres else [])]
            before = left("ana", folders, cache)
            wrong = [] if "sealed" in mode or len(before) == len(PLACES) else [f"planted only {sorted(before)}"]
            wrong += [f"readable although sealed: {before}"] if "sealed" in mode and before else []
            copied = folder / "copies" / "before.db"
            if not postgres:
                copied.parent.mkdir()
                backup(Path(url), copied)
            proof = store.user("ana").erase()
            after = left("ana", [path for path in folders if "sealed" in mode], cache) or seen_in(url, "ana", postgres)
            wrong += [] if proof.complete and not any(proof.left.values()) else [f"the proof says {proof.left}"]
            ben = store.user("ben", persona="coach")
            wrong += [] if len(ben.messages(limit=100)) == 25 and ben.recall("boat") else ["ben is not whole"]
            wrong += [] if "ben" not in str(store.user("ana").memories(status="*")) else ["ana sees ben"]
        if "sealed" not in mode and copied.exists():
            copied.unlink()
        after |= left("ana", folders, cache)
        wrong += [f"left: {after}"] if after else []
        wrong += [] if "sealed" in mode or left("ben", folders, cache) else ["ben's marks are gone"]
        if copied.exists():
            wrong += old_copy(copied, keys, clock)
    return len(wrong), f"{mode}: {'; '.join(wrong) or 'nothing left'}"


def seen_in(url: str, user: str, postgres: bool) -> dict[str, int]:
    """The same of an open store's own files: what erasing promised must hold before anything is closed."""
    files = [] if postgres else [Path(url), Path(f"{url}-wal")]
    data = b"".join(path.read_bytes() for path in files if path.exists())
    return {place: count for place in PLACES if (count := data.count(mark(user, place).encode()))}


def old_copy(copy: Path, keys: str | None, clock: FakeClock) -> list[str]:
    """A backup from before, with the keyring of now: ana's part must not open any more, ben's must."""
    again = copy.with_name("again.db")
    restore(copy, again)
    with tenuto.open(again, keys=keys, clock=clock, **OPTIONS) as store:
        try:
            found = store.user("ana").messages(limit=100)
        except tenuto.TenutoError:
            found = []
        whole = len(store.user("ben").messages(limit=100)) == 25
    return (["an old backup still opens"] if found else []) + ([] if whole else ["ben's backup does not open"])


MODES = ("SQLite plain", "SQLite sealed", "PostgreSQL sealed")


@row(
    10,
    "0 bytes of a user left after erase: database, WAL, index, vectors, versions, summaries, audit, jobs, logs, Redis, PostgreSQL "
    "files, exports, backups, old keys; other users intact",
    unit="stores",
    full=len(MODES),
    gate=len(MODES),
)
def residue(work: Work) -> Measured:
    found = [erase_on(work, MODES[number]) for number in work]
    return Measured(
        done=work.done,
        bad=sum(bad for bad, _ in found),
        words=f"{len(PLACES)} kinds of text; " + ", ".join(said for _, said in found),
    )


@residue.control("the log and the free pages are not emptied")
def not_compacted(work: Work) -> Measured:
    with mock.patch.object(sqlite.SqliteEngine, "compact", return_value=True):
        bad, words = erase_on(work, "SQLite plain")
    return Measured(done=1, bad=bad, words=words)


@residue.control("the key is not destroyed")
def key_kept(work: Work) -> Measured:
    with mock.patch.object(Keyring, "destroy", return_value=True):
        bad, words = erase_on(work, "SQLite sealed")
    return Measured(done=1, bad=bad, words=words)
