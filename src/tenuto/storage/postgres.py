"""PostgreSQL through psycopg 3 with pgvector: the same rows and the same meaning as the embedded store.

A pool of connections; every transaction is its own, reads see one snapshot. Writers of the same user queue on the
user's row, writers of different users never meet. Vector search is exact within one user: an approximate index with a
filter on the user loses most of what it should find.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from types import TracebackType
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import numpy as np
import psycopg
from pgvector import HalfVector
from pgvector.psycopg import register_vector
from psycopg import errors as pg
from psycopg import sql
from psycopg_pool import ConnectionPool, PoolClosed, PoolTimeout

from tenuto import errors
from tenuto.ports import Moved, Vectors
from tenuto.records.scope import Revision
from tenuto.storage import migrate, queries
from tenuto.storage.engine import Connection, Row
from tenuto.storage.pipeline import Pooled, Statement

log = logging.getLogger("tenuto")
POOL = 16
WAIT_SECONDS = 20.0
RETRYABLE = (pg.OperationalError, pg.SerializationFailure, pg.DeadlockDetected, pg.AdminShutdown, PoolTimeout)


UNBOUND = """
SELECT c.relname FROM pg_class c
JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'user_id' AND NOT a.attisdropped
WHERE c.relkind = 'r' AND c.relnamespace = current_schema()::regnamespace
  AND NOT (c.relrowsecurity AND c.relforcerowsecurity)
