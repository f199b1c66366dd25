"""What the queue and the upkeep of time ask of SQLite is answered from an index, however long the history is.

Read from EXPLAIN QUERY PLAN: a search names its index and the columns that it seeks by; a scan or a sort in a temporary
tree would grow with the history.
"""

from __future__ import annotations

import re
from datetime import timedelta

import apsw
import pytest

import tenuto
from tenuto.facade.job_handlers import HANDLERS
from tenuto.facade.jobs import Runner
from tenuto.lifecycle import due
from tenuto.storage import queries
from tenuto.storage.sqlite import SqliteConnection
from tenuto.storage.tables import TABLES
from tests.flows.talk import days
from tests.flows.world import START, Clock, WordEmbedder

PARAMETERS = {
    "now": 1,
    "until": 2,
    "user": "ana",
    "kind": "digest",
    "kinds": '["digest"]',
    "limit": 32,
    "id": "j",
    "fence": 1,
    "before": 1,
}
SOUGHT = {
    "lease_pick": ["jobs_due (run_at<?)"],
    "lease_take": ["jobs_waiting (user_id=? AND kind=? AND run_at<?)", "PRIMARY KEY (user_id=? AND id=?)"],
    "renew_job": ["PRIMARY KEY (user_id=? AND id=?)"],
    "unfinished_jobs": ["jobs_due (run_at<?)", "jobs_status (status=?)"],
    "idle_sessions": ["sessions_idle (last_activity_at<?)"],
    "drop_old_jobs": ["jobs_status (status=? AND created_at<?)"],
}


def plan(path, sql: str) -> list[str]:
    connection = apsw.Connection(str(path))
    try:
        names = set(re.findall(r"(?<![:\w]):([a-z_]\w*)", sql))
        given = dict.fromkeys(names) | {name: PARAMETERS[name] for name in names & set(PARAMETERS)}
        return [row[3] for row in connection.execute("EXPLAIN QUERY PLAN " + sql, given)]
    finally:
        connection.close()


@pytest.fixture
def path(tmp_path):
    tenuto.open(str(tmp_path / "plans.db"), embedder=WordEmbedder(), background=False).close()
    return tmp_path / "plans.db"


@pytest.mark.parametrize("name", SOUGHT)
def test_the_queue_is_read_by_index(path, name: str):
    steps = plan(path, queries.load("sqlite")[name])
    for wanted in SOUGHT[name]:
        assert any(wanted in step for step in steps), steps
    assert not any(step.startswith("SCAN jobs") for step in steps), steps
    assert name == "lease_take" or not any("TEMP B-TREE" in step for step in steps), steps


class Watched:
    """Every statement that is run, by the kind of job that ran it."""

    def __init__(self, monkeypatch) -> None:
        self.by_kind: dict[str, set[str]] = {}
        self.kind = ""
        for name in ("rows", "change"):
            monkeypatch.setattr(SqliteConnection, name, self._noting(getattr(SqliteConnection, name)))

    def _noting(self, run):
        def noted(connection, sql, parameters):
            self.by_kind.setdefault(self.kind, set()).add(sql)
            return run(connection, sql, parameters)

        return noted

    def handler(self, kind: str, handler):
        def watched(deps, user, jobs):
            self.kind = kind
            handler(deps, user, jobs)
            self.kind = ""

        return watched


SMALL = ("users", "session_states", "entity_merges", "wishes")
"""Tables of which a user has a handful of rows."""
NEWEST_FIRST = ("messages_seq", "messages_at", "events_seq", "memories_updated", "entities_mentions")
"""Read from the end, up to a limit."""


def test_no_upkeep_walks_over_the_history(path, monkeypatch):
    """Every statement of every kind of job of time, and of a message itself, seeks by more than the user."""
    clock = Clock()
    store = tenuto.open(str(path), clock=clock, embedder=WordEmbedder(), background=False)
    watched = Watched(monkeypatch)
    watched_handlers = {kind: watched.handler(kind, handler) for kind, handler in HANDLERS.items()}
    runner, coach = Runner(store.deps, watched_handlers), store.user("ana", persona="coach")
    for day, lines in enumerate(days(11, START, 21)):
        for at, role, text in lines:
            clock.now, watched.kind = at, "observe"
            coach.observe(text, role=role)
        clock.now, watched.kind = START + timedelta(days=day + 1), ""
        runner.drain()
    watched.kind = "curate"
    store.curate("ana")
    store.close()
    assert set(due.KINDS) - {"purge"} <= set(watched.by_kind)
    for kind, statements in watched.by_kind.items():
        if kind in ("digest", "candidates", ""):
            continue
        for sql in statements:
            for step in plan(path, sql):
                if step.endswith("(user_id=?)"):
                    assert any(f" {name} " in step for name in (*SMALL, *NEWEST_FIRST)), (kind, step, sql)
                sorts = "TEMP B-TREE FOR ORDER BY" in step and "LIMIT" in sql and "FROM summaries" in sql
                assert not sorts, (kind, step, sql)
                scanned = step.removeprefix("SCAN ").split()[0] if step.startswith("SCAN ") else None
                assert scanned not in {table.name for table in TABLES}, (kind, step, sql)


def test_control_an_untaught_file_walks_over_all_receipts(path):
    sql = "SELECT id FROM receipts WHERE user_id = :user AND message_id = :id ORDER BY id"
    assert any("receipts_message" in step for step in plan(path, sql))
    connection = apsw.Connection(str(path))
    connection.execute("DELETE FROM sqlite_stat1")
    connection.close()
    assert plan(path, sql.replace("SELECT id", "SELECT body")) == ["SEARCH receipts USING PRIMARY KEY (user_id=?)"]


def test_control_without_its_index_a_lease_reads_all_of_the_users_jobs(path):
    connection = apsw.Connection(str(path))
    connection.execute("DROP INDEX jobs_waiting")
    connection.close()
    steps = plan(path, queries.load("sqlite")["lease_take"])
    assert not any("kind=?" in step for step in steps), steps
