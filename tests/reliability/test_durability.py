"""Connections are durable; what was deleted is gone; a process ends when it should. Crashes are in ``rows/``."""

import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import tenuto
from tenuto.storage import sqlite
from tenuto.storage.backup import backup
from tenuto.testing.fakes import FakeEmbedder, FakeTokens

OPTIONS: dict[str, Any] = {"embedder": FakeEmbedder(), "tokens": FakeTokens(), "background": False}


def test_every_connection_is_durable_and_overwrites_what_it_deletes(tmp_path: Path):
    engine = sqlite.SqliteEngine(tmp_path / "tenuto.db")
    with engine.writing("") as writer, engine.reading("") as reader:
        for connection in (writer, reader):
            for pragma, value in (("synchronous", 2), ("secure_delete", 1), ("journal_mode", "wal")):
                assert connection.rows(f"PRAGMA {pragma}", {}) == [(value,)], pragma
    engine.close()


# --- erasing ----------------------------------------------------------------------------------------------------------

SECRET = "xylophone-4711"


def talked(path: Path) -> tenuto.Tenuto:
    store = tenuto.open(path, **OPTIONS)
    for user in ("ana", "ben"):
        for number in range(40):
            text = f"{SECRET} {user} {number} " + "and some more words " * (number % 7)
            store.user(user).observe(text, thinking=f"thinking of {SECRET} {user}", speaker=f"{user} {SECRET}")
    store.settle()
    return store


def left(path: Path, user: str) -> int:
    """How often the user's words are in any file of the database."""
    files = [path, Path(f"{path}-wal"), Path(f"{path}-shm")]
    return sum(file.read_bytes().count(f"{SECRET} {user}".encode()) for file in files if file.exists())


def test_erasing_a_user_leaves_no_byte_in_the_files(tmp_path: Path):
    path = tmp_path / "tenuto.db"
    with talked(path) as store:
        assert left(path, "ana") > 0
        proof = store.user("ana").erase()
        assert store.user("ana").verify_erasure(proof) == [] and left(path, "ana") == 0
        assert store.users() == ["ben"] and store.user("ben").stats()["total_messages"] == 40
    assert left(path, "ana") == 0 and left(path, "ben") >= 40


def test_the_same_test_finds_what_is_left_when_the_log_is_not_emptied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    with talked(tmp_path / "tenuto.db") as store:
        monkeypatch.setattr(sqlite.SqliteEngine, "compact", lambda self: True)
        store.user("ana").erase()
        assert left(tmp_path / "tenuto.db", "ana") > 0


# --- ending -----------------------------------------------------------------------------------------------------------

TALKER = """
import sys, time, tenuto
from tenuto.testing.fakes import FakeEmbedder, FakeTokens

class Slow(FakeEmbedder):
    def embed(self, texts, *, query=False):
        time.sleep(0.3)
        return super().embed(texts, query=query)

store = tenuto.open(sys.argv[1], embedder=Slow(), tokens=FakeTokens())
for number in range(200):
    store.user(f"user{number % 20}").observe(f"Sentence number {number}.")
if sys.argv[2] == "raise":
    raise RuntimeError("on purpose")
if sys.argv[2] == "exit":
    sys.exit(3)
"""


@pytest.mark.parametrize(("how", "code"), [("end", 0), ("raise", 1), ("exit", 3)])
def test_a_process_ends_cleanly_and_the_next_one_carries_on(tmp_path: Path, how: str, code: int):
    path = tmp_path / "tenuto.db"
    command = [sys.executable, "-c", TALKER, str(path), how]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=100)
    assert done.returncode == code, done.stderr
    assert ("on purpose" in done.stderr) if how == "raise" else done.stderr == ""
    with tenuto.open(path, **OPTIONS) as store:
        assert sum(store.user(user).stats()["total_messages"] for user in store.users()) == 200
        assert store.unembedded() > 0, "nothing was left to do: the test shows nothing"
        assert store.jobs("running") == []
    with tenuto.open(path, embedder=FakeEmbedder(), tokens=FakeTokens(), policy={"jobs": {"poll": 0.01}}) as store:
        for _ in range(3000):
            if store.unembedded() == 0:
                break
            time.sleep(0.01)
        assert store.unembedded() == 0


def test_files_of_a_store_are_for_their_owner_only(tmp_path: Path):
    path = tmp_path / "tenuto.db"
    with tenuto.open(path, **OPTIONS) as store:
        store.user("ana").observe("A word.")
        backup(path, tmp_path / "copy.db")
        made = [file for file in tmp_path.iterdir() if file.is_file()]
        assert len(made) >= 3, "the store, its log and a copy"
        assert {file.name: file.stat().st_mode & 0o077 for file in made} == {file.name: 0 for file in made}