"""
OWNED = """
SELECT c.relname, pg_has_role(c.relowner, 'USAGE') FROM pg_class c
JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'user_id' AND NOT a.attisdropped
WHERE c.relkind = 'r' AND c.relnamespace = current_schema()::regnamespace ORDER BY c.relname
"""
"""Our tables, and whether this role may write them anew."""
MAY_CHECKPOINT = "SELECT pg_has_role('pg_checkpoint', 'USAGE')"
SNAPSHOT: Statement = ("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", {})
CHANGE: Statement = ("BEGIN ISOLATION LEVEL READ COMMITTED", {})
COMMIT: Statement = ("COMMIT", {})
ROLLBACK: Statement = ("ROLLBACK", {})
AS_USER = "SELECT set_config('tenuto.user', :user, true), set_config('tenuto.system', :system, true)"
NOTHING: Statement = ("SELECT 1", {})
BYPASSES = "SELECT rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = current_user"


class PostgresConnection:
    """A transaction, which begins together with its first statement."""

    def __init__(self, raw: Pooled, *begin: Statement) -> None:
        self.raw = raw
        self._begin = begin

    @property
    def begun(self) -> bool:
        return not self._begin

    def rows(self, sql: str, parameters: Mapping[str, Any]) -> list[Row]:
        return self._ask(sql, parameters)

    def change(self, sql: str, parameters: Mapping[str, Any]) -> int:
        return self._ready().execute(queries.pyformat(sql), parameters).rowcount

    def change_many(self, sql: str, rows: Sequence[Mapping[str, Any]]) -> None:
        if rows:
            self._ready().cursor().executemany(queries.pyformat(sql), rows)

    def script(self, sql: str) -> None:
        self._ready().execute(sql)

    def end(self) -> None:
        """Keep what was done. PostgreSQL undoes it without a word if a statement has failed: that is an error here."""
        if self.begun and self.raw.together(COMMIT)[0].command_status != b"COMMIT":
            raise pg.InFailedSqlTransaction("a statement had failed, and nothing was kept")

    def _ask(self, sql: str, parameters: Mapping[str, Any]) -> list[Row]:
        begin, self._begin = self._begin, ()
        return self.raw.rows(self.raw.together(*begin, (sql, parameters))[-1])

    def _ready(self) -> Pooled:
        if self._begin:
            begin, self._begin = self._begin, ()
            self.raw.together(*begin)
        return self.raw


class PostgresEngine:
    """One PostgreSQL database."""

    dialect = "postgres"

    def __init__(self, url: str, *, upgrade: bool = False) -> None:
        self._url = url
        parts = urlsplit(url)
        self.url = urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2], query=""))
        """Without the password."""
        self._prepare(upgrade)
        self._pool: ConnectionPool[Pooled] = ConnectionPool(
            url,
            connection_class=Pooled,
            min_size=1,
            max_size=POOL,
            timeout=WAIT_SECONDS,
            configure=_configure,
            open=True,
            kwargs=_OPTIONS,
        )

    def reading(self, user: str, at: Revision | None = None) -> AbstractContextManager[Connection]:
        if at is not None:
            return _Unchanged(self._pool, self.url, user, at)
        return _Transaction(self._pool, self.url, user, SNAPSHOT)

    def writing(self, user: str) -> AbstractContextManager[Connection]:
        return _Transaction(self._pool, self.url, user, CHANGE)

    def pack_vector(self, vector: bytes | None) -> HalfVector | None:
        return None if vector is None else HalfVector(np.frombuffer(vector, dtype="<f2"))

    def unpack_vector(self, value: Any) -> bytes | None:
        """pgvector's wire form: dimension, a spare word, then big-endian float16."""
        return None if value is None else np.frombuffer(value, dtype=">f2", offset=4).astype("<f2").tobytes()

    def unpack_vectors(self, values: Sequence[Any]) -> Sequence[bytes | None]:
        present = [value for value in values if value is not None]
        size = len(present[0]) if present else 0
        if not present or any(len(value) != size for value in present):
            return [self.unpack_vector(value) for value in values]
        joined = np.frombuffer(b"".join(present), ">f2").reshape(len(present), -1)[:, 2:].astype("<f2").tobytes()
        unpacked = iter([joined[start : start + size - 4] for start in range(0, len(joined), size - 4)])
        return [None if value is None else next(unpacked) for value in values]

    def nearest(
        self, connection: Connection, user: str, kind: str, vector: Vectors, model: str, limit: int
    ) -> Sequence[tuple[str, float]]:
        parameters = {
            "user": user,
            "kind": kind,
            "model": model,
            "limit": max(limit, 0),
            "vector": HalfVector(vector.reshape(-1).astype(np.float16)),
        }
        rows = connection.rows(queries.load(self.dialect)["nearest"], parameters)
        return [(row[0], float(row[1])) for row in rows]

    def check(self) -> list[str]:
        with self.reading("") as connection:
            done = migrate.applied(connection)
            vector = connection.rows("SELECT extversion FROM pg_extension WHERE extname = 'vector'", {})
            unbound = connection.rows(UNBOUND, {})
        problems = [f"Row-level security is off for {row[0]}." for row in unbound]
        problems += [] if done and done[-1] == migrate.head(self.dialect) else [f"The schema is at {done}."]
        return problems if vector else [*problems, "The extension 'vector' is missing."]

    def compact(self, *, thorough: bool = False) -> bool:
        """The server keeps old row versions and its log until its own clean-up: only key destruction beats that.

        Thoroughly, every table is written anew, and the statistics in which the planner keeps values of rows: each is
        locked meanwhile. The write-ahead log still has what was deleted until the server recycles it.
        """
        if not thorough:
            return False
        with translated(self.url), psycopg.connect(self._url, autocommit=True, connect_timeout=10) as raw:
            tables = raw.execute(OWNED).fetchall()
            if not all(owned for _, owned in tables):
                raise errors.NotWritable(
                    f"Only the role that owns the tables of {self.url} can write them anew: use it."
                )
            for name, _ in tables:
                raw.execute(sql.SQL("VACUUM (FULL, ANALYZE) {}").format(sql.Identifier(name)))
            raw.execute("VACUUM FULL pg_catalog.pg_statistic")
            if raw.execute(MAY_CHECKPOINT).fetchall() == [(True,)]:
                raw.execute("CHECKPOINT")
        return True

    def close(self) -> None:
        self._pool.close()

    def _prepare(self, upgrade: bool) -> None:
        """Create the schema in an empty database; refuse one that waits for an upgrade or came from a newer Tenuto."""
        alone: dict[str, Any] = {"autocommit": True, "connect_timeout": 10, "prepare_threshold": None}
        with translated(self.url), Pooled.connect(self._url, **alone) as raw:
            connection = PostgresConnection(raw)
            with raw.transaction():
                raw.execute("SELECT pg_advisory_xact_lock(hashtext('tenuto schema'))")
                if raw.execute("SELECT to_regclass('schema_migrations')").fetchall() == [(None,)]:
                    connection.script(migrate.TABLE)
                done = migrate.applied(connection)
                waiting = migrate.pending(done, self.dialect, self.url)
                if done and waiting and not upgrade:
                    raise errors.SchemaMismatch(
                        f"{self.url} has schema version {done[-1]} and needs {migrate.head(self.dialect)}: stop the "
                        "other processes and run 'tenuto --db URL db upgrade'."
                    )
                for migration in waiting:
                    migrate.apply(connection, migration)
            if raw.execute(BYPASSES).fetchall() == [(True,)]:
                log.warning("%s: this role is not bound by row-level security; see docs/postgres.md.", self.url)


