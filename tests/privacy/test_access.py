"""What is silenced answers whoever asks for it by name, and nobody else: 30 explicit questions, 60 beside them."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

import tenuto
from tenuto.facade.store import Tenuto
from tenuto.testing.fakes import FakeClock

CASES: list[dict[str, Any]] = tomllib.loads(Path(__file__).with_name("access.toml").read_text("utf-8"))["case"]
TOLD = {"guidance", "message"}


@pytest.fixture(scope="module")
def store() -> Iterator[Tenuto]:
    clock = FakeClock(datetime(2026, 3, 2, 9, tzinfo=UTC))
    with tenuto.open("memory:", clock=clock) as opened:
        for place in range(max(len(case["said"]) for case in CASES) + 1):
            clock.advance(minutes=1)
            for number, case in enumerate(CASES):
                lines = [*case["said"], case["wish"]]
                if place < len(lines):
                    opened.user(f"case{number}", persona="friend").observe(lines[place])
            opened.settle()
        clock.advance(days=1)
        opened.settle()
        yield opened


def answers(store: Tenuto, number: int, question: str) -> list[str]:
    """Where the answer comes out."""
    user, word = store.user(f"case{number}", persona="friend"), CASES[number]["answer"]
    found = ["recall" for hit in user.recall(question) if word in hit.text.lower()]
    blocks = [one for one in user.context(question).blocks if one.name not in TOLD]
    return found + [one.name for one in blocks if word in one.text.lower()]


def test_explicit_questions_are_answered(store: Tenuto) -> None:
    asked = [(number, question) for number, case in enumerate(CASES) for question in case["asked"]]
    missed = [question for number, question in asked if not answers(store, number, question)]
    assert len(asked) == 30
    assert len(missed) <= 2, missed


def test_questions_beside_it_bring_nothing_of_it(store: Tenuto) -> None:
    asked = [(number, question) for number, case in enumerate(CASES) for question in case["beside"]]
    leaks = {question: found for number, question in asked if (found := answers(store, number, question))}
    assert len(asked) == 60
    assert leaks == {}
