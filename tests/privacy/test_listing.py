"""What somebody writes into the database behind Tenuto's back is noticed: row by row, on every engine, with and without
keys. The ways of tampering are tried one by one; the control takes the digests away and must miss them."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import apsw
import psycopg
import pytest

import tenuto
from tenuto.errors import VaultError
from tenuto.privacy import audit
from tenuto.privacy.vault import MARK, OLD_MARK, SealedVault, _old_bound
from tenuto.records.base import evolve
from tenuto.records.conversation import Message
from tenuto.records.memory import Memory, Status
from tenuto.storage.inmemory import InMemoryStore
from tenuto.storage.tables import place as place_of_row
from tenuto.testing.samples import memory
from tests.privacy.test_vault import LINES, fill, opened

Run = Callable[[str], list[tuple[Any, ...]]]
OLD = Path(__file__).parents[1] / "migrations" / "data" / "0.1.0.db"
COLUMNS = ("status", "trust", "pinned", "persona", "valid_from", "valid_to", "proactive_use", "source", "importance")
VALUES = {"pinned": "0", "valid_from": "5", "valid_to": "5", "importance": "9.5"}
WAYS = {
    "gone": "DELETE FROM messages WHERE user_id = 'ana' AND id = (SELECT min(id) FROM messages WHERE user_id = 'ana')",
    "moved": "UPDATE messages SET user_id = 'ben', external_id = NULL WHERE user_id = 'ana' AND id = "
    "(SELECT max(id) FROM messages WHERE user_id = 'ana')",
    "role": "UPDATE messages SET role = 'system' WHERE user_id = 'ana'",
    "source": "UPDATE messages SET source = 'operator' WHERE user_id = 'ana'",
    "entity": "DELETE FROM entities WHERE user_id = 'ana'",
    "settings": "UPDATE users SET body = (SELECT body FROM users WHERE user_id = 'ben') WHERE user_id = 'ana'",
} | {
    f"memory {column}": f"UPDATE memories SET {column} = {VALUES.get(column, repr('other'))} WHERE id = 'mem_aaaaaaaa'"
    for column in COLUMNS
}


@pytest.fixture(params=["sqlite", "sqlite sealed", "postgres", "postgres sealed"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[str, Path | None]:
    (tmp_path / "safe").mkdir()
    keys = tmp_path / "safe" / "key" if request.param.endswith("sealed") else None
    if request.param.startswith("postgres"):
        return request.getfixturevalue("fresh_database")(), keys
    return str(tmp_path / "a.db"), keys


@contextmanager
def by_sql(url: str) -> Iterator[Run]:
    """Whoever can write to the database."""
    if url.startswith("postgresql"):
        with psycopg.connect(url, autocommit=True) as server:
            server.execute("SELECT set_config('tenuto.system', 'on', false)")

            def run(sql: str) -> list[tuple[Any, ...]]:
                done = server.execute(sql)
                return done.fetchall() if done.description else []

            yield run
        return
    file = apsw.Connection(url)
    file.set_busy_timeout(5000)
    yield lambda sql: file.execute(sql).fetchall()
    file.close()


def two_users(store: tenuto.Tenuto) -> None:
    fill(store)
    fill(store, "ben")
    with store.deps.store.writing("ana") as tx:
        tx.put(memory(id="mem_aaaaaaaa", content="first", status=Status.CANDIDATE))


def said(store: tenuto.Tenuto) -> str:
    return " ".join(audit.verify(store.deps).problems)


def test_every_tampering_by_sql_is_named(place: tuple[str, Path | None]) -> None:
    url, keys = place
    with opened(url, keys) as store:
        two_users(store)
        assert said(store) == ""
        unseen = [way for way, sql in WAYS.items() if not _tried(store, url, sql)]
        assert unseen == []
        assert said(store) == "", "all of it was taken back"


def _tried(store: tenuto.Tenuto, url: str, sql: str) -> bool:
    """Whether it was noticed, and named with its table. The tables are put back as they were."""
    table = "messages" if "messages" in sql else "entities" if "entities" in sql else sql.split()[1]
    with by_sql(url) as run:
        run(f"CREATE TABLE kept AS SELECT * FROM {table}")
        run(sql)
        found = said(store)
        run(f"DELETE FROM {table}")
        run(f"INSERT INTO {table} SELECT * FROM kept")
        run("DROP TABLE kept")
    return f"{table} " in found


def test_a_row_that_is_set_back_is_noticed_and_so_is_its_entry(place: tuple[str, Path | None]) -> None:
    """Body, columns and revision of an earlier moment: each by itself is well made."""
    url, keys = place
    with opened(url, keys) as store:
        two_users(store)
        with by_sql(url) as run:
            run("CREATE TABLE kept AS SELECT * FROM memories WHERE id = 'mem_aaaaaaaa'")
            with store.deps.store.writing("ana") as tx:
                known = tx.get(Memory, "mem_aaaaaaaa")
                assert known is not None
                tx.put(evolve(known, content="second", status=Status.FORGOTTEN))
            assert said(store) == ""
            run("DELETE FROM memories WHERE id = 'mem_aaaaaaaa'")
            assert "memories mem_aaaaaaaa is gone" in said(store)
            run("INSERT INTO memories SELECT * FROM kept")
            assert "memories mem_aaaaaaaa was set back" in said(store)
            (finding,) = [one for one in store.examine(thorough=True) if one["what"] == "audit log"]
        assert not finding["ok"] and "mem_aaaaaaaa" in finding["detail"]


def test_a_sealed_row_whose_columns_were_changed_does_not_open(tmp_path: Path) -> None:
    (tmp_path / "safe").mkdir()
    url, keys = str(tmp_path / "a.db"), tmp_path / "safe" / "key"
    for column in COLUMNS:
        with opened(url, keys) as store:
            if not store.users():
                two_users(store)
            with by_sql(url) as run:
                before = run(f"SELECT {column} FROM memories WHERE id = 'mem_aaaaaaaa'")[0][0]
                run(WAYS[f"memory {column}"])
                with store.deps.store.reading("ana") as reader, pytest.raises(VaultError) as caught:
                    reader.get(Memory, "mem_aaaaaaaa")
                assert caught.value.code == "tampered", column
                kept = "NULL" if before is None else repr(before)
                run(f"UPDATE memories SET {column} = {kept} WHERE id = 'mem_aaaaaaaa'")
                with store.deps.store.reading("ana") as reader:
                    assert reader.get(Memory, "mem_aaaaaaaa") is not None


def test_the_same_test_misses_everything_where_rows_are_not_listed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The control: digests that are the same for every row."""
    monkeypatch.setattr("tenuto.providers.vault.PlainVault.digest", lambda self, user, data: b"\x01")
    url = str(tmp_path / "a.db")
    with opened(url) as store:
        two_users(store)
        assert _tried(store, url, WAYS["gone"]), "a missing name is seen without any digest"
        assert not _tried(store, url, WAYS["memory trust"])
        assert not _tried(store, url, WAYS["role"])


