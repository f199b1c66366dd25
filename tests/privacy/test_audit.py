"""The audit log: every change and every reading is in it, nothing of what was said is, and no tampering goes unseen."""

from __future__ import annotations

import contextlib
import os
import random
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import apsw
import msgspec
import psycopg
import pytest
from starlette.testclient import TestClient

import tenuto
from tenuto.call_context import acting
from tenuto.errors import InputError
from tenuto.privacy import audit
from tenuto.records.audit import GONE, plain_sign
from tenuto.storage.sqltransaction import SqlTransaction
from tenuto.surfaces.http.app import create_app
from tests.privacy.test_vault import LINES, fill, opened

TAMPERINGS = int(os.environ.get("TENUTO_TEST_TAMPERINGS", "55"))
"""How many single tamperings are tried; the full campaign takes a thousand."""
SECRET = ("Ferdinand", "penicillin", "Ljubljana", "line-0", "tomato")
Row = dict[str, Any]


@pytest.fixture
def keys(tmp_path: Path) -> Path:
    (tmp_path / "safe").mkdir()
    return tmp_path / "safe" / "key"


def busy(store: tenuto.Tenuto) -> None:
    """Three users, one of them erased, a key and some readings."""
    for user in ("ana", "ben", "cem"):
        fill(store, user)
        store.user(user).recall("tea")
        store.user(user).remember("I like oolong")
    store.create_key("phone", scope="user", user="ana")
    store.user("cem").erase()
    store.deps.accesses.flush()


# --- what is in it ----------------------------------------------------------------------------------------------------


def test_every_change_and_every_reading_is_there_with_who_did_it(store_url: str) -> None:
    with opened(store_url) as store:
        ana = store.user("ana")
        receipt = ana.observe("My dad is allergic to penicillin.")
        with acting("cli"):
            ana.recall("dad")
            ana.recall("penicillin")
            ana.messages()
        kept = ana.remember("I like tea").memory
        ana.forget(kept.id)
        store.settle()
        told = [(one.actor, one.verb) for one in ana.audit()]
        by_verb = {one.verb: one for one in ana.audit()}
    assert {("library", "observe"), ("cli", "recall"), ("cli", "messages"), ("library", "forget")} <= set(told)
    assert ("job", "digest") in told and ("job", "embed") in told
    assert by_verb["recall"].times == 2 and by_verb["recall"].changed == {}
    assert by_verb["observe"].changed["messages"] == 1 and receipt.message_id in by_verb["observe"].ids
    assert kept.id in by_verb["forget"].ids
    assert told.count(("library", "observe")) == 1, "a verb that changes something is told once"


def test_a_recall_over_http_is_one_recall(store_url: str) -> None:
    """On every engine, and for every way that a server may take to the records."""
    with opened(store_url) as store:
        store.user("ana").observe("I like green tea.")
        store.settle()
        _, secret = store.create_key("k", scope="user", user="ana")
        headers = {"Authorization": f"Bearer {secret}"}
        with TestClient(create_app(store, hosts=["testserver"])) as client:
            for _ in range(3):
                assert client.post("/api/users/ana/recall", json={"query": "tea"}, headers=headers).json()["hits"]
        told = [(one.verb, one.times) for one in store.user("ana").audit() if one.actor.startswith("api:")]
    assert told == [("recall", 3)]


def test_a_change_that_is_undone_leaves_no_entry(store_url: str) -> None:
    with opened(store_url) as store:
        store.user("ana").observe("hello")
        before = len(store.user("ana").audit())
        with pytest.raises(InputError):
            store.user("ana").observe(" ")
        with contextlib.suppress(RuntimeError), store.deps.store.writing("ana") as tx:
            tx.witness("x", "y", {})
            raise RuntimeError
        assert [one.verb for one in store.user("ana").audit()][:-before] == ["audit"]


def test_readings_wait_and_are_written_at_the_latest_when_the_store_is_closed(tmp_path: Path) -> None:
    with opened(tmp_path / "a.db") as store:
        fill(store)
        store.user("ana").recall("tea")
        with store.deps.store.reading("ana") as reader:
            assert "recall" not in {link.verb for link in reader.links()}
    with opened(tmp_path / "a.db") as store, store.deps.store.reading("ana") as reader:
        assert "recall" in {link.verb for link in reader.links()}


