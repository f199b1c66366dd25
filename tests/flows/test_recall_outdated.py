"""What was true before is still in messages, key points and summaries; what is true now goes before them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

import tenuto
from tenuto.recall import rank
from tenuto.recall.outdated import Replaced, current_first
from tenuto.recall.scoring import Scored
from tenuto.records.memory import Domain, Evidence, Kind, Memory
from tenuto.records.operations import EntryKind
from tenuto.records.recall import Candidate
from tenuto.testing.fakes import FakeClock

START = datetime(2025, 1, 1, 10, tzinfo=UTC)
SAID = (
    ("I live in Porto with my sister.", "I work as a nurse at Santo Antonio hospital."),
    ("The weather was awful today.", "I had soup for lunch and watched a film."),
    ("I moved to Lisbon last week.", "I now work as a teacher at a primary school."),
    ("Today I bought a new bike.", "I need to call the bank tomorrow."),
)


@pytest.fixture
def ana() -> tenuto.UserMemory:
    clock = FakeClock(START)
    store = tenuto.open("memory:", clock=clock, background=False)
    memory = store.user("ana")
    for session in SAID:
        for text in session:
            memory.observe(text, at=clock.now)
            clock.advance(minutes=1)
        clock.advance(days=20)
        store.settle()
    return memory


def test_a_question_about_the_present_finds_the_present_first(ana: tenuto.UserMemory) -> None:
    hits = ana.recall("Where do I live?", limit=8)
    assert "Lisbon" in hits[0].text
    old = [hit for hit in hits if "Porto" in hit.text]
    assert old and all(hit.until is not None for hit in old), "what was said stays findable, with its end"
    assert hits[0].until is None
    assert "current" in hits[0].why.parts and hits[0].score == pytest.approx(sum(hits[0].why.parts.values()))
    assert "teacher" in ana.recall("What do I do for work?")[0].text
    assert "Porto" in ana.recall("Where did I live before?")[0].text
    assert "Lisbon" not in ana.recall("Who is my sister?")[0].text, "another subject keeps its answer"


def test_without_the_rule_the_past_comes_first(ana: tenuto.UserMemory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rank, "current_first", lambda ranked, replaced, known: list(ranked))
    assert "Porto" in ana.recall("Where do I live?")[0].text


def memory(id: str, content: str, message: str) -> Memory:
    return Memory(
        id=id, content=content, domain=Domain.PROFILE, kind=Kind.FACT, created_at=START, updated_at=START,
        evidence=(Evidence(message_id=message, at=START),),
    )  # fmt: skip


def scored(kind: EntryKind, id: str, text: str, score: float, *sources: str) -> Scored:
    return Scored(
        Candidate(kind=kind, id=id, at=START + timedelta(days=1), text=text, sources=sources),
        score,
        {"all": score},
        "sum",
    )


OLD, NEW = memory("mem_1", "I live in Porto", "msg_1"), memory("mem_2", "I moved to Lisbon", "msg_2")


def test_only_what_tells_the_old_gives_way() -> None:
    ranked = [
        scored(EntryKind.KEY_POINT, "kp_1", "lives in Porto", 9.0, "msg_1"),
        scored(EntryKind.MESSAGE, "msg_9", "Porto has six bridges", 8.0),
        scored(EntryKind.SUMMARY, "sum_1", "User: I live in Porto. The weather was awful.", 7.0),
        scored(EntryKind.SUMMARY, "sum_2", "I live in Porto, then I moved to Lisbon.", 6.0),
        scored(EntryKind.MEMORY, "mem_2", "I moved to Lisbon", 5.0, "msg_2"),
    ]
    after = current_first(ranked, [Replaced(OLD, NEW)])
    assert [one.candidate.id for one in after] == ["mem_2", "msg_9", "kp_1", "sum_2", "sum_1"]
    assert [one.score for one in after] == [9.0, 8.0, 7.0, 6.0, 5.0]
    assert all(one.score == pytest.approx(sum(one.parts.values())) for one in after)


def test_nothing_moves_where_the_present_is_first_or_missing() -> None:
    told = scored(EntryKind.KEY_POINT, "kp_1", "lives in Porto", 4.0, "msg_1")
    first = [scored(EntryKind.MEMORY, "mem_2", "I moved to Lisbon", 5.0, "msg_2"), told]
    assert current_first(first, [Replaced(OLD, NEW)]) == first
    assert current_first([told], [Replaced(OLD, NEW)]) == [told]
