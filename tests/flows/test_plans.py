"""What the queue and the upkeep of time ask of SQLite is answered from an index, however long the history is.

Read from EXPLAIN QUERY PLAN: a search names its index and the columns that it seeks by; a scan or a sort in a temporary
tree would grow with the history.
"""

from __future__ import annotations

import apsw
import pytest

import tenuto
from tenuto.storage import queries
from tests.flows.world import WordEmbedder

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
        return [row[3] for row in connection.execute("EXPLAIN QUERY PLAN " + sql, PARAMETERS)]
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


def test_control_without_its_index_a_lease_reads_all_of_the_users_jobs(path):
    connection = apsw.Connection(str(path))
    connection.execute("DROP INDEX jobs_waiting")
    connection.close()
    steps = plan(path, queries.load("sqlite")["lease_take"])
    assert not any("kind=?" in step for step in steps), steps
