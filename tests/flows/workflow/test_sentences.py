"""What people write to a workflow, sentence by sentence: what it sets, what it asks about, what it leaves alone.

``data/sentences.jsonl`` has one sentence per line. ``asked`` is the question that stands when it is said, ``has`` what
the draft holds beside the usual answers to the questions before. ``set`` has to be applied and ``ask`` has to be
staged; ``may`` is understandable without being certain: it may be proposed, or stand in a soft field, but is never
locked. ``*`` is any value. Whatever else is set or proposed is wrong.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from examples.coding_exercises import ACTIVITY
from examples.patient_intake import INTAKE
from examples.travel_planner import TRIP

import tenuto
from tenuto.facade.store import Tenuto
from tenuto.workflow.definition import Definition

NOW = datetime(2026, 3, 2, 12, tzinfo=UTC)
SENTENCES = [
    json.loads(line)
    for line in (Path(__file__).parent / "data" / "sentences.jsonl").read_text(encoding="utf-8").splitlines()
]
DEFINITIONS: dict[str, Definition] = {"activity": ACTIVITY, "trip": TRIP, "intake": INTAKE}
ALWAYS: dict[str, dict[str, Any]] = {"activity": {}, "trip": {"requested_by": "ana"}, "intake": {"clinic": "north"}}
USUAL: dict[str, dict[str, Any]] = {
    "activity": {
        "language": "python",
        "problem_count": 5,
        "difficulty_plan": {"easy": 2, "medium": 2, "hard": 1},
        "topic": "loops",
    },
    "trip": {
        "destination": "Lisbon",
        "start_date": "2026-05-01",
        "end_date": "2026-05-09",
        "travellers": 2,
    },
    "intake": {
        "full_name": "Ana Ruiz",
        "date_of_birth": "1984-02-29",
        "allergies": ["penicillin"],
        "medication": ["aspirin"],
        "smoker": False,
    },
}
RIGHT = 0.95
"""The part of the sentences that has to be right; a wrong value that is locked is one too many."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What came of one sentence."""

    sentence: dict[str, Any]
    applied: dict[str, Any]
    staged: dict[str, Any]
    locked: dict[str, Any]
    text: str

    @property
    def wrong(self) -> list[str]:
        """What differs from what the data says."""
        wanted, asks, may = (self.sentence.get(key, {}) for key in ("set", "ask", "may"))
        missing = [name for name, value in wanted.items() if self.applied.get(name) != value]
        missing += [name for name, value in asks.items() if self.staged.get(name) != value]
        for name, value in self.applied.items():
            if wanted.get(name, ...) != value and not _among(may, name, value):
                missing.append(name)
        for name, value in self.staged.items():
            if asks.get(name, ...) != value and not _among(may, name, value):
                missing.append(name)
        return sorted({*missing, *self.wrongly_locked})

    @property
    def wrongly_locked(self) -> list[str]:
        wanted = self.sentence.get("set", {})
        return [name for name, value in self.locked.items() if wanted.get(name, ...) != value]

    def __str__(self) -> str:
        return f"{self.sentence} → applied {self.applied}, staged {self.staged}, locked {self.locked}: {self.text!r}"


def _among(may: dict[str, Any], name: str, value: Any) -> bool:
    return name in may and may[name] in ("*", value)


@pytest.fixture(scope="module")
def store() -> Iterator[Tenuto]:
    made = tenuto.open("memory:", clock=lambda: NOW, background=False)
    yield made
    made.close()


@pytest.fixture(scope="module")
def outcomes(store: Tenuto) -> list[Outcome]:
    return [say(store, number, sentence) for number, sentence in enumerate(SENTENCES)]


def say(store: Tenuto, number: int, sentence: dict[str, Any]) -> Outcome:
    """Say one sentence to a workflow of its own, in which the question that it answers was just asked."""
    kind, asked = sentence["in"], sentence["asked"]
    usual = list(USUAL[kind].items())
    before = dict(usual[: [name for name, _ in usual].index(asked)])
    given = {**ALWAYS[kind], **before, **sentence.get("has", {})}
    work = store.user("ana").workflow(DEFINITIONS[kind], f"w{number}", given=given)
    assert work.send("hm", keep=False).question_key == asked
    reply = work.send(sentence["say"], keep=False)
    return Outcome(
        sentence=sentence,
        applied={operation["path"][1:]: operation["value"] for operation in reply.applied},
        staged={operation["path"][1:]: operation["value"] for operation in reply.staged},
        locked={
            lock.field: lock.value for lock in work.record.locks if lock.locked and given.get(lock.field) != lock.value
        },
        text=reply.text,
    )


def test_there_are_enough_sentences_and_each_is_said_once() -> None:
    said = {(sentence["in"], sentence["asked"], sentence["say"]) for sentence in SENTENCES}
    assert len(said) == len(SENTENCES) >= 150
    assert {kind for kind, _, _ in said} == set(DEFINITIONS)


def test_no_sentence_locks_a_wrong_value(outcomes: list[Outcome]) -> None:
    assert [str(outcome) for outcome in outcomes if outcome.wrongly_locked] == []


def test_nearly_every_sentence_is_understood(outcomes: list[Outcome]) -> None:
    wrong = [str(outcome) for outcome in outcomes if outcome.wrong]
    assert 1 - len(wrong) / len(outcomes) >= RIGHT, "\n".join(wrong)
