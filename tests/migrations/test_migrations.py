"""Migrations: what they make is what the code expects, on both dialects; old files open, newer ones are refused."""

import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import apsw
import psycopg
import pytest

import tenuto
from tenuto.errors import SchemaMismatch
from tenuto.providers.system import system_clock
from tenuto.providers.vault import PlainVault
from tenuto.storage import migrate
from tenuto.storage.migrate import Migration
from tenuto.storage.opening import open_store
from tenuto.storage.tables import TABLES
from tenuto.testing.fakes import FakeEmbedder, FakeTokens

OPTIONS: dict[str, Any] = {"embedder": FakeEmbedder(), "tokens": FakeTokens(), "background": False}
ROOT = Path(__file__).parents[2]
OLD = sorted((Path(__file__).parent / "data").glob("*.db"))
KINDS = {
    "sqlite": {"text": "TEXT", "int": "INTEGER", "real": "REAL", "flag": "INTEGER", "time": "INTEGER"},
    "postgres": {"text": "text", "int": "bigint", "real": "double precision", "flag": "smallint", "time": "bigint"},
}


def sqlite_columns(path: Path) -> dict[str, dict[str, tuple[str, bool]]]:
    """table → column → (type, may be null)."""
    connection = apsw.Connection(str(path))
    own = "type = 'table' AND name NOT LIKE 'sqlite_%'"
    tables = [name for (name,) in connection.execute(f"SELECT name FROM sqlite_schema WHERE {own}")]
    found = {
        table: {row[1]: (row[2], not row[3]) for row in connection.execute(f"PRAGMA table_info({table})")}
        for table in tables
    }
    connection.close()
    return found


def postgres_columns(url: str) -> dict[str, dict[str, tuple[str, bool]]]:
    found: dict[str, dict[str, tuple[str, bool]]] = {}
    with psycopg.connect(url) as connection:
        for table, column, kind, null in connection.execute(
            "SELECT table_name, column_name, data_type, is_nullable FROM information_schema.columns "
            "WHERE table_schema = 'public'"
        ):
            found.setdefault(table, {})[column] = (kind, null == "YES")
    return found


@pytest.mark.parametrize("dialect", ["sqlite", "postgres"])
def test_the_schema_is_what_the_code_expects(dialect: str, tmp_path: Path, fresh_database: Callable[[], str]):
    if dialect == "sqlite":
        open_store(str(tmp_path / "new.db"), PlainVault(), system_clock).close()
        found = sqlite_columns(tmp_path / "new.db")
    else:
        url = fresh_database()
        open_store(url, PlainVault(), system_clock).close()
        found = postgres_columns(url)
    for table in TABLES:
        expected = {column.name: (KINDS[dialect][column.kind], column.nullable) for column in table.columns}
        actual = found.pop(table.name)
        for name in ("user_id", "id", "revision", "body"):
            assert actual.pop(name)[1] is False, f"{table.name}.{name}"
        assert actual == expected, table.name
        if table.many:
            assert set(found.pop(f"{table.name}_{table.many}")) == {"user_id", "value", "id"}
    assert {"users", "entries", "schema_migrations"} <= set(found)


def test_both_dialects_have_the_same_migrations_tables_and_columns(tmp_path: Path, fresh_database: Callable[[], str]):
    numbered = {
        dialect: [(one.version, one.name) for one in migrate.migrations(dialect)] for dialect in ("sqlite", "postgres")
    }
    assert numbered["sqlite"] == numbered["postgres"]
    versions = [version for version, _ in numbered["sqlite"]]
    assert versions[0] == 1 and len(set(versions)) == len(versions)
    url = fresh_database()
    open_store(str(tmp_path / "new.db"), PlainVault(), system_clock).close()
    open_store(url, PlainVault(), system_clock).close()
    by_file = {table: sorted(columns) for table, columns in sqlite_columns(tmp_path / "new.db").items()}
    by_server = {table: sorted(columns) for table, columns in postgres_columns(url).items()}
    assert by_file == by_server


