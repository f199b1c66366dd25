"""The matrix: what a person wished or took back, against every way out of the engine. One store per wish, many ways.

Each scenario says something that holds the word ``citalopram``; afterwards no way out may hold it, on the same day, the
next, and ten days later, when summaries, topics and portraits have been made anew. The control opens the gate and must
find it again everywhere that it was said.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime

import pytest

import tenuto
from tenuto.facade.store import Tenuto
from tenuto.facade.user import UserMemory
from tenuto.recall import gate as gating
from tenuto.records.conversation import KeyPoint, Message
from tenuto.records.memory import Memory, Status
from tenuto.records.operations import EntryKind, Receipt
from tenuto.testing.fakes import FakeClock

START = datetime(2026, 3, 2, 9, tzinfo=UTC)
SECRET = "citalopram"
TOLD = {"guidance"}
"""The block that tells the model how to behave may name what it must not raise."""


class Told:
    """One person's store with the word said in it, and a clock."""

    def __init__(self, store: Tenuto, clock: FakeClock) -> None:
        self.store, self.clock = store, clock
        self.ana = store.user("ana", persona="coach")

    def say(self, text: str, role: str = "user", who: UserMemory | None = None) -> str:
        self.clock.advance(minutes=1)
        receipt = (who or self.ana).observe(text, role=role)
        self.store.settle()
        return receipt.message_id

    def secret(self) -> str:
        self.say("Good morning, I slept well and the weather is fine.")
        said = self.say("My doctor put me on citalopram last week.")
        self.say("How are you doing on citalopram?", role="assistant")
        return said

    def memory(self) -> Memory:
        with self.store.deps.store.reading("ana") as reader:
            return next(one for one in reader.find(Memory) if SECRET in one.content.lower())

    def rest(self, **time: int) -> None:
        self.clock.advance(**time)
        self.store.settle()


def forget_by_words(told: Told) -> None:
    told.secret()
    told.say("forget that please")
    told.say("Done, citalopram is forgotten.", role="assistant")


def forget_topic(told: Told) -> None:
    told.secret()
    told.say("Please forget everything about citalopram.")


def forget_id(told: Told) -> None:
    told.secret()
    told.ana.close_session()
    told.store.settle()
    told.ana.forget(told.memory().id)


def forget_unkept(told: Told) -> None:
    told.say("The citalopram thing happened again and I could not believe it at all.")
    told.say("forget that please")


def silence_by_words(told: Told) -> None:
    told.secret()
    told.say("Please don't bring up citalopram again.")
    told.rest(hours=1)
    told.say("The citalopram makes me tired.")
    told.rest(hours=1)


def allow_no(told: Told) -> None:
    told.secret()
    told.ana.allow(told.memory().id, "no")


def off_the_record(told: Told) -> None:
    told.say("Good morning, I slept well.")
    told.say("My doctor prescribed citalopram, but please don't save this.")


def private(told: Told) -> None:
    other = told.store.user("ana", persona="friend")
    told.say("Just between us: my doctor put me on citalopram last week.", who=other)
    told.say("I still need to ask somebody about it.", who=other)


def erase_memory_and_message(told: Told) -> None:
    said = told.secret()
    told.ana.close_session()
    told.store.settle()
    told.ana.erase(message=said)
    with told.store.deps.store.reading("ana") as reader:
        answers = [one.id for one in reader.find(Message) if SECRET in one.content.lower()]
    for id in answers:
        told.ana.erase(message=id)
    told.store.settle()


WISHES: dict[str, Callable[[Told], None]] = {
    one.__name__: one
    for one in (
        forget_by_words, forget_topic, forget_id, forget_unkept, silence_by_words, allow_no, off_the_record, private,
        erase_memory_and_message,
    )
}  # fmt: skip


def ways_out(told: Told) -> Iterator[tuple[str, str]]:
    """Everything that leaves for an incidental message: (where, what)."""
    ana = told.ana
    ana.outreach(on=True, timezone="Europe/Rome")
    for message in ("Good morning!", "What should I do this weekend?", "Tell me a joke."):
        context = ana.context(message)
        for block in context.blocks:
            if block.name not in TOLD:
                yield f"context.{block.name}", block.text
        yield "context.turns", str(context.turns)
        for kind in EntryKind:
            for hit in ana.recall(message, kinds=[kind], limit=50):
                yield f"recall.{kind}", hit.text
    for hit in ana.recall("happened again this week in the morning", limit=50, passages=True):
        yield "recall.passage", f"{hit.text} {hit.passage}"
    yield "outreach", ana.outreach().reason


