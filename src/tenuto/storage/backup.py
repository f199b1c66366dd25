"""Copies of a SQLite store: made while writers run, checked before they count, never in place of something else.

``VACUUM INTO`` writes one consistent snapshot, without the log and without what was deleted. The copy is written beside
its place, checked, synced and only then renamed, so a full disk or a crash leaves either the whole copy or none.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw

from tenuto.errors import InputError, StoreCorrupt, StoreError, StoreFull
from tenuto.storage import migrate
from tenuto.storage.sqlite import OWNER_ONLY, SqliteConnection, translated


def backup(source: Path, target: Path) -> int:
    """Write a checked copy of the store at ``source`` to ``target``; its size in bytes."""
    _absent(target)
    part = target.with_name(target.name + ".part")
    part.unlink(missing_ok=True)
    try:
        with translated(source), _written_to(target):
            connection = apsw.Connection(str(source), flags=apsw.SQLITE_OPEN_READWRITE)
            try:
                connection.set_busy_timeout(20_000)
                part.touch(OWNER_ONLY)
                connection.execute("VACUUM INTO ?", (str(part),))
            finally:
                connection.close()
        verify(part)
        _publish(part, target)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
    return target.stat().st_size


def restore(copy: Path, target: Path) -> int:
    """Put a checked copy back as a store at ``target``, which must not exist; its size in bytes."""
    if not copy.is_file():
        raise InputError(f"There is no backup at {copy}.", code="path_invalid")
    _absent(target)
    verify(copy)
    return backup(copy, target)


def verify(copy: Path) -> None:
    """A copy that opens, is whole, and was not made by a newer Tenuto; anything else is an error."""
    with copy.open("rb") as file:
        if file.read(16) != b"SQLite format 3\x00":
            raise StoreCorrupt(f"{copy} is not a backup of Tenuto.")
    with translated(copy), _read_from(copy):
        connection = apsw.Connection(str(copy), flags=apsw.SQLITE_OPEN_READONLY)
        try:
            found = connection.execute("PRAGMA integrity_check(3)").fetchall()
            if found != [("ok",)]:
                raise StoreCorrupt(f"{copy} is damaged: {found[0][0]}. Use another backup.")
            tables = connection.execute("SELECT 1 FROM sqlite_schema WHERE name = 'schema_migrations'").fetchall()
            if not tables:
                raise StoreCorrupt(f"{copy} is a database of another program.")
            migrate.pending(migrate.applied(SqliteConnection(connection)), "sqlite", str(copy))
        finally:
            connection.close()


@contextmanager
def _written_to(target: Path) -> Iterator[None]:
    """A disk that is full is the copy's."""
    try:
        yield
    except apsw.FullError as error:
        raise StoreFull(
            f"There is no room for {target}: make some, and try again. Nothing of it was left there."
        ) from error


@contextmanager
def _read_from(copy: Path) -> Iterator[None]:
    try:
        yield
    except (apsw.CorruptError, apsw.NotADBError) as error:
        raise StoreCorrupt(f"{copy} is cut short or damaged ({error}). Use another backup.") from error


def _absent(target: Path) -> None:
    if not target.parent.is_dir():
        raise InputError(f"The directory {target.parent} does not exist.", code="path_invalid")
    if target.exists():
        raise InputError(
            f"{target} exists already: choose another name; nothing is ever overwritten.", code="path_taken"
        )


def _publish(part: Path, target: Path) -> None:
    try:
        for path, flags in ((part, os.O_RDWR), (part.parent, os.O_RDONLY)):
            handle = os.open(path, flags)
            try:
                os.fsync(handle)
            finally:
                os.close(handle)
        os.link(part, target)
        part.unlink()
    except FileExistsError:
        raise InputError(f"{target} came to exist meanwhile; nothing was overwritten.", code="path_taken") from None
    except OSError as error:
        raise StoreError(f"{target} cannot be written: {error.strerror}.") from error
