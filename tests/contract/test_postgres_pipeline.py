"""Several statements in one trip: on a real PostgreSQL, with real failures."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import psycopg
import pytest
from psycopg import errors as pg

from tenuto.errors import StoreBusy, StoreError
from tenuto.providers.system import system_clock
from tenuto.providers.vault import PlainVault
from tenuto.records.scope import Revision
from tenuto.storage import pipeline
from tenuto.storage.opening import open_store
from tenuto.storage.pipeline import Pooled
from tenuto.storage.postgres import POOL, PostgresEngine
from tenuto.testing.contract import put
from tenuto.testing.samples import message

NUMBERS = "SELECT n FROM generate_series(1, :most) AS n ORDER BY n"


@pytest.fixture
def database(fresh_database: Callable[[], str]) -> str:
    url = fresh_database()
    store = open_store(url, PlainVault(), system_clock)
    put(store, "ana", message())
    store.close()
    return url


@pytest.fixture
def raw(database: str) -> Iterator[Pooled]:
    with Pooled.connect(database, autocommit=True) as made:
        yield made


@pytest.fixture
def engine(database: str) -> Iterator[PostgresEngine]:
    made = PostgresEngine(database)
    yield made
    made.close()


def moment(engine: PostgresEngine) -> Revision:
    with engine.reading("ana") as connection:
        found = connection.rows("SELECT created_at, seq, epoch, audit_head FROM users WHERE user_id = 'ana'", {})
    return Revision(*found[0])


def end_others(database: str) -> None:
    """What a restart of the server does to those who are connected."""
    with psycopg.connect(database, autocommit=True) as admin:
        admin.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )


def test_every_statement_has_its_answer(raw: Pooled) -> None:
    answers = raw.together((NUMBERS, {"most": 3}), ("SELECT :text, :none::text, :raw", VALUES), (NUMBERS, {"most": 0}))
    assert [raw.rows(answer) for answer in answers] == [[(1,), (2,), (3,)], [("ünïcode", None, b"\x00\xff")], []]


VALUES = {"text": "ünïcode", "none": None, "raw": b"\x00\xff"}


def test_a_statement_that_fails_is_told_as_psycopg_tells_it_and_undoes_those_before(raw: Pooled) -> None:
    raw.execute("CREATE TABLE kept (n int PRIMARY KEY)")
    with pytest.raises(pg.UniqueViolation) as caught:
        raw.together(("INSERT INTO kept VALUES (1)", {}), ("INSERT INTO kept VALUES (1)", {}), (NUMBERS, {"most": 1}))
    assert caught.value.diag.constraint_name == "kept_pkey"
    assert raw.rows(raw.together(("SELECT count(*) FROM kept", {}))[0]) == [(0,)], "and the connection goes on"
    with pytest.raises(pg.SyntaxError):
        raw.together(("SELEKT", {}))
    with pytest.raises(psycopg.DataError):
        raw.together(("SELECT :text", {"text": "a\x00b"}))
    assert raw.rows(raw.together((NUMBERS, {"most": 1}))[0]) == [(1,)]


def test_a_transaction_can_be_begun_and_ended_with_it(raw: Pooled) -> None:
    raw.execute("CREATE TABLE kept (n int)")
    raw.together(("BEGIN", {}), ("INSERT INTO kept VALUES (1)", {}))
    assert raw.info.transaction_status == psycopg.pq.TransactionStatus.INTRANS
    raw.together(("ROLLBACK", {}))
    raw.together(("BEGIN", {}), ("INSERT INTO kept VALUES (2)", {}))
    raw.together(("COMMIT", {}))
    assert raw.execute("SELECT n FROM kept").fetchall() == [(2,)]


def test_more_than_fits_into_the_sockets_goes_both_ways(raw: Pooled) -> None:
    large = "x" * 3_000_000
    answers = raw.together(*([("SELECT :text || 'y'", {"text": large})] * 4))
    assert [raw.rows(answer) for answer in answers] == [[(large + "y",)]] * 4


def test_plans_do_not_grow_without_end(raw: Pooled, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pipeline, "PLANNED", 5)
    for number in range(40):
        assert raw.rows(raw.together((f"SELECT {number}", {}))[0]) == [(number,)]
        assert raw.execute("SELECT count(*) FROM pg_prepared_statements").fetchall()[0][0] <= 8
    assert raw.rows(raw.together(("SELECT 1", {}))[0]) == [(1,)]


def test_plans_that_somebody_else_dropped_end_the_connection(raw: Pooled) -> None:
    raw.together((NUMBERS, {"most": 1}))
    raw.pgconn.exec_(b"DEALLOCATE ALL")
    with pytest.raises(pg.InvalidSqlStatementName):
        raw.together((NUMBERS, {"most": 1}))
    assert raw.closed


def test_a_connection_that_is_lost_says_so_and_another_is_made(engine: PostgresEngine, database: str) -> None:
    at = moment(engine)
    for reads in (lambda: engine.reading("ana"), lambda: engine.reading("ana", at), lambda: engine.writing("ana")):
        end_others(database)
        with pytest.raises(StoreBusy), reads() as connection:
            connection.rows("SELECT 1", {})
        assert patiently(reads) == [(1,)]


def patiently(reads: Callable[[], Any]) -> Any:
    """Try again, as the error says: the pool may hold more connections that were ended."""
    for _ in range(POOL):
        with contextlib.suppress(StoreBusy), reads() as connection:
            return connection.rows("SELECT 1", {})
    return None


def test_a_connection_that_is_lost_within_a_transaction(engine: PostgresEngine, database: str) -> None:
    def lost() -> None:
        with engine.writing("ana") as connection:
            connection.change("DELETE FROM messages", {})
            end_others(database)
            connection.rows("SELECT 1", {})

    def failing() -> None:
        with engine.writing("ana") as connection:
            connection.change("DELETE FROM messages", {})
            _ = 1 / 0

    with pytest.raises(StoreBusy):
        lost()
    assert patiently(lambda: engine.writing("ana")) == [(1,)]
    with pytest.raises(ZeroDivisionError):
        failing()
    with engine.reading("ana") as connection:
        assert connection.rows("SELECT count(*) FROM messages", {}) == [(1,)], "neither has happened"


def test_what_failed_is_not_kept_in_silence(engine: PostgresEngine) -> None:
    def careless() -> None:
        with engine.writing("ana") as connection:
            connection.change("DELETE FROM messages", {})
            with contextlib.suppress(psycopg.Error):
                connection.rows("SELECT 1 / 0", {})

    with pytest.raises(StoreError):
        careless()
    with engine.reading("ana") as connection:
        assert connection.rows("SELECT count(*) FROM messages", {}) == [(1,)]