def leaks(told: Told) -> list[str]:
    return sorted({where for where, text in ways_out(told) if SECRET in text.lower()})


def times_later(told: Told) -> Iterator[str]:
    yield "at once"
    told.rest(hours=1)
    yield "after the session"
    told.rest(days=1)
    told.say("Back again, nothing new to tell you today.")
    yield "the next day"
    told.rest(days=10)
    for _ in range(6):
        told.say("We talk about the garden and the roses in it.")
    told.rest(days=1)
    yield "ten days later"


@pytest.fixture
def told(store_url: str) -> Iterator[Told]:
    clock = FakeClock(START)
    with tenuto.open(store_url, clock=clock) as store:
        yield Told(store, clock)


@pytest.mark.parametrize("wish", list(WISHES))
def test_what_was_wished_holds_in_every_way_out(told: Told, wish: str) -> None:
    WISHES[wish](told)
    for when in times_later(told):
        assert leaks(told) == [], (wish, when)


@pytest.mark.parametrize(
    "wish", ["forget_by_words", "forget_topic", "forget_id", "forget_unkept", "silence_by_words", "allow_no"]
)
def test_an_open_gate_is_caught(monkeypatch: pytest.MonkeyPatch, wish: str) -> None:
    clock = FakeClock(START)
    with tenuto.open("memory:", clock=clock) as store:
        told = Told(store, clock)
        WISHES[wish](told)
        for name in ("_wished",):
            monkeypatch.setattr(gating.Gate, name, lambda self, held, usual, near: usual)
        monkeypatch.setattr(gating.Gate, "_line", lambda self, line, record: True)
        told.rest(days=1)
        assert leaks(told), wish


def test_restoring_brings_all_of_it_back() -> None:
    clock = FakeClock(START)
    with tenuto.open("memory:", clock=clock) as store:
        told = Told(store, clock)
        forget_id(told)
        assert leaks(told) == []
        told.ana.restore(told.memory().id)
        told.rest(days=1)
        found = {where for where, text in ways_out(told) if SECRET in text.lower()}
        assert {"context.earlier", "recall.passage"} <= found


def test_what_is_silenced_answers_when_it_is_named_and_returns_when_it_is_lifted() -> None:
    clock = FakeClock(START)
    with tenuto.open("memory:", clock=clock) as store:
        told = Told(store, clock)
        silence_by_words(told)
        assert any(SECRET in hit.text.lower() for hit in told.ana.recall("What about citalopram?"))
        context = told.ana.context("What do you know about citalopram?")
        relevant = context.block("relevant")
        assert relevant is not None and "do not raise it yourself" in relevant.text
        told.say("You can mention citalopram again.")
        assert {one.proactive_use.value for one in told.ana.memories() if SECRET in one.content.lower()} <= {
            "only_when_relevant"
        }
        assert any(SECRET in text.lower() for _, text in ways_out(told))


def test_a_life_critical_thing_is_known_where_it_matters_and_not_raised() -> None:
    clock = FakeClock(START)
    with tenuto.open("memory:", clock=clock) as store:
        told = Told(store, clock)
        told.say("My mother has diabetes. Please don't bring this up.")
        assert "diabetes" not in str(told.ana.context("What's a good film?")).lower()
        shown = str(told.ana.context("What shall I cook for my mother?"))
        assert "diabetes (known; do not raise it yourself)" in shown


def test_the_owner_sees_everything_marked() -> None:
    clock = FakeClock(START)
    with tenuto.open("memory:", clock=clock) as store:
        told = Told(store, clock)
        forget_by_words(told)
        (hit,) = [one for one in told.ana.recall("citalopram", kinds=["memory"], held=True)]
        assert hit.mark == "forgotten"
        assert [one.status for one in told.ana.memories(status="forgotten")] == [Status.FORGOTTEN]


def test_a_wish_about_nothing_known_says_so_and_stands() -> None:
    clock = FakeClock(START)
    with tenuto.open("memory:", clock=clock) as store:
        told = Told(store, clock)
        said = told.say("Please don't bring up citalopram.")
        with store.deps.store.reading("ana") as reader:
            notes = [note for one in reader.find(Receipt) for note in one.notes]
        assert said and any("The wish stands" in note for note in notes)
        told.say("My doctor put me on citalopram last week.")
        told.rest(days=1)
        assert leaks(told) == []
        with store.deps.store.reading("ana") as reader:
            assert not [one for one in reader.find(KeyPoint) if SECRET in one.content.lower()]