def test_every_key_begins_with_the_user(tmp_path: Path):
    open_store(str(tmp_path / "new.db"), PlainVault(), system_clock).close()
    connection = apsw.Connection(str(tmp_path / "new.db"))
    for table in [table.name for table in TABLES] + ["entries", "users"]:
        for _, name, unique, *_ in connection.execute(f"PRAGMA index_list({table})").fetchall():
            first = connection.execute(f"PRAGMA index_info({name})").fetchall()[0][2]
            assert not unique or first == "user_id", f"{name} begins with {first}"
        keys = {row[5]: row[1] for row in connection.execute(f"PRAGMA table_info({table})")}
        assert keys[1] == "user_id", table
    connection.close()


# --- files of earlier releases ----------------------------------------------------------------------------------------


def test_there_is_a_file_of_every_release():
    sections = re.findall(r"^## (\S+)(.*)$", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert sections[0][0] == tenuto.__version__
    released = {version for version, rest in sections if "unreleased" not in rest}
    assert released and released <= {path.stem for path in OLD}, "see docs/releasing.md"


@pytest.mark.parametrize("path", OLD, ids=lambda path: path.stem)
def test_a_database_of_an_earlier_release_opens_with_everything_in_it(path: Path, tmp_path: Path):
    copy = tmp_path / path.name
    shutil.copy(path, copy)
    with tenuto.open(copy, **OPTIONS) as store:
        assert store.users() == ["ana", "ben"] and store.check() == []
        ana = store.user("ana", persona="coach", channel="imessage")
        assert [message.content for message in ana.messages()] == [
            "My dad is allergic to penicillin.",
            "Noted, no penicillin for him.",
            "I moved from Lisbon to Porto last week. 🏡",
        ]
        assert ana.messages()[0].external_id == "m-1" and len(ana.sessions()) == 2
        assert ana.recall("dad allergic penicillin")[0].text == "My dad is allergic to penicillin."
        assert ana.observe("My dad is allergic to penicillin.", id="m-1").act == "duplicate"
        ana.observe("One more.")
        assert ana.stats()["total_messages"] == 4
    assert migrate.head("sqlite") in [row[0] for row in _versions(copy)]


def _versions(path: Path) -> list[Any]:
    connection = apsw.Connection(str(path))
    rows = connection.execute("SELECT version FROM schema_migrations").fetchall()
    connection.close()
    return rows


# --- newer and unfinished ones ----------------------------------------------------------------------------------------


def test_a_newer_file_is_refused_and_not_changed(tmp_path: Path):
    path = tmp_path / "tenuto.db"
    tenuto.open(path, **OPTIONS).close()
    connection = apsw.Connection(str(path))
    connection.execute("INSERT INTO schema_migrations (version, name) VALUES (999, 'from_the_future')")
    connection.close()
    before = path.read_bytes()
    with pytest.raises(SchemaMismatch, match="made by a newer one") as caught:
        tenuto.open(path, **OPTIONS)
    assert "999" in caught.value.message and caught.value.code == "schema_mismatch"
    assert path.read_bytes() == before


def test_a_newer_server_database_is_refused(fresh_database: Callable[[], str]):
    url = fresh_database()
    tenuto.open(url, **OPTIONS).close()
    with psycopg.connect(url) as connection:
        connection.execute("INSERT INTO schema_migrations (version, name) VALUES (999, 'from_the_future')")
    for upgrade in (False, True):
        with pytest.raises(SchemaMismatch, match="made by a newer one"):
            tenuto.open(url, upgrade=upgrade, **OPTIONS)


@pytest.fixture
def one_more(monkeypatch: pytest.MonkeyPatch) -> None:
    """A version of Tenuto that is one migration ahead."""
    known = {dialect: migrate.migrations(dialect) for dialect in ("sqlite", "postgres")}
    number = migrate.head("sqlite") + 1

    def ahead(dialect: str) -> tuple[Migration, ...]:
        return (
            *known[dialect],
            Migration(number, "extra", "CREATE TABLE extra (a INTEGER); CREATE INDEX e ON extra (a);"),
        )

    monkeypatch.setattr(migrate, "migrations", ahead)


def test_a_server_database_waits_for_an_upgrade_by_hand(fresh_database: Callable[[], str], request: Any):
    url = fresh_database()
    with tenuto.open(url, **OPTIONS) as store:
        store.user("ana").observe("Hello.")
    request.getfixturevalue("one_more")
    with pytest.raises(SchemaMismatch, match="db upgrade"):
        tenuto.open(url, **OPTIONS)
    tenuto.open(url, upgrade=True, **OPTIONS).close()
    with tenuto.open(url, **OPTIONS) as store:
        assert store.user("ana").stats()["total_messages"] == 1
    assert "extra" in postgres_columns(url)


def test_a_file_upgrades_itself(tmp_path: Path, request: Any):
    path = tmp_path / "tenuto.db"
    with tenuto.open(path, **OPTIONS) as store:
        store.user("ana").observe("Hello.")
    request.getfixturevalue("one_more")
    with tenuto.open(path, **OPTIONS) as store:
        assert store.user("ana").stats()["total_messages"] == 1
    assert "extra" in sqlite_columns(path)


KILLED = """
import os, signal, sys
from tenuto.storage import migrate, sqlite
from tenuto.storage.sqlite import SqliteEngine

known, stop = migrate.migrations("sqlite"), int(sys.argv[2])
extra = [f"CREATE TABLE extra_{n} (a INTEGER)" for n in range(20)] + ["INSERT INTO extra_0 VALUES (1)"]
migrate.migrations = lambda dialect: (*known, migrate.Migration(known[-1].version + 1, "extra", ";".join(extra)))

def script(self, sql):
    for number, statement in enumerate(sql.split(";")):
        if number == stop:
            os.kill(os.getpid(), signal.SIGKILL)
        for _ in self.raw.execute(statement):
            pass

if stop >= 0:
    sqlite.SqliteConnection.script = script
engine = SqliteEngine(sys.argv[1])
with engine.reading("") as connection:
    print(len(connection.rows("SELECT 1 FROM sqlite_schema WHERE name LIKE 'extra%' AND type = 'table'", {})))
"""


@pytest.mark.parametrize("stop", [1, 7, 20])
def test_a_kill_in_the_middle_of_a_migration_leaves_the_version_before(tmp_path: Path, stop: int):
    path = tmp_path / "tenuto.db"
    with tenuto.open(path, **OPTIONS) as store:
        store.user("ana").observe("Hello.")
    before = sqlite_columns(path)

    def run(stop: int) -> "subprocess.CompletedProcess[str]":
        command = [sys.executable, "-c", KILLED, str(path), str(stop)]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    assert run(stop).returncode == -signal.SIGKILL
    assert sqlite_columns(path) == before
    with tenuto.open(path, **OPTIONS) as store:
        assert store.user("ana").stats()["total_messages"] == 1 and store.check() == []
    again = run(-1)
    assert (again.returncode, again.stdout) == (0, "20\n"), again.stderr


def test_processes_that_open_a_new_file_at_once_all_get_it(tmp_path: Path):
    program = (
        "import sys, tenuto\n"
        "from tenuto.testing.fakes import FakeEmbedder, FakeTokens\n"
        "with tenuto.open(sys.argv[1], embedder=FakeEmbedder(), tokens=FakeTokens(), background=False) as store:\n"
        "    store.user('ana').observe('Hello from ' + sys.argv[2])"
    )
    command = [sys.executable, "-c", program, str(tmp_path / "tenuto.db")]
    running = [subprocess.Popen([*command, str(n)], stderr=subprocess.PIPE, text=True) for n in range(6)]
    ended = [(one.communicate(timeout=100)[1], one.returncode) for one in running]
    assert ended == [("", 0)] * 6
    with tenuto.open(tmp_path / "tenuto.db", **OPTIONS) as store:
        assert store.user("ana").stats()["total_messages"] == 6
