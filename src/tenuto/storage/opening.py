"""Which engine a URL means. PostgreSQL's driver is imported only when it is asked for."""

from __future__ import annotations

from importlib.util import find_spec

from tenuto.errors import InputError, SettingError
from tenuto.ports import Clock, Store, Vault
from tenuto.storage.engine import SqlEngine
from tenuto.storage.inmemory import InMemoryStore
from tenuto.storage.sqlite import SqliteEngine
from tenuto.storage.sqlstore import SqlStore


def open_store(url: str, vault: Vault, clock: Clock, *, upgrade: bool = False) -> Store:
    """The store behind ``memory:``, ``postgresql://…``, ``sqlite:///path`` or a path."""
    if not url.strip() or "\x00" in url:
        raise InputError("The database path is empty or holds a NUL character.", code="path_invalid")
    if url in ("memory:", ":memory:"):
        return InMemoryStore(vault, clock)
    if url.startswith(("postgresql://", "postgres://")):
        return SqlStore(_postgres(url, upgrade), vault, clock)
    scheme, mark, _ = url.partition("://")
    if mark and scheme != "sqlite":
        raise InputError(
            f"Unknown store {scheme}://: use a file path, sqlite:///path or postgresql://…", code="path_invalid"
        )
    return SqlStore(SqliteEngine(url.removeprefix("sqlite:///")), vault, clock)


def _postgres(url: str, upgrade: bool) -> SqlEngine:
    if find_spec("psycopg") is None or find_spec("pgvector") is None:
        raise SettingError("PostgreSQL needs its driver: pip install 'tenuto[postgres]'.")
    from tenuto.storage.postgres import PostgresEngine

    return PostgresEngine(url, upgrade=upgrade)
