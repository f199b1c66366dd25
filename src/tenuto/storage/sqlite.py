"""SQLite through apsw: one file, write-ahead log, every commit on the disk before it is acknowledged.

There is one writer, and the code says so: a lock inside the process, ``BEGIN IMMEDIATE`` and a patient busy handler
between processes. Readers have connections of their own and see a snapshot. ``synchronous=FULL`` is what survives a
power cut (``NORMAL`` does not); ``secure_delete`` overwrites what is deleted.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Any

import apsw

from tenuto import errors
from tenuto.ports import Moved, Vectors
from tenuto.records.scope import Revision
from tenuto.storage import migrate, planning, queries
from tenuto.storage.engine import Connection, Row

BUSY_MILLISECONDS = 20_000
STATEMENTS = 256
"""Statements that a connection keeps planned, a few kilobytes each."""
PAGE_BYTES = 8192
"""A row with a vector of 384 float16 fits into a leaf without spilling."""


class SqliteConnection:
    """An apsw connection behind the small protocol."""

    def __init__(self, raw: apsw.Connection) -> None:
        self.raw = raw

    def rows(self, sql: str, parameters: Mapping[str, Any]) -> list[Row]:
        try:
            return self.raw.execute(sql, parameters).fetchall()
        except UnicodeDecodeError as error:
            raise errors.StoreCorrupt(f"A row holds text that is none ({error}). Run 'tenuto doctor'.") from error

    def change(self, sql: str, parameters: Mapping[str, Any]) -> int:
        before = self.raw.total_changes()
        for _ in self.raw.execute(sql, dict(parameters)):
            pass
        return self.raw.total_changes() - before

    def change_many(self, sql: str, rows: Sequence[Mapping[str, Any]]) -> None:
        for _ in self.raw.executemany(sql, rows):
            pass

    def script(self, sql: str) -> None:
        for _ in self.raw.execute(sql):
            pass


OWNER_ONLY = 0o600
"""Who may read a file of a store; its log gets the same from SQLite."""


class SqliteEngine:
    """One database file."""

    dialect = "sqlite"

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self._writer_lock = threading.RLock()
        self._idle: list[SqliteConnection] = []
        self._idle_lock = threading.Lock()
        self._closed = False
        try:
            self._check_path()
        except OSError as error:
            raise errors.NotWritable(f"{self.path} cannot be opened: {error.strerror}. Choose another path.") from error
        self._writer = self._connect()
        try:
            self._upgrade()
        except BaseException:
            self.close()
            raise

    @property
    def url(self) -> str:
        return str(self.path)

    def reading(self, user: str, at: Revision | None = None) -> AbstractContextManager[Connection]:
        return _Reading(self, user, at)

    @contextmanager
    def writing(self, user: str) -> Iterator[Connection]:
        with self._writer_lock:
            self._ensure_open()
            connection = self._writer
            with translated(self.path):
                connection.raw.execute("BEGIN IMMEDIATE")
                try:
                    yield connection
                    connection.raw.execute("COMMIT")
                except BaseException:
                    if connection.raw.in_transaction:
                        connection.raw.execute("ROLLBACK")
                    raise

    def pack_vector(self, vector: bytes | None) -> bytes | None:
        return vector

    def unpack_vector(self, value: Any) -> bytes | None:
        return value if value is None else bytes(value)

    def unpack_vectors(self, values: Sequence[Any]) -> Sequence[bytes | None]:
        return values

    def nearest(self, connection: Connection, user: str, kind: str, vector: Vectors, model: str, limit: int) -> None:
        return None

    def check(self) -> list[str]:
        with self.reading("") as connection:
            rows = connection.rows("PRAGMA integrity_check(10)", {})
        return [] if rows == [("ok",)] else [str(row[0]) for row in rows]

    def compact(self, *, thorough: bool = False) -> bool:
        """Write the file anew and empty the log; ``False`` if a reader kept the log in use.

        Secure delete alone is not enough: when SQLite moves rows between pages, copies stay behind in unused space.
        """
        with self._writer_lock, translated(self.path):
            self._ensure_open()
            self._writer.raw.execute("VACUUM")
            return bool(self._writer.raw.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()[0][0] == 0)

    def close(self) -> None:
        with self._writer_lock:
            if self._closed:
                return
            self._closed = True
            with self._idle_lock:
                closing = [*self._idle, self._writer]
                self._idle.clear()
            for connection in closing:
                # Closing moves the log into the file. Where that fails, the log stays, and nothing is lost.
                with suppress(apsw.Error):
                    connection.raw.close()

    def _ensure_open(self) -> None:
        if self._closed:
            raise errors.StoreClosed(f"The store {self.path} is closed: open it again with tenuto.open().")

    def _borrow(self) -> SqliteConnection:
        self._ensure_open()
        with self._idle_lock:
            if self._idle:
                return self._idle.pop()
        return self._connect()

    def _give_back(self, connection: SqliteConnection) -> None:
        with self._idle_lock:
            if not self._closed and len(self._idle) < 16:
                self._idle.append(connection)
                return
        connection.raw.close()

    def _check_path(self) -> None:
        parent = self.path.parent
        if self.path.is_dir():
            raise errors.NotWritable(
                f"{self.path} is a directory: name a file in it, such as {self.path / 'tenuto.db'}."
            )
        if not parent.is_dir():
            raise errors.NotWritable(f"The directory {parent} does not exist: create it, or choose another path.")
        if not self.path.exists():
            os.close(os.open(self.path, os.O_RDWR | os.O_CREAT, OWNER_ONLY))
            return
        with self.path.open("rb") as file:
            header = file.read(16)
        if header and header != b"SQLite format 3\x00":
            raise errors.NotADatabase(f"{self.path} is not a Tenuto database: choose another path; it was not touched.")

    def _connect(self) -> SqliteConnection:
        with translated(self.path):
            raw = apsw.Connection(str(self.path), statementcachesize=STATEMENTS)
            raw.set_busy_timeout(BUSY_MILLISECONDS)
            raw.execute(f"PRAGMA page_size = {PAGE_BYTES}")
            raw.execute("PRAGMA journal_mode = WAL").fetchall()
            raw.execute("PRAGMA synchronous = FULL")
            raw.execute("PRAGMA secure_delete = ON").fetchall()
            raw.execute("PRAGMA temp_store = MEMORY")
            raw.execute("PRAGMA cache_size = -16000")
            raw.execute("PRAGMA mmap_size = 268435456").fetchall()
        return SqliteConnection(raw)

    def _upgrade(self) -> None:
        """Make what is missing. A file that lacks nothing is only read, so that opening never waits for a writer."""
        with self.reading("") as connection:
            if connection.rows("SELECT 1 FROM sqlite_schema WHERE name = 'schema_migrations'", {}) and not (
                migrate.pending(migrate.applied(connection), self.dialect, str(self.path))
            ):
                return
        with self.writing("") as connection:
            tables = [row[0] for row in connection.rows("SELECT name FROM sqlite_schema WHERE type = 'table'", {})]
            if tables and "schema_migrations" not in tables:
                raise errors.NotADatabase(
                    f"{self.path} is a SQLite database of another program: choose another path; it was not changed."
                )
            connection.script(migrate.TABLE)
            for migration in migrate.pending(migrate.applied(connection), self.dialect, str(self.path)):
                migrate.apply(connection, migration)
            planning.teach(connection)


class _Reading:
    """A borrowed connection in a transaction. A class, because a generator costs more than the transaction does."""

    __slots__ = ("_at", "_connection", "_engine", "_user")

    def __init__(self, engine: SqliteEngine, user: str, at: Revision | None) -> None:
        self._engine, self._user, self._at = engine, user, at

    def __enter__(self) -> Connection:
        self._connection = self._engine._borrow()
        self._do("BEGIN")
        if self._at is not None:
            self._check(self._at)
        return self._connection

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._do("ROLLBACK" if self._connection.raw.in_transaction else "SELECT 1")
        if error is None:
            self._engine._give_back(self._connection)
            return
        self._connection.raw.close()
        with translated(self._engine.path):
            raise error

    def _check(self, at: Revision) -> None:
        try:
            found = self._connection.rows(queries.load(self._engine.dialect)["revision"], {"user": self._user})
        except BaseException as error:
            self.__exit__(type(error), error, None)
            raise
        if found != [at]:
            self.__exit__(None, None, None)
            raise Moved

    def _do(self, sql: str) -> None:
        try:
            self._connection.raw.execute(sql)
        except BaseException:
            self._connection.raw.close()
            with translated(self._engine.path):
                raise


@contextmanager
def translated(path: Path) -> Iterator[None]:
    """SQLite's errors as ours, each with what to do next."""
    try:
        yield
    except (apsw.BusyError, apsw.LockedError) as error:
        raise errors.StoreBusy(f"{path} is locked by another process: try again, or stop the other one.") from error
    except apsw.NotADBError as error:
        raise errors.NotADatabase(f"{path} is not a database, or its first page is damaged.") from error
    except apsw.CorruptError as error:
        raise errors.StoreCorrupt(f"{path} is damaged: run 'tenuto doctor', and restore a backup.") from error
    except apsw.FullError as error:
        raise errors.StoreFull(
            f"The disk of {path} is full: the step at hand was undone. Make room, then try again."
        ) from error
    except (apsw.ReadOnlyError, apsw.CantOpenError, apsw.PermissionsError) as error:
        raise errors.NotWritable(f"{path} cannot be opened for writing: check its directory and rights.") from error
    except apsw.ConstraintError as error:
        raise errors.Conflict(f"Something with the same key is there already ({error}).") from error
    except UnicodeEncodeError as error:
        raise errors.InputError(
            "A value holds half a character and cannot be looked for.", code="text_invalid"
        ) from error
    except apsw.IOError as error:
        raise errors.StoreError(f"Reading or writing {path} failed: {error}.") from error
