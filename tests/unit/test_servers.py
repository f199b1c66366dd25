"""The servers that other tests stand on: real, empty when asked for, and able to crash and come back."""

from collections.abc import Callable

import psycopg
import redis
from tests import servers


def test_postgres_has_pgvector_and_databases_are_apart(fresh_database: Callable[[], str]):
    first, second = fresh_database(), fresh_database()
    with psycopg.connect(first) as connection:
        connection.execute("CREATE EXTENSION vector")
        connection.execute("CREATE TABLE t (v vector(3))")
        connection.execute("INSERT INTO t VALUES ('[1,2,3]')")
        row = connection.execute("SELECT v <=> '[1,2,3]' FROM t").fetchone()
    assert row == (0.0,)
    with psycopg.connect(second) as connection:
        assert connection.execute("SELECT to_regclass('t')").fetchone() == (None,)


def test_postgres_comes_back_after_a_crash_with_what_was_committed():
    with servers.Postgres(durable=True) as server:
        url = server.fresh_database()
        with psycopg.connect(url) as connection:
            connection.execute("CREATE TABLE t AS SELECT 1 AS n")
        server.kill()
        server.start()
        with psycopg.connect(url) as connection:
            assert connection.execute("SELECT n FROM t").fetchone() == (1,)
    assert not server.directory.exists()


def test_redis_is_empty_at_each_test(redis_url: str):
    with redis.Redis.from_url(redis_url) as client:
        assert client.dbsize() == 0
        client.set("k", "v")
        assert client.get("k") == b"v"
    servers.valkey().flush()
    with redis.Redis.from_url(redis_url) as client:
        assert client.dbsize() == 0
