"""Row-level security holds when the store's own conditions do not, and only for a role that it binds."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlsplit, urlunsplit

import psycopg
import pytest

from tenuto.ports import Store
from tenuto.providers.system import system_clock
from tenuto.providers.vault import PlainVault
from tenuto.storage.opening import open_store
from tenuto.storage.postgres import PostgresEngine
from tenuto.testing.contract import StoreContract, put
from tenuto.testing.samples import message


def as_application(url: str) -> str:
    """The same database for an ordinary role that owns nothing."""
    open_store(url, PlainVault(), system_clock).close()
    with psycopg.connect(url, autocommit=True) as admin:
        if not admin.execute("SELECT 1 FROM pg_roles WHERE rolname = 'tenuto_app'").fetchall():
            admin.execute("CREATE ROLE tenuto_app LOGIN PASSWORD 'app' NOSUPERUSER NOBYPASSRLS")
        admin.execute("GRANT USAGE ON SCHEMA public TO tenuto_app")
        admin.execute("GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO tenuto_app")
    parts = urlsplit(url)
    host = parts.netloc.rpartition("@")[2]
    return urlunsplit(parts._replace(netloc=f"tenuto_app:app@{host}"))


class TestPostgresAsApplication(StoreContract):
    """The whole contract as a role that row-level security binds."""

    @pytest.fixture
    def store(self, fresh_database: Callable[[], str]) -> Iterator[Store]:
        store = open_store(as_application(fresh_database()), PlainVault(), system_clock)
        yield store
        store.close()


def test_a_query_without_its_condition_sees_one_user_only(fresh_database: Callable[[], str]) -> None:
    url = fresh_database()
    application = PostgresEngine(as_application(url))
    owner = PostgresEngine(url)
    store = open_store(url, PlainVault(), system_clock)
    for user in ("ana", "ben"):
        put(store, user, message())
    unfiltered = "SELECT user_id FROM messages ORDER BY user_id"
    try:
        with application.reading("ana") as connection:
            assert connection.rows(unfiltered, {}) == [("ana",)]
        with application.reading("nobody at all") as connection:
            assert connection.rows(unfiltered, {}) == []
        with application.writing("ana") as connection:
            assert connection.change("DELETE FROM messages", {}) == 1
        with application.reading("ben") as connection:
            assert connection.rows(unfiltered, {}) == [("ben",)]
        with owner.reading("ana") as connection:
            assert connection.rows(unfiltered, {}) == [("ben",)], "the control: a superuser is not bound"
    finally:
        application.close()
        owner.close()
        store.close()


def test_a_pooled_connection_carries_nobody_over(fresh_database: Callable[[], str]) -> None:
    url = as_application(fresh_database())
    engine, store = PostgresEngine(url), open_store(url, PlainVault(), system_clock)
    put(store, "ana", message())
    try:
        with store.reading("ana") as reader:
            at = reader.revision()
        for moment in (None, at):
            with engine.reading("ana", moment) as connection:
                assert connection.rows("SELECT count(*) FROM messages", {}) == [(1,)]
            with engine._pool.connection() as raw:
                raw.execute("BEGIN")
                assert raw.execute("SELECT current_setting('tenuto.user', true)").fetchall()[0][0] in (None, "")
                assert raw.execute("SELECT count(*) FROM messages").fetchall() == [(0,)]
                raw.execute("COMMIT")
    finally:
        engine.close()
        store.close()


def test_statements_that_go_out_together_see_their_own_user_only(fresh_database: Callable[[], str]) -> None:
    """Without any condition of their own, from many threads at once over the pooled connections."""
    url = as_application(fresh_database())
    store = open_store(url, PlainVault(), system_clock)
    engine = PostgresEngine(url)
    at = {}
    for user in ("ana", "ben", "cleo"):
        put(store, user, message(content=f"of {user}"))
        with store.reading(user) as reader:
            at[user] = reader.revision()
    unfiltered = "SELECT user_id FROM messages ORDER BY user_id"

    def ask(number: int) -> bool:
        user = ("ana", "ben", "cleo")[number % 3]
        with engine.reading(user, at[user]) as connection:
            return connection.rows(unfiltered, {}) == [(user,)] and connection.rows(unfiltered, {}) == [(user,)]

    try:
        with ThreadPoolExecutor(16) as threads:
            assert all(threads.map(ask, range(300)))
    finally:
        engine.close()
        store.close()
