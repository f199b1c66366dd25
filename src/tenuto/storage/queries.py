"""Named SQL in files, and the few statements that follow from a table's columns.

``sql/queries.sql`` holds what both dialects share; ``sql/<dialect>.sql`` replaces queries by name. Parameters are
written ``:name``; a dialect whose driver wants another form gets it here, once.
"""

from __future__ import annotations

import re
from functools import lru_cache
from importlib.resources import files

from tenuto.storage.tables import TABLES, Table

_NAME = re.compile(r"^-- name: (\w+)$", re.MULTILINE)
_PARAMETER = re.compile(r"(?<![:\w]):([a-z_]\w*)")
JOB_COLUMNS = ", ".join(
    [*(column.name for column in next(t for t in TABLES if t.name == "jobs").columns), "revision", "body"]
)


@lru_cache(maxsize=4)
def load(dialect: str) -> dict[str, str]:
    """Every named query of a dialect, its own ones in place of the shared ones."""
    queries = _parse("queries.sql")
    if files("tenuto.storage").joinpath("sql", f"{dialect}.sql").is_file():
        queries |= _parse(f"{dialect}.sql")
    return {name: sql.replace("{job_columns}", JOB_COLUMNS) for name, sql in queries.items()}


def _parse(name: str) -> dict[str, str]:
    text = files("tenuto.storage").joinpath("sql", name).read_text(encoding="utf-8")
    parts = _NAME.split(text)[1:]
    return {name: sql.strip() for name, sql in zip(parts[::2], parts[1::2], strict=True)}


@lru_cache(maxsize=4096)
def pyformat(sql: str) -> str:
    """``:name`` as ``%(name)s``, for psycopg."""
    return _PARAMETER.sub(r"%(\1)s", sql.replace("%", "%%"))


@lru_cache(maxsize=4096)
def numbered(sql: str) -> tuple[bytes, tuple[str, ...]]:
    """``:name`` as ``$1``, for libpq, and the names in the order of their numbers."""
    names = tuple(dict.fromkeys(_PARAMETER.findall(sql)))
    return _PARAMETER.sub(lambda found: f"${names.index(found[1]) + 1}", sql).encode(), names


@lru_cache(maxsize=256)
def columns(table: Table) -> str:
    """``id, column…, revision, body``: the order in which rows are read."""
    return ", ".join(["id", *(quoted(column.name) for column in table.columns), "revision", "body"])


def by_ids(table: Table, count: int) -> tuple[str, tuple[str, ...]]:
    """A statement that reads rows by so many ids or a few more, and its parameters: repeat an id in what is left over.

    Engines keep a statement that they have planned, by its text: ten sizes are kept where five hundred would not be.
    """
    return _by_ids(table, 1 << max(count - 1, 0).bit_length())


@lru_cache(maxsize=512)
def _by_ids(table: Table, count: int) -> tuple[str, tuple[str, ...]]:
    names = tuple(f"i{number}" for number in range(count))
    marks = ", ".join(f":{name}" for name in names)
    return f"SELECT {columns(table)} FROM {table.name} WHERE user_id = :user AND id IN ({marks})", names


@lru_cache(maxsize=256)
def insert(table: Table, *, replace: bool) -> str:
    """Insert a row; replace the one with the same id, or leave any row that is in the way."""
    names = ["user_id", "id", *(column.name for column in table.columns), "revision", "body"]
    values = ", ".join(f":{name}" for name in names)
    sql = f"INSERT INTO {table.name} ({', '.join(map(quoted, names))}) VALUES ({values})"
    if not replace:
        return f"{sql} ON CONFLICT DO NOTHING"
    updates = ", ".join(f"{quoted(name)} = excluded.{quoted(name)}" for name in names[2:])
    return f"{sql} ON CONFLICT (user_id, id) DO UPDATE SET {updates}"


def quoted(name: str) -> str:
    """A column name that may be a word of SQL."""
    return f'"{name}"' if name in ("into", "current", "at", "key", "by") else name