class _Transaction:
    """One transaction on a borrowed connection. A class, because a generator costs as much as the transaction does."""

    __slots__ = ("_begin", "_connection", "_pool", "_where")

    def __init__(self, pool: ConnectionPool[Pooled], where: str, user: str, begin: Statement) -> None:
        self._pool, self._where = pool, where
        self._begin = begin, _as(user)

    def __enter__(self) -> Connection:
        with translated(self._where):
            self._connection = PostgresConnection(self._pool.getconn(), *self._begin)
        return self._connection

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        connection = self._connection
        try:
            with translated(self._where):
                try:
                    if error is not None:
                        raise error
                    connection.end()
                except BaseException:
                    if connection.begun and not connection.raw.closed:
                        connection.raw.together(ROLLBACK)
                    raise
        finally:
            self._pool.putconn(connection.raw)


class _Unchanged(PostgresConnection):
    """Reads of a user to whom nothing has happened since, each a trip and a transaction of its own.

    What they read is nevertheless of one moment: each also reads where the user's data stands.
    """

    def __init__(self, pool: ConnectionPool[Pooled], where: str, user: str, at: Revision) -> None:
        self._pool, self._where = pool, where
        self._user, self._at = user, at
        self._looked = False

    def __enter__(self) -> Connection:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is None and not self._looked:
            self._ask(*NOTHING)

    def _ask(self, sql: str, parameters: Mapping[str, Any]) -> list[Row]:
        with translated(self._where):
            raw = self._pool.getconn()
            try:
                _, at, found = raw.together(*bound(self._user), (sql, parameters))
                if raw.rows(at) != [self._at]:
                    raise Moved
                self._looked = True
                return raw.rows(found)
            finally:
                self._pool.putconn(raw)


def _as(user: str) -> Statement:
    """Bind a transaction to its user for row-level security; without a user it is the system's own work.

    The setting is local to the transaction: on a pooled connection anything longer would leak to the next user.
    """
    return AS_USER, {"user": user, "system": "" if user else "on"}


def bound(user: str) -> tuple[Statement, Statement]:
    """What goes before a statement that has its own transaction: its user, and where their data stands."""
    return _as(user), (queries.load(PostgresEngine.dialect)["revision"], {"user": user})


_OPTIONS: dict[str, Any] = {"autocommit": True}


def _configure(raw: Pooled) -> None:
    register_vector(raw)
    raw.execute("SET timezone = 'UTC'")
    raw.execute("SET default_transaction_isolation = 'repeatable read'")


@contextmanager
def translated(where: str) -> Iterator[None]:
    """PostgreSQL's errors as ours, each with what to do next."""
    try:
        yield
    except PoolClosed as error:
        raise errors.StoreClosed(f"The store {where} is closed: open it again with tenuto.open().") from error
    except pg.DiskFull as error:
        raise errors.StoreFull(
            f"The disk of {where} is full: the step at hand was undone. Make room, then try again."
        ) from error
    except (pg.InsufficientPrivilege, pg.ReadOnlySqlTransaction) as error:
        raise errors.NotWritable(f"{where} refuses: {error}. Check the role's rights.") from error
    except pg.UniqueViolation as error:
        raise errors.Conflict(
            f"Something with the same key is there already ({error.diag.constraint_name})."
        ) from error
    except (pg.DataCorrupted, pg.IndexCorrupted) as error:
        raise errors.StoreCorrupt(f"{where} reports damage: {error}.") from error
    except (UnicodeEncodeError, pg.DataError) as error:
        raise errors.InputError(f"A value cannot be looked for or kept: {error}.", code="text_invalid") from error
    except RETRYABLE as error:
        raise errors.StoreBusy(f"{where} cannot be reached or is busy: {error}. Try again.") from error
    except pg.Error as error:
        raise errors.StoreError(f"{where}: {error}") from error