def test_a_store_in_memory_notices_it_too() -> None:
    with opened("memory:") as store:
        two_users(store)
        assert said(store) == "" and isinstance(store.deps.store, InMemoryStore)
        rows = store.deps.store._spaces["ana"].rows
        id, message = next(iter(rows[Message].items()))
        rows[Message][id] = evolve(message, role="system")
        assert f"messages {id} was changed" in said(store)
        del rows[Message][id]
        assert f"messages {id} is gone" in said(store)


def test_verbs_that_take_away_leave_a_log_that_fits(place: tuple[str, Path | None]) -> None:
    url, keys = place
    with opened(url, keys) as store:
        two_users(store)
        ana = store.user("ana")
        ana.forget(ana.memories()[0].id)
        ana.erase(message="line-1")
        ana.undo("api")
        if keys is not None:
            store.rotate("ben")
        store.settle()
        assert said(store) == ""
        store.user("ben").erase()
        assert said(store) == ""


# --- what an earlier release wrote ------------------------------------------------------------------------------------


def test_rows_of_an_earlier_release_are_listed_in_the_background_once(tmp_path: Path) -> None:
    path = tmp_path / "old.db"
    shutil.copy(OLD, path)
    with opened(path) as store:
        before = [message.content for message in store.user("ana", persona="coach").messages()]
        assert said(store) == "" and len(store.deps.store.unlisted()) == 2
        store.settle()
        assert said(store) == "" and store.deps.store.unlisted() == []
        assert [message.content for message in store.user("ana", persona="coach").messages()] == before
        with by_sql(str(path)) as run:
            run("DELETE FROM messages WHERE user_id = 'ana' AND external_id = 'm-1'")
            assert "messages" in said(store)
            run("UPDATE users SET listed = 0")
    with opened(path) as store:
        store.settle()
        assert "messages" in said(store), "a mark in the table does not make the log forget what it lists"


def _seal_as_before(
    self: SealedVault, user: str, place: str, revision: int, data: bytes, columns: bytes = b""
) -> bytes:
    """As an earlier release did."""
    keys = self._keys(user, create=True)
    nonce = b"n" * 12
    sealed = keys.old_content[keys.current].encrypt(nonce, data, _old_bound(user, place, revision, keys.current))
    return OLD_MARK + keys.current.to_bytes(4, "big") + nonce + sealed


