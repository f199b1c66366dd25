"""Two processes, one PostgreSQL, the same workflows at the same time: judged by the same judge."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import defaultdict
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from tests.flows.workflow.worker import CONFIRM_WITHIN, PER_WORKFLOW, note_of
from tests.flows.workflow.world import Note, verify

import tenuto
from tenuto.records.workflow import Workflow, WorkflowTurn

ACTIONS = 5_000 if os.environ.get("TENUTO_TEST_RELIABILITY") else 2 * PER_WORKFLOW


def _run(url: str, actions: int, *more: str) -> dict[str, list[tuple[int, Note]]]:
    with tenuto.open(url, background=False):
        pass
    command = [sys.executable, "-m", "tests.flows.workflow.worker", url]
    workers = [
        subprocess.Popen([*command, str(seed), str(actions), *more], stdout=subprocess.PIPE, text=True)
        for seed in (1, 2)
    ]
    outputs = [worker.communicate(timeout=3000)[0] for worker in workers]
    assert [worker.returncode for worker in workers] == [0, 0]
    notes: dict[str, list[tuple[int, Note]]] = defaultdict(list)
    for line in (json.loads(line) for output in outputs for line in output.splitlines()):
        notes[line["workflow"]].append((line["turn"], note_of(line)))
    return notes


def _judge(url: str, notes: dict[str, list[tuple[int, Note]]]) -> int:
    turns = 0
    with tenuto.open(url, background=False) as store, store.deps.store.reading("ana") as reader:
        traces = defaultdict(list)
        for turn in reader.find(WorkflowTurn):
            traces[turn.workflow_id].append(turn)
        for record in reader.find(Workflow):
            mine = dict(notes[record.id])
            assert len(mine) == len(notes[record.id]), "two messages made the same turn"
            verify(record, traces[record.id], mine, timedelta(seconds=CONFIRM_WITHIN))
            turns += record.turn
    return turns


@pytest.mark.timeout(3600 if ACTIONS > 1000 else 120)
def test_two_processes_leave_nothing_unexplained(fresh_database: Callable[[], str]) -> None:
    url = fresh_database()
    notes = _run(url, ACTIONS)
    turns = _judge(url, notes)
    assert turns >= ACTIONS, "most actions make a turn"
    confirmed = [note for found in notes.values() for _, note in found if note.settlement == "confirmed"]
    assert confirmed, "nothing was ever confirmed: the stories prove nothing"


def test_the_judge_notices_a_decision_made_before_the_lock(fresh_database: Callable[[], str], tmp_path: Path) -> None:
    url = fresh_database()
    notes = _run(url, PER_WORKFLOW, str(tmp_path))
    with pytest.raises(AssertionError, match=r"same turn|lost or doubled"):
        _judge(url, notes)
