"""A question about how things are finds first what says that they changed."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from tenuto.recall.changes import asks_about_the_present, change_first
from tenuto.recall.diverse import held
from tenuto.recall.scoring import Scored
from tenuto.records.operations import EntryKind
from tenuto.records.recall import Candidate

START = datetime(2026, 3, 1, tzinfo=UTC)
OLD = "The standup is at 9:15 every day."


@pytest.mark.parametrize(
    ("query", "present"),
    [
        ("When is the standup?", True),
        ("What's my best time?", True),
        ("How much of it does Inês take?", True),
        ("Which days does Joy come?", True),
        ("Wann ist das Standup?", True),
        ("¿Dónde trabaja mi hermana?", True),
        ("When was the standup?", False),
        ("What did Joy say?", False),
        ("Wo war ich gestern?", False),
        ("standup", False),
        ("Where have I been?", False),
    ],
)
def test_which_questions_are_about_the_present(query: str, present: bool) -> None:
    assert asks_about_the_present(query) is present


def order(*texts: str, alike: float = 0.6, days: int = 1) -> list[str]:
    ranked = [
        Scored(
            Candidate(
                kind=EntryKind.MESSAGE, id=f"msg_{n}", at=START + timedelta(days=days * n), text=text, cosine=0.5,
                parts={}, importance=5,
            ),
            9.0 - n, {"words": 9.0 - n}, "sum",
        )
        for n, text in enumerate(texts)
    ]  # fmt: skip
    known = {one.candidate.id: held(one.candidate.text) for one in ranked}
    found = change_first(ranked, [1.0] + [alike] * (len(texts) - 1), known, held("When is the standup?"), 0.3)
    assert all(one.score == pytest.approx(sum(one.parts.values())) for one in found)
    assert [one.score for one in found] == sorted((one.score for one in found), reverse=True)
    return [one.candidate.text for one in found]


@pytest.mark.parametrize(
    "new",
    [
        "From Monday the standup is at 9:45.",
        "The standup moved to 9:45.",
        "Ab nächster Woche ist das standup um 9:45.",
        "El standup ya no es a las 9:15.",
    ],
)
def test_what_tells_the_change_goes_first(new: str) -> None:
    assert order(OLD, "I like the standup.", new) == [new, OLD, "I like the standup."]


def test_newer_alone_older_or_on_another_subject_does_not() -> None:
    assert order(OLD, "The standup was long.")[0] == OLD
    assert order(OLD, "From Monday the gym opens at 9:45.")[0] == OLD
    assert order(OLD, "From Monday the standup is at 9:45.", days=-1)[0] == OLD
    assert order(OLD, "From Monday the standup is at 9:45.", alike=0.1)[0] == OLD
