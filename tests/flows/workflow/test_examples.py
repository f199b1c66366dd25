"""The examples run, with and without a model, and end where they say."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from examples import coding_exercises, patient_intake, travel_planner

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize(
    ("example", "arguments", "state", "expected"),
    [
        (coding_exercises, [], "SAVED", {"language": "python", "problem_count": 5, "topic": "recursion"}),
        (coding_exercises, ["--model"], "SAVED", {"language": "python", "problem_count": 3, "topic": "loops"}),
        (travel_planner, [], "SAVED", {"destination": "Porto", "days": 8, "travellers": 2, "requested_by": "ana"}),
        (travel_planner, ["--model"], "SAVED", {"destination": "Lisbon", "days": 7, "requested_by": "ana"}),
        (patient_intake, [], "COMPLETE", {"allergies": ["penicillin", "latex"], "medication": [], "smoker": False}),
        (patient_intake, ["--model"], "COMPLETE", {"allergies": ["penicillin"], "smoker": False, "clinic": "north"}),
    ],
)
def test_an_example_ends_where_it_should(example: Any, arguments: list[str], state: str, expected: Any) -> None:
    work = example.main(arguments)
    assert work.state == state
    assert {name: work.spec[name] for name in expected} == expected
    assert work.definition.judge(work.spec).complete


@pytest.mark.parametrize("name", ["coding_exercises", "travel_planner", "patient_intake"])
def test_an_example_runs_as_a_program(name: str, tmp_path: Path) -> None:
    command = [sys.executable, str(ROOT / "examples" / f"{name}.py"), "--chat", "--db", str(tmp_path / "e.db")]
    done = subprocess.run(command, input="hello\n\n", capture_output=True, text=True, timeout=60, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "?" in done.stdout
