"""Wishes by words, in five languages: what people ask of memory, played in little conversations."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import pytest

import tenuto
from tenuto.facade.store import Tenuto
from tenuto.facade.user import UserMemory
from tenuto.records.operations import EntryKind
from tenuto.testing.fakes import FakeClock

START = datetime(2026, 3, 2, 9, tzinfo=UTC)
GREETINGS = ("Good morning!", "What should I do this weekend?")
TOLD = {"guidance"}
"""The block that tells the model how to behave may name what it must not raise."""


@dataclass(frozen=True)
class Case:
    said: list[str]
    wish: str
    never: list[str] = field(default_factory=list)
    later: list[str] = field(default_factory=list)
    still: list[str] = field(default_factory=list)
    lifted: str = ""


CASES = [Case(**one) for one in tomllib.loads(Path(__file__).with_name("wish_cases.toml").read_text("utf-8"))["case"]]


@dataclass
class Played:
    """Every case with a user of its own in one store."""

    store: Tenuto
    clock: FakeClock

    def user(self, number: int) -> UserMemory:
        return self.store.user(f"case{number}", persona="friend")


def days(case: Case) -> list[list[str]]:
    """What is said on each day; the wish is spoken on the last."""
    found: list[list[str]] = [[]]
    for text in [*case.said, case.wish, *case.later]:
        if text == "--":
            found.append([])
        else:
            found[-1].append(text)
    return found


def play(store: Tenuto, clock: FakeClock, cases: list[Case]) -> None:
    """Tell all conversations side by side, so that their last days are one."""
    told = [days(one) for one in cases]
    most = max(map(len, told))
    for day in range(most):
        today = [one[day - most + len(one)] if day >= most - len(one) else [] for one in told]
        for place in range(max(map(len, today))):
            clock.advance(minutes=2)
            for number, lines in enumerate(today):
                if place < len(lines):
                    role, text = ("assistant", lines[place][2:]) if lines[place][:2] == "> " else ("user", lines[place])
                    store.user(f"case{number}", persona="friend").observe(text, role=role)
            store.settle()
        clock.advance(days=1)
        store.settle()


def leaving(user: UserMemory) -> Iterator[tuple[str, str]]:
    """Everything that leaves for two greetings: (where, line)."""
    for greeting in GREETINGS:
        context = user.context(greeting)
        for block in context.blocks:
            if block.name not in TOLD:
                yield from ((f"context.{block.name}", line) for line in block.text.splitlines())
        for kind in EntryKind:
            yield from ((f"recall.{kind}", hit.text) for hit in user.recall(greeting, kinds=[kind], limit=20))


@pytest.fixture(scope="module")
def played() -> Iterator[Played]:
    clock = FakeClock(START)
    with tenuto.open("memory:", clock=clock) as store:
        play(store, clock, CASES)
        yield Played(store, clock)


@pytest.mark.parametrize("number", range(len(CASES)), ids=lambda number: CASES[number].wish)
def test_a_wish_by_words_holds(played: Played, number: int) -> None:
    case, user = CASES[number], played.user(number)
    found = list(leaving(user))
    leaks = [(where, line) for where, line in found for word in case.never if word in line.lower()]
    assert leaks == []
    for word in case.still:
        assert any(word in hit.text.lower() for hit in user.recall(word))
    if case.lifted:
        assert any(case.lifted in line.lower() for _, line in found)