def test_what_was_sealed_the_old_way_opens_until_it_is_listed_and_never_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "safe").mkdir()
    url, keys = str(tmp_path / "a.db"), tmp_path / "safe" / "key"
    with monkeypatch.context() as patch:
        patch.setattr(SealedVault, "seal", _seal_as_before)
        with opened(url, keys) as store:
            two_users(store)
    with by_sql(url) as run:
        run("DELETE FROM audit")
        run("UPDATE users SET listed = 0, audit_count = 0, audit_head = ''")
    with opened(url, keys) as store:
        vault = store.deps.vault
        assert isinstance(vault, SealedVault)
        _unlisted(store)
        assert [message.content for message in store.user("ana").messages()] == LINES
        with by_sql(url) as run:
            old = run("SELECT body, revision FROM memories WHERE id = 'mem_aaaaaaaa'")[0]
            assert bytes(old[0]).startswith(OLD_MARK)
            store.settle()
            assert bytes(run("SELECT body FROM memories WHERE id = 'mem_aaaaaaaa'")[0][0]).startswith(MARK)
            assert said(store) == "" and [message.content for message in store.user("ana").messages()] == LINES
            assert sorted(vault.ring.get("ana")) == [0, 2], "the key that could open the old form is gone"
            body = f"x'{bytes(old[0]).hex()}'"
            run(f"UPDATE memories SET body = {body}, revision = {old[1]} WHERE id = 'mem_aaaaaaaa'")
        with store.deps.store.reading("ana") as reader, pytest.raises(VaultError):
            reader.get(Memory, "mem_aaaaaaaa")
        assert "memories mem_aaaaaaaa does not open" in said(store)


def _unlisted(store: tenuto.Tenuto) -> None:
    """User rows as an earlier release wrote them: they do not say whether rows are listed."""
    vault = store.deps.vault
    assert isinstance(vault, SealedVault)
    with by_sql(store.deps.store.url) as run:
        for (user,) in run("SELECT user_id FROM users"):
            body = _seal_as_before(vault, user, place_of_row("users", user), 0, b'{"timezone":"UTC","settings":{}}')
            run(f"UPDATE users SET body = x'{body.hex()}' WHERE user_id = '{user}'")


def test_the_mark_of_one_form_on_the_other_opens_nothing(tmp_path: Path) -> None:
    (tmp_path / "safe").mkdir()
    url, keys = str(tmp_path / "a.db"), tmp_path / "safe" / "key"
    with opened(url, keys) as store:
        two_users(store)
        with by_sql(url) as run:
            run(f"UPDATE memories SET body = CAST(x'{OLD_MARK.hex()}' || substr(body, 4) AS BLOB), trust = 'operator'")
        with store.deps.store.reading("ana") as reader, pytest.raises(VaultError):
            reader.get(Memory, "mem_aaaaaaaa")


def test_values_of_another_type_are_named_and_stop_nothing(tmp_path: Path) -> None:
    """SQLite takes any value in any column."""
    url = str(tmp_path / "a.db")
    with opened(url) as store:
        two_users(store)
        for value in ("'text'", "x'ff00'", "CAST(x'f5ff' AS TEXT)", "17"):
            with by_sql(url) as run:
                run("CREATE TABLE kept AS SELECT * FROM memories")
                run(f"UPDATE memories SET body = {value}, trust = {value} WHERE id = 'mem_aaaaaaaa'")
                assert "rows of" in said(store).lower(), value
                assert not all(one["ok"] for one in store.examine(thorough=True))
                run("DELETE FROM memories")
                run("INSERT INTO memories SELECT * FROM kept")
                run("DROP TABLE kept")
        assert said(store) == ""


def test_whoever_writes_to_the_database_cannot_make_a_sealed_store_take_plain_rows(tmp_path: Path) -> None:
    (tmp_path / "safe").mkdir()
    url, keys = str(tmp_path / "a.db"), tmp_path / "safe" / "key"
    with opened(url, keys) as store:
        two_users(store)
    with by_sql(url) as run:
        run("INSERT OR REPLACE INTO store_facts VALUES ('keyring_state', 'converting')")
        run('UPDATE memories SET body = CAST(\'{"content": "planted"}\' AS BLOB)')
    with opened(url, keys) as store, store.deps.store.reading("ana") as reader, pytest.raises(VaultError) as caught:
        reader.get(Memory, "mem_aaaaaaaa")
    assert caught.value.code == "tampered"
