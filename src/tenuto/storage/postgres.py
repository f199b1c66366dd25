"""PostgreSQL through psycopg 3 with pgvector: the same rows and the same meaning as the embedded store.

A pool of connections; every transaction is its own, reads see one snapshot. Writers of the same user queue on the
user's row, writers of different users never meet. Vector search is exact within one user: an approximate index with a
filter on the user loses most of what it should find.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, LiteralString
from urllib.parse import urlsplit, urlunsplit

import numpy as np
import psycopg
from pgvector import HalfVector
from pgvector.psycopg import register_vector
from psycopg import errors as pg
from psycopg import sql
from psycopg_pool import ConnectionPool, PoolClosed, PoolTimeout

from tenuto import errors
from tenuto.ports import Vectors
from tenuto.storage import migrate, queries
from tenuto.storage.engine import Connection, Row

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
BYPASSES = "SELECT rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = current_user"


class PostgresConnection:
    """A psycopg connection behind the small protocol."""

    def __init__(self, raw: psycopg.Connection[Any]) -> None:
        self.raw = raw

    def rows(self, sql: str, parameters: Mapping[str, Any]) -> list[Row]:
        return self.raw.execute(queries.pyformat(sql), parameters, binary=True).fetchall()

    def change(self, sql: str, parameters: Mapping[str, Any]) -> int:
        return self.raw.execute(queries.pyformat(sql), parameters).rowcount

    def change_many(self, sql: str, rows: Sequence[Mapping[str, Any]]) -> None:
        if rows:
            self.raw.cursor().executemany(queries.pyformat(sql), rows)

    def script(self, sql: str) -> None:
        self.raw.execute(sql)


class PostgresEngine:
    """One PostgreSQL database."""

    dialect = "postgres"

    def __init__(self, url: str, *, upgrade: bool = False) -> None:
        self._url = url
        self._prepare(upgrade)
        self._pool = ConnectionPool(
            url, min_size=1, max_size=POOL, timeout=WAIT_SECONDS, configure=_configure, open=True, kwargs=_OPTIONS
        )

    @property
    def url(self) -> str:
        """Without the password."""
        parts = urlsplit(self._url)
        host = parts.netloc.rpartition("@")[2]
        return urlunsplit(parts._replace(netloc=host, query=""))

    @contextmanager
    def reading(self, user: str) -> Iterator[Connection]:
        with self._transaction("ISOLATION LEVEL REPEATABLE READ READ ONLY", user) as connection:
            yield connection

    @contextmanager
    def writing(self, user: str) -> Iterator[Connection]:
        with self._transaction("ISOLATION LEVEL READ COMMITTED", user) as connection:
            yield connection

    @contextmanager
    def _transaction(self, mode: LiteralString, user: str) -> Iterator[Connection]:
        """One transaction, bound to its user for row-level security; without a user it is the system's own work.

        The setting is local to the transaction: on a pooled connection anything longer would leak to the next user.
        """
        begin = sql.SQL(
            "BEGIN " + mode + "; SELECT set_config('tenuto.user', {}, true), set_config('tenuto.system', {}, true)"
        ).format(sql.Literal(user), sql.Literal("" if user else "on"))
        with translated(self.url), self._pool.connection() as raw:
            raw.execute(begin)
            try:
                yield PostgresConnection(raw)
                raw.execute("COMMIT")
            except BaseException:
                if not raw.closed:
                    raw.execute("ROLLBACK")
                raise

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
        with translated(self.url), psycopg.connect(self._url, autocommit=True, connect_timeout=10) as raw:
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


_OPTIONS: dict[str, Any] = {"autocommit": True}


def _configure(raw: psycopg.Connection[Any]) -> None:
    register_vector(raw)
    raw.execute("SET timezone = 'UTC'")


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
