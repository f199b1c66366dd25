"""Numbered migrations, each recorded in the transaction that makes it.

``sql/<dialect>/NNNN_name.sql``. A new database gets all of them; an older one gets those it lacks; one with a number
that this version does not know was made by a newer Tenuto and is refused before anything is read or written.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files

from tenuto.errors import SchemaMismatch
from tenuto.storage.engine import Connection

_FILE = re.compile(r"^(\d{4})_(\w+)\.sql$")
TABLE = "CREATE TABLE IF NOT EXISTS schema_migrations (version INTEGER NOT NULL PRIMARY KEY, name TEXT NOT NULL)"


@dataclass(frozen=True, slots=True)
class Migration:
    version: int
    name: str
    sql: str


@lru_cache(maxsize=4)
def migrations(dialect: str) -> tuple[Migration, ...]:
    """All migrations of a dialect, in order."""
    found = []
    for path in files("tenuto.storage").joinpath("sql", dialect).iterdir():
        if match := _FILE.match(path.name):
            found.append(Migration(int(match[1]), match[2], path.read_text(encoding="utf-8")))
    return tuple(sorted(found, key=lambda migration: migration.version))


def head(dialect: str) -> int:
    """The newest version that this Tenuto knows."""
    return migrations(dialect)[-1].version


def applied(connection: Connection) -> list[int]:
    """The versions that a database has."""
    return [row[0] for row in connection.rows("SELECT version FROM schema_migrations ORDER BY version", {})]


def pending(done: list[int], dialect: str, where: str) -> list[Migration]:
    """What is still to do; refuses a database that a newer Tenuto made."""
    if done and done[-1] > head(dialect):
        raise SchemaMismatch(
            f"{where} has schema version {done[-1]}, and this Tenuto knows versions up to {head(dialect)}: it was made "
            "by a newer one. Install that version or a newer one; nothing was changed."
        )
    return [migration for migration in migrations(dialect) if migration.version not in done]


def apply(connection: Connection, migration: Migration) -> None:
    """Make one migration and record it; the caller's transaction holds both or neither."""
    connection.script(migration.sql)
    connection.change(
        "INSERT INTO schema_migrations (version, name) VALUES (:version, :name)",
        {"version": migration.version, "name": migration.name},
    )
