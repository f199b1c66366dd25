"""Row 10: what is left of a user after erasing, in every file there is."""

from __future__ import annotations

import logging
import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any
from unittest import mock

import psycopg
import redis

import tenuto
from tenuto.errors import NotFound
from tenuto.privacy.erase import Proof
from tenuto.privacy.ring import Keyring
from tenuto.storage import sqlite
from tenuto.storage.backup import backup, restore
from tenuto.testing.fakes import FakeClock, FakeEmbedder, FakeTokens
from tests.reliability.scorecard import Measured, Work, row
from tests.reliability.spelled import spelled
from tests.servers import Postgres, Valkey

FORGETTING = {"wal_recycle": "off", "min_wal_size": "32MB", "autovacuum": "off"}
"""A server that removes its old log files instead of writing over them some day."""
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


def counted(user: str, data: list[bytes]) -> dict[str, int]:
    """By place: how often a mark of the user is in there."""
    found = {}
    begins = [form for word in (f"Zq{user}", f"zq{user}") for form in (word.encode(), word.encode("utf-16-le"))]
    data = [one for one in data if any(form in one for form in begins)]
    for place in PLACES:
        words = {mark(user, place), mark(user, place).lower()}
        forms = [form for word in words for form in (word.encode(), word.encode("utf-16-le"))]
        if count := sum(one.count(form) for one in data for form in forms):
            found[place] = count
    return found


def files(user: str, *folders: Path) -> dict[str, int]:
    return counted(user, [path.read_bytes() for folder in folders for path in folder.rglob("*") if path.is_file()])


def cached(user: str, cache: Valkey) -> dict[str, int]:
    with redis.Redis(port=cache.port) as client:
        return counted(user, [client.dump(key) or b"" for key in client.scan_iter("*")])


def logged_by_whom(store: tenuto.Tenuto, user: str) -> dict[str, int]:
    """Marks in the audit logs: the operator's, everybody's, and those that erased users left."""
    told = [*store.audit(limit=10**6), *store.user("ben").audit(limit=10**6), *store.user("ana").audit(limit=10**6)]
    for chain in store.deps.store.orphans("", 1000):
        with store.deps.store.reading(chain.holder) as reader:
            told += reader.last_links(None, 10**6)
    assert told, "there is no audit log to look at"
    return counted(user, [spelled(one).encode() for one in told])


def exported(store: tenuto.Tenuto, folder: Path) -> dict[str, int]:
    """Marks of ana in what can be exported now, of anybody and in every form; and nothing else is left by exporting."""
    folder.mkdir()
    for user in ("ana", "ben"):
        for ending in ("jsonl", "json", "md"):
            with suppress(NotFound):
                store.user(user, persona="coach").export(folder / f"{user}.{ending}")
    assert all(path.stem == "ben" for path in folder.iterdir()), "something was exported of ana, or left half"
    found = files("ana", folder)
    shutil.rmtree(folder)
    return found


@contextmanager
def logging_to(path: Path) -> Iterator[None]:
    """Everything that any part says while it works, in full detail, in a file."""
    handler, root = logging.FileHandler(path, encoding="utf-8"), logging.getLogger()
    before = root.level
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    try:
        yield
    finally:
        root.setLevel(before)
        root.removeHandler(handler)
        handler.close()


def erase_on(work: Work, mode: str) -> tuple[int, str]:
    """Plant, copy, erase, look. (what went wrong, in words)"""
    folder = work.folder / mode.replace(" ", "-")
    (folder / "safe").mkdir(parents=True)
    with ExitStack() as stack:
        cache = stack.enter_context(Valkey())
        server = stack.enter_context(Postgres(options=FORGETTING)) if "PostgreSQL" in mode else None
        stack.enter_context(logging_to(work.folder / f"{folder.name}.log"))
        wrong = erased_from(folder, mode, cache, server)
    said = counted("ana", [(work.folder / f"{folder.name}.log").read_bytes()])
    wrong += [f"in the logs: {said}"] if said else []
    return len(wrong), f"{mode}: {'; '.join(wrong) or 'nothing left'}"