def test_reading_somebody_who_is_not_there_makes_nobody(store_url: str) -> None:
    with opened(store_url) as store:
        store.user("nobody").recall("tea")
        store.deps.accesses.flush()
        assert store.users() == [] and store.user("nobody").audit() == []


@pytest.mark.parametrize("sealed", [False, True])
def test_it_holds_no_content_and_no_user(tmp_path: Path, keys: Path, sealed: bool) -> None:
    with opened(tmp_path / "a.db", keys if sealed else None) as store:
        busy(store)
        store.user("ana").workflows()
        said = " ".join(link.body + link.actor + link.verb for link in all_links(store))
        said = re.sub(r"[a-z]{2,8}_[0-9a-z]{8,22}", "", said)  # random ids may spell any word
    assert said
    for word in (*SECRET, *LINES, "ana", "cem", "phone", "oolong"):
        assert word not in said


def all_links(store: tenuto.Tenuto) -> list[Any]:
    found = []
    for chain in audit._chains(store.deps):
        with store.deps.store.reading(chain.holder) as reader:
            found += reader.links()
    return found


def test_the_log_of_an_erased_user_stays_and_says_nothing_of_who_it_was(tmp_path: Path) -> None:
    with opened(tmp_path / "a.db") as store:
        fill(store, "cem-the-gone")
        proof = store.user("cem-the-gone").erase()
        report = store.verify_audit()
        last = store.audit()[0]
        assert store.user("cem-the-gone").verify_erasure(proof) == []
    assert report.ok and report.chains == 2 and proof.audit_count > 1
    assert last.verb == "erase" and last.note == {
        "subject": proof.subject, "n": proof.audit_count, "hash": proof.audit_head
    }  # fmt: skip
    for path in tmp_path.iterdir():
        assert b"cem-the-gone" not in path.read_bytes(), path


# --- tampering --------------------------------------------------------------------------------------------------------


class Tables:
    """The two tables that the log lives in, open to whoever can write to the database."""

    def __init__(self, run: Callable[[str, Row], list[tuple[Any, ...]]]) -> None:
        self.run = run
        self.kept = {name: self.rows(name) for name in ("audit", "users")}

    def rows(self, name: str) -> list[Row]:
        columns = {
            "audit": ("user_id", "n", "at", "actor", "verb", "body", "hash"),
            "users": ("user_id", "seq", "epoch", "created_at", "body", "subject", "audit_count", "audit_head"),
        }[name]
        return [
            dict(zip(columns, row, strict=True)) for row in self.run(f"SELECT {', '.join(columns)} FROM {name}", {})
        ]

    def add(self, name: str, row: Row) -> None:
        marks = ", ".join(f":{column}" for column in row)
        self.run(f"INSERT INTO {name} ({', '.join(row)}) VALUES ({marks})", row)

    def mend(self) -> None:
        self.run("BEGIN", {})
        for name, rows in self.kept.items():
            self.run(f"DELETE FROM {name}", {})
            for row in rows:
                self.add(name, row)
        self.run("COMMIT", {})


def _changed(value: Any, dice: random.Random) -> Any:
    if isinstance(value, int):
        return value + dice.choice((-1, 1, 1000))
    if isinstance(value, bytes):
        at = dice.randrange(len(value))
        return value[:at] + bytes([value[at] ^ (1 << dice.randrange(8))]) + value[at + 1 :]
    at = dice.randrange(len(value) + 1)
    return value[:at] + dice.choice(" x0") + value[at:]


def change(tables: Tables, dice: random.Random) -> None:
    row = dice.choice(tables.kept["audit"])
    column = dice.choice(("at", "actor", "verb", "body", "hash"))
    new = {"value": _changed(row[column], dice), "user": row["user_id"], "n": row["n"]}
    tables.run(f"UPDATE audit SET {column} = :value WHERE user_id = :user AND n = :n", new)


