"""A flood from one source waits for the person's word; ordinary talk, old talk and other sources do not."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

import tenuto
from tenuto.records.memory import Status, Trust
from tenuto.testing.fakes import FakeClock, FakeEmbedder, FakeTokens
from tests.unit.marked import MarkedReader

START = datetime(2026, 3, 1, 9, 0, tzinfo=UTC)
LEAST = 5
CITIES = [
    "Aarhus", "Bergen", "Cadiz", "Dublin", "Essen", "Faro", "Ghent", "Hull", "Imatra", "Jena", "Kiel", "Lyon", "Malmo",
    "Nantes", "Oporto", "Parma",
]  # fmt: skip


def marked_sentence(city: str) -> str:
    return f"My {{rel:friend}} {{person:{city}son}} works at {{employer.o:the harbour of {city}}}."


class World:
    def __init__(self, url: str, **policy: Any) -> None:
        self.clock = FakeClock(START)
        self.store = tenuto.open(
            url, embedder=FakeEmbedder(), tokens=FakeTokens(), clock=self.clock, background=False,
            reader=MarkedReader(*map(marked_sentence, [*CITIES, "Zaandam"])),
            policy={"quarantine": {"least": LEAST, **policy}},
        )  # fmt: skip
        self.ana = self.store.user("ana")

    def say(self, cities: list[str], step: timedelta = timedelta(minutes=1), **options: Any) -> None:
        for city in cities:
            self.clock.now += step
            self.ana.observe(f"My friend {city}son works at the harbour of {city}.", **options)
            self.store.settle()

    def count(self, status: Status) -> int:
        return len(self.ana.memories(status=status.value))


@pytest.fixture
def world(store_url: str) -> Any:
    made = World(store_url)
    yield made
    made.store.close()


def test_a_flood_waits_and_can_be_seen_and_confirmed(world: World) -> None:
    world.say(CITIES)
    waiting = world.ana.memories(status="candidate")
    assert world.count(Status.ACTIVE) == LEAST and len(waiting) == len(CITIES) - LEAST
    assert {one.metadata["quarantine"] for one in waiting} == {"rate"}
    assert not any(CITIES[-1] in hit.text for hit in world.ana.recall(CITIES[-1], kinds=["memory"]))
    kinds = [event.kind for event in world.ana.events(limit=1000)]
    assert "memory.quarantined" in kinds
    assert world.ana.confirm(waiting[0].id).status is Status.CONFIRMED


def test_the_receipt_says_why(world: World) -> None:
    world.say(CITIES[:LEAST])
    receipt = world.ana.observe("My friend Zaandamson works at the harbour of Zaandam.")
    world.store.settle()
    settled = world.ana.receipt(receipt.id)
    assert settled is not None and any("far more than usual" in one.reason for one in settled.results)


def test_ordinary_talk_is_not_held(world: World) -> None:
    world.say(CITIES, step=timedelta(minutes=20))
    assert world.count(Status.CANDIDATE) == 0


def test_old_talk_that_is_brought_in_at_once_is_not_held(world: World) -> None:
    for n, city in enumerate(CITIES):
        at = START - timedelta(days=100 - n)
        world.ana.observe(f"My friend {city}son works at the harbour of {city}.", at=at)
    world.store.settle()
    assert world.count(Status.CANDIDATE) == 0 and world.count(Status.ACTIVE) == len(CITIES)


def test_somebody_who_always_brings_much_is_not_held(store_url: str) -> None:
    world = World(store_url, least=3, factor=4.0)
    world.say(CITIES[:2])
    world.clock.now += timedelta(hours=3)
    world.say(CITIES[2:9])
    assert world.count(Status.CANDIDATE) == 0, "eight times as much is usual for nobody, four times is allowed"
    world.say(CITIES[9:])
    assert world.count(Status.CANDIDATE) > 0
    world.store.close()


def test_what_the_person_confirms_is_never_held(world: World) -> None:
    world.say(CITIES[: LEAST + 2])
    kept = world.ana.remember("I like oolong", trust=Trust.USER_CONFIRMED).memory
    assert kept.status is not Status.CANDIDATE


def test_a_flood_is_taken_back_as_a_whole(world: World) -> None:
    world.say(CITIES[:2], step=timedelta(hours=2))
    since = world.clock.now + timedelta(seconds=1)
    world.say(CITIES[2:])
    world.ana.undo("conversation", since)
    world.store.settle()
    assert sorted(one.content for one in world.ana.memories(status="*")) == sorted(
        one.content for one in world.ana.memories()
    )
    assert len(world.ana.messages()) == 2


def test_the_control_without_a_limit_everything_is_believed(store_url: str) -> None:
    world = World(store_url, least=10**6)
    world.say(CITIES)
    assert world.count(Status.CANDIDATE) == 0
    world.store.close()