def erased_from(folder: Path, mode: str, cache: Valkey, server: Postgres | None) -> list[str]:
    clock, sealed = FakeClock(), "sealed" in mode
    keys = f"file:{folder / 'safe' / 'key'}" if sealed else None
    url = server.fresh_database() if server else str(folder / "tenuto.db")
    folders = [folder, *([server.data] if server else [])]
    copied = folder / "copies" / "before.db"
    with tenuto.open(url, keys=keys, clock=clock, redis=cache.url(), **OPTIONS) as store:
        for user in ("ana", "ben"):
            plant(store, user, clock)
        before = files("ana", *folders) | cached("ana", cache)
        wrong = [] if sealed or len(before) == len(PLACES) else [f"planted only {sorted(before)}"]
        wrong += [f"readable although sealed: {before}"] if sealed and before else []
        if not server:
            copied.parent.mkdir()
            backup(Path(url), copied)
        proof = store.user("ana").erase()
        wrong += [] if proof.complete is (sealed or not server) and not any(proof.left.values()) else ["not proven"]
        if server and not sealed:
            wrong += clean_up(store, server, proof)
        elif not sealed:
            copied.unlink()
        looked = {
            "files": files("ana", *folders),
            "cache": cached("ana", cache),
            "audit": logged_by_whom(store, "ana"),
            "exports": exported(store, folder / "exports"),
        }
        wrong += [f"left in {where}: {found}" for where, found in looked.items() if found]
        ben = store.user("ben", persona="coach")
        wrong += [] if len(ben.messages(limit=100)) == 25 and ben.recall("boat") else ["ben is not whole"]
        wrong += [] if "ben" not in str(store.user("ana").memories(status="*")) else ["ana sees ben"]
    wrong += [f"left when closed: {found}"] if (found := files("ana", *folders)) else []
    wrong += [] if sealed or files("ben", *folders) else ["ben's marks are gone"]
    return wrong + (old_copy(copied, keys, clock) if copied.exists() else [])


def clean_up(store: tenuto.Tenuto, server: Postgres, proof: Proof) -> list[str]:
    """Without keys a server keeps deleted rows: the proof says where, and there they are until its operator has cleaned up."""
    with psycopg.connect(server.url(), autocommit=True) as raw:
        raw.execute("CHECKPOINT")
        kept = files("ana", server.data / "base") and files("ana", server.data / "pg_wal")
        wrong = [] if kept and len(proof.elsewhere) == 4 else ["the proof names places that hold nothing"]
        wrong += [] if store.deps.store.compact(thorough=True) else ["the tables were not written anew"]
        wrong += [f"left in tables: {found}"] if (found := files("ana", server.data / "base")) else []
        for _ in range(2):
            raw.execute("SELECT pg_switch_wal()")
            raw.execute("CHECKPOINT")
    return wrong


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


MODES = ("SQLite plain", "SQLite sealed", "PostgreSQL sealed", "PostgreSQL plain, tables and log cleaned up")
SEARCHED = (
    "every file of the store with its log, index, vectors and backups; Redis; the audit logs; exports; what was logged"
)


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
        words=f"{len(PLACES)} kinds of text in {SEARCHED}: " + ", ".join(said for _, said in found),
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


@residue.control("somebody logs what was said")
def said_aloud(work: Work) -> Measured:
    observe = tenuto.UserMemory.observe

    def chatty(self: tenuto.UserMemory, text: str, **more: Any) -> Any:
        logging.getLogger("tenuto").debug("observed %s", text)
        return observe(self, text, **more)

    with mock.patch.object(tenuto.UserMemory, "observe", chatty):
        bad, words = erase_on(work, "SQLite sealed")
    return Measured(done=1, bad=bad, words=words)
