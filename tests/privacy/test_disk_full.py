"""A disk without room during backup, restore, rotation, sealing and erasing: a clear error, and nothing half done."""

from __future__ import annotations

import resource
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from unittest import mock

import apsw
import pytest

import tenuto
from tenuto.errors import NotFound, StoreError, StoreFull, VaultError
from tenuto.storage.backup import backup, restore
from tenuto.storage.sqlite import SqliteEngine
from tenuto.testing.fakes import FakeEmbedder, FakeTokens
from tests.reliability.disk import Faults, in_use

LINES = [f"Line {number}: my dad is allergic to penicillin and likes walks by the river." * 3 for number in range(12)]


def opened(path: Path, keys: Path | None = None, **options: object) -> tenuto.Tenuto:
    given = None if keys is None else f"file:{keys}"
    return tenuto.open(path, keys=given, embedder=FakeEmbedder(), tokens=FakeTokens(), background=False, **options)


@pytest.fixture
def keys(tmp_path: Path) -> Path:
    (tmp_path / "safe").mkdir()
    return tmp_path / "safe" / "key"


def fill(store: tenuto.Tenuto) -> None:
    for user in ("ana", "ben"):
        for number, line in enumerate(LINES):
            store.user(user).observe(f"{user}: {line}", id=f"m{number}")


def whole(path: Path, keys: Path | None, users: tuple[str, ...] = ("ana", "ben")) -> bool:
    """Everything of these users can be read, written to and checked."""
    with opened(path, keys) as store:
        for user in users:
            found = store.user(user).messages(limit=1000)
            assert [message.content for message in found[: len(LINES)]] == [f"{user}: {line}" for line in LINES]
            store.user(user).observe("one more")
        return store.check() == []


@contextmanager
def no_file_larger_than(size: int) -> Iterator[None]:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_backup_and_restore(tmp_path: Path, keys: Path) -> None:
    path = tmp_path / "live.db"
    with opened(path, keys) as store:
        fill(store)
        with no_file_larger_than(60_000), pytest.raises(StoreError):
            backup(path, tmp_path / "copy.db")
        assert backup(path, tmp_path / "copy.db") > 60_000
    with no_file_larger_than(60_000), pytest.raises(StoreError):
        restore(tmp_path / "copy.db", tmp_path / "again.db")
    assert not (tmp_path / "again.db").exists() and not list(tmp_path.glob("*.part"))
    restore(tmp_path / "copy.db", tmp_path / "again.db")
    assert whole(tmp_path / "again.db", keys) and whole(path, keys)


def rotate(store: tenuto.Tenuto) -> None:
    assert store.rotate("ana") >= 2


def rewrap(store: tenuto.Tenuto) -> None:
    assert store.rewrap() > 0


def erase(store: tenuto.Tenuto) -> None:
    assert store.user("ana").erase().complete


STEPS = [1, 3, 8, 17, 30, 45, 70, 110, 160]


@pytest.mark.parametrize("for_ever", [False, True], ids=["once", "for ever"])
@pytest.mark.parametrize("verb", [rotate, rewrap, erase])
def test_a_full_disk_at_any_step(
    tmp_path: Path, keys: Path, verb: Callable[[tenuto.Tenuto], None], for_ever: bool
) -> None:
    """The verb fails with an error of ours, the store stays whole, and the same verb works afterwards."""
    failed = 0
    for step in STEPS:
        folder = tmp_path / f"{step}"
        (folder / "safe").mkdir(parents=True)
        path, own = folder / "live.db", folder / "safe" / "key"
        with opened(path, own) as store:
            fill(store)
        with in_use(Faults) as disk, opened(path, own) as store:
            disk.arm(step, for_ever=for_ever, error=apsw.FullError)
            try:
                verb(store)
            except (StoreError, VaultError):
                failed += 1
            finally:
                disk.disarm()
        if verb is erase:
            assert whole(path, own, ("ben",))
            with opened(path, own) as store:
                if "ana" in store.users():
                    erase(store)
                else:  # the rows had gone before the disk was full; what was left of them in the file goes now
                    with pytest.raises(NotFound):
                        erase(store)
                assert store.users() == ["ben"]
            continue
        assert whole(path, own)
        with opened(path, own) as store:
            verb(store)
        assert whole(path, own)
    assert failed >= 3, "the faults never met the work"


def no_room() -> AbstractContextManager[object]:
    """There is room for everything but a second copy of the file."""
    return mock.patch.object(SqliteEngine, "compact", side_effect=StoreFull("no room"))


def test_rows_are_gone_where_there_is_no_room_to_write_the_file_anew(tmp_path: Path, keys: Path) -> None:
    """A proof that says what is left to do, and not an error that says that nothing happened."""
    path = tmp_path / "live.db"
    with opened(path) as store:
        fill(store)
        with no_room():
            proof = store.user("ana").erase()
        assert not proof.complete and not any(proof.left.values()) and "db compact" in proof.elsewhere[0]
        assert store.user("ana").messages() == [] and len(store.user("ben").messages(limit=100)) == len(LINES)
        assert store.deps.store.compact(thorough=True)
    assert b"ana: Line" not in path.read_bytes() and whole(path, None, ("ben",))
    with opened(path, keys, convert=True) as store:
        with no_room(), pytest.raises(StoreError, match="db compact"):
            store.seal()
        assert store.seal() == 1
    assert b"allergic" not in path.read_bytes() and whole(path, keys, ("ben",))


def test_turning_encryption_on_is_taken_up_again(tmp_path: Path, keys: Path) -> None:
    path = tmp_path / "live.db"
    with opened(path) as store:
        fill(store)
    for step in (20, 60, 120):
        with in_use(Faults) as disk, opened(path, keys, convert=True) as store:
            disk.arm(step, for_ever=True, error=apsw.FullError)
            with suppress(StoreError, VaultError):
                store.seal()
            disk.disarm()
    with opened(path, keys, convert=True) as store:
        assert store.seal() == 2
    assert whole(path, keys)
    assert b"penicillin" not in path.read_bytes()
