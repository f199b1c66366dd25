"""How many life-critical statements are pinned of the right person, how many look-alikes stay out, and whose a fact is.

The lines of ``data/*.tsv`` are single exchanges that people might have; the shares below must hold of each file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path

import pytest

import tenuto
from tenuto.ingest.reconcile.same_statement import subject_of
from tenuto.language.mentions import SELF
from tenuto.records.memory import RECALLED, Memory
from tenuto.testing.fakes import FakeClock, FakeEmbedder, FakeTokens

DATA = Path(__file__).parent / "data"
PINNED, KEPT_OUT, OF_THE_RIGHT_ONE = 0.93, 0.95, 0.90
Play = Callable[[str], list[Memory]]


def rows(name: str) -> list[list[str]]:
    lines = (DATA / name).read_text(encoding="utf-8").splitlines()
    return [line.split("\t") for line in lines if line and not line.startswith("#")]


@pytest.fixture(scope="module")
def play() -> Iterator[Play]:
    """Turns in, what is then known of that person out; everybody is a user of their own."""
    clock = FakeClock()
    users = iter(range(10_000))
    with tenuto.open("memory:", clock=clock, embedder=FakeEmbedder(), tokens=FakeTokens(), background=False) as store:

        def play(turns: str) -> list[Memory]:
            user = store.user(f"user{next(users)}")
            for turn in turns.split(" || "):
                clock.now += timedelta(minutes=1)
                user.observe(turn.removeprefix("A: "), role="assistant" if turn.startswith("A: ") else "user")
            store.settle()
            return [one for one in user.memories(limit=50) if one.status in RECALLED]

        yield play


def says(content: str, words: str) -> bool:
    low = content.casefold()
    return all(any(form.casefold() in low for form in group.split("/")) for group in words.split(";"))


def about(memory: Memory, who: str) -> bool:
    own = subject_of(memory) == SELF
    return own if who == "me" else not own and says(memory.content, who)


def share(right: list[bool], wrong: list[str], least: float) -> None:
    found = sum(right) / len(right)
    assert found >= least, f"{found:.1%} of {len(right)}:\n" + "\n".join(wrong)


def test_life_critical_statements_are_pinned_of_the_right_person(play: Play):
    right, wrong = [], []
    for _, turns, who, words in rows("vital.tsv"):
        known = play(turns)
        said = [one for one in known if one.pinned and says(one.content, words)]
        right.append(bool(said) and all(about(one, who) for one in said))
        if not right[-1]:
            wrong.append(f"{turns} → {who}: {words}, but {[(one.content, one.pinned) for one in known]}")
    assert len(right) >= 150
    share(right, wrong, PINNED)


def test_what_only_looks_life_critical_is_not_pinned(play: Play):
    right, wrong = [], []
    for _, turns, _ in rows("vital_decoys.tsv"):
        pinned = [one.content for one in play(turns) if one.pinned]
        right.append(not pinned)
        if pinned:
            wrong.append(f"{turns} → {pinned}")
    assert len(right) >= 80
    share(right, wrong, KEPT_OUT)


def test_a_fact_is_told_of_whom_it_is_about(play: Play):
    """``-``: two people fit alike, so that nothing is kept, or only as unconfirmed."""
    right, wrong = [], []
    for _, turns, who, words in rows("whose.tsv"):
        said = [one for one in play(turns) if says(one.content, words)]
        if who == "-":
            right.append(all("unconfirmed" in one.content for one in said))
        else:
            named = all(about(one, who) or says(one.content, who) for one in said)
            right.append(named and any(about(one, who) for one in said))
        if not right[-1]:
            wrong.append(f"{turns} → {who}: {words}, but {[one.content for one in said]}")
    assert len(right) >= 100
    share(right, wrong, OF_THE_RIGHT_ONE)