def take_out(tables: Tables, dice: random.Random) -> None:
    row = dice.choice(tables.kept["audit"])
    tables.run("DELETE FROM audit WHERE user_id = :user AND n = :n", {"user": row["user_id"], "n": row["n"]})


def cut_off(tables: Tables, dice: random.Random) -> None:
    row = dice.choice(tables.kept["audit"])
    tables.run("DELETE FROM audit WHERE user_id = :user AND n >= :n", {"user": row["user_id"], "n": row["n"]})


def put_in(tables: Tables, dice: random.Random) -> None:
    """An entry more at the end, well made: the hash fits the one before (without keys)."""
    holder = dice.choice([row["user_id"] for row in tables.kept["audit"]])
    last = max((row for row in tables.kept["audit"] if row["user_id"] == holder), key=lambda row: row["n"])
    tables.add("audit", {**last, "n": last["n"] + 1, "hash": plain_sign(b"mine")})


def swap(tables: Tables, dice: random.Random) -> None:
    holder = dice.choice([row["user_id"] for row in tables.kept["audit"]])
    rows = [row for row in tables.kept["audit"] if row["user_id"] == holder]
    if len(rows) < 2:
        return change(tables, dice)
    one, two = dice.sample(rows, 2)
    for row in (one, two):
        tables.run("DELETE FROM audit WHERE user_id = :user AND n = :n", {"user": row["user_id"], "n": row["n"]})
    tables.add("audit", {**one, "n": two["n"]})
    tables.add("audit", {**two, "n": one["n"]})
    return None


def give_away(tables: Tables, dice: random.Random) -> None:
    """The last entry of one log becomes the last of another."""
    holders = sorted({row["user_id"] for row in tables.kept["audit"]})
    giver, taker = dice.sample(holders, 2)
    last = max(row["n"] for row in tables.kept["audit"] if row["user_id"] == giver)
    free = max(row["n"] for row in tables.kept["audit"] if row["user_id"] == taker) + 1
    tables.run(
        "UPDATE audit SET user_id = :taker, n = :free WHERE user_id = :giver AND n = :n",
        {"taker": taker, "free": free, "giver": giver, "n": last},
    )


def mark(tables: Tables, dice: random.Random) -> None:
    row = dice.choice(tables.kept["users"])
    column = dice.choice(("subject", "audit_count", "audit_head"))
    new = {"value": _changed(row[column], dice), "user": row["user_id"]}
    tables.run(f"UPDATE users SET {column} = :value WHERE user_id = :user", new)


def lose_user(tables: Tables, dice: random.Random) -> None:
    user = dice.choice([row["user_id"] for row in tables.kept["users"] if row["user_id"]])
    tables.run("DELETE FROM users WHERE user_id = :user", {"user": user})


def lose_log(tables: Tables, dice: random.Random) -> None:
    """The whole log of somebody who was erased."""
    tables.run("DELETE FROM audit WHERE user_id >= :gone AND user_id < :after", {"gone": GONE, "after": "\x20"})


WAYS = (change, change, change, take_out, cut_off, put_in, swap, give_away, mark, lose_user, lose_log)


@contextmanager
def tables_of(url: str) -> Iterator[Tables]:
    if url.startswith("postgresql"):
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("SELECT set_config('tenuto.system', 'on', false)")

            def run(sql: str, row: Row) -> list[tuple[Any, ...]]:
                for name in row:
                    sql = sql.replace(f":{name}", f"%({name})s")
                done = connection.execute(sql, row)
                return done.fetchall() if done.description else []

            yield Tables(run)
        return
    file = apsw.Connection(url)
    file.set_busy_timeout(5000)
    yield Tables(lambda sql, row: file.execute(sql, row).fetchall())
    file.close()


def missed(store: tenuto.Tenuto, url: str, count: int) -> list[tuple[int, str]]:
    """Tamperings that verification did not see."""
    unseen = []
    with tables_of(url) as tables:
        for number in range(count):
            dice = random.Random(number)
            way = WAYS[number % len(WAYS)]
            way(tables, dice)
            if audit.verify(store.deps).ok:
                unseen.append((number, way.__name__))
            tables.mend()
        assert audit.verify(store.deps).ok
    return unseen


