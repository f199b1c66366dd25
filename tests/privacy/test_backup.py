"""Backups: consistent while writers run, checked, never half, never over something else."""

import resource
import threading
from pathlib import Path

import apsw
import pytest

import tenuto
from tenuto.errors import InputError, StoreCorrupt, StoreError, VaultError
from tenuto.privacy.keys import FileKeys
from tenuto.storage.backup import backup, restore
from tenuto.testing.fakes import FakeEmbedder, FakeTokens


def opened(path: Path) -> tenuto.Tenuto:
    return tenuto.open(path, embedder=FakeEmbedder(), tokens=FakeTokens(), background=False)


def test_a_copy_made_while_writers_run_is_whole(tmp_path: Path) -> None:
    stop = threading.Event()
    with opened(tmp_path / "live.db") as store:
        kept: list[str] = []

        def write() -> None:
            while not stop.is_set():
                kept.append(store.user("ana").observe(f"message {len(kept)}").message_id)

        writer = threading.Thread(target=write)
        writer.start()
        try:
            while len(kept) < 20:
                pass
            before = list(kept)
            assert backup(tmp_path / "live.db", tmp_path / "copy.db") > 0
        finally:
            stop.set()
            writer.join()
    assert restore(tmp_path / "copy.db", tmp_path / "again.db") > 0
    with opened(tmp_path / "again.db") as store:
        found = {message.id for message in store.user("ana").messages(limit=100_000)}
        assert set(before) <= found and store.check() == []


def test_nothing_is_overwritten_and_nothing_half_is_left(tmp_path: Path) -> None:
    with opened(tmp_path / "live.db") as store:
        store.user("ana").observe("hello")
    (tmp_path / "taken.db").write_bytes(b"mine")
    with pytest.raises(InputError, match="exists already"):
        backup(tmp_path / "live.db", tmp_path / "taken.db")
    assert (tmp_path / "taken.db").read_bytes() == b"mine"
    with pytest.raises(StoreError):
        backup(tmp_path / "missing.db", tmp_path / "copy.db")
    assert not (tmp_path / "copy.db").exists() and not list(tmp_path.glob("*.part"))


def test_a_disk_without_room_leaves_the_store_usable(tmp_path: Path) -> None:
    with opened(tmp_path / "live.db") as store:
        for number in range(200):
            store.user("ana").observe(f"message {number} " * 20)
        limits = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, limits[1]))
        try:
            with pytest.raises(StoreError):
                backup(tmp_path / "live.db", tmp_path / "copy.db")
            with pytest.raises(VaultError, match="cannot be written"):
                crowded_key(tmp_path)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        assert not (tmp_path / "copy.db").exists() and not list(tmp_path.glob("*.part"))
        store.user("ana").observe("still here")
        assert backup(tmp_path / "live.db", tmp_path / "copy.db") > 100_000


def crowded_key(folder: Path) -> None:
    """A recovery copy where there is no room."""
    made = FileKeys(folder / "key", create=True)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))
    try:
        made.copy_to(folder / "recovery")
    finally:
        assert not list(folder.glob("recovery*")), "no half of a key is left"


def test_a_damaged_or_foreign_copy_is_refused(tmp_path: Path) -> None:
    with opened(tmp_path / "live.db") as store:
        for number in range(300):
            store.user("ana").observe(f"message {number} " * 20)
    backup(tmp_path / "live.db", tmp_path / "copy.db")
    whole = (tmp_path / "copy.db").read_bytes()
    for name, data in {
        "truncated": whole[: len(whole) // 2],
        "empty": b"",
        "text": b"hello" * 1000,
        "damaged": whole[:40_000] + b"\xff" * 8000 + whole[48_000:],
    }.items():
        (tmp_path / name).write_bytes(data)
        with pytest.raises((StoreCorrupt, StoreError)):
            restore(tmp_path / name, tmp_path / f"{name}.db")
        assert not (tmp_path / f"{name}.db").exists()
    apsw.Connection(str(tmp_path / "other.db")).execute("CREATE TABLE t (x)")
    with pytest.raises(StoreCorrupt, match="another program"):
        restore(tmp_path / "other.db", tmp_path / "restored.db")
    with pytest.raises(InputError):
        restore(tmp_path / "nothing", tmp_path / "restored.db")
