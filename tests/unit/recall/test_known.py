"""Nothing is an answer: a query about what was never said finds nothing, however much or little is kept."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

import tenuto
from tenuto.testing.fakes import FakeClock, FakeTokens

SAID = (
    "I quit smoking last year.",
    "My sister Mara moved to Lisbon and opened a bakery there.",
    "I work as a nurse at the children's hospital.",
    "We bought a tent for the trip to the Dolomites in August.",
    "My dad is allergic to penicillin.",
    "On Tuesdays I play badminton with Jonas.",
)
NEVER_SAID = (
    "What is the capital of Mongolia?",
    "zzzqqq",
    "Which helicopter did I sell to the archbishop?",
    "How many moons does Neptune have?",
    "What is the boiling point of tungsten?",
    "Wer war der erste Kaiser von Äthiopien?",
)


@pytest.fixture(scope="module")
def ana() -> Iterator[tenuto.UserMemory]:
    """With the real encoder: what counts as near is its own."""
    clock = FakeClock(datetime(2026, 1, 5, 9, tzinfo=UTC))
    with tenuto.open("memory:", clock=clock, tokens=FakeTokens(), background=False) as store:
        memory = store.user("ana")
        for text in SAID:
            memory.observe(text)
            clock.advance(minutes=1)
        store.settle()
        yield memory


@pytest.mark.parametrize("query", NEVER_SAID)
def test_what_was_never_said_finds_nothing_and_says_so(ana: tenuto.UserMemory, query: str) -> None:
    found = ana.recall(query)
    assert list(found) == [] and found.notes == ("nothing that is kept is about this",)
    context = ana.context(query)
    blocks = {block.name: block for block in context.blocks}
    assert not blocks["relevant"].items and not blocks["semantic"].items and not blocks["cards"].items


@pytest.mark.parametrize(
    ("query", "wanted"),
    [
        ("What is my job?", "nurse"),
        ("Where does Mara live?", "Lisbon"),
        ("Which antibiotics are safe for my father?", "penicillin"),
        ("Do I smoke?", "smoking"),
        ("Which sport do I do?", "badminton"),
        ("camping gear", "tent"),
    ],
)
def test_what_was_said_is_found_in_other_words(ana: tenuto.UserMemory, query: str, wanted: str) -> None:
    hits = ana.recall(query)
    assert wanted in hits[0].text and len(hits) <= 10


def test_the_limit_is_a_most(ana: tenuto.UserMemory) -> None:
    found = [hit.text for hit in ana.recall("Where does Mara live?", kinds=["message"])]
    assert 0 < len(found) < len(SAID) and "My dad is allergic to penicillin." not in found