@pytest.fixture(params=["sqlite", "sqlite sealed", "postgres"])
def place(request: pytest.FixtureRequest, tmp_path: Path, keys: Path) -> tuple[str, Path | None]:
    if request.param == "postgres":
        return request.getfixturevalue("fresh_database")(), None
    return str(tmp_path / "a.db"), keys if request.param.endswith("sealed") else None


def test_every_single_tampering_is_found(place: tuple[str, Path | None]) -> None:
    url, keys = place
    with opened(url, keys) as store:
        busy(store)
        assert store.verify_audit().ok
        assert missed(store, url, TAMPERINGS) == []


def test_the_same_test_finds_a_log_whose_links_do_not_hold_each_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The control: hashes that cover the number alone."""
    url = str(tmp_path / "a.db")

    def weak(before: str, subject: str, n: int, *rest: object) -> bytes:
        return str(n).encode()

    monkeypatch.setattr("tenuto.storage.audit_link.signed_bytes", weak)
    monkeypatch.setattr("tenuto.privacy.audit.signed_bytes", weak)
    with opened(url) as store:
        busy(store)
        assert missed(store, url, 60) != []


def test_a_log_that_was_made_anew_is_found_by_keys_or_by_a_head_that_was_kept(tmp_path: Path, keys: Path) -> None:
    """Somebody who may write to the database drops the last entry and makes the rest fit."""
    for name, ring in (("plain.db", None), ("sealed.db", keys)):
        url = str(tmp_path / name)
        with opened(url, ring) as store:
            busy(store)
            head = store.audit_head()
            with tables_of(url) as tables:
                rows = sorted(
                    (row for row in tables.kept["audit"] if row["user_id"] == "ana"), key=lambda row: row["n"]
                )
                tables.run("DELETE FROM audit WHERE user_id = 'ana' AND n = :n", {"n": rows[-1]["n"]})
                ended = {"n": rows[-2]["n"], "head": bytes(rows[-2]["hash"]).hex()}
                tables.run("UPDATE users SET audit_count = :n, audit_head = :head WHERE user_id = 'ana'", ended)
            assert audit.verify(store.deps).ok, "cut off cleanly: only a kept head can tell"
            assert not audit.verify(store.deps, known=head).ok
            with tables_of(url) as tables:
                last = {**rows[-1], "actor": "cli", "hash": plain_sign(b"forged")}
                tables.add("audit", last)
                tables.run("UPDATE users SET audit_count = :n, audit_head = :head WHERE user_id = 'ana'",
                           {"n": last["n"], "head": last["hash"].hex()})  # fmt: skip
            assert not audit.verify(store.deps, known=head).ok


def test_a_sealed_store_goes_on_after_its_plain_time_and_refuses_plain_entries(tmp_path: Path, keys: Path) -> None:
    url = str(tmp_path / "a.db")
    with opened(url) as store:
        busy(store)
    with opened(url, keys, convert=True) as store:
        store.seal()
        fill(store, "dora")
        report = store.verify_audit()
        assert report.ok and report.keyed
        assert missed(store, url, 40) == []


def test_an_altered_head_is_refused(tmp_path: Path) -> None:
    with opened(tmp_path / "a.db") as store:
        fill(store)
        head = store.audit_head()
    data = tenuto.records.base.to_plain(head)
    with pytest.raises(InputError, match="altered"):
        audit.read_head(msgspec.json.encode({**data, "digest": "0" * 64}))
    with pytest.raises(InputError, match="not the head"):
        audit.read_head(b"[]")


def test_writers_of_different_users_do_not_wait_for_each_other(fresh_database: Callable[[], str]) -> None:
    """On a server: while one user's log is being written, another's goes on."""
    with opened(fresh_database()) as store:
        fill(store, "ana")
        with store.deps.store.writing("ana") as tx:
            assert isinstance(tx, SqlTransaction)
            tx.witness("x", "y", {})
            tx.flush()
            store.user("ben").observe("hello")
        assert store.verify_audit().ok
