"""What answers stands first, on every engine, with vectors that words alone make."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime

import pytest

import tenuto
from tenuto.recall.entry import make_entry
from tenuto.records.conversation import Message
from tenuto.records.memory import Domain, Evidence, Kind, Memory, Trust
from tenuto.testing.fakes import FakeClock, FakeEmbedder, FakeTokens

START = datetime(2026, 1, 5, 9, tzinfo=UTC)


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock(START)


@pytest.fixture
def store(store_url: str, clock: FakeClock) -> Iterator[tenuto.Tenuto]:
    with tenuto.open(store_url, clock=clock, embedder=FakeEmbedder(), tokens=FakeTokens(), background=False) as made:
        yield made


def test_a_question_does_not_stand_before_its_answer(store: tenuto.Tenuto, clock: FakeClock) -> None:
    ana = store.user("ana")
    ana.observe("Where does my sister Mara live?")
    ana.observe("I have no idea.", role="assistant")
    clock.advance(days=3)
    for text in ("My sister Mara moved to Lisbon in spring.", "The tent we bought has a broken zip.", "Thanks!"):
        ana.observe(text)
        clock.advance(minutes=1)
    hits = ana.recall("Where does my sister Mara live?", kinds="message")
    told, asked = (next(hit for hit in hits if hit.text.startswith(words)) for words in ("My sister", "Where does"))
    assert hits.index(told) < hits.index(asked)
    assert asked.why.parts["asked again"] < 0 and asked.score == pytest.approx(sum(asked.why.parts.values()))


def test_a_fragment_never_hides_its_message(store: tenuto.Tenuto) -> None:
    ana = store.user("ana")
    said = "found a flat! 14 Plover Lane, third floor. moving on 23 May, rent is 890"
    ana.observe(said, id="flat")
    with store.deps.store.reading("ana") as reader:
        message = reader.find(Message)[0]
    made = replace(known(store, "I found a flat"), evidence=(Evidence(message_id=message.id, at=START),))
    with store.deps.store.writing("ana") as tx:
        tx.put(made)
        tx.index(make_entry(made))
    for query in ("Which flat did I find?", "found a flat"):
        assert ana.recall(query)[0].text == said


def known(store: tenuto.Tenuto, content: str) -> Memory:
    now = store.deps.clock()
    return Memory(
        id=store.deps.ids("mem", now), content=content, domain=Domain.PROFILE, kind=Kind.FACT, created_at=now,
        updated_at=now, trust=Trust.USER_STATED,
    )  # fmt: skip
